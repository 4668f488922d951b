//! A payment's whole story: what was asked, why it went where it went, what it cost, and everything since.

use serde::Serialize;
use serde_json::{json, value::RawValue};
use tollgate_configuration::Configuration;
use tollgate_domain::{PaymentMethod, Timestamp, card::CardOrder};
use tollgate_engine::{QuoteRequest, explain, ports::Entry};

use crate::{
    admin_api::explain::{fee_steps, rule},
    error::ApiError,
    fields::Faults,
    metadata_field::{MetadataField, metadata},
    payment_answer::RoutingAnswer,
    timestamp::rfc3339,
    transaction_answer::stored_json,
};

/// One line.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LineAnswer {
    at: String,
    kind: String,
    request_id: Option<String>,
    detail: Box<RawValue>,
}

/// The first three lines are told from the payment itself, by the configuration that decided; the rest was written down
/// as it happened.
pub(crate) fn lines(
    order: &CardOrder,
    configuration: Option<&Configuration>,
    entries: &[Entry],
) -> Result<Vec<LineAnswer>, ApiError> {
    let mut lines = vec![
        first(order, "request", &request(order))?,
        first(order, "routing", &routing(order, configuration))?,
        first(order, "fee", &fee(order))?,
    ];
    lines.extend(entries.iter().map(|entry| LineAnswer {
        at: rfc3339(entry.at),
        kind: entry.kind.clone(),
        request_id: entry.request.clone(),
        detail: stored_json(&entry.detail),
    }));
    Ok(lines)
}

fn first(order: &CardOrder, kind: &str, detail: &serde_json::Value) -> Result<LineAnswer, ApiError> {
    let detail = serde_json::value::to_raw_value(detail);
    Ok(LineAnswer {
        at: rfc3339(moment(order)),
        kind: kind.to_owned(),
        request_id: Some(order.request.clone()),
        detail: detail.map_err(|error| ApiError::internal(error.to_string()))?,
    })
}

fn moment(order: &CardOrder) -> Timestamp {
    order.created_at
}

fn request(order: &CardOrder) -> serde_json::Value {
    json!({
        "flow": order.flow.as_str(),
        "amountMinor": order.fee.principal.to_string(),
        "currency": order.currency.to_string(),
        "description": order.description,
        "customer": { "name": order.customer_name, "email": order.customer_email },
        "metadata": serde_json::from_str::<serde_json::Value>(&order.metadata).unwrap_or_default(),
        "successUrl": order.success_url,
        "cancelUrl": order.cancel_url,
    })
}

fn routing(order: &CardOrder, configuration: Option<&Configuration>) -> serde_json::Value {
    let explained = configuration.zip(quote_request(order)).map(|(it, request)| explain(it, &request));
    let rules =
        explained.as_ref().map(|explained| explained.routing.rules.iter().map(rule).collect::<Vec<_>>());
    json!({
        "configVersion": order.config_version,
        "decision": RoutingAnswer::of(order),
        // Null where that configuration cannot be opened any more.
        "rules": rules,
    })
}

fn fee(order: &CardOrder) -> serde_json::Value {
    json!({
        "feeMinor": order.fee.fee.to_string(),
        "totalDebitMinor": order.fee.total_debit.to_string(),
        "steps": [
            fee_steps("platform", &order.fee.platform),
            fee_steps("organization", &order.fee.organization),
        ],
    })
}

/// What routing saw.
fn quote_request(order: &CardOrder) -> Option<QuoteRequest> {
    let field = serde_json::from_str::<MetadataField>(&order.metadata).ok();
    Some(QuoteRequest {
        principal: order.fee.principal,
        currency: order.currency,
        method: PaymentMethod::WebCard,
        flow: Some(order.flow),
        metadata: metadata(field, b"", &mut Faults::default())?,
    })
}
