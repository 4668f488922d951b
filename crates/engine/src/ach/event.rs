//! Applying a provider's event about a transfer. The event only names the transfer: what counts is what is read.

use serde_json::json;
use tollgate_configuration::Provider;
use tollgate_domain::{ServiceReference, ach::AchProviderReport, id::EnvironmentId};

use super::{AchProvider, MAX_ROUNDS, update::TransferUpdate};
use crate::{
    engine::Engine,
    ports::{
        Call, CallError, ProviderEventState, Rejection, RejectionKind, StoreError, StoredProviderEvent,
        Transfer, WebhookNotice,
    },
    snapshot::EnvironmentView,
    webhook::{EventOutcome, settled},
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
            let (transfer, call) = match self.look_into(stored, notice, &found, object).await? {
                Ok(looked) => looked,
                Err(outcome) => return Ok(outcome),
            };
            let mut update = TransferUpdate::of(self, transfer, Some(&stored.event.request));
            let note = match call.map(|call| note_reading(&mut update, &call, notice)).transpose() {
                Ok(note) => note.unwrap_or_default(),
                Err(waiting) => return Ok(EventOutcome::Waiting(waiting)),
            };
            if finish(update, stored, notice, &note).await? {
                return Ok(EventOutcome::Done);
            }
        }
        Err(StoreError::Unavailable("too many concurrent changes to this transfer".to_owned()))
    }

    /// Applies an event that only says that a transfer was made, if the transfer is known. `false`: it is applied like any other.
    pub(crate) async fn apply_creation(
        &self,
        stored: &StoredProviderEvent,
        notice: &WebhookNotice,
    ) -> Result<bool, StoreError> {
        let Some(object) = notice.objects.first() else { return Ok(false) };
        let known = self.store.transfer_of_object(stored.environment, &stored.event.provider, object).await?;
        let Some(transfer) = known else { return Ok(false) };
        let update = TransferUpdate::of(self, transfer, Some(&stored.event.request));
        finish(update, stored, notice, "").await
    }

    /// The transfer an event is about, and what the provider answers about it, unless the event is no news.
    async fn look_into(
        &self,
        stored: &StoredProviderEvent,
        notice: &WebhookNotice,
        found: &AchProvider<'_>,
        object: &str,
    ) -> Result<Result<(Transfer, Option<Call<AchProviderReport>>), EventOutcome>, StoreError> {
        let (environment, provider) = (stored.environment, &found.provider.name);
        // Looked up before the provider is asked, so that what is read is never older than what is known.
        let known = self.store.transfer_of_object(environment, provider, object).await?;
        let known = match known {
            Some(transfer) if notice.is_creation => return Ok(Ok((transfer, None))),
            known => known,
        };
        let check = known
            .as_ref()
            .map(|transfer| self.check_account(environment, transfer.order.account.as_ref(), found.provider));
        if let Some(check) = check.as_ref().filter(|check| check.is_unreachable()) {
            return Ok(Err(EventOutcome::Waiting(check.transient_error().reason)));
        }
        let call = found.adapter.read(found.provider, object).await;
        // Another account does not show the transfer, which says nothing about it.
        if let Some(check) = check.filter(|check| !check.is_unchanged())
            && matches!(&call.outcome, Err(CallError::Rejected(it)) if it.kind != RejectionKind::Credentials)
        {
            return Ok(Err(EventOutcome::Waiting(check.transient_error().reason)));
        }
        let transfer = match (known, &call.outcome) {
            (Some(known), _) => Some(known),
            (None, Ok(report)) => self.reported_transfer(environment, provider, object, report).await?,
            (None, Err(_)) => None,
        };
        Ok(match (transfer, call.outcome) {
            (Some(transfer), outcome) => Ok((transfer, Some(Call { outcome, logs: call.logs }))),
            (None, Err(CallError::Unsent(transient) | CallError::Unknown(transient))) => {
                Err(EventOutcome::Waiting(transient.reason))
            }
            (None, Err(CallError::Rejected(rejection))) if rejection.kind == RejectionKind::Credentials => {
                Err(EventOutcome::Waiting(not_let_in(&rejection)))
            }
            (None, Ok(_) | Err(CallError::Rejected(_))) => Err(EventOutcome::Unmatched),
        })
    }

    /// The transfer a provider's object is, by a name that became known meanwhile or by the key it was made under.
    async fn reported_transfer(
        &self,
        environment: EnvironmentId,
        provider: &str,
        object: &str,
        report: &AchProviderReport,
    ) -> Result<Option<Transfer>, StoreError> {
        if let Some(transfer) = self.store.transfer_of_object(environment, provider, object).await? {
            return Ok(Some(transfer));
        }
        match report.reference.as_deref().and_then(|reference| reference.parse().ok()) {
            Some(ServiceReference::Ach(id)) => self.store.transfer(environment, id).await,
            Some(ServiceReference::Card(_)) | None => Ok(None),
        }
    }
}

/// Makes the decision stand, with the event; `false` if the transfer changed meanwhile.
async fn finish(
    mut update: TransferUpdate<'_>,
    stored: &StoredProviderEvent,
    notice: &WebhookNotice,
    note: &str,
) -> Result<bool, StoreError> {
    update.line("webhook", json!({ "eventId": notice.event, "type": notice.kind }));
    update.settle(settled(stored, ProviderEventState::Applied, None, note));
    Ok(update.commit().await?.is_some())
}

/// Takes in what was read; `Err` says why the event has to wait.
fn note_reading(
    update: &mut TransferUpdate<'_>,
    call: &Call<AchProviderReport>,
    notice: &WebhookNotice,
) -> Result<String, String> {
    update.record_calls(&call.logs);
    match &call.outcome {
        Ok(report) => {
            update.apply_report(report, &notice.event);
            if let Some(word) = &notice.taken_back {
                update.note_taken_back(word, report, &notice.event);
            }
            Ok(String::new())
        }
        // Until the credentials are corrected; what the event told of must not be lost meanwhile.
        Err(CallError::Rejected(rejection)) if rejection.kind == RejectionKind::Credentials => {
            Err(not_let_in(rejection))
        }
        Err(CallError::Rejected(rejection)) => {
            Ok(format!("the provider does not return the transfer: {}", rejection.summary()))
        }
        Err(CallError::Unsent(transient) | CallError::Unknown(transient)) => Err(transient.reason.clone()),
    }
}

fn not_let_in(rejection: &Rejection) -> String {
    format!("waiting for the provider: {}", rejection.summary())
}
