//! Applying a provider's event about a transfer. The event only names the transfer: what counts is what is read.

use serde_json::json;
use tollgate_configuration::Provider;
use tollgate_domain::{
    ServiceReference,
    ach::AchProviderReport,
    id::{EnvironmentId, TransferId},
};

use super::{AchProvider, MAX_ROUNDS, update::TransferUpdate};
use crate::{
    engine::Engine,
    ports::{
        Call, CallError, ProviderEventState, Rejection, RejectionKind, SettledProviderEvent, StoreError,
        StoredProviderEvent, WebhookNotice,
    },
    snapshot::EnvironmentView,
    webhook::EventOutcome,
};

impl Engine {
    pub(crate) async fn apply_transfer_event(
        &self,
        view: &EnvironmentView,
        provider: &Provider,
        stored: &StoredProviderEvent,
        notice: &WebhookNotice,
    ) -> Result<EventOutcome, StoreError> {
        let Ok(found) = self.ach_provider(view, &provider.name) else {
            return Ok(EventOutcome::Waiting("the provider is not fully configured".to_owned()));
        };
        let Some(object) = notice.objects.first() else { return Ok(EventOutcome::Unmatched) };
        let _turn = self.object_turns.take(stored.environment, object).await;
        for _ in 0..MAX_ROUNDS {
            // Looked up before the provider is asked, so that what is read is never older than what is known.
            let known = self.known_transfer(stored.environment, &found, object, None).await?;
            let before = match known {
                Some(id) => self.store.transfer(stored.environment, id).await?,
                None => None,
            };
            let check = before.as_ref().map(|transfer| {
                self.check_account(stored.environment, transfer.order.account.as_ref(), found.provider)
            });
            if let Some(check) = check.as_ref().filter(|check| check.is_unreachable()) {
                return Ok(EventOutcome::Waiting(check.transient_error().reason));
            }
            let call = found.wire.read(found.provider, object).await;
            // Another account does not show the transfer, which says nothing about it.
            if let Some(check) = check.filter(|check| !check.is_unchanged())
                && matches!(&call.outcome, Err(CallError::Rejected(it)) if it.kind != RejectionKind::Credentials)
            {
                return Ok(EventOutcome::Waiting(check.transient_error().reason));
            }
            let before = match (before, &call.outcome) {
                (Some(before), _) => Some(before),
                (None, Ok(report)) => {
                    let id = self.known_transfer(stored.environment, &found, object, Some(report)).await?;
                    match id {
                        Some(id) => self.store.transfer(stored.environment, id).await?,
                        None => None,
                    }
                }
                (None, Err(_)) => None,
            };
            let Some(transfer) = before else {
                return Ok(match call.outcome {
                    Err(CallError::Unsent(transient) | CallError::Unknown(transient)) => {
                        EventOutcome::Waiting(transient.reason)
                    }
                    Err(CallError::Rejected(rejection)) if rejection.kind == RejectionKind::Credentials => {
                        EventOutcome::Waiting(not_let_in(&rejection))
                    }
                    Ok(_) | Err(CallError::Rejected(_)) => EventOutcome::Unmatched,
                });
            };
            let mut update = TransferUpdate::of(self, transfer, Some(&stored.event.request));
            let note = match note_reading(&mut update, &call, notice) {
                Ok(note) => note,
                Err(waiting) => return Ok(EventOutcome::Waiting(waiting)),
            };
            update.settle(SettledProviderEvent {
                provider: stored.event.provider.clone(),
                id: stored.event.id.clone(),
                state: ProviderEventState::Applied,
                due: None,
                note,
            });
            if update.commit().await?.is_some() {
                return Ok(EventOutcome::Done);
            }
        }
        Err(StoreError::Unavailable("too many concurrent changes to this transfer".to_owned()))
    }

    /// The transfer a provider's object is, by its name or by the key it was made under.
    async fn known_transfer(
        &self,
        environment: EnvironmentId,
        found: &AchProvider<'_>,
        object: &str,
        report: Option<&AchProviderReport>,
    ) -> Result<Option<TransferId>, StoreError> {
        if let Some(id) = self.store.transfer_of_object(environment, &found.provider.name, object).await? {
            return Ok(Some(id));
        }
        let reference = report.and_then(|report| report.reference.as_deref());
        Ok(match reference.and_then(|reference| reference.parse().ok()) {
            Some(ServiceReference::Ach(id)) => Some(id),
            Some(ServiceReference::Card(_)) | None => None,
        })
    }
}

/// Takes in what was read; `Err` says why the event has to wait.
fn note_reading(
    update: &mut TransferUpdate<'_>,
    call: &Call<AchProviderReport>,
    notice: &WebhookNotice,
) -> Result<String, String> {
    update.record_calls(&call.logs);
    let note = match &call.outcome {
        Ok(report) => {
            update.apply_report(report, &notice.event);
            String::new()
        }
        // Until the credentials are corrected; what the event told of must not be lost meanwhile.
        Err(CallError::Rejected(rejection)) if rejection.kind == RejectionKind::Credentials => {
            return Err(not_let_in(rejection));
        }
        Err(CallError::Rejected(rejection)) => {
            format!("the provider does not return the transfer: {}", rejection.failure.code)
        }
        Err(CallError::Unsent(transient) | CallError::Unknown(transient)) => {
            return Err(transient.reason.clone());
        }
    };
    update.line("webhook", json!({ "eventId": notice.event, "type": notice.kind }));
    Ok(note)
}

fn not_let_in(rejection: &Rejection) -> String {
    format!("waiting for the provider: {}", rejection.failure.code)
}
