//! Prepared payments as callers and operators see them.

use serde::Serialize;
use tollgate_domain::{
    Channel, ServiceReference,
    ach::TransferOrder,
    card::CardOrder,
    card_fee::FeeKind,
    routing::{Matched, RouteProgress, Share, Split},
};
use tollgate_engine::{
    PreparedPayment,
    ports::{CardPayment, Component},
};
use utoipa::ToSchema;

use crate::{
    response::{
        fee_decision::FeeDecisionResponse,
        transaction::{AmountsResponse, FeeResponse, TransactionResponse},
    },
    types::prelude::*,
};

responses! {
    /// Where a payment was routed, and by what.
    RoutingResponse as Routing {
        provider: String,
        channel: words::Channel,
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
    AttemptResponse as RoutingAttempt {
        provider: String,
        outcome: words::RouteOutcome,
        /// Why the payment is not there; null for the one that is selected.
        reason: Option<String>,
    }
}

impl AttemptResponse {
    /// `None` where the first target got the payment.
    pub(crate) fn all(route: &RouteProgress, selected: &str) -> Option<Vec<Self>> {
        if route.attempts.is_empty() {
            return None;
        }
        let tried = route.attempts.iter().map(|attempt| Self {
            provider: attempt.provider.clone(),
            outcome: attempt.outcome.as_str().into(),
            reason: Some(attempt.reason.clone()),
        });
        let selected = Self { provider: selected.to_owned(), outcome: "selected".into(), reason: None };
        Some(tried.chain([selected]).collect())
    }
}

responses! {
    /// One target of a split.
    ShareResponse as RoutingShare {
        provider: String,
        channel: words::Channel,
        #[schema(minimum = 1, maximum = 1_000_000)]
        weight: u32,
    }
}

impl ShareResponse {
    pub(crate) fn all(split: &Split) -> Vec<Self> {
        let share = |Share { target, weight }: &Share| Self {
            provider: target.provider.to_string(),
            channel: target.channel.as_str().into(),
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
            channel: channel.as_str().into(),
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
        /// Only where the card decides the fee: what can be paid with. The browser makes a confirmation token instead of confirming.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        payment_methods: Option<&'a [String]>,
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
    #[serde(rename = "card_provider_c_drop_in", rename_all = "camelCase")]
    #[schema(title = "DropIn")]
    DropIn {
        client_key: &'a str,
        environment: &'static str,
        session_id: &'a str,
        session_data: &'a str,
        country_code: &'a str,
        #[schema(value_type = scalars::MinorUnits)]
        amount_minor: String,
        /// The total debit as a decimal number, with as many digits behind the point as the currency has.
        #[schema(pattern = r"^[0-9]+(\.[0-9]+)?$", example = "128.75")]
        amount: String,
        #[schema(value_type = scalars::CurrencyCode)]
        currency: String,
        /// The provider's script and style sheet that draw the component.
        script_url: &'a str,
        style_url: &'a str,
    },
}

responses! {
    /// What every answer about a preparation has.
    PaymentResponse<'a> as PreparedPayment {
        service_reference: String,
        /// The preparation's until somebody pays, then the transaction's.
        status: words::PaymentStatus,
        #[serde(flatten)]
        amounts: AmountsResponse,
        fee: FeeResponse,
        currency: CurrencyCode,
        payment_method: words::PaymentMethod,
        provider: &'a str,
        capture: words::Capture,
        routing: RoutingResponse,
        /// On the answer to a component's preparation only.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        component: Option<ComponentResponse<'a>>,
        /// The provider's page to send the customer to; hosted checkout only.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        checkout_url: Option<&'a str>,
        /// What was decided about the card fee last; only where it has a kind.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        fee_decision: Option<FeeDecisionResponse<'a>>,
        prepared_at: Option<Moment>,
        expires_at: Moment,
    }

    /// A preparation that is read back, with its result.
    PaymentReadResponse<'a> as Payment {
        #[serde(flatten)]
        payment: PaymentResponse<'a>,
        /// What was made for the customer to pay, whatever was paid.
        preparation: PreparationResponse,
        flow: words::Flow,
        description: Option<&'a str>,
        metadata: Metadata,
        transaction: Option<TransactionResponse>,
    }

    /// What was made for the customer to pay, whatever was paid.
    PreparationResponse as Preparation {
        status: words::PreparationStatus,
    }
}

/// The answer to a preparation: the only one that carries a component.
pub(crate) fn prepared(prepared: &PreparedPayment) -> PaymentResponse<'_> {
    let order = &prepared.payment.order;
    let component = prepared.component.as_ref().map(|component| {
        let card_fee = prepared.payment.progress.card_fee.as_ref();
        let by_card = card_fee.is_some_and(|card_fee| card_fee.kind() == FeeKind::Surcharge);
        component_answer(component, order, by_card)
    });
    PaymentResponse { component, ..payment_response(&prepared.payment) }
}

/// A preparation that is read back.
pub(crate) fn read_back(payment: &CardPayment) -> PaymentReadResponse<'_> {
    PaymentReadResponse {
        payment: PaymentResponse { status: payment.status().into(), ..payment_response(payment) },
        preparation: PreparationResponse { status: payment.progress.preparation.as_str().into() },
        flow: payment.order.flow.as_str().into(),
        description: payment.order.description.as_deref(),
        metadata: Metadata::stored(&payment.order.metadata),
        transaction: TransactionResponse::of_payment(payment),
    }
}

/// What is known of a payment: the fee as it was decided last.
pub(crate) fn payment_response(payment: &CardPayment) -> PaymentResponse<'_> {
    let (order, progress) = (&payment.order, &payment.progress);
    let reference = ServiceReference::Card(order.id);
    let card_fee = progress.card_fee.as_ref();
    let amounts = card_fee.and_then(|fee| fee.card.as_ref()).map_or(&order.fee, |card| &card.amounts);
    PaymentResponse {
        service_reference: reference.to_string(),
        status: progress.preparation.as_str().into(),
        amounts: AmountsResponse::of(amounts),
        fee: FeeResponse::of(&order.provider, reference, order.currency, order.channel),
        currency: order.currency.into(),
        payment_method: reference.method().as_str().into(),
        provider: &order.provider,
        capture: order.capture.as_str().into(),
        routing: RoutingResponse::of(order),
        component: None,
        checkout_url: progress.checkout_url.as_deref(),
        fee_decision: card_fee.map(|fee| FeeDecisionResponse::of(fee.latest(), order.currency, amounts)),
        prepared_at: progress.prepared_at.map(Moment),
        expires_at: Moment(order.expires_at),
    }
}

/// `by_card` is true where the card decides the fee.
fn component_answer<'a>(component: &'a Component, order: &CardOrder, by_card: bool) -> ComponentResponse<'a> {
    let total = order.fee.total_debit;
    match component {
        Component::PaymentElement {
            publishable_key,
            client_secret,
            payment_intent_id,
            account,
            script_url,
            token_methods,
        } => ComponentResponse::PaymentElement {
            publishable_key,
            client_secret: client_secret.expose(),
            payment_intent_id,
            account: account.as_deref(),
            script_url,
            amount_minor: total.to_string(),
            amount: order.currency.decimal(total),
            currency: order.currency.to_string(),
            payment_methods: token_methods.as_deref().filter(|_| by_card),
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
        Component::DropIn {
            client_key,
            environment,
            session_id,
            session_data,
            country_code,
            script_url,
            style_url,
        } => ComponentResponse::DropIn {
            client_key,
            environment,
            session_id,
            session_data: session_data.expose(),
            country_code,
            amount_minor: total.to_string(),
            amount: order.currency.decimal(total),
            currency: order.currency.to_string(),
            script_url,
            style_url,
        },
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
