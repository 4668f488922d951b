//! Charging a card on our word, once per token, however often the caller asks.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use tokio::time::{Instant, sleep};
use tollgate_domain::{
    card::{Attempt, AttemptState, CardOrder, Trigger},
    card_fee::CardDecision,
    transaction::Status,
};
use tollgate_vault::Secret;

use super::{
    CardProvider, Charging, MAX_ROUNDS,
    at_provider::open_attempt,
    confirm::{
        ConfirmError, Confirmed, EXPIRED, check_open, check_unmoved, is_paid, not_configured, too_busy,
    },
    resolve::in_doubt,
    update::PaymentUpdate,
};
use crate::{
    engine::Engine,
    failpoint::failpoint,
    ports::{Call, CallError, CardPayment, Charge, Confirmation, RejectionKind, StoreError},
};

/// How often a card may be tried on one preparation: enough for any customer, too few for testing stolen cards.
const MAX_ATTEMPTS: usize = 30;
/// The same with those that the provider did not look at.
const MAX_NUMBERS: usize = 200;
/// How long a call waits for another that charges the same payment, and how often it looks.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(15);
const CHECK_INTERVAL: Duration = Duration::from_millis(40);

/// What a confirm means for a payment as it is.
enum Plan {
    /// It was done before, or the payment is paid: nothing is charged.
    Replay,
    /// The outcome of an earlier charge has to be known first.
    Wait,
    /// The card is charged under this number.
    Begin(u32),
    /// Too many cards were tried.
    Exhausted,
}

impl Engine {
    pub(super) async fn confirm_by_charge(
        self: &Arc<Self>,
        provider: &CardProvider<'_>,
        order: &CardOrder,
        payment: CardPayment,
        charge: Charge,
        agreed: Option<&CardDecision>,
        request: &str,
    ) -> Result<Confirmed, ConfirmError> {
        let charging = provider
            .charging()
            .ok_or_else(|| not_configured(&payment, vec![format!("providers.{}.adapter", order.provider)]))?;
        let digest = self.source_digest(order, &charge.source);
        let queue_deadline = Instant::now() + QUEUE_TIMEOUT;
        let mut seen = payment;
        let mut rounds = 0;
        loop {
            // Others may have changed it, and time has passed.
            check_unmoved(&seen, &order.provider)?;
            check_open(&seen, self.clock.now(), Confirmation::Charge)?;
            match plan(&seen, &digest, agreed.is_some()) {
                Plan::Replay => return Ok(Confirmed { payment: seen, replayed: true }),
                // Still open: whoever charges, or the resolver, will know.
                Plan::Wait if Instant::now() >= queue_deadline => {
                    let mut update = PaymentUpdate::of(self, seen, Some(request));
                    update.in_doubt(None);
                    if !update.moves() {
                        return Ok(Confirmed { payment: update.payment().clone(), replayed: true });
                    }
                    if let Some(payment) = update.commit().await? {
                        return Ok(Confirmed { payment, replayed: true });
                    }
                }
                Plan::Wait => sleep(CHECK_INTERVAL).await,
                Plan::Exhausted => {
                    return Err(ConfirmError::NotConfirmable(
                        "Too many cards were declined for this payment; prepare a new one.",
                    ));
                }
                // Nothing is charged to a token before its fee is decided.
                Plan::Begin(_) if charge.terms.is_none() && matches!(charging, Charging::Token(_)) => {
                    return Err(ConfirmError::FeeChanged(Box::new(seen)));
                }
                Plan::Begin(number) => {
                    let charge = Charge { number, ..charge.clone() };
                    let begun = self.begin_charge(provider, seen, &charge, digest, agreed, request).await?;
                    if let Some(begun) = begun {
                        if self.clock.now() >= order.expires_at {
                            // Recording it took too long, and nothing has been sent.
                            self.release(begun, number).await?;
                            return Err(EXPIRED);
                        }
                        failpoint!("payment.before_charge");
                        let call = charging.charge(provider.provider, order, &charge).await;
                        failpoint!("payment.after_charge");
                        let is_refused = is_rejected(&call.outcome, RejectionKind::Surcharge);
                        let payment = Box::pin(self.charged(begun, number, call, request)).await?;
                        if is_refused && open_attempt(&payment).is_none() {
                            return Err(ConfirmError::FeeChanged(Box::new(payment)));
                        }
                        return Ok(Confirmed { payment, replayed: false });
                    }
                    rounds += 1;
                    if rounds > MAX_ROUNDS {
                        return Err(too_busy());
                    }
                }
            }
            seen = self.stored_payment(order.environment, order.id).await?;
        }
    }

    /// Records the attempt and nothing else, before the provider hears of it: what comes of it is recorded when it is
    /// known, or known to be in doubt. `None` if somebody else changed the payment.
    async fn begin_charge(
        &self,
        provider: &CardProvider<'_>,
        seen: CardPayment,
        charge: &Charge,
        source_digest: [u8; 32],
        agreed: Option<&CardDecision>,
        request: &str,
    ) -> Result<Option<CardPayment>, ConfirmError> {
        let sealed_source = Some(self.seal_source(&seen.order, charge)?);
        let account = Some(self.configured_account(seen.order.environment, provider.provider));
        let mut update = PaymentUpdate::of(self, seen, Some(request));
        let created_at = update.now();
        if created_at >= update.payment().order.expires_at {
            return Err(EXPIRED);
        }
        update.line("confirm", json!({ "attempt": charge.number }));
        let state = AttemptState::Open;
        let number = charge.number;
        if let Some(agreed) = agreed {
            update.consent(number, agreed);
        }
        update.attempt(Attempt { number, source_digest, sealed_source, state, account, created_at });
        update.progress().tries = 0;
        update.lease();
        Ok(update.commit().await?)
    }

    /// The payment as it stands after a charge. A store that fails now leaves the outcome in doubt, and what became of the
    /// charge is written down later.
    async fn charged(
        self: &Arc<Self>,
        begun: CardPayment,
        number: u32,
        call: Call<tollgate_domain::card::ProviderReport>,
        request: &str,
    ) -> Result<CardPayment, ConfirmError> {
        let is_about_credentials = is_rejected(&call.outcome, RejectionKind::Credentials);
        let known = (begun.clone(), Arc::new(call), request.to_owned());
        let write = move |engine: Arc<Self>| {
            let (begun, call, request) = known.clone();
            async move { engine.record_charge(begun, number, &call, Some(&request)).await }
        };
        let recorded = self.record(begun.order.id.to_string(), write).await;
        if is_about_credentials {
            return Err(not_configured(&begun, Vec::new()));
        }
        Ok(recorded.unwrap_or_else(|| {
            let mut update = PaymentUpdate::of(self, begun, None);
            update.in_doubt(None);
            update.payment().clone()
        }))
    }

    /// Gives back an attempt that was surely not sent, so that its card may be charged again.
    async fn release(&self, payment: CardPayment, number: u32) -> Result<(), StoreError> {
        let mut update = PaymentUpdate::of(self, payment, None);
        if open_attempt(update.payment()).is_some_and(|attempt| attempt.number == number) {
            self.close_unsent(&mut update);
            update.schedule_next_check();
        }
        // Where somebody else changed the payment, the resolver finds that nothing was charged.
        update.commit().await?;
        Ok(())
    }

    /// Closes the open attempt, which charged nothing, so that its card may be charged again under the next number: some
    /// providers accept a key only once, whatever they answered.
    fn close_unsent(&self, update: &mut PaymentUpdate<'_>) {
        let order = &update.payment().order;
        if let Some(open) = open_attempt(update.payment()) {
            // A payment has one attempt for each token, and this one gives its token up.
            let nothing = Secret::new(format!("unsent {}", open.number));
            let source_digest = self.source_digest(order, &nothing);
            let state = AttemptState::Unsent;
            let closed = Attempt { state, source_digest, sealed_source: None, ..open.clone() };
            update.attempt(closed);
        }
    }

    /// Writes down what became of an attempt; one that a webhook has closed meanwhile is left alone.
    pub(super) async fn record_charge(
        &self,
        payment: CardPayment,
        number: u32,
        call: &Call<tollgate_domain::card::ProviderReport>,
        request: Option<&str>,
    ) -> Result<CardPayment, StoreError> {
        let (environment, id) = (payment.order.environment, payment.order.id);
        let mut seen = payment;
        for _ in 0..MAX_ROUNDS {
            let is_open = open_attempt(&seen).is_some_and(|attempt| attempt.number == number);
            let mut update = PaymentUpdate::of(self, seen, request);
            update.record_calls(&call.logs);
            if is_open {
                self.note_charge(&mut update, number, call);
            }
            if let Some(recorded) = update.commit().await? {
                return Ok(recorded);
            }
            let again = self.store.payment(environment, id).await?;
            seen = again.ok_or_else(|| StoreError::Broken("payment not found".to_owned()))?;
        }
        Err(StoreError::Unavailable("too many concurrent changes to this payment".to_owned()))
    }

    fn note_charge(
        &self,
        update: &mut PaymentUpdate<'_>,
        number: u32,
        call: &Call<tollgate_domain::card::ProviderReport>,
    ) {
        let is_refused = is_rejected(&call.outcome, RejectionKind::Surcharge);
        let is_unsent = is_refused || is_rejected(&call.outcome, RejectionKind::Credentials);
        update.progress().confirmed |= !is_unsent;
        match &call.outcome {
            Ok(report) => {
                update.apply_charge_report(report, Trigger::Confirm, "confirm");
                update.schedule_next_check();
            }
            // The first to send it was not let in, or named a surcharge that the provider refuses: nothing was charged and nothing is
            // held against the card. (About credentials this says nothing after an answer was lost, and the resolver does not come
            // here with it.)
            Err(CallError::Rejected(rejection)) if is_unsent => {
                self.close_unsent(update);
                if is_refused {
                    update.refuse_surcharge(number);
                }
                let status =
                    update.payment().transaction.as_ref().map(|transaction| transaction.state.status);
                if status.is_some_and(Status::is_open) {
                    // A request that waited for this charge was answered that its outcome is not known.
                    update.charge_failed(rejection.failure.clone());
                }
                update.schedule_next_check();
            }
            // The key was used: the list of payments shows for what.
            Err(CallError::Rejected(rejection)) if rejection.kind == RejectionKind::State => {
                update.try_again(&in_doubt(rejection));
            }
            Err(CallError::Rejected(rejection)) => {
                update.close_attempt(AttemptState::Declined);
                update.charge_failed(rejection.failure.clone());
                update.schedule_next_check();
            }
            // The attempt stays open, and its key with it: the resolver asks again.
            Err(CallError::Unsent(transient) | CallError::Unknown(transient)) => update.try_again(transient),
        }
    }
}

fn is_rejected<T>(outcome: &Result<T, CallError>, kind: RejectionKind) -> bool {
    matches!(outcome, Err(CallError::Rejected(rejection)) if rejection.kind == kind)
}

/// `by_token` is true where the card is charged on what was made at preparation: there, another card may also be tried while the
/// bank of the one before still asks its customer.
fn plan(payment: &CardPayment, digest: &[u8; 32], by_token: bool) -> Plan {
    if open_attempt(payment).is_some() {
        return Plan::Wait;
    }
    let status = payment.transaction.as_ref().map(|transaction| transaction.state.status);
    let is_asked = by_token && status == Some(Status::Pending);
    let can_try = is_asked || matches!(status, None | Some(Status::Failed));
    let same = payment.attempts.iter().find(|attempt| attempt.source_digest == *digest);
    let was_sent = same.is_some_and(|attempt| attempt.state != AttemptState::Unsent);
    if was_sent || is_paid(payment) || !can_try {
        return Plan::Replay;
    }
    // Recorded before such an attempt gave its token up.
    if let Some(same) = same {
        return Plan::Begin(same.number);
    }
    let sent = payment.attempts.iter().filter(|attempt| attempt.state != AttemptState::Unsent).count();
    if sent >= MAX_ATTEMPTS || payment.attempts.len() >= MAX_NUMBERS {
        return Plan::Exhausted;
    }
    let last = payment.attempts.iter().map(|attempt| attempt.number).max().unwrap_or(0);
    Plan::Begin(last.saturating_add(1))
}
