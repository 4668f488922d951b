//! What the provider answers, as far as it is read here. Fields nobody reads are not named, and unknown ones are ignored.
//!
//! Nothing here can be printed: an intent holds the secret that lets a browser pay.

use serde::Deserialize;
use tollgate_domain::{Minor, Timestamp};

use crate::{
    amount::{maybe_minor, minor},
    text::id,
};

/// A freshly made intent.
#[derive(Deserialize)]
pub(super) struct NewIntent {
    #[serde(deserialize_with = "id")]
    pub(super) id: String,
    pub(super) client_secret: String,
    pub(super) payment_method_types: Option<Vec<String>>,
}

/// A freshly made session.
#[derive(Deserialize)]
pub(super) struct NewSession {
    #[serde(deserialize_with = "id")]
    pub(super) id: String,
    pub(super) url: String,
    pub(super) payment_method_types: Option<Vec<String>>,
}

/// An intent. `latest_charge` was asked for whole, with its refunds.
#[derive(Deserialize)]
pub(super) struct Intent {
    #[serde(deserialize_with = "id")]
    pub(super) id: String,
    pub(super) status: String,
    #[serde(deserialize_with = "minor")]
    pub(super) amount: Minor,
    #[serde(default, deserialize_with = "maybe_minor")]
    pub(super) amount_received: Option<Minor>,
    pub(super) cancellation_reason: Option<String>,
    pub(super) currency: String,
    pub(super) last_payment_error: Option<Error>,
    pub(super) latest_charge: Option<Charge>,
    pub(super) next_action: Option<NextAction>,
    pub(super) metadata: Option<Metadata>,
}

/// What the customer has to do next.
#[derive(Deserialize)]
pub(super) struct NextAction {
    #[serde(rename = "type")]
    pub(super) kind: String,
}

/// A charge inside its intent.
#[derive(Deserialize)]
pub(super) struct Charge {
    pub(super) status: Option<String>,
    pub(super) captured: Option<bool>,
    #[serde(default)]
    pub(super) disputed: bool,
    pub(super) payment_method_details: Option<MethodDetails>,
    pub(super) refunds: Option<RefundList>,
}

impl Charge {
    /// Whether its money is or was held, and never taken.
    pub(super) fn is_uncaptured(&self) -> bool {
        self.status.as_deref() == Some("succeeded") && self.captured == Some(false)
    }
}

#[derive(Deserialize)]
pub(super) struct MethodDetails {
    pub(super) card: Option<CardDetails>,
}

/// A card as it was charged, or as it is about to be.
#[derive(Deserialize)]
pub(super) struct CardDetails {
    /// In seconds since the epoch.
    pub(super) capture_before: Option<i64>,
    pub(super) brand: Option<String>,
    pub(super) last4: Option<String>,
    pub(super) funding: Option<String>,
    pub(super) country: Option<String>,
    pub(super) exp_month: Option<i64>,
    pub(super) exp_year: Option<i64>,
    pub(super) checks: Option<CardChecks>,
    pub(super) three_d_secure: Option<ThreeDSecure>,
}

#[derive(Deserialize)]
pub(super) struct CardChecks {
    #[serde(rename = "address_line1_check")]
    pub(super) address: Option<String>,
    #[serde(rename = "address_postal_code_check")]
    pub(super) postal_code: Option<String>,
    #[serde(rename = "cvc_check")]
    pub(super) cvc: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct ThreeDSecure {
    pub(super) result: Option<String>,
}

/// What a browser has collected. Whoever has it can pay once.
#[derive(Deserialize)]
pub(super) struct ConfirmationToken {
    /// In seconds since the epoch.
    pub(super) expires_at: Option<i64>,
    pub(super) payment_intent: Option<String>,
    pub(super) setup_intent: Option<String>,
    pub(super) payment_method_preview: Option<MethodPreview>,
}

#[derive(Deserialize)]
pub(super) struct MethodPreview {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) card: Option<CardDetails>,
    pub(super) billing_details: Option<BillingDetails>,
}

#[derive(Deserialize)]
pub(super) struct BillingDetails {
    pub(super) address: Option<Address>,
}

#[derive(Deserialize)]
pub(super) struct Address {
    pub(super) country: Option<String>,
    pub(super) state: Option<String>,
}

/// Refunds, the newest first.
#[derive(Deserialize)]
pub(super) struct RefundList {
    pub(super) data: Vec<Refund>,
    #[serde(default)]
    pub(super) has_more: bool,
}

#[derive(Deserialize)]
pub(super) struct Refund {
    #[serde(deserialize_with = "id")]
    pub(super) id: String,
    #[serde(deserialize_with = "minor")]
    pub(super) amount: Minor,
    pub(super) status: Option<String>,
    pub(super) failure_reason: Option<String>,
    pub(super) pending_reason: Option<String>,
    pub(super) metadata: Option<Metadata>,
}

/// Disputes, the newest first.
#[derive(Deserialize)]
pub(super) struct DisputeList {
    pub(super) data: Vec<Dispute>,
}

#[derive(Deserialize)]
pub(super) struct Dispute {
    #[serde(deserialize_with = "id")]
    pub(super) id: String,
    pub(super) status: String,
    pub(super) reason: Option<String>,
    #[serde(default, deserialize_with = "maybe_minor")]
    pub(super) amount: Option<Minor>,
    pub(super) currency: Option<String>,
    pub(super) balance_transactions: Option<Vec<BalanceTransaction>>,
    pub(super) evidence_details: Option<EvidenceDetails>,
}

/// What was taken from the account's balance or, where the amount is positive, given back to it.
#[derive(Deserialize)]
pub(super) struct BalanceTransaction {
    amount: i64,
    currency: String,
}

impl Dispute {
    pub(super) fn withdrawn(&self) -> Option<Minor> {
        withdrawn(self.balance_transactions.as_deref()?, self.amount, self.currency.as_deref())
    }
}

impl EventObject {
    pub(super) fn withdrawn(&self) -> Option<Minor> {
        withdrawn(self.balance_transactions.as_deref()?, self.amount, self.currency.as_deref())
    }
}

/// What a dispute about `amount` has taken and not given back. An account that settles in another currency was charged in that
/// one, at the rates of two days: there only counts whether it was given back.
fn withdrawn(all: &[BalanceTransaction], amount: Option<Minor>, currency: Option<&str>) -> Option<Minor> {
    if all.iter().all(|one| Some(one.currency.as_str()) == currency) {
        let net = all.iter().fold(0_i64, |sum, one| sum.saturating_sub(one.amount));
        return Minor::new(net.max(0).unsigned_abs());
    }
    let balance = all.iter().fold(0_i64, |sum, one| sum.saturating_add(one.amount.signum()));
    if balance < 0 { amount } else { Some(Minor::ZERO) }
}

#[derive(Deserialize)]
pub(super) struct EvidenceDetails {
    due_by: Option<i64>,
}

impl EvidenceDetails {
    /// Zero where the customer's bank takes no response.
    pub(super) fn respond_by(&self) -> Option<Timestamp> {
        let seconds = self.due_by.filter(|seconds| *seconds > 0)?;
        seconds.checked_mul(1_000).map(Timestamp::from_unix_millis)
    }
}

/// A checkout session, with its intent once the customer has submitted.
#[derive(Deserialize)]
pub(super) struct Session {
    pub(super) status: Option<String>,
    pub(super) payment_status: String,
    #[serde(default, deserialize_with = "maybe_minor")]
    pub(super) amount_total: Option<Minor>,
    pub(super) currency: Option<String>,
    pub(super) client_reference_id: Option<String>,
    pub(super) metadata: Option<Metadata>,
    pub(super) payment_intent: Option<Intent>,
}

/// Intents or sessions, the newest first.
#[derive(Deserialize)]
pub(super) struct MadeList {
    pub(super) data: Vec<Made>,
    #[serde(default)]
    pub(super) has_more: bool,
}

/// An intent or a session, as far as it says whose it is.
#[derive(Deserialize)]
pub(super) struct Made {
    #[serde(deserialize_with = "id")]
    pub(super) id: String,
    pub(super) metadata: Option<Metadata>,
}

/// Our own notes on an object.
#[derive(Deserialize)]
pub(super) struct Metadata {
    pub(super) tollgate_reference: Option<String>,
    pub(super) tollgate_refund: Option<String>,
}

/// Why a call was refused, or why the last try to pay an intent failed.
#[derive(Deserialize)]
pub(super) struct Error {
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) code: Option<String>,
    pub(super) decline_code: Option<String>,
    pub(super) message: Option<String>,
    /// The parameter that it is about.
    pub(super) param: Option<String>,
}

/// The body of a refusal.
#[derive(Deserialize)]
pub(super) struct ErrorBody {
    pub(super) error: Error,
}

/// An account of the provider's.
#[derive(Deserialize)]
pub(super) struct Account {
    pub(super) id: String,
}

/// Registered domains.
#[derive(Deserialize)]
pub(super) struct DomainList {
    pub(super) data: Vec<Domain>,
}

/// A registered domain. Each wallet is a field of its own.
#[derive(Deserialize)]
pub(super) struct Domain {
    pub(super) id: String,
    #[serde(rename = "domain_name")]
    pub(super) name: String,
    #[serde(flatten)]
    pub(super) fields: serde_json::Map<String, serde_json::Value>,
}

/// A webhook's body: with its object as it was (a snapshot event), or with nothing but its name (a thin event).
#[derive(Deserialize)]
pub(super) struct Event {
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// The connected account it happened in; a thin event calls it the context, below its platform's where it has one.
    pub(super) account: Option<String>,
    pub(super) context: Option<String>,
    pub(super) data: Option<EventData>,
    pub(super) related_object: Option<RelatedObject>,
}

impl Event {
    pub(super) fn account(&mut self) -> Option<String> {
        let context = self.context.take().and_then(|context| context.rsplit('/').next().map(str::to_owned));
        self.account.take().or(context)
    }
}

#[derive(Deserialize)]
pub(super) struct EventData {
    pub(super) object: Option<serde_json::Value>,
}

#[derive(Deserialize)]
pub(super) struct RelatedObject {
    pub(super) id: String,
}

/// The object of an event we know: an intent, a session, a charge, a refund or a dispute.
#[derive(Deserialize)]
pub(super) struct EventObject {
    pub(super) id: String,
    #[serde(default, deserialize_with = "maybe_minor")]
    pub(super) amount: Option<Minor>,
    pub(super) status: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) currency: Option<String>,
    pub(super) balance_transactions: Option<Vec<BalanceTransaction>>,
    pub(super) evidence_details: Option<EvidenceDetails>,
    pub(super) client_reference_id: Option<String>,
    pub(super) metadata: Option<Metadata>,
    pub(super) payment_intent: Option<Named>,
    pub(super) charge: Option<Named>,
}

/// Another object, by its id or whole.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Named {
    Id(String),
    Whole { id: String, metadata: Option<Metadata> },
}

impl Named {
    pub(super) fn into_id(self) -> String {
        match self {
            Self::Id(id) | Self::Whole { id, .. } => id,
        }
    }

    /// Our reference on it, where it is whole.
    pub(super) fn reference(&self) -> Option<&str> {
        match self {
            Self::Whole { metadata: Some(metadata), .. } => metadata.tollgate_reference.as_deref(),
            Self::Whole { metadata: None, .. } | Self::Id(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_less_what_was_given_back() {
        for (moved, expected) in [
            (&[][..], 0),
            (&[(-700, "eur")], 700),
            (&[(-700, "eur"), (700, "eur")], 0),
            (&[(-700, "eur"), (200, "eur")], 500),
            (&[(700, "eur")], 0),
            // In the account's own currency, at the rates of two days.
            (&[(-820, "usd")], 700),
            (&[(-820, "usd"), (790, "usd")], 0),
        ] {
            let transaction = |(amount, code): &(i64, &str)| BalanceTransaction {
                amount: *amount,
                currency: (*code).to_owned(),
            };
            let all: Vec<_> = moved.iter().map(transaction).collect();
            assert_eq!(withdrawn(&all, Minor::new(700), Some("eur")), Minor::new(expected), "{moved:?}");
        }
    }
}
