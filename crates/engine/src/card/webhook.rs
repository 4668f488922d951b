//! Taking in a provider's webhook: believed, made durable, and only then answered.

use std::{sync::Arc, time::Duration};

use tokio::sync::OwnedSemaphorePermit;
use tollgate_domain::id::EnvironmentId;
use tracing::warn;

use super::notice_text;
use crate::{
    engine::Engine,
    ports::{
        Delivery, EventState, ProviderEvent, Received, SettledEvent, StoreError, StoredEvent, Unreadable,
        Unverified,
    },
};

/// Longer than any provider's names, shorter than what would fill a database.
const LONGEST_NAME: usize = 255;

/// Why a webhook was not taken in.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    /// There is no such environment, or no such provider in it.
    #[error("there is no such environment or provider")]
    Missing,
    /// It is not believed.
    #[error(transparent)]
    Unverified(#[from] Unverified),
    /// It is signed and cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The store gave no answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Engine {
    /// The address a provider of an environment is to send its webhooks to, byte for byte.
    pub fn webhook_url(&self, environment: EnvironmentId, provider: &str) -> String {
        format!("{}/webhooks/v1/{environment}/{provider}", self.options.public_url)
    }

    /// Checks and stores a webhook. Once this returns it will be applied, here or on another node; the same event
    /// twice is stored once.
    pub async fn receive_webhook(
        self: &Arc<Self>,
        environment: EnvironmentId,
        provider_name: &str,
        headers: &[(String, String)],
        body: &[u8],
        request: &str,
    ) -> Result<(), WebhookError> {
        let view = self.view(environment).ok_or(WebhookError::Missing)?;
        let provider = view.configuration.providers.get(provider_name).ok_or(WebhookError::Missing)?;
        let reader = self.webhook_reader(provider.adapter).ok_or(WebhookError::Missing)?;
        let now = self.clock.now();
        let url = self.webhook_url(environment, provider_name);
        reader.verify(provider, Delivery { url: &url, headers, body }, now)?;
        let notice = reader.translate(body)?;
        if notice.event.is_empty() || notice.event.len() > LONGEST_NAME || notice.kind.len() > LONGEST_NAME {
            return Err(Unreadable("its id or type is missing or too long".to_owned()).into());
        }
        let event = ProviderEvent {
            provider: provider_name.to_owned(),
            id: notice.event.clone(),
            kind: notice.kind.clone(),
            notice: notice_text::write(&notice),
            request: request.to_owned(),
            received_at: now,
        };
        // Where so many are being applied that this one gets no turn, the resolver is to see to it right away.
        let turn = Arc::clone(&self.event_turns).try_acquire_owned().ok();
        let lease = turn.as_ref().map_or(Duration::ZERO, |_| self.options.resolver.lease);
        let due = now.saturating_add(lease);
        if self.store.receive_event(environment, &event, due).await? == Received::Known {
            return Ok(());
        }
        if notice.relevant {
            if let Some(turn) = turn {
                let (state, note) = (EventState::Waiting, String::new());
                let stored = StoredEvent { environment, event, state, due: Some(due), tries: 0, note };
                self.apply_soon(stored, turn);
            }
            return Ok(());
        }
        let note = "tells nothing that is kept here".to_owned();
        let (state, provider, id) = (EventState::Ignored, event.provider, event.id);
        self.store.settle_event(environment, &SettledEvent { provider, id, state, due: None, note }).await?;
        Ok(())
    }

    /// Applies an event right away.
    fn apply_soon(self: &Arc<Self>, event: StoredEvent, turn: OwnedSemaphorePermit) {
        let engine = Arc::clone(self);
        tokio::spawn(async move {
            if let Err(error) = engine.apply_event(event).await {
                warn!(%error, "an event is stored and could not be applied yet; it will be tried again");
            }
            drop(turn);
        });
    }
}
