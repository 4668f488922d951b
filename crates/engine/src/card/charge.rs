//! Charging a card on our word, once per token, however often the caller asks.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use tokio::time::{Instant, sleep};
use tollgate_domain::{
    card::{Attempt, AttemptState, CardOrder, Occasion, Standing},
    transaction::{Status, TransactionState},
};

use super::{
    CardProvider, MOST_ROUNDS,
    confirm::{ConfirmError, Confirmed, is_paid, too_busy},
    draft::Draft,
    look::open_attempt,
};
use crate::{
    engine::Engine,
    failpoint::failpoint,
    ports::{Call, CallError, CardPayment, Charge, StoreError},
};

/// How often a card may be tried on one preparation: enough for any customer, too few for testing stolen cards.
const MOST_ATTEMPTS: usize = 30;
/// How long a call waits for another that charges the same payment, and how often it looks.
const PATIENCE: Duration = Duration::from_secs(15);
const LOOK: Duration = Duration::from_millis(40);

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
        request: &str,
    ) -> Result<Confirmed, ConfirmError> {
        let digest = self.source_digest(order, &charge.source);
        let patience = Instant::now() + PATIENCE;
        let mut seen = payment;
        let mut rounds = 0;
        loop {
            match plan(&seen, &digest) {
                Plan::Replay => return Ok(Confirmed { payment: seen, replayed: true }),
                // Still pending: whoever charges, or the resolver, will know.
                Plan::Wait if Instant::now() >= patience => {
                    return Ok(Confirmed { payment: seen, replayed: true });
                }
                Plan::Wait => sleep(LOOK).await,
                Plan::Exhausted => {
                    return Err(ConfirmError::NotConfirmable(
                        "Too many cards were declined for this payment; prepare a new one.",
                    ));
                }
                Plan::Begin(number) => {
                    let charge = Charge { number, ..charge.clone() };
                    if let Some(begun) = self.begin_charge(provider, seen, &charge, digest, request).await? {
                        failpoint!("payment.before_charge");
                        let call = provider.cards.charge(provider.provider, order, &charge).await;
                        failpoint!("payment.after_charge");
                        let payment = self.charged(begun, number, call, request).await;
                        return Ok(Confirmed { payment, replayed: false });
                    }
                    rounds += 1;
                    if rounds > MOST_ROUNDS {
                        return Err(too_busy());
                    }
                }
            }
            seen = self.stored_payment(order.environment, order.id).await?;
        }
    }

    /// Records the attempt, before the provider hears of it. `None` where somebody else changed the payment.
    async fn begin_charge(
        &self,
        provider: &CardProvider<'_>,
        seen: CardPayment,
        charge: &Charge,
        source_digest: [u8; 32],
        request: &str,
    ) -> Result<Option<CardPayment>, ConfirmError> {
        let sealed_source = Some(self.seal_source(&seen.order, charge)?);
        let account = Some(self.configured_account(seen.order.environment, provider.provider));
        let mut draft = Draft::of(self, seen, Some(request));
        let created_at = draft.now();
        draft.line("confirm", json!({ "attempt": charge.number }));
        let state = AttemptState::Open;
        let number = charge.number;
        draft.attempt(Attempt { number, source_digest, sealed_source, state, account, created_at });
        let next = match draft.payment().transaction.as_ref().map(|it| it.state.clone()) {
            None => Some(TransactionState::pending()),
            // The customer tries again: `pending` does not follow `failed`, `processing` does. What the provider called
            // the declined charge is not the name of this one.
            Some(state) if state.status == Status::Failed => {
                let (status, provider_reference, failure) = (Status::Processing, None, None);
                Some(TransactionState { status, provider_reference, failure, ..state })
            }
            Some(_) => None,
        };
        if let Some(next) = next {
            draft.transaction(next);
        }
        draft.progress().confirmed = true;
        draft.lease();
        Ok(draft.commit().await?)
    }

    /// The payment as it stands after a charge. A store that fails now leaves it as it was begun, and what became of the
    /// charge is written down later.
    async fn charged(
        self: &Arc<Self>,
        begun: CardPayment,
        number: u32,
        call: Call<tollgate_domain::card::Sighting>,
        request: &str,
    ) -> CardPayment {
        let known = (begun.clone(), Arc::new(call), request.to_owned());
        let write = move |engine: Arc<Self>| {
            let (begun, call, request) = known.clone();
            async move { engine.record_charge(begun, number, &call, Some(&request)).await }
        };
        self.record(begun.order.id.to_string(), write).await.unwrap_or(begun)
    }

    /// Writes down what became of an attempt; one that a webhook has closed meanwhile is left alone.
    pub(super) async fn record_charge(
        &self,
        payment: CardPayment,
        number: u32,
        call: &Call<tollgate_domain::card::Sighting>,
        request: Option<&str>,
    ) -> Result<CardPayment, StoreError> {
        let (environment, id) = (payment.order.environment, payment.order.id);
        let mut seen = payment;
        for _ in 0..MOST_ROUNDS {
            let is_open = open_attempt(&seen).is_some_and(|attempt| attempt.number == number);
            let mut draft = Draft::of(self, seen, request);
            draft.called(&call.logs);
            if is_open {
                note_charge(&mut draft, call);
            }
            if let Some(recorded) = draft.commit().await? {
                return Ok(recorded);
            }
            let again = self.store.payment(environment, id).await?;
            seen = again.ok_or_else(|| StoreError::Broken("a payment has vanished".to_owned()))?;
        }
        Err(StoreError::Unavailable("too many others were changing this payment".to_owned()))
    }
}

fn note_charge(draft: &mut Draft<'_>, call: &Call<tollgate_domain::card::Sighting>) {
    match &call.outcome {
        Ok(sighting) => {
            let declined = matches!(sighting.standing, Standing::Failed(_));
            draft.close_attempt(if declined { AttemptState::Declined } else { AttemptState::Taken });
            draft.sight(sighting, Occasion::Confirm, "confirm");
            draft.look_later();
        }
        Err(CallError::Refused(refusal)) => {
            draft.close_attempt(AttemptState::Declined);
            let before = draft.payment().transaction.as_ref().map(|it| it.state.clone());
            let before = before.unwrap_or_else(TransactionState::pending);
            let failure = Some(refusal.failure.clone());
            draft.transaction(TransactionState { status: Status::Failed, failure, ..before });
            draft.look_later();
        }
        // The attempt stays open, and its key with it: the resolver asks again.
        Err(CallError::Unsent(trouble) | CallError::Unknown(trouble)) => draft.try_again(trouble),
    }
}

fn plan(payment: &CardPayment, digest: &[u8; 32]) -> Plan {
    let same = payment.attempts.iter().find(|attempt| attempt.source_digest == *digest);
    if open_attempt(payment).is_some() {
        return Plan::Wait;
    }
    let status = payment.transaction.as_ref().map(|transaction| transaction.state.status);
    let can_try = matches!(status, None | Some(Status::Failed));
    if same.is_some() || is_paid(payment) || !can_try {
        return Plan::Replay;
    }
    if payment.attempts.len() >= MOST_ATTEMPTS {
        return Plan::Exhausted;
    }
    let last = payment.attempts.iter().map(|attempt| attempt.number).max().unwrap_or(0);
    Plan::Begin(last.saturating_add(1))
}
