//! `POST /client/v1/fees/quote`: where a payment would go and what it would cost. Touches no database.

use std::sync::Arc;

use axum::{
    Extension,
    body::Body,
    extract::{Request, State},
};
use serde::{Deserialize, Serialize, Serializer};
use tollgate_domain::{
    Flow, Minor, PaymentMethod,
    fee::{BREAKDOWN_VERSION, LayerFee},
};
use tollgate_engine::{Quote, QuoteRequest};

use crate::{
    answer::{self, Answer},
    app::SharedApp,
    auth::{Access, authenticate},
    body,
    edge::RequestContext,
    error::ApiError,
    fields::{self, Faults, Raw},
    minor_text::{digits, optional_digits},
};

pub(crate) async fn handle(
    State(app): State<SharedApp>,
    Extension(context): Extension<RequestContext>,
    request: Request<Body>,
) -> Answer {
    let (head, body) = request.into_parts();
    let key = authenticate(&app, &head.headers, &context, Access::SecretKey)?;
    let body = body::read_json(&head.headers, body, body::CLIENT_LIMIT).await?;
    let request = read(&body)?;
    let quote = tollgate_engine::quote(&key.environment.configuration, &request)?;
    answer::ok(&QuoteAnswer::of(&request, &quote))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct QuoteBody<'a> {
    #[serde(borrow)]
    amount_minor: Raw<'a>,
    #[serde(borrow)]
    currency: Raw<'a>,
    #[serde(borrow)]
    payment_method: Raw<'a>,
    #[serde(borrow)]
    flow: Raw<'a>,
    #[serde(borrow)]
    metadata: Raw<'a>,
}

/// Reads a quote's body, naming every faulty field.
pub(crate) fn read(body: &[u8]) -> Result<QuoteRequest, ApiError> {
    let body: QuoteBody<'_> = body::parse_object(body)?;
    let mut faults = Faults::default();
    let principal = fields::amount("amountMinor", body.amount_minor, &mut faults);
    let method = fields::word(
        "paymentMethod",
        body.payment_method,
        PaymentMethod::WebCard,
        PaymentMethod::parse,
        "web_card, ach",
        &mut faults,
    );
    let currency = fields::currency(body.currency, method, &mut faults);
    let flow = match (method, body.flow) {
        (Some(PaymentMethod::Ach), None) => Some(None),
        (Some(PaymentMethod::Ach), Some(_)) => {
            faults.add("flow", "goes with web_card only; leave it out for ach")
        }
        (_, raw) => fields::word(
            "flow",
            raw,
            Flow::PaymentComponent,
            Flow::parse,
            "payment_component, hosted_checkout",
            &mut faults,
        )
        .map(Some),
    };
    let metadata = fields::metadata(body.metadata, &mut faults);
    let read = (|| {
        Some(QuoteRequest {
            principal: principal?,
            currency: currency?,
            method: method?,
            flow: flow?,
            metadata: metadata?,
        })
    })();
    fields::complete(faults, read)
}

/// The quote as callers see it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QuoteAnswer<'a> {
    #[serde(serialize_with = "digits")]
    amount_minor: Minor,
    currency: &'a str,
    #[serde(serialize_with = "digits")]
    platform_fee_minor: Minor,
    #[serde(serialize_with = "digits")]
    organization_fee_minor: Minor,
    #[serde(serialize_with = "digits")]
    fee_minor: Minor,
    #[serde(serialize_with = "digits")]
    total_debit_minor: Minor,
    breakdown: Breakdown<'a>,
    routing: RoutingAnswer<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Breakdown<'a> {
    version: u32,
    provider: &'a str,
    payment_method: &'static str,
    currency: &'a str,
    channel: &'static str,
    layers: [LayerAnswer; 2],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LayerAnswer {
    scope: &'static str,
    enabled: bool,
    #[serde(serialize_with = "digits")]
    fixed_fee_minor: Minor,
    percent_fee_bps: u16,
    #[serde(serialize_with = "optional_digits")]
    minimum_fee_minor: Option<Minor>,
    #[serde(serialize_with = "optional_digits")]
    cap_fee_minor: Option<Minor>,
    #[serde(serialize_with = "digits")]
    fee_minor: Minor,
}

/// The route and what decided it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RoutingAnswer<'a> {
    provider: &'a str,
    channel: &'static str,
    matched_rule_id: Option<&'a str>,
    #[serde(serialize_with = "texts")]
    matched_condition_ids: &'a [Arc<str>],
    fallback: bool,
}

impl<'a> QuoteAnswer<'a> {
    pub(crate) fn of(request: &'a QuoteRequest, quote: &'a Quote) -> Self {
        let (fee, target) = (&quote.fee, &quote.decision.target);
        let currency = request.currency.code();
        let matched = quote.decision.matched.as_ref();
        Self {
            amount_minor: fee.principal.into(),
            currency,
            platform_fee_minor: fee.platform.fee,
            organization_fee_minor: fee.organization.fee,
            fee_minor: fee.fee,
            total_debit_minor: fee.total_debit,
            breakdown: Breakdown {
                version: BREAKDOWN_VERSION,
                provider: &target.provider,
                payment_method: request.method.as_str(),
                currency,
                channel: target.channel.fee_channel(),
                layers: [layer("platform", &fee.platform), layer("organization", &fee.organization)],
            },
            routing: RoutingAnswer {
                provider: &target.provider,
                channel: target.channel.as_str(),
                matched_rule_id: matched.map(|matched| &*matched.rule),
                matched_condition_ids: matched.map(|matched| &*matched.conditions).unwrap_or_default(),
                fallback: matched.is_none(),
            },
        }
    }
}

fn layer(scope: &'static str, fee: &LayerFee) -> LayerAnswer {
    let layer = &fee.layer;
    LayerAnswer {
        scope,
        enabled: layer.enabled,
        fixed_fee_minor: layer.fixed,
        percent_fee_bps: layer.percent.get(),
        minimum_fee_minor: layer.minimum,
        cap_fee_minor: layer.cap,
        fee_minor: fee.fee,
    }
}

fn texts<S: Serializer>(texts: &&[Arc<str>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(texts.iter().map(|text| &**text))
}
