//! A payment's whole story: what was asked, why it went where it went, what it cost, and everything since.

use serde_json::json;
use tollgate_configuration::Configuration;
use tollgate_domain::{
    PaymentMethod, Timestamp,
    ach::{TransferOrder, TransferPurpose},
    card::CardOrder,
    card_fee::PaymentFacts,
    fee::FeeSnapshot,
};
use tollgate_engine::{QuoteRequest, explain_routing, metadata_pairs, ports::Entry};

use crate::{
    admin_api::explain::{fee_steps, rule},
    prelude::*,
    response::payment::RoutingResponse,
};

responses! {
    /// One line.
    LineResponse as TimelineLine {
        at: Moment,
        kind: String,
        request_id: Option<String>,
        detail: Metadata,
    }
}

/// What the first lines are told from: the payment itself, and the configuration that decided.
pub(crate) struct PaymentHistory<'a> {
    at: Timestamp,
    request: &'a str,
    asked: serde_json::Value,
    decision: RoutingResponse,
    config_version: u64,
    configuration: Option<&'a Configuration>,
    quote: Option<QuoteRequest>,
    fee: &'a FeeSnapshot,
}

impl<'a> PaymentHistory<'a> {
    pub(crate) fn of_payment(order: &'a CardOrder, configuration: Option<&'a Configuration>) -> Self {
        Self {
            at: order.created_at,
            request: &order.request,
            asked: json!({
                "flow": order.flow.as_str(),
                "amountMinor": order.fee.principal.to_string(),
                "currency": order.currency.to_string(),
                "description": order.description,
                "customer": { "name": order.customer_name, "email": order.customer_email },
                "metadata": stored_value(&order.metadata),
                "successUrl": order.success_url,
                "cancelUrl": order.cancel_url,
            }),
            decision: RoutingResponse::of(order),
            config_version: order.config_version,
            configuration,
            quote: metadata_pairs(&order.metadata).map(|metadata| QuoteRequest {
                principal: order.fee.principal,
                currency: order.currency,
                method: PaymentMethod::WebCard,
                flow: Some(order.flow),
                metadata,
                card_fee: PaymentFacts::default(),
            }),
            fee: &order.fee,
        }
    }

    pub(crate) fn of_transfer(order: &'a TransferOrder, configuration: Option<&'a Configuration>) -> Self {
        Self {
            at: order.created_at,
            request: &order.request,
            asked: json!({
                "amountMinor": order.fee.principal.to_string(),
                "currency": order.currency.to_string(),
                "description": order.description,
                "customer": { "externalCustomerId": order.external_customer_id, "name": order.customer_name, "email": order.customer_email },
                "bankAccount": { "bankName": order.bank_name, "accountName": order.account_name,
                                 "accountType": order.account_type.as_str(), "last4": order.last_four },
                "metadata": stored_value(&order.metadata),
                "remittanceData": order.remittance.as_deref().map(stored_value),
                "recipientKind": order.recipient_kind.as_str(),
                "purpose": order.purpose.map(TransferPurpose::as_str),
                "statementDescriptor": order.statement_descriptor,
            }),
            decision: RoutingResponse::of_transfer(order),
            config_version: order.config_version,
            configuration,
            quote: metadata_pairs(&order.metadata).map(|metadata| QuoteRequest {
                principal: order.fee.principal,
                currency: order.currency,
                method: PaymentMethod::Ach,
                flow: None,
                metadata,
                card_fee: PaymentFacts::default(),
            }),
            fee: &order.fee,
        }
    }

    fn line(&self, kind: &str, detail: &serde_json::Value) -> Result<LineResponse, ApiError> {
        let detail = serde_json::value::to_raw_value(detail);
        Ok(LineResponse {
            at: Moment(self.at),
            kind: kind.to_owned(),
            request_id: Some(self.request.to_owned()),
            detail: Metadata(detail.map_err(|error| ApiError::internal(error.to_string()))?),
        })
    }

    fn routing(&self) -> serde_json::Value {
        let explained =
            self.configuration.zip(self.quote.as_ref()).map(|(it, request)| explain_routing(it, request));
        let rules = explained.as_ref().map(|explained| explained.rules.iter().map(rule).collect::<Vec<_>>());
        json!({
            "configVersion": self.config_version,
            "decision": self.decision,
            // Null where that configuration cannot be opened anymore.
            "rules": rules,
        })
    }

    fn fee(&self) -> serde_json::Value {
        json!({
            "feeMinor": self.fee.fee.to_string(),
            "totalDebitMinor": self.fee.total_debit.to_string(),
            "steps": [
                fee_steps("platform", &self.fee.platform),
                fee_steps("organization", &self.fee.organization),
            ],
        })
    }
}

/// The first three lines are told from the story, by the configuration that decided; the rest was written down as it
/// happened.
pub(crate) fn lines(history: &PaymentHistory<'_>, entries: &[Entry]) -> Result<Vec<LineResponse>, ApiError> {
    let mut lines = vec![
        history.line("request", &history.asked)?,
        history.line("routing", &history.routing())?,
        history.line("fee", &history.fee())?,
    ];
    lines.extend(entries.iter().map(|entry| LineResponse {
        at: Moment(entry.at),
        kind: entry.kind.clone(),
        request_id: entry.request.clone(),
        detail: Metadata::stored(&entry.detail),
    }));
    Ok(lines)
}

fn stored_value(json: &str) -> serde_json::Value {
    serde_json::from_str(json).unwrap_or_default()
}
