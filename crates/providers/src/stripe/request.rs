//! What is sent. Every byte follows from the order alone, so that a repeated request is the same request.

use std::time::Duration;

use tollgate_domain::card::CardOrder;
use tollgate_engine::ports::CallError;

use super::form::Form;
use crate::{failure::not_offered, text::fit};

/// Under these names the provider keeps whose payment it is.
pub(super) const REFERENCE: &str = "tollgate_reference";
const ENVIRONMENT: &str = "tollgate_environment";

/// What a hosted page calls the purchase where the caller said nothing.
const NEUTRAL_NAME: &str = "Payment";
const NAME_BYTES_MAX: usize = 250;

/// The wire takes a session's end between 30 minutes and 24 hours from when it is made. A minute at each end allows
/// for the way there and for clocks that differ.
const SESSION_SECONDS_MIN: i64 = 31 * 60;
/// Nothing is promised for longer than this.
pub(super) const MAX_SESSION: Duration = Duration::from_mins(24 * 60 - 1);
/// In whole seconds, the last of which has begun.
const SESSION_SECONDS_MAX: i64 = (24 * 60 - 1) * 60 + 1;

/// The wire counts these in other units than ISO 4217 does, so that an amount would be a hundred times too much or too
/// little.
const OTHER_UNITS: [&str; 3] = ["ISK", "MGA", "UGX"];

/// Refuses currencies whose amounts mean something else on this API.
pub(super) fn check_currency(order: &CardOrder) -> Result<(), CallError> {
    if OTHER_UNITS.contains(&order.currency.code()) {
        return Err(not_offered("This provider uses different units for this currency; route it elsewhere."));
    }
    Ok(())
}

/// An intent for the embedded component.
pub(super) fn intent(order: &CardOrder) -> Form {
    Form::new()
        .with("amount", &order.fee.total_debit.to_string())
        .with("currency", &currency(order))
        .with("automatic_payment_methods[enabled]", "true")
        .with_some("description", order.description.as_deref())
        .with_some("receipt_email", order.customer_email.as_deref())
        .with_all("metadata", &metadata(order))
}

/// A session for the hosted page.
pub(super) fn session(order: &CardOrder) -> Result<Form, CallError> {
    let Some(success_url) = &order.success_url else {
        return Err(not_offered("A hosted checkout needs a successUrl."));
    };
    let name = order.description.as_deref().map(|text| fit(text, NAME_BYTES_MAX));
    let name = name.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| NEUTRAL_NAME.to_owned());
    let item = [
        ("price_data][currency", currency(order)),
        ("price_data][unit_amount", order.fee.total_debit.to_string()),
        ("price_data][product_data][name", name),
        ("quantity", "1".to_owned()),
    ];
    let form = Form::new()
        .with("mode", "payment")
        .with("success_url", success_url)
        .with_some("cancel_url", order.cancel_url.as_deref())
        .with("client_reference_id", &order.id.to_string())
        .with_some("customer_email", order.customer_email.as_deref())
        .with_all("line_items[0]", &item)
        .with_all("metadata", &metadata(order))
        .with_some("payment_intent_data[description]", order.description.as_deref())
        // A session's metadata is not its intent's unless told.
        .with_all("payment_intent_data[metadata]", &metadata(order))
        .with("expires_at", &session_end(order).to_string());
    Ok(form)
}

/// Taking an intent back.
pub(super) fn cancel() -> Form {
    intent_query().with("cancellation_reason", "abandoned")
}

/// An intent with its charge and that one's refunds.
pub(super) fn intent_query() -> Form {
    Form::new().with("expand[]", "latest_charge").with("expand[]", "latest_charge.refunds")
}

/// A session with its intent, that one's charge, and the charge's refunds.
pub(super) fn session_query() -> Form {
    Form::new()
        .with("expand[]", "payment_intent")
        .with("expand[]", "payment_intent.latest_charge")
        .with("expand[]", "payment_intent.latest_charge.refunds")
}

fn currency(order: &CardOrder) -> String {
    order.currency.code().to_ascii_lowercase()
}

fn metadata(order: &CardOrder) -> [(&'static str, String); 2] {
    [(REFERENCE, order.id.to_string()), (ENVIRONMENT, order.environment.to_string())]
}

/// The newest dispute of an intent.
pub(super) fn dispute_query(intent: &str) -> Form {
    Form::new().with("payment_intent", intent).with("limit", "1")
}

/// In seconds since the epoch, and not before the payment's own end.
fn session_end(order: &CardOrder) -> i64 {
    let seconds = |millis: i64| millis.div_euclid(1_000);
    let created = seconds(order.created_at.unix_millis());
    let wanted = seconds(order.expires_at.unix_millis().saturating_add(999));
    wanted.clamp(created.saturating_add(SESSION_SECONDS_MIN), created.saturating_add(SESSION_SECONDS_MAX))
}
