//! What another configuration would have done to the payments of the past.

use std::collections::BTreeMap;

use tollgate_configuration::Configuration;
use tollgate_domain::{
    Channel, Currency, Minor, ServiceReference, Timestamp, card_fee::PaymentFacts, fee::FeeSnapshot,
    id::EnvironmentId,
};

use crate::{
    engine::Engine,
    metadata_text::metadata_pairs,
    ports::{Clock, PastPayment, StoreError},
    quote::{QuoteRequest, quote_payment},
};

/// Payments that differ, shown by name.
const MAX_EXAMPLES: usize = 12;
/// How many payments of the past a configuration may be tried on.
pub const MAX_REPLAYED: u32 = 10_000;

/// What another configuration would have done to payments of the past.
#[derive(Debug, Clone, Default)]
pub struct Replay {
    /// How many were looked at.
    pub examined: u64,
    /// The oldest of them.
    pub since: Option<Timestamp>,
    /// Those that would have gone elsewhere, by where from and where to.
    pub rerouted: Vec<ReplayedMove>,
    /// Those that would have had no route at all.
    pub refused: u64,
    /// Those that would have cost another fee.
    pub repriced: u64,
    /// The fees of all that have a route, before and after, by currency.
    pub money: Vec<MovedMoney>,
    /// Some that differ.
    pub examples: Vec<ReplayExample>,
}

/// Payments that would have gone elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayedMove {
    /// Where they went.
    pub from: (String, Channel),
    /// Where they would go.
    pub to: (String, Channel),
    pub count: u64,
}

/// Fees in one currency, in minor units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MovedMoney {
    pub currency: Currency,
    /// The platform's fees as they were.
    pub platform_before: i128,
    /// And as they would be.
    pub platform_after: i128,
    /// The organization's fees as they were.
    pub organization_before: i128,
    /// And as they would be.
    pub organization_after: i128,
}

/// A payment that would have been another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayExample {
    pub reference: ServiceReference,
    /// The currency of the fees.
    pub currency: Currency,
    /// Where it went, and for which fee.
    pub before: (String, Channel, Minor),
    /// Where it would go, and for which fee; `None` for nowhere.
    pub after: Option<(String, Channel, Minor)>,
}
impl Engine {
    /// What a configuration would have done to the latest payments.
    pub async fn replay_history(
        &self,
        environment: EnvironmentId,
        proposed: &Configuration,
        payments: u32,
    ) -> Result<Replay, StoreError> {
        let past = self.store.past_payments(environment, None, payments.min(MAX_REPLAYED)).await?;
        Ok(replay(&past, proposed, self.clock()))
    }
}

/// Decides every payment again and compares.
fn replay(past: &[PastPayment], proposed: &Configuration, clock: &dyn Clock) -> Replay {
    let mut replaying = Replaying::default();
    for payment in past {
        replaying.take(payment, proposed, clock);
    }
    replaying.conclude(past.last().map(|payment| payment.at))
}

/// Where a payment goes, and for which fee.
type Outcome = (String, Channel, Minor);

/// What is known so far.
#[derive(Default)]
struct Replaying {
    replay: Replay,
    moves: BTreeMap<(String, Channel, String, Channel), u64>,
    money: BTreeMap<String, MovedMoney>,
}

impl Replaying {
    fn take(&mut self, payment: &PastPayment, proposed: &Configuration, clock: &dyn Clock) {
        let Some(metadata) = metadata_pairs(&payment.metadata) else { return };
        self.replay.examined = self.replay.examined.saturating_add(1);
        let request = QuoteRequest {
            principal: payment.fee.principal,
            currency: payment.currency,
            method: payment.reference.method(),
            flow: payment.flow,
            metadata,
            card_fee: PaymentFacts::default(),
        };
        let before = (payment.provider.clone(), payment.channel, payment.fee.fee);
        let quoted = quote_payment(proposed, clock, &request, &payment.reference.to_bytes()).ok();
        let after = quoted.map(|quote| {
            self.add_up(payment, &quote.fee);
            (quote.route.target.provider.to_string(), quote.route.target.channel, quote.fee.fee)
        });
        self.compare(payment, before, after);
    }

    fn add_up(&mut self, payment: &PastPayment, fee: &FeeSnapshot) {
        let sums = self.money.entry(payment.currency.to_string()).or_insert(MovedMoney {
            currency: payment.currency,
            platform_before: 0,
            platform_after: 0,
            organization_before: 0,
            organization_after: 0,
        });
        add(&mut sums.platform_before, payment.fee.platform.fee);
        add(&mut sums.organization_before, payment.fee.organization.fee);
        add(&mut sums.platform_after, fee.platform.fee);
        add(&mut sums.organization_after, fee.organization.fee);
        let is_same = fee.platform.fee == payment.fee.platform.fee
            && fee.organization.fee == payment.fee.organization.fee;
        self.replay.repriced = self.replay.repriced.saturating_add(u64::from(!is_same));
    }

    fn compare(&mut self, payment: &PastPayment, before: Outcome, after: Option<Outcome>) {
        match &after {
            None => self.replay.refused = self.replay.refused.saturating_add(1),
            Some((provider, channel, _)) if *provider != before.0 || *channel != before.1 => {
                let count = self.moves.entry((before.0.clone(), before.1, provider.clone(), *channel));
                let count = count.or_default();
                *count = count.saturating_add(1);
            }
            Some(_) => {}
        }
        if after.as_ref() != Some(&before) && self.replay.examples.len() < MAX_EXAMPLES {
            let (reference, currency) = (payment.reference, payment.currency);
            self.replay.examples.push(ReplayExample { reference, currency, before, after });
        }
    }

    fn conclude(self, since: Option<Timestamp>) -> Replay {
        let moves = self.moves.into_iter().map(|((from, from_channel, to, to_channel), count)| {
            ReplayedMove { from: (from, from_channel), to: (to, to_channel), count }
        });
        Replay { since, rerouted: moves.collect(), money: self.money.into_values().collect(), ..self.replay }
    }
}

fn add(sum: &mut i128, fee: Minor) {
    *sum = sum.saturating_add(i128::from(fee.signed()));
}
