//! A preparation whose provider cannot take it goes on to the next target of its route.
//!
//! A payment leaves a provider in one commit, with the proof that the provider has made nothing: so at any moment the one
//! provider on record is the only one that may have anything, and after a crash the resolver has one place to look.

use tokio::time::{Instant, timeout};
use tollgate_domain::{
    Flow,
    card::{CardOrder, Preparation},
    card_fee::PaymentFee,
    hold::CaptureMode,
    id::ChangeId,
    routing::RouteAttempt,
};

use super::{
    CardProvider,
    prepare::{PrepareError, PreparedPayment, unavailable_now, unusable},
    update::PaymentUpdate,
};
use crate::{
    engine::Engine,
    ports::{
        CallLog, CardPayment, Changed, Clock, Embedded, HostedCheckout, OrderFault, PaymentReroute, Progress,
        StoreError,
    },
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
    /// Whether this call brought the payment to its provider. Another's may still be under way there, and then a call that was
    /// not sent proves nothing.
    pub(super) is_mover: bool,
}

/// An order at a provider that is ready to take it.
pub(super) struct Ready<'a> {
    pub(super) provider: CardProvider<'a>,
    pub(super) order: CardOrder,
}

impl Fallback<'_> {
    /// What is decided about the fee of an order before its card is known; `None` where the fee has no kind.
    pub(super) fn card_fee(&self, order: &CardOrder, clock: &dyn Clock) -> Option<Box<PaymentFee>> {
        let facts = self.request.card_fee;
        let decision = self.view.card_fee_decision(order, facts, clock)?;
        Some(Box::new(PaymentFee::new(facts.payer, facts.recurring, decision)))
    }
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
        self.next_ready(fallback, &order).await
    }

    /// The order at the next of its targets that can take it; `None` if there is none.
    pub(super) async fn next_ready<'a>(
        &'a self,
        fallback: &Fallback<'a>,
        order: &CardOrder,
    ) -> Option<Ready<'a>> {
        let mut order = order.clone();
        let Fallback { view, request, rules, .. } = fallback;
        while let Some((target, fee)) = next_target(&mut order.route, view, &*self.clock, request, *rules) {
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
        let found = self.card_provider(view, &order.provider).and_then(|found| {
            let not_offered = || vec![format!("providers.{}.adapter", order.provider)];
            found.offers(order.flow).then_some(found).ok_or_else(not_offered)
        });
        let provider = found
            .map_err(|missing| PrepareError::NotConfigured { provider: order.provider.clone(), missing })?;
        self.admit(view, &order.provider).map_err(PrepareError::CircuitOpen)?;
        // Nothing is promised to be payable for longer than the provider lets it be paid.
        let page = provider.cards.hosted_checkout().filter(|_| order.flow == Flow::HostedCheckout);
        let longest = match provider.cards.embedded() {
            Some(Embedded::InBrowser(cards)) if order.flow == Flow::PaymentComponent => cards.max_lifetime(),
            _ => page.and_then(HostedCheckout::max_lifetime),
        };
        let now = self.clock.now();
        let expires_at =
            longest.map_or(order.expires_at, |longest| order.expires_at.min(now.saturating_add(longest)));
        let asked = provider.preparing(order.flow);
        // A payment that was charged elsewhere says from the beginning where it is now.
        let asks = asked.is_some() || order.route.was_switched();
        let account = asks.then(|| self.configured_account(order.environment, provider.provider));
        let adapter = provider.provider.adapter.as_str().to_owned();
        let order = CardOrder { adapter, expires_at, account, ..order };
        if order.capture == CaptureMode::Manual && provider.cards.captures(order.flow).is_none() {
            return Err(PrepareError::Unacceptable(captures_at_once(order.flow)));
        }
        let check = provider.cards.check_order(provider.provider, &order).await;
        self.note_calls(order.environment, &order.provider, Some(order.id.to_bytes()), &check.logs);
        check.outcome.map_err(PrepareError::Unacceptable)?;
        Ok(Ready { provider, order })
    }

    /// As every payment begins, with the time that whoever works on it has.
    pub(super) fn untouched_with_lease(&self, fallback: &Fallback<'_>, order: &CardOrder) -> Progress {
        let due = Some(self.clock.now().saturating_add(self.options.resolver.lease));
        let card_fee = fallback.card_fee(order, self.clock());
        Progress { due, card_fee, ..Progress::initial() }
    }

    /// Records that a payment goes on to another provider, or is about to leave its own. What that one is asked comes
    /// afterwards. `None` if the payment changed meanwhile.
    pub(super) async fn reroute(
        &self,
        payment: CardPayment,
        order: CardOrder,
        progress: Progress,
        logs: &[CallLog],
        request: Option<&str>,
    ) -> Result<Option<CardPayment>, StoreError> {
        // Not before the last change, even if the clock of the server that recorded it is ahead.
        let changed_at = payment.transaction.as_ref().map(|transaction| transaction.updated_at);
        let now = self.clock.now();
        let at = changed_at.map_or(now, |changed_at| now.max(changed_at));
        let from = &payment.order.provider;
        self.note_calls(order.environment, from, Some(order.id.to_bytes()), logs);
        let mut lines = timeline::calls(logs, from, at);
        let known = payment.order.route.attempts.len();
        lines.extend(timeline::route(order.route.attempts.get(known..).unwrap_or_default(), at));
        let reroute = PaymentReroute {
            id: self.new_id(ChangeId::new)?,
            from_revision: payment.revision,
            at,
            progress,
            entries: self.entries(lines, request.or(Some(&order.request)))?,
            order,
        };
        let (environment, id) = (payment.order.environment, payment.order.id);
        let moving = || self.store.reroute_payment(environment, id, &reroute);
        let deadline = Instant::now() + RECORD_TIMEOUT;
        match self.retry_until_known(deadline, moving).await? {
            Changed::Done => {
                let PaymentReroute { order, progress, .. } = reroute;
                let mut transaction = payment.transaction;
                if let Some(moved) = &mut transaction {
                    moved.updated_at = at;
                    moved.state.charged = None;
                    if payment.order.provider != order.provider {
                        moved.state.provider_reference = None;
                    }
                }
                let revision = payment.revision.saturating_add(1);
                Ok(Some(CardPayment { revision, order, progress, transaction, ..payment }))
            }
            Changed::Stale => Ok(None),
            Changed::Missing => Err(StoreError::Broken("payment not found".to_owned())),
        }
    }

    /// A payment that came to a provider which hears of it only when a card is charged.
    pub(super) async fn prepare_rerouted_here(
        &self,
        provider: &CardProvider<'_>,
        payment: CardPayment,
    ) -> Result<PreparedPayment, PrepareError> {
        let component = provider.component(&payment.order, None);
        let component = Some(component.ok_or_else(|| unusable(&payment.order))?);
        let request = payment.order.request.clone();
        let mut update = PaymentUpdate::of(self, payment, Some(&request));
        update.preparation(Preparation::Prepared, None);
        update.schedule_next_check();
        match timeout(RECORD_TIMEOUT, update.commit()).await {
            Ok(Ok(Some(payment))) => {
                Ok(PreparedPayment { replayed: false, payment, component, decision: None })
            }
            // Nobody can pay it, and the resolver ends it.
            Ok(Ok(None) | Err(_)) | Err(_) => Err(unavailable_now()),
        }
    }
}

fn captures_at_once(flow: Flow) -> OrderFault {
    let (what, instead) = match flow {
        Flow::HostedCheckout => ("hosted page", "use the payment component"),
        Flow::PaymentComponent => ("component", "use a hosted checkout"),
    };
    let message = format!(
        "cannot be manual: the {what} of the selected provider captures at once; {instead}, or route these payments to \
         another provider"
    );
    OrderFault { field: "capture", message }
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
