//! What the provider answers, as far as it is read here. Fields nobody reads are not named, and unknown ones are ignored.

use serde::Deserialize;
use tollgate_domain::Minor;

use crate::{amount::minor, text::id};

#[derive(Deserialize)]
pub(super) struct PaymentBody {
    pub(super) payment: Payment,
}

#[derive(Deserialize)]
pub(super) struct PaymentList {
    pub(super) payments: Option<Vec<Payment>>,
    pub(super) cursor: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Payment {
    #[serde(deserialize_with = "id")]
    pub(super) id: String,
    pub(super) status: String,
    pub(super) order_id: Option<String>,
    pub(super) amount_money: Money,
    #[serde(default)]
    pub(super) refund_ids: Vec<String>,
    pub(super) reference_id: Option<String>,
    pub(super) created_at: Option<String>,
    pub(super) updated_at: Option<String>,
    pub(super) delayed_until: Option<String>,
    pub(super) version_token: Option<String>,
    pub(super) card_details: Option<CardDetails>,
}

#[derive(Deserialize)]
pub(super) struct CardDetails {
    #[serde(default)]
    pub(super) errors: Vec<Error>,
    pub(super) card: Option<Card>,
    pub(super) avs_status: Option<String>,
    pub(super) cvv_status: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Card {
    #[serde(rename = "card_brand")]
    pub(super) brand: Option<String>,
    pub(super) last_4: Option<String>,
    #[serde(rename = "card_type")]
    pub(super) kind: Option<String>,
    pub(super) prepaid_type: Option<String>,
    pub(super) exp_month: Option<i64>,
    pub(super) exp_year: Option<i64>,
}

#[derive(Deserialize)]
pub(super) struct Money {
    #[serde(deserialize_with = "minor")]
    pub(super) amount: Minor,
    pub(super) currency: String,
}

#[derive(Deserialize)]
pub(super) struct RefundBody {
    pub(super) refund: Refund,
}

#[derive(Deserialize)]
pub(super) struct RefundList {
    pub(super) refunds: Option<Vec<Refund>>,
    pub(super) cursor: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Refund {
    #[serde(deserialize_with = "id")]
    pub(super) id: String,
    pub(super) status: Option<String>,
    pub(super) amount_money: Money,
    pub(super) reason: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct LocationBody {
    pub(super) location: Location,
}

#[derive(Deserialize)]
pub(super) struct Location {
    pub(super) id: String,
    pub(super) currency: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct PaymentLinkBody {
    pub(super) payment_link: PaymentLink,
}

#[derive(Deserialize)]
pub(super) struct PaymentLink {
    #[serde(deserialize_with = "id")]
    pub(super) id: String,
    pub(super) order_id: String,
    pub(super) url: Option<String>,
    pub(super) long_url: Option<String>,
}

/// A deleted link; that it was deleted is all there is to know.
#[derive(Deserialize)]
pub(super) struct Deleted {}

#[derive(Deserialize)]
pub(super) struct OrderBody {
    pub(super) order: Order,
}

#[derive(Deserialize)]
pub(super) struct Order {
    pub(super) state: String,
    pub(super) reference_id: Option<String>,
    pub(super) total_money: Option<Money>,
    pub(super) tenders: Option<Vec<Tender>>,
}

/// A payment's part in an order. Its own id is the payment's where the other field is absent.
#[derive(Deserialize)]
pub(super) struct Tender {
    pub(super) id: String,
    pub(super) payment_id: Option<String>,
}

/// The body of a refusal.
#[derive(Deserialize)]
pub(super) struct ErrorBody {
    pub(super) errors: Vec<Error>,
}

#[derive(Deserialize)]
pub(super) struct Error {
    #[serde(default)]
    pub(super) category: String,
    #[serde(default)]
    pub(super) code: String,
    pub(super) detail: Option<String>,
    pub(super) field: Option<String>,
}

/// A webhook's body.
#[derive(Deserialize)]
pub(super) struct Event {
    #[serde(rename = "event_id")]
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) data: Option<EventData>,
}

#[derive(Deserialize)]
pub(super) struct EventData {
    pub(super) id: Option<String>,
    pub(super) object: serde_json::Value,
}

/// The object of an event we know holds the thing under its own name.
#[derive(Deserialize)]
pub(super) struct PaymentObject {
    pub(super) payment: EventPayment,
}

#[derive(Deserialize)]
pub(super) struct EventPayment {
    pub(super) id: String,
    pub(super) order_id: Option<String>,
    pub(super) reference_id: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct RefundObject {
    pub(super) refund: EventRefund,
}

#[derive(Deserialize)]
pub(super) struct EventRefund {
    pub(super) payment_id: Option<String>,
    pub(super) order_id: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct DisputeObject {
    /// The provider's reference calls it `dispute`, its library's types `object`.
    #[serde(alias = "object")]
    pub(super) dispute: EventDispute,
}

#[derive(Deserialize)]
pub(super) struct DisputeList {
    pub(super) disputes: Option<Vec<EventDispute>>,
    pub(super) cursor: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct EventDispute {
    pub(super) id: Option<String>,
    pub(super) state: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) amount_money: Option<Money>,
    pub(super) due_at: Option<String>,
    pub(super) disputed_payment: Option<DisputedPayment>,
}

#[derive(Deserialize)]
pub(super) struct DisputedPayment {
    pub(super) payment_id: Option<String>,
}
