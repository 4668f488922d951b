//! What is sent. Every byte follows from the order and the attempt, so that a repeated request is the same request.

use form_urlencoded::Serializer;
use serde_json::{Map, Value, json};
use tollgate_domain::{
    Minor, Timestamp,
    card::CardOrder,
    hold::{CaptureMode, HoldAction},
};
use tollgate_engine::ports::Charge;

use crate::text::fit;

/// What a hosted page calls the purchase where the caller said nothing.
const NEUTRAL_NAME: &str = "Payment";
const NOTE_BYTES_MAX: usize = 500;

/// The longest time the wire holds money for a card that was typed in.
const HELD_FOR: &str = "P7D";

/// A link that sells one order. An order rather than the shorter `quick_pay`, because only an order carries our
/// reference.
pub(super) fn link(order: &CardOrder, location: &str, key: &str) -> Value {
    let description = description(order);
    let item = |name: &str, amount: Minor| {
        let price = json!({ "amount": amount.get(), "currency": order.currency.code() });
        json!({ "name": name, "quantity": "1", "base_price_money": price })
    };
    let name = description.as_deref().unwrap_or(NEUTRAL_NAME);
    let items = match order.fee.line() {
        Some((label, fee)) => vec![item(name, order.fee.principal.into()), item(label, fee)],
        None => vec![item(name, order.fee.total_debit)],
    };
    let mut body = Map::new();
    body.insert("idempotency_key".to_owned(), key.into());
    body.insert(
        "order".to_owned(),
        json!({ "location_id": location, "reference_id": order.id.to_string(), "line_items": items }),
    );
    // The customer pays what was prepared: no more by a tip, no less by a coupon or a reward, whatever the seller's
    // settings are.
    let mut options = json!({ "allow_tipping": false, "enable_coupon": false, "enable_loyalty": false });
    if let (Some(url), Some(options)) = (&order.success_url, options.as_object_mut()) {
        options.insert("redirect_url".to_owned(), url.as_str().into());
    }
    body.insert("checkout_options".to_owned(), options);
    if let Some(email) = &order.customer_email {
        body.insert("pre_populated_data".to_owned(), json!({ "buyer_email": email }));
    }
    if let Some(note) = description {
        body.insert("payment_note".to_owned(), note.into());
    }
    body.into()
}

/// A payment with a card's token.
pub(super) fn payment(order: &CardOrder, charge: &Charge, location: &str, key: &str) -> Value {
    let mut body = Map::new();
    body.insert("source_id".to_owned(), charge.source.expose().into());
    body.insert("idempotency_key".to_owned(), key.into());
    body.insert("amount_money".to_owned(), money(order));
    body.insert("location_id".to_owned(), location.into());
    body.insert("reference_id".to_owned(), order.id.to_string().into());
    let is_manual = order.capture == CaptureMode::Manual;
    body.insert("autocomplete".to_owned(), (!is_manual).into());
    if is_manual {
        body.insert("delay_duration".to_owned(), HELD_FOR.into());
        body.insert("delay_action".to_owned(), "CANCEL".into());
    }
    if let Some(verification) = &charge.verification {
        body.insert("verification_token".to_owned(), verification.expose().into());
    }
    if let Some(email) = &charge.buyer_email {
        body.insert("buyer_email_address".to_owned(), email.as_str().into());
    }
    if let Some(note) = description(order) {
        body.insert("note".to_owned(), note.into());
    }
    body.into()
}

/// Lowers what is held to what is to be captured. Nothing in it changes between tries, so that the key always fits.
pub(super) fn lower(order: &CardOrder, action: &HoldAction, key: &str) -> Value {
    let amount = action.amounts(&order.fee).total_debit.get();
    let payment = json!({ "amount_money": { "amount": amount, "currency": order.currency.code() } });
    json!({ "idempotency_key": key, "payment": payment })
}

/// The query of one page of payments over an order's total, the oldest first.
pub(super) fn list(
    order: &CardOrder,
    location: &str,
    begin: Timestamp,
    end: Timestamp,
    cursor: Option<&str>,
) -> String {
    let mut query = Serializer::new(String::new());
    query
        .append_pair("begin_time", &time(begin).to_string())
        .append_pair("end_time", &time(end).to_string())
        .append_pair("sort_order", "ASC")
        .append_pair("location_id", location)
        .append_pair("total", &order.fee.total_debit.to_string())
        .append_pair("limit", "100");
    if let Some(cursor) = cursor {
        query.append_pair("cursor", cursor);
    }
    query.finish()
}

/// The query of one page of refunds since a moment, the oldest first.
pub(super) fn refunds(location: &str, since: Option<&str>, cursor: Option<&str>) -> String {
    let mut query = Serializer::new(String::new());
    query.append_pair("sort_order", "ASC").append_pair("location_id", location).append_pair("limit", "100");
    for (name, value) in [("begin_time", since), ("cursor", cursor)] {
        if let Some(value) = value {
            query.append_pair(name, value);
        }
    }
    query.finish()
}

/// A moment as the provider writes it, held at the ends of what can be written.
pub(super) fn time(moment: Timestamp) -> jiff::Timestamp {
    let bound = if moment.unix_millis() < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
    jiff::Timestamp::from_millisecond(moment.unix_millis()).unwrap_or(bound)
}

fn money(order: &CardOrder) -> Value {
    json!({ "amount": order.fee.total_debit.get(), "currency": order.currency.code() })
}

fn description(order: &CardOrder) -> Option<String> {
    let text = order.description.as_deref().map(|text| fit(text, NOTE_BYTES_MAX));
    text.filter(|text| !text.trim().is_empty())
}
