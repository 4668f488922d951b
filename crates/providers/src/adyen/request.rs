//! What is sent: sessions, payment links, captures, cancels and refunds, made from our orders.

use serde_json::{Map, Value, json};
use tollgate_domain::{
    Currency, Minor, Timestamp,
    card::CardOrder,
    hold::CaptureMode,
    refund::{Refund, RefundReason},
};
use tollgate_engine::ports::{CallError, OrderFault};

use super::amount::{step, to_provider};
use crate::{failure::not_offered, metadata::forwarded, text::fit};

/// The most that metadata may have of each.
const METADATA_MAX: usize = 20;
const METADATA_KEY_MAX: usize = 20;
const METADATA_VALUE_MAX: usize = 80;
const DESCRIPTION_MAX: usize = 280;

/// What the provider would not take.
pub(super) fn check(order: &CardOrder) -> Result<(), OrderFault> {
    let currency = order.currency;
    let fault = |field, message| Err(OrderFault { field, message });
    let Some(step) = step(currency) else {
        return fault("currency", format!("{currency} is not taken by Adyen; route it to another provider"));
    };
    if !order.fee.total_debit.get().is_multiple_of(step) {
        let message = format!(
            "the total debit must be a multiple of {step} minor units, because Adyen takes {currency} in whole units"
        );
        return fault("amountMinor", message);
    }
    if to_provider(order.fee.total_debit, currency).is_none() {
        return fault("amountMinor", "is more than Adyen takes".to_owned());
    }
    Ok(())
}

fn amount(amount: Minor, currency: Currency) -> Result<Value, CallError> {
    let value = to_provider(amount, currency).ok_or_else(|| not_offered("Adyen cannot take this amount."))?;
    Ok(json!({ "currency": currency.code(), "value": value }))
}

/// What a browser pays on. Asked for again under the same key, the same text is sent.
pub(super) fn session(order: &CardOrder, merchant: &str, keys: &[String]) -> Result<Value, CallError> {
    let mut body = payment(order, merchant, keys)?;
    body.insert("channel".to_owned(), "Web".into());
    body.insert("countryCode".to_owned(), country(order.currency).into());
    // A bank's page in place of its challenge would take the customer away from the component.
    let native = json!({ "threeDSRequestData": { "nativeThreeDS": "preferred" } });
    body.insert("authenticationData".to_owned(), native);
    match order.capture {
        CaptureMode::Automatic => body.insert("captureDelayHours".to_owned(), 0.into()),
        CaptureMode::Manual => body.insert("additionalData".to_owned(), json!({ "manualCapture": "true" })),
    };
    Ok(Value::Object(body))
}

/// A page of the provider's own.
pub(super) fn link(order: &CardOrder, merchant: &str, keys: &[String]) -> Result<Value, CallError> {
    let mut body = payment(order, merchant, keys)?;
    body.insert("reusable".to_owned(), false.into());
    if let Some(description) = shown(order) {
        body.insert("description".to_owned(), description.into());
    }
    match order.capture {
        CaptureMode::Automatic => body.insert("captureDelayHours".to_owned(), 0.into()),
        CaptureMode::Manual => body.insert("manualCapture".to_owned(), true.into()),
    };
    Ok(Value::Object(body))
}

/// The one text that a link's page shows beside the total: what is bought and, where it has a name, the fee.
fn shown(order: &CardOrder) -> Option<String> {
    let Some((label, fee)) = order.fee.line() else {
        return order.description.as_deref().map(|text| fit(text, DESCRIPTION_MAX));
    };
    let money = |amount: Minor| format!("{} {}", order.currency.decimal(amount), order.currency);
    let amounts = format!(": {}. {label}: {}.", money(order.fee.principal.into()), money(fee));
    let name = order.description.as_deref().filter(|text| !text.trim().is_empty()).unwrap_or("Payment");
    Some(format!("{}{amounts}", fit(name, DESCRIPTION_MAX.saturating_sub(amounts.len()))))
}

fn payment(order: &CardOrder, merchant: &str, keys: &[String]) -> Result<Map<String, Value>, CallError> {
    let mut body = Map::new();
    body.insert("merchantAccount".to_owned(), merchant.into());
    body.insert("reference".to_owned(), order.id.to_string().into());
    body.insert("amount".to_owned(), amount(order.fee.total_debit, order.currency)?);
    body.insert("allowedPaymentMethods".to_owned(), json!(["scheme"]));
    body.insert("expiresAt".to_owned(), seconds(order.expires_at).into());
    if let Some(url) = &order.success_url {
        body.insert("returnUrl".to_owned(), url.as_str().into());
    }
    if let Some(email) = &order.customer_email {
        body.insert("shopperEmail".to_owned(), email.as_str().into());
    }
    let fits = |(key, value): &(String, String)| {
        key.chars().count() <= METADATA_KEY_MAX && value.chars().count() <= METADATA_VALUE_MAX
    };
    let metadata = forwarded(&order.metadata, keys).into_iter().filter(fits).take(METADATA_MAX);
    let metadata: Map<_, _> = metadata.map(|(key, value)| (key, value.into())).collect();
    if !metadata.is_empty() {
        body.insert("metadata".to_owned(), Value::Object(metadata));
    }
    Ok(body)
}

/// Captures this much of what is held; the rest is released.
pub(super) fn capture(
    order: &CardOrder,
    total: Minor,
    reference: &str,
    merchant: &str,
) -> Result<Value, CallError> {
    let amount = amount(total, order.currency)?;
    Ok(json!({ "merchantAccount": merchant, "reference": reference, "amount": amount }))
}

pub(super) fn cancel(reference: &str, merchant: &str) -> Value {
    json!({ "merchantAccount": merchant, "reference": reference })
}

pub(super) fn refund(order: &CardOrder, refund: &Refund, merchant: &str) -> Result<Value, CallError> {
    let reason = refund.terms.reason.map(|reason| match reason {
        RefundReason::Duplicate => "DUPLICATE",
        RefundReason::Fraudulent => "FRAUD",
        RefundReason::RequestedByCustomer => "CUSTOMER REQUEST",
        RefundReason::Other => "OTHER",
    });
    let mut body = json!({
        "merchantAccount": merchant,
        "reference": refund.id.to_string(),
        "amount": amount(refund.total(), order.currency)?,
    });
    if let (Some(reason), Some(fields)) = (reason, body.as_object_mut()) {
        fields.insert("merchantRefundReason".to_owned(), reason.into());
    }
    Ok(body)
}

/// A moment in whole seconds.
fn seconds(at: Timestamp) -> String {
    let whole = at.unix_millis().div_euclid(1_000).saturating_mul(1_000);
    let text = Timestamp::from_unix_millis(whole).rfc3339();
    text.split_once('.').map_or_else(|| text.clone(), |(seconds, _)| format!("{seconds}Z"))
}

/// The country a component is drawn for. Cards are all it shows, so that this decides no more than how its fields are written:
/// that of the currency, whose code begins with it, and a large one where several share the currency.
pub(super) fn country(currency: Currency) -> String {
    let code = currency.code();
    let shared = [("EUR", "NL"), ("XAF", "CM"), ("XOF", "SN"), ("XPF", "PF"), ("XCD", "AG"), ("XCG", "CW")];
    let shared = shared.iter().find(|(known, _)| *known == code).map(|(_, country)| *country);
    shared.unwrap_or_else(|| code.get(..2).unwrap_or("US")).to_owned()
}
