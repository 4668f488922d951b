//! Applying a provider's event about a transfer. The event only names the transfer: what counts is what is read.

use serde_json::json;
use tollgate_configuration::Provider;
use tollgate_domain::{
    ServiceReference,
    ach::AchSighting,
    id::{EnvironmentId, TransferId},
};

use super::{AchProvider, MOST_ROUNDS, draft::Draft};
use crate::{
    engine::Engine,
    ports::{
        Call, CallError, EventState, Notice, Refusal, RefusalKind, SettledEvent, StoreError, StoredEvent,
    },
    snapshot::EnvironmentView,
};

/// What became of an event about a transfer.
pub(crate) enum TransferEvent {
    /// It is settled.
    Done,
    /// It is not about a transfer known here, perhaps not yet.
    Unmatched,
    /// The provider could not be asked, and why.
    Waiting(String),
}

impl Engine {
    pub(crate) async fn apply_transfer_event(
        &self,
        view: &EnvironmentView,
        provider: &Provider,
        stored: &StoredEvent,
        notice: &Notice,
    ) -> Result<TransferEvent, StoreError> {
        let Ok(found) = self.ach_provider(view, &provider.name) else {
            return Ok(TransferEvent::Waiting("the provider is not configured completely".to_owned()));
        };
        let Some(object) = notice.objects.first() else { return Ok(TransferEvent::Unmatched) };
        for _ in 0..MOST_ROUNDS {
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
                return Ok(TransferEvent::Waiting(check.trouble().reason));
            }
            let call = found.wire.read(found.provider, object).await;
            // Another account does not show the transfer, which says nothing about it.
            if let Some(check) = check.filter(|check| !check.is_unchanged())
                && matches!(&call.outcome, Err(CallError::Refused(_)))
            {
                return Ok(TransferEvent::Waiting(check.trouble().reason));
            }
            let before = match (before, &call.outcome) {
                (Some(before), _) => Some(before),
                (None, Ok(sighting)) => {
                    let id = self.known_transfer(stored.environment, &found, object, Some(sighting)).await?;
                    match id {
                        Some(id) => self.store.transfer(stored.environment, id).await?,
                        None => None,
                    }
                }
                (None, Err(_)) => None,
            };
            let Some(transfer) = before else {
                return Ok(match call.outcome {
                    Err(CallError::Unsent(trouble) | CallError::Unknown(trouble)) => {
                        TransferEvent::Waiting(trouble.reason)
                    }
                    Err(CallError::Refused(refusal)) if refusal.kind == RefusalKind::Credentials => {
                        TransferEvent::Waiting(not_let_in(&refusal))
                    }
                    Ok(_) | Err(CallError::Refused(_)) => TransferEvent::Unmatched,
                });
            };
            let mut draft = Draft::of(self, transfer, Some(&stored.event.request));
            let note = match note_reading(&mut draft, &call, notice) {
                Ok(note) => note,
                Err(waiting) => return Ok(TransferEvent::Waiting(waiting)),
            };
            draft.settle(SettledEvent {
                provider: stored.event.provider.clone(),
                id: stored.event.id.clone(),
                state: EventState::Applied,
                due: None,
                note,
            });
            if draft.commit().await?.is_some() {
                return Ok(TransferEvent::Done);
            }
        }
        Err(StoreError::Unavailable("too many others were changing this transfer".to_owned()))
    }

    /// The transfer a provider's object is, by its name or by the key it was made under.
    async fn known_transfer(
        &self,
        environment: EnvironmentId,
        found: &AchProvider<'_>,
        object: &str,
        sighting: Option<&AchSighting>,
    ) -> Result<Option<TransferId>, StoreError> {
        if let Some(id) = self.store.transfer_of_object(environment, &found.provider.name, object).await? {
            return Ok(Some(id));
        }
        let reference = sighting.and_then(|sighting| sighting.reference.as_deref());
        Ok(match reference.and_then(|reference| reference.parse().ok()) {
            Some(ServiceReference::Ach(id)) => Some(id),
            Some(ServiceReference::Card(_)) | None => None,
        })
    }
}

/// Takes in what was read; `Err` says why the event has to wait.
fn note_reading(draft: &mut Draft<'_>, call: &Call<AchSighting>, notice: &Notice) -> Result<String, String> {
    draft.called(&call.logs);
    let note = match &call.outcome {
        Ok(sighting) => {
            draft.sight(sighting, &notice.event);
            String::new()
        }
        // Until the credentials are corrected; what the event told of must not be lost meanwhile.
        Err(CallError::Refused(refusal)) if refusal.kind == RefusalKind::Credentials => {
            return Err(not_let_in(refusal));
        }
        Err(CallError::Refused(refusal)) => {
            format!("the provider does not show the transfer: {}", refusal.failure.code)
        }
        Err(CallError::Unsent(trouble) | CallError::Unknown(trouble)) => return Err(trouble.reason.clone()),
    };
    draft.line("webhook", json!({ "eventId": notice.event, "type": notice.kind }));
    Ok(note)
}

fn not_let_in(refusal: &Refusal) -> String {
    format!("waits for the provider: {}", refusal.failure.code)
}
