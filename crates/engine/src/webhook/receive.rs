//! Taking in a provider's webhook: believed, made durable, and only then answered.

use std::{sync::Arc, time::Duration};

use data_encoding::HEXLOWER;
use tokio::sync::OwnedSemaphorePermit;
use tollgate_configuration::Provider;
use tollgate_domain::{
    card::Preparation,
    id::{EnvironmentId, PaymentId},
};
use tracing::{debug, warn};

use super::{notice_text, settled};
use crate::{
    activity,
    engine::Engine,
    ports::{
        InboundWebhook, PaymentFilter, ProviderEvent, ProviderEventState, Received, SignatureError,
        SignedStep, StoreError, StoredProviderEvent, WebhookNotice, Webhooks,
    },
};

/// Longer than any provider's names, shorter than what would fill a database.
const MAX_NAME_LENGTH: usize = 255;
const NAMES_RULE: &str = "its ID and type must be 1 to 255 bytes without NUL";
/// The type of an event that is signed and cannot be read.
pub(super) const UNREADABLE_KIND: &str = "unreadable";

/// Why a webhook was not taken in.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    /// No such environment, or no such provider in it.
    #[error("environment or provider not found")]
    Missing,
    /// It is not believed.
    #[error(transparent)]
    SignatureError(#[from] SignatureError),
    /// The store did not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A notice whose words can be stored: not every database holds a NUL. No name that we gave or got holds one, so what does
/// matches nothing, before and after.
pub(super) fn storable(mut notice: WebhookNotice) -> WebhookNotice {
    let words = notice.objects.iter_mut().chain(&mut notice.payment).chain(&mut notice.reference);
    let words = words.chain(&mut notice.names_only).chain(&mut notice.account);
    let refund = notice.signed.iter_mut().filter_map(|signed| match &mut signed.step {
        SignedStep::Refund(refund) => Some(&mut refund.id),
        _ => None,
    });
    let words = words.chain(refund);
    let dispute = notice.dispute.iter_mut().flat_map(|dispute| {
        let words = [&mut dispute.id, &mut dispute.status].into_iter();
        words.chain(&mut dispute.reason).chain(&mut dispute.currency)
    });
    for text in words.chain(dispute).filter(|text| text.contains('\0')) {
        *text = text.replace('\0', "\u{fffd}");
    }
    notice
}

/// Why an event of another account than the configured one is none of ours. One that names no account is of the account
/// whose endpoint sends it, which may be the configured one: that is found by its object.
fn foreign_account(notice: &WebhookNotice, provider: &Provider) -> Option<String> {
    let account = notice.account.as_deref()?;
    match provider.account_id() {
        Some(configured) if configured == account => None,
        Some(configured) => Some(format!("of the account {account}, but the configured one is {configured}")),
        None => Some(format!(
            "of the connected account {account}, but no options.account is configured; delete this webhook endpoint, or \
             have it listen to your own account"
        )),
    }
}

impl Engine {
    /// The address a provider of an environment is to send its webhooks to, byte for byte.
    pub fn webhook_url(&self, environment: EnvironmentId, provider: &str) -> String {
        format!("{}/webhooks/v1/{environment}/{provider}", self.options.public_url)
    }

    /// Whether there is such a provider in such an environment, so that a webhook of it is worth reading.
    pub fn takes_webhooks(&self, environment: EnvironmentId, provider_name: &str) -> bool {
        let view = self.view(environment);
        let provider = view.as_ref().and_then(|view| view.configuration.providers.get(provider_name));
        provider.is_some_and(|it| self.adapters.capabilities(it.adapter).webhooks.is_some())
    }

    /// Checks and stores a webhook. Once this returns it was or will be applied, here or on another node; the same event
    /// twice is stored once. One that needs no answer of the provider is stored with what it leads to.
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
        let reader = self.adapters.capabilities(provider.adapter).webhooks.ok_or(WebhookError::Missing)?;
        let now = self.clock.now();
        let url = self.webhook_url(environment, provider_name);
        reader.verify(provider, InboundWebhook { url: &url, headers, body }, now)?;
        for (place, event) in reader.translate(body).into_iter().enumerate() {
            let is_name = |text: &str| (1..=MAX_NAME_LENGTH).contains(&text.len()) && !text.contains('\0');
            let why = match event {
                Ok(notice) if is_name(&notice.event) && is_name(&notice.kind) => {
                    self.receive_event(environment, provider, reader, storable(notice), request).await?;
                    continue;
                }
                Ok(_) => format!("the event cannot be kept: {NAMES_RULE}"),
                Err(unreadable) => unreadable.to_string(),
            };
            let id = self.reference_digester.digest(&[body, &place.to_be_bytes()]);
            let id = format!("{UNREADABLE_KIND}.{}", HEXLOWER.encode(&id));
            self.park_unreadable(environment, provider_name, id, &why, request).await?;
        }
        Ok(())
    }

    /// Keeps what cannot be read for an operator to see. The provider is not asked to send it again, which would hold up what
    /// comes after it.
    async fn park_unreadable(
        &self,
        environment: EnvironmentId,
        provider: &str,
        id: String,
        why: &str,
        request: &str,
    ) -> Result<(), StoreError> {
        warn!(%environment, provider, event = id, why, "signed webhook parked");
        let kind = UNREADABLE_KIND.to_owned();
        let notice = WebhookNotice { event: id.clone(), kind: kind.clone(), ..WebhookNotice::default() };
        let event = ProviderEvent {
            provider: provider.to_owned(),
            id,
            kind,
            notice: notice_text::write(&notice),
            request: request.to_owned(),
            received_at: self.clock.now(),
        };
        let state = ProviderEventState::Parked;
        let stored =
            StoredProviderEvent { environment, event, state, due: None, tries: 0, note: String::new() };
        let parked = settled(&stored, state, None, &why.replace('\0', "\u{fffd}"));
        self.store.settle_provider_event(environment, &parked).await?;
        Ok(())
    }

    /// Stores one event, and begins to apply it.
    async fn receive_event(
        self: &Arc<Self>,
        environment: EnvironmentId,
        provider: &Provider,
        reader: &dyn Webhooks,
        notice: WebhookNotice,
        request: &str,
    ) -> Result<(), StoreError> {
        let (now, provider_name) = (self.clock.now(), &*provider.name);
        if reader.tells_of_other_sales()
            && self.is_of_another_sale(environment, provider_name, &notice).await?
        {
            debug!(%environment, provider = provider_name, event = notice.event, kind = notice.kind, "event of another sale dropped");
            return Ok(());
        }
        let event = ProviderEvent {
            provider: provider_name.to_owned(),
            id: notice.event.clone(),
            kind: notice.kind.clone(),
            notice: notice_text::write(&notice),
            request: request.to_owned(),
            received_at: now,
        };
        let state = ProviderEventState::Waiting;
        let stored =
            StoredProviderEvent { environment, event, state, due: None, tries: 0, note: String::new() };
        let foreign = foreign_account(&notice, provider);
        if !notice.relevant || foreign.is_some() {
            let (state, note) = match (notice.is_ping, foreign) {
                (true, _) => {
                    (ProviderEventState::Applied, "test event: this webhook endpoint works".to_owned())
                }
                (false, Some(note)) => (ProviderEventState::Ignored, note),
                (false, None) => (ProviderEventState::Ignored, "not relevant here".to_owned()),
            };
            let settled = settled(&stored, state, None, &note);
            if self.store.settle_provider_event(environment, &settled).await? {
                activity::received(provider_name, &stored.event.kind);
            }
            return Ok(());
        }
        if notice.is_creation && self.apply_creation(&stored, &notice).await? {
            activity::received(provider_name, &stored.event.kind);
            return Ok(());
        }
        // Where so many are being applied that this one gets no turn, the resolver is to see to it right away.
        let turn = Arc::clone(&self.event_turns).try_acquire_owned().ok();
        let lease = turn.as_ref().map_or(Duration::ZERO, |_| self.options.resolver.lease);
        let due = now.saturating_add(lease);
        if self.store.receive_provider_event(environment, &stored.event, due).await? == Received::Known {
            return Ok(());
        }
        activity::received(provider_name, &stored.event.kind);
        if let Some(turn) = turn {
            self.apply_soon(stored, turn);
        }
        Ok(())
    }

    /// Whether an event is certainly about another sale: it has neither our reference nor a known object, and no payment is
    /// being prepared that it could belong to. Disputes are always kept, because few other events report them.
    async fn is_of_another_sale(
        &self,
        environment: EnvironmentId,
        provider: &str,
        notice: &WebhookNotice,
    ) -> Result<bool, StoreError> {
        if !notice.relevant {
            return Ok(true);
        }
        let is_reference = |text: &str| text.parse::<PaymentId>().is_ok();
        if notice.dispute.is_some() || notice.reference.as_deref().is_some_and(is_reference) {
            return Ok(false);
        }
        // Asked for first: what is recorded between the two questions is found by the second.
        let preparing = PaymentFilter { preparation: Some(Preparation::Preparing), waiting: false };
        if !self.store.payments(environment, preparing, None, 1).await?.is_empty() {
            return Ok(false);
        }
        for object in &notice.objects {
            if self.store.payment_of_object(environment, provider, object).await?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Applies an event right away. The provider, which may take long to answer, does not keep the webhook waiting.
    fn apply_soon(self: &Arc<Self>, event: StoredProviderEvent, turn: OwnedSemaphorePermit) {
        let engine = Arc::clone(self);
        self.spawn(async move {
            if let Err(error) = engine.apply_event_or_park(event).await {
                warn!(%error, "provider event stored but not applied yet; it will be retried");
            }
            drop(turn);
        });
    }
}
