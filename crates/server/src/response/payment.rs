//! Prepared payments as callers and operators see them.

use serde::Serialize;
use serde_json::value::RawValue;
use tollgate_domain::{
    Channel, ServiceReference,
    ach::TransferOrder,
    card::CardOrder,
    routing::{Matched, RouteProgress, Share, Split},
};
use tollgate_engine::{
    PreparedPayment,
    ports::{CardPayment, Component},
};
use utoipa::ToSchema;

use crate::{
    json::timestamp::rfc3339,
    reference::{scalars, words},
    response::transaction::{AmountsResponse, FeeResponse, TransactionResponse, stored_json},
};

/// Where a payment was routed, and by what.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Routing)]
pub(crate) struct RoutingResponse {
    provider: String,
    #[schema(value_type = words::Channel)]
    channel: &'static str,
    #[schema(required)]
    matched_rule_id: Option<String>,
    matched_condition_ids: Vec<String>,
    fallback: bool,
    /// On a quote whose route is split: every target. The quote is that of the heaviest.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    split: Option<Vec<ShareResponse>>,
    /// Where more than one target was tried: each of them in order, the payment's own provider last.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    attempts: Option<Vec<AttemptResponse>>,
}

/// A target of a route that was tried.
#[derive(Serialize, ToSchema)]
#[schema(as = RoutingAttempt)]
pub(crate) struct AttemptResponse {
    provider: String,
    #[schema(value_type = words::RouteOutcome)]
    outcome: &'static str,
    /// Why the payment is not there; null for the one that is selected.
    #[schema(required)]
    reason: Option<String>,
}

impl AttemptResponse {
    /// `None` where the first target got the payment.
    pub(crate) fn all(route: &RouteProgress, selected: &str) -> Option<Vec<Self>> {
        if route.attempts.is_empty() {
            return None;
        }
        let tried = route.attempts.iter().map(|attempt| Self {
            provider: attempt.provider.clone(),
            outcome: attempt.outcome.as_str(),
            reason: Some(attempt.reason.clone()),
        });
        let selected = Self { provider: selected.to_owned(), outcome: "selected", reason: None };
        Some(tried.chain([selected]).collect())
    }
}

/// One target of a split.
#[derive(Serialize, ToSchema)]
#[schema(as = RoutingShare)]
pub(crate) struct ShareResponse {
    provider: String,
    #[schema(value_type = words::Channel)]
    channel: &'static str,
    #[schema(minimum = 1, maximum = 1_000_000)]
    weight: u32,
}

impl ShareResponse {
    pub(crate) fn all(split: &Split) -> Vec<Self> {
        let share = |Share { target, weight }: &Share| Self {
            provider: target.provider.to_string(),
            channel: target.channel.as_str(),
            weight: *weight,
        };
        split.iter().map(share).collect()
    }
}

impl RoutingResponse {
    pub(crate) fn of(order: &CardOrder) -> Self {
        Self::decided(&order.provider, order.channel, order.matched.as_ref(), &order.route)
    }

    pub(crate) fn of_transfer(order: &TransferOrder) -> Self {
        Self::decided(&order.provider, order.channel, order.matched.as_ref(), &order.route)
    }

    fn decided(provider: &str, channel: Channel, matched: Option<&Matched>, route: &RouteProgress) -> Self {
        let conditions = matched.into_iter().flat_map(|matched| matched.conditions.iter());
        Self {
            provider: provider.to_owned(),
            channel: channel.as_str(),
            matched_rule_id: matched.map(|matched| matched.rule.to_string()),
            matched_condition_ids: conditions.map(ToString::to_string).collect(),
            fallback: matched.is_none(),
            split: None,
            attempts: AttemptResponse::all(route, provider),
        }
    }
}

/// What the browser needs to draw the provider's component.
#[derive(Serialize, ToSchema)]
#[serde(tag = "type")]
#[schema(as = Component)]
pub(crate) enum ComponentResponse<'a> {
    #[serde(rename = "card_provider_a_payment_element", rename_all = "camelCase")]
    #[schema(title = "PaymentElement")]
    PaymentElement {
        publishable_key: &'a str,
        client_secret: &'a str,
        payment_intent_id: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        account: Option<&'a str>,
        /// The provider's script that draws the component.
        script_url: &'a str,
        #[schema(value_type = scalars::MinorUnits)]
        amount_minor: String,
        /// The total debit as a decimal number, with as many digits behind the point as the currency has.
        #[schema(pattern = r"^[0-9]+(\.[0-9]+)?$", example = "128.75")]
        amount: String,
        #[schema(value_type = scalars::CurrencyCode)]
        currency: String,
    },
    #[serde(rename = "card_provider_b_web_payments", rename_all = "camelCase")]
    #[schema(title = "WebPayments")]
    WebPayments {
        application_id: &'a str,
        location_id: &'a str,
        environment: &'static str,
        /// The provider's script that draws the component.
        script_url: &'a str,
        #[schema(value_type = scalars::MinorUnits)]
        amount_minor: String,
        /// The total debit as a decimal number, with as many digits behind the point as the currency has.
        #[schema(pattern = r"^[0-9]+(\.[0-9]+)?$", example = "128.75")]
        amount: String,
        #[schema(value_type = scalars::CurrencyCode)]
        currency: String,
    },
}

/// What every answer about a preparation has.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PreparedPayment)]
pub(crate) struct PaymentResponse<'a> {
    service_reference: String,
    /// The preparation's until somebody pays, then the transaction's.
    #[schema(value_type = words::PaymentStatus)]
    status: &'static str,
    #[serde(flatten)]
    amounts: AmountsResponse,
    fee: FeeResponse,
    #[schema(value_type = scalars::CurrencyCode)]
    currency: String,
    #[schema(value_type = words::PaymentMethod)]
    payment_method: &'static str,
    provider: &'a str,
    #[schema(value_type = words::Capture)]
    capture: &'static str,
    routing: RoutingResponse,
    /// On the answer to a component's preparation only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    component: Option<ComponentResponse<'a>>,
    /// The provider's page to send the customer to; hosted checkout only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    checkout_url: Option<&'a str>,
    #[schema(value_type = Option<scalars::Moment>, required)]
    prepared_at: Option<String>,
    #[schema(value_type = scalars::Moment)]
    expires_at: String,
}

/// A preparation that is read back, with its result.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Payment)]
pub(crate) struct PaymentReadResponse<'a> {
    #[serde(flatten)]
    payment: PaymentResponse<'a>,
    /// What was made for the customer to pay, whatever was paid.
    preparation: PreparationResponse,
    #[schema(value_type = words::Flow)]
    flow: &'static str,
    #[schema(required)]
    description: Option<&'a str>,
    #[schema(value_type = scalars::Metadata)]
    metadata: Box<RawValue>,
    #[schema(required)]
    transaction: Option<TransactionResponse>,
}

/// What was made for the customer to pay, whatever was paid.
#[derive(Serialize, ToSchema)]
#[schema(as = Preparation)]
pub(crate) struct PreparationResponse {
    #[schema(value_type = words::PreparationStatus)]
    status: &'static str,
}

/// The answer to a preparation: the only one that carries a component.
pub(crate) fn prepared(prepared: &PreparedPayment) -> impl Serialize {
    let order = &prepared.payment.order;
    let component = prepared.component.as_ref().map(|component| component_answer(component, order));
    PaymentResponse { component, ..payment_response(&prepared.payment) }
}

/// A preparation that is read back.
pub(crate) fn read_back(payment: &CardPayment) -> PaymentReadResponse<'_> {
    PaymentReadResponse {
        payment: PaymentResponse { status: payment.status(), ..payment_response(payment) },
        preparation: PreparationResponse { status: payment.progress.preparation.as_str() },
        flow: payment.order.flow.as_str(),
        description: payment.order.description.as_deref(),
        metadata: stored_json(&payment.order.metadata),
        transaction: TransactionResponse::of_payment(payment),
    }
}

fn payment_response(payment: &CardPayment) -> PaymentResponse<'_> {
    let (order, progress) = (&payment.order, &payment.progress);
    let reference = ServiceReference::Card(order.id);
    PaymentResponse {
        service_reference: reference.to_string(),
        status: progress.preparation.as_str(),
        amounts: AmountsResponse::of(&order.fee),
        fee: FeeResponse::of(&order.provider, reference, order.currency, order.channel),
        currency: order.currency.to_string(),
        payment_method: reference.method().as_str(),
        provider: &order.provider,
        capture: order.capture.as_str(),
        routing: RoutingResponse::of(order),
        component: None,
        checkout_url: progress.checkout_url.as_deref(),
        prepared_at: progress.prepared_at.map(rfc3339),
        expires_at: rfc3339(order.expires_at),
    }
}

fn component_answer<'a>(component: &'a Component, order: &CardOrder) -> ComponentResponse<'a> {
    let total = order.fee.total_debit;
    match component {
        Component::PaymentElement {
            publishable_key,
            client_secret,
            payment_intent_id,
            account,
            script_url,
        } => ComponentResponse::PaymentElement {
            publishable_key,
            client_secret: client_secret.expose(),
            payment_intent_id,
            account: account.as_deref(),
            script_url,
            amount_minor: total.to_string(),
            amount: order.currency.decimal(total),
            currency: order.currency.to_string(),
        },
        Component::WebPayments { application_id, location_id, environment, script_url } => {
            ComponentResponse::WebPayments {
                application_id,
                location_id,
                environment,
                script_url,
                amount_minor: total.to_string(),
                amount: order.currency.decimal(total),
                currency: order.currency.to_string(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tollgate_domain::routing::{RouteAttempt, RouteOutcome};

    use super::*;

    #[test]
    fn attempts_are_shown_only_where_there_was_more_than_one() {
        let mut route = RouteProgress::default();
        let shown = |route: &RouteProgress| {
            serde_json::to_value(RoutingResponse::decided("b", Channel::WebCard, None, route)).unwrap()
        };
        assert_eq!(shown(&route).get("attempts"), None);
        let reason = "connection refused".to_owned();
        let outcome = RouteOutcome::Unavailable;
        route.attempts.push(RouteAttempt { provider: "a".to_owned(), outcome, reason });
        let expected = json!([
            {"provider": "a", "outcome": "unavailable", "reason": "connection refused"},
            {"provider": "b", "outcome": "selected", "reason": null},
        ]);
        assert_eq!(shown(&route).get("attempts"), Some(&expected));
    }
}
