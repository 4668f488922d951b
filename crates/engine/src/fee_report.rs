//! What card fees with a kind came to in a month: by card and place, beside what the cards cost and what was allowed.

use std::{collections::BTreeMap, fmt::Write as _};

use tollgate_domain::{
    Currency, Minor, Principal,
    card_fee::{FeeDecision, FeeKind, Funding},
    id::EnvironmentId,
    statement::Month,
};

use crate::{
    engine::Engine,
    ports::{ChargedPayment, StoreError},
};

/// Payments read at once.
const SLICE: u32 = 500;

/// What payments are added up by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FeeReportKey {
    pub kind: FeeKind,
    pub currency: Currency,
    pub provider: String,
    /// The card's network and whose money it spends, as far as the provider says.
    pub brand: Option<String>,
    pub funding: Option<String>,
    /// Where the payer was, if that was known.
    pub place: Option<String>,
}

/// Payments that are alike. Sums of a month are bounded by nothing, so they are wider than amounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeeReportRow {
    pub payments: u64,
    pub principal: u128,
    /// As charged.
    pub fee: u128,
    /// What refunds have given back of it since.
    pub refunded_fee: u128,
    /// What accepting the cards cost; `None` where that is not recorded of each payment.
    pub cost: Option<u128>,
    /// The most that was allowed; `None` where nothing limits the fee of one of the payments.
    pub cap: Option<u128>,
}

impl FeeReportRow {
    const EMPTY: Self =
        Self { payments: 0, principal: 0, fee: 0, refunded_fee: 0, cost: Some(0), cap: Some(0) };
}

impl Engine {
    /// The fees of payments that were recorded in a month; `None` if there is no such environment.
    pub async fn fee_report(
        &self,
        environment: EnvironmentId,
        month: Month,
    ) -> Result<Option<BTreeMap<FeeReportKey, FeeReportRow>>, StoreError> {
        if self.store.environment(environment).await?.is_none() {
            return Ok(None);
        }
        let (mut rows, mut after) = (BTreeMap::new(), None);
        loop {
            let (start, end) = (month.start(), month.end());
            let payments = self.store.charged_payments(environment, start, end, after, SLICE).await?;
            let Some(last) = payments.last().map(|payment| payment.id) else { return Ok(Some(rows)) };
            after = Some(last);
            for payment in &payments {
                add(&mut rows, payment);
            }
        }
    }
}

fn add(rows: &mut BTreeMap<FeeReportKey, FeeReportRow>, payment: &ChargedPayment) {
    let charged = &*payment.charged;
    let consent = payment.card_fee.consent_to(charged.total_debit);
    let decision = consent.map_or(&payment.card_fee.decision, |consent| &consent.card.decision);
    let place = consent.map_or(payment.card_fee.payer, |consent| consent.card.payer);
    let card = payment.card.as_deref();
    let key = FeeReportKey {
        kind: payment.card_fee.kind(),
        currency: payment.currency,
        provider: payment.provider.clone(),
        brand: card.and_then(|card| card.brand.clone()),
        funding: card.and_then(|card| card.funding.clone()),
        place: place.map(|place| place.to_string()),
    };
    let amounts = payment.hold.and_then(|hold| hold.captured).unwrap_or(*charged);
    let of_captured = |amount: Minor| part(amount, amounts.principal, charged.principal);
    let (cost, cap) = (decision.cost.map(of_captured), allowed(payment, decision).map(of_captured));
    let row = rows.entry(key).or_insert(FeeReportRow::EMPTY);
    row.payments = row.payments.saturating_add(1);
    row.principal = row.principal.saturating_add(Minor::from(amounts.principal).get().into());
    row.fee = row.fee.saturating_add(amounts.fee.get().into());
    row.refunded_fee = row.refunded_fee.saturating_add(payment.refunded_fee.get().into());
    row.cost = row.cost.zip(cost).map(|(sum, amount)| sum.saturating_add(amount));
    row.cap = row.cap.zip(cap).map(|(sum, amount)| sum.saturating_add(amount));
}

/// The most that could be charged to the card that paid; `None` where nothing limits the fee.
fn allowed(payment: &ChargedPayment, decision: &FeeDecision) -> Option<Minor> {
    let funding = payment.card.as_ref().and_then(|card| card.funding.as_deref());
    let is_credit = funding == Some(Funding::Credit.as_str());
    if decision.kind == FeeKind::Surcharge && !is_credit {
        return Some(Minor::ZERO);
    }
    decision.cap.or((decision.range.max == Minor::ZERO).then_some(Minor::ZERO))
}

/// What an amount that belongs to the whole principal is on the part that was captured, rounded down.
fn part(amount: Minor, captured: Principal, whole: Principal) -> u128 {
    let [amount, captured, whole] = [amount, captured.into(), whole.into()].map(|it| u128::from(it.get()));
    amount.saturating_mul(captured).checked_div(whole).unwrap_or_default()
}

/// The report as a table for spreadsheets, in minor units.
pub fn fee_report_csv(month: Month, rows: &BTreeMap<FeeReportKey, FeeReportRow>) -> String {
    let mut text =
        "month,kind,currency,provider,brand,funding,place,payments,principalMinor,feeMinor,refundedFeeMinor,costMinor,capMinor\r\n"
            .to_owned();
    for (key, row) in rows {
        let word = |word: &Option<String>| word.clone().unwrap_or_default();
        let sum = |sum: Option<u128>| sum.map(|sum| sum.to_string()).unwrap_or_default();
        // The provider's name is an operator's own; the rest are words without separators.
        let provider = key.provider.replace('"', "\"\"");
        let _ = write!(
            text,
            "{month},{},{},\"{provider}\",{},{},{},{},{},{},{},{},{}\r\n",
            key.kind.as_str(),
            key.currency,
            word(&key.brand),
            word(&key.funding),
            word(&key.place),
            row.payments,
            row.principal,
            row.fee,
            row.refunded_fee,
            sum(row.cost),
            sum(row.cap),
        );
    }
    text
}
