//! A preparation whose provider cannot take it goes on to the next target of its route.
//!
//! A payment leaves a provider in one commit, with the proof that the provider has made nothing: so at any moment the one
//! provider on record is the only one that may have anything, and after a crash the resolver has one place to look.

use serde_json::json;
use tokio::time::{Instant, timeout};
use tollgate_domain::{
    card::{CardOrder, Preparation},
    id::ChangeId,
    routing::RouteAttempt,
};

use super::{
    CardProvider,
    prepare::{PrepareError, PreparedPayment, unavailable_now, untouched, unusable},
    update::PaymentUpdate,
};
use crate::{
    engine::Engine,
    ports::{CallLog, CardPayment, Changed, PaymentReroute, Progress, StoreError},
    quote::QuoteRequest,
    record::RECORD_TIMEOUT,
    route::{FallbackRules, next_target, skipped},
    snapshot::EnvironmentView,
    timeline,
};

/// What the next target of a payment is chosen by.
pub(super) struct Fallback<'a> {
    pub(super) view: &'a EnvironmentView,
    pub(super) request: QuoteRequest,
    pub(super) rules: FallbackRules,
}

/// An order at a provider that is ready to take it.
pub(super) struct Ready<'a> {
    pub(super) provider: CardProvider<'a>,
    pub(super) order: CardOrder,
}

impl Engine {
    /// The order at the first of its targets that can take it. None of them has been asked to make anything.
    pub(super) async fn at_first_ready<'a>(
        &'a self,
        fallback: &Fallback<'a>,
        order: CardOrder,
    ) -> Result<Ready<'a>, PrepareError> {
        let name = order.provider.clone();
        match self.ready(fallback.view, order.clone()).await {
            Ok(ready) => Ok(ready),
            // What the first provider would not take is the caller's to correct.
            Err(error @ PrepareError::Unacceptable(_)) => Err(error),
            Err(error) => {
                let attempt = skipped(&name, why(&error));
                self.at_next_ready(fallback, &order, attempt).await.ok_or(error)
            }
        }
    }

    /// The order at the next of its targets that can take it, after this attempt; `None` if there is none.
    pub(super) async fn at_next_ready<'a>(
        &'a self,
        fallback: &Fallback<'a>,
        order: &CardOrder,
        attempt: RouteAttempt,
    ) -> Option<Ready<'a>> {
        let mut order = order.clone();
        order.route.attempts.push(attempt);
        let Fallback { view, request, rules } = fallback;
        while let Some((target, fee)) = next_target(&mut order.route, view, request, *rules) {
            let (provider, channel) = (target.provider.to_string(), target.channel);
            let lifetime = view.configuration.settings.preparation_lifetime();
            let expires_at = order.created_at.saturating_add(lifetime);
            order = CardOrder { provider, channel, fee, expires_at, ..order };
            match self.ready(view, order.clone()).await {
                Ok(ready) => return Some(ready),
                Err(error) => order.route.attempts.push(skipped(&target.provider, why(&error))),
            }
        }
        None
    }

    /// The order as its provider will get it, if that is ready and would take it.
    async fn ready<'a>(
        &'a self,
        view: &'a EnvironmentView,
        order: CardOrder,
    ) -> Result<Ready<'a>, PrepareError> {
        let found = self.card_provider(view, &order.provider);
        let provider = found
            .map_err(|missing| PrepareError::NotConfigured { provider: order.provider.clone(), missing })?;
        self.admit(view, &order.provider).map_err(PrepareError::CircuitOpen)?;
        // Nothing is promised to be payable for longer than the provider lets it be paid.
        let longest = provider.cards.max_lifetime(order.flow);
        let expires_at = longest.map_or(order.expires_at, |longest| {
            order.expires_at.min(order.created_at.saturating_add(longest))
        });
        let asks = provider.cards.prepares_at_provider(order.flow);
        let account = asks.then(|| self.configured_account(order.environment, provider.provider));
        let adapter = provider.provider.adapter.as_str().to_owned();
        let order = CardOrder { adapter, expires_at, account, ..order };
        let check = provider.cards.check_order(provider.provider, &order).await;
        self.note_calls(order.environment, &order.provider, Some(order.id.to_bytes()), &check.logs);
        check.outcome.map_err(PrepareError::Unacceptable)?;
        Ok(Ready { provider, order })
    }

    /// Records that a payment goes on to another provider. What that one is asked comes afterwards.
    pub(super) async fn reroute(
        &self,
        payment: CardPayment,
        order: CardOrder,
        logs: &[CallLog],
    ) -> Result<CardPayment, PrepareError> {
        let at = self.clock.now();
        let from = &payment.order.provider;
        self.note_calls(order.environment, from, Some(order.id.to_bytes()), logs);
        let mut lines = timeline::calls(logs, from, at);
        for attempt in order.route.attempts.iter().skip(payment.order.route.attempts.len()) {
            let (outcome, reason) = (attempt.outcome.as_str(), &attempt.reason);
            lines.push((
                at,
                "route",
                json!({ "provider": attempt.provider, "outcome": outcome, "reason": reason }),
            ));
        }
        let reroute = PaymentReroute {
            id: self.new_id(ChangeId::new)?,
            from_revision: payment.revision,
            progress: Progress { due: Some(at.saturating_add(self.options.resolver.lease)), ..untouched() },
            entries: self.entries(lines, Some(&order.request))?,
            order,
        };
        let (environment, id) = (payment.order.environment, payment.order.id);
        let moving = || self.store.reroute_payment(environment, id, &reroute);
        let deadline = Instant::now() + RECORD_TIMEOUT;
        match self.retry_until_known(deadline, moving).await? {
            Changed::Done => {
                let PaymentReroute { order, progress, .. } = reroute;
                Ok(CardPayment { revision: payment.revision.saturating_add(1), order, progress, ..payment })
            }
            // The resolver has taken it back meanwhile.
            Changed::Stale => Err(unavailable_now()),
            Changed::Missing => Err(StoreError::Broken("payment not found".to_owned()).into()),
        }
    }

    /// A payment that came to a provider which hears of it only when a card is charged.
    pub(super) async fn prepare_rerouted_here(
        &self,
        provider: &CardProvider<'_>,
        payment: CardPayment,
    ) -> Result<PreparedPayment, PrepareError> {
        let component = provider.cards.component(provider.provider, None);
        let component = Some(component.ok_or_else(|| unusable(&payment.order))?);
        let request = payment.order.request.clone();
        let mut update = PaymentUpdate::of(self, payment, Some(&request));
        update.preparation(Preparation::Prepared, None);
        update.schedule_next_check();
        match timeout(RECORD_TIMEOUT, update.commit()).await {
            Ok(Ok(Some(payment))) => Ok(PreparedPayment { replayed: false, payment, component }),
            // Nobody can pay it, and the resolver ends it.
            Ok(Ok(None) | Err(_)) | Err(_) => Err(unavailable_now()),
        }
    }
}

/// Why a provider was passed over, in a few words.
fn why(error: &PrepareError) -> String {
    match error {
        PrepareError::NotConfigured { missing, .. } => format!("not configured: {}", missing.join(", ")),
        PrepareError::Unacceptable(fault) => format!("would not take it: {} {}", fault.field, fault.message),
        PrepareError::CircuitOpen(open) => open.reason.clone(),
        other => other.to_string(),
    }
}
