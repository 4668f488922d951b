//! `POST /client/v1/fees/quote`: where a payment would go and what it would cost. Touches no database.

use std::{
    convert::Infallible,
    sync::{LazyLock, atomic::Ordering::Relaxed},
};

use axum::{
    BoxError, Extension,
    extract::{FromRequest, Request, State},
};
use bytes::Bytes;
use http::HeaderMap;
use serde::Deserialize;
use tollgate_domain::{
    Currency, Flow, PaymentMethod,
    card_fee::{FeeDecision, ReasonCode, Rules},
    fee::{BREAKDOWN_VERSION, FeeSnapshot, LayerFee},
    routing::{Route, Share},
};
use tollgate_engine::{Quote, QuoteRequest};
use utoipa::ToSchema;

use crate::{
    app::{App, SharedApp},
    json::{
        writer as json_writer,
        writer::{ObjectWriter, field},
    },
    prelude::*,
    request::{
        auth::{Access, authenticate},
        call_notes::{self, CallNotes},
        card_fee_fields::{self, CardBody, CardFeeFields, PayerBody},
        context::RequestContext,
        metadata_field::{MetadataField, metadata},
    },
    response::{fee_decision::FeeDecisionResponse, payment::RoutingResponse},
    types::{
        schemas::Schemas,
        shape,
        signature::{Argument, Credential, Signature},
    },
};

/// A call that is authenticated and read at once.
pub(crate) struct QuoteCall(Request<Body>);

impl<S: Sync> FromRequest<S> for QuoteCall {
    type Rejection = Infallible;

    async fn from_request(request: Request, _: &S) -> Result<Self, Infallible> {
        Ok(Self(request))
    }
}

impl Argument for QuoteCall {
    fn describe(signature: &mut Signature, schemas: &mut Schemas) {
        signature.credential = Credential::SecretKey;
        JsonBody::<QuoteBody<'_>>::describe(signature, schemas);
    }
}

/// The route. The edge takes the shorter way to [`answer`].
pub(crate) async fn handle(
    State(app): State<SharedApp>,
    Extension(context): Extension<RequestContext>,
    QuoteCall(request): QuoteCall,
) -> Done<QuoteResponse> {
    let (head, body) = request.into_parts();
    let body = body::read_json(&head.headers, body, body::CLIENT_LIMIT).await;
    decide(&app, &context, &head.headers, body)
}

/// Answers a request for a quote, with what was learned about the call.
pub(crate) async fn answer<B>(
    app: &App,
    context: &RequestContext,
    headers: &HeaderMap,
    body: B,
) -> (Done<QuoteResponse>, CallNotes)
where
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
{
    let body = body::read_json(headers, body, body::CLIENT_LIMIT).await;
    call_notes::collected(|| decide(app, context, headers, body))
}

/// Nothing waits here, so the snapshot is borrowed rather than shared: no counter but the key's own is touched.
fn decide(
    app: &App,
    context: &RequestContext,
    headers: &HeaderMap,
    body: Result<Bytes, ApiError>,
) -> Done<QuoteResponse> {
    let snapshot = app.engine.directory().snapshot();
    let key = authenticate(app, &snapshot, headers, context, Access::SecretKey)?;
    let configuration = &key.environment.configuration;
    let request = read(&body?, &configuration.fee_rules)?;
    let quote = tollgate_engine::quote(configuration, app.engine.clock(), &request)?;
    key.meters.quotes.fetch_add(1, Relaxed);
    Ok(respond::ok_written(|bytes| write(bytes, &request, &quote)))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = QuoteRequest)]
pub(crate) struct QuoteBody<'a> {
    #[serde(borrow)]
    #[schema(value_type = scalars::AmountInput, required)]
    amount_minor: Raw<'a>,
    #[serde(borrow)]
    #[schema(value_type = scalars::CurrencyInput, required)]
    currency: Raw<'a>,
    /// `web_card` where it is left out.
    #[serde(borrow)]
    #[schema(value_type = Option<words::PaymentMethod>)]
    payment_method: Raw<'a>,
    /// With `web_card` only; `payment_component` where it is left out.
    #[serde(borrow)]
    #[schema(value_type = Option<words::Flow>)]
    flow: Raw<'a>,
    #[schema(value_type = Option<scalars::MetadataInput>)]
    metadata: Option<MetadataField>,
    /// The card that will be charged. With it and `payer` the quote of a card fee that has a kind is exact.
    #[serde(borrow)]
    #[schema(value_type = Option<CardBody<'static>>)]
    card: Raw<'a>,
    #[serde(borrow)]
    #[schema(value_type = Option<PayerBody<'static>>)]
    payer: Raw<'a>,
    /// Whether the payment is one of a series: a subscription, installments. False where it is left out.
    #[serde(borrow)]
    #[schema(value_type = Option<bool>)]
    recurring: Raw<'a>,
    #[serde(borrow)]
    #[schema(value_type = Option<scalars::MethodTypeInput>)]
    payment_method_type: Raw<'a>,
}

/// The answer as it is written below, field by field.
#[derive(ToSchema)]
#[schema(as = Quote, rename_all = "camelCase")]
#[expect(dead_code, reason = "the answer is written straight into bytes; this is its description")]
pub(crate) struct QuoteResponse {
    #[schema(value_type = scalars::MinorUnits)]
    amount_minor: (),
    #[schema(value_type = scalars::CurrencyCode)]
    currency: (),
    #[schema(value_type = scalars::MinorUnits)]
    platform_fee_minor: (),
    #[schema(value_type = scalars::MinorUnits)]
    organization_fee_minor: (),
    #[schema(value_type = scalars::MinorUnits)]
    fee_minor: (),
    #[schema(value_type = scalars::MinorUnits)]
    total_debit_minor: (),
    breakdown: BreakdownResponse,
    routing: RoutingResponse,
    /// Only where the card fee has a kind.
    #[schema(nullable = false)]
    fee_decision: Option<FeeDecisionResponse<'static>>,
}

shape!(QuoteResponse);

/// What the fee was computed from.
#[derive(ToSchema)]
#[schema(as = FeeBreakdown, rename_all = "camelCase")]
#[expect(dead_code, reason = "as above")]
struct BreakdownResponse {
    version: u32,
    provider: String,
    #[schema(value_type = words::PaymentMethod)]
    payment_method: (),
    #[schema(value_type = scalars::CurrencyCode)]
    currency: (),
    #[schema(value_type = words::FeeChannel)]
    channel: (),
    /// The platform's, then the organization's.
    layers: Vec<LayerResponse>,
}

/// One scope's part of a fee.
#[derive(ToSchema)]
#[schema(as = FeeLayer, rename_all = "camelCase")]
#[expect(dead_code, reason = "as above")]
struct LayerResponse {
    #[schema(value_type = words::FeeScope)]
    scope: (),
    enabled: bool,
    #[schema(value_type = scalars::MinorUnits)]
    fixed_fee_minor: (),
    #[schema(minimum = 0, maximum = 10000)]
    percent_fee_bps: u32,
    #[schema(value_type = Option<scalars::MinorUnits>, required)]
    minimum_fee_minor: (),
    #[schema(value_type = Option<scalars::MinorUnits>, required)]
    cap_fee_minor: (),
    #[schema(value_type = scalars::MinorUnits)]
    fee_minor: (),
}

/// Reads a quote's body, naming every faulty field.
pub(crate) fn read(bytes: &[u8], rules: &Rules) -> Result<QuoteRequest, ApiError> {
    let body: QuoteBody<'_> = body::parse_object(bytes)?;
    let mut errors = FieldErrors::default();
    let principal = fields::amount("amountMinor", body.amount_minor, &mut errors);
    let method = fields::word(
        "paymentMethod",
        body.payment_method,
        PaymentMethod::WebCard,
        PaymentMethod::parse,
        "web_card, ach",
        &mut errors,
    );
    let currency = fields::currency(body.currency, method, &mut errors);
    let flow = match (method, body.flow) {
        (Some(PaymentMethod::Ach), None) => Some(None),
        (Some(PaymentMethod::Ach), Some(_)) => {
            errors.add("flow", "is only allowed with web_card; omit it for ach")
        }
        (_, raw) => fields::word(
            "flow",
            raw,
            Flow::PaymentComponent,
            Flow::parse,
            "payment_component, hosted_checkout",
            &mut errors,
        )
        .map(Some),
    };
    let metadata = metadata(body.metadata, bytes, &mut errors);
    let card_fee = card_fee_fields::read(
        &CardFeeFields {
            card: body.card,
            payer: body.payer,
            recurring: body.recurring,
            payment_method_type: body.payment_method_type,
        },
        method,
        rules,
        &mut errors,
    );
    let read = (|| {
        Some(QuoteRequest {
            principal: principal?,
            currency: currency?,
            method: method?,
            flow: flow?,
            metadata: metadata?,
            card_fee: card_fee?,
        })
    })();
    fields::complete(errors, read)
}

/// Writes the quote as callers see it.
pub(crate) fn write(bytes: &mut Vec<u8>, request: &QuoteRequest, quote: &Quote<'_>) {
    let (fee, target) = (&quote.fee, quote.route.target);
    json_writer::object(bytes, |it| {
        it.minor(field!("amountMinor"), fee.principal.into());
        it.plain(field!("currency"), request.currency.code());
        it.minor(field!("platformFeeMinor"), fee.platform.fee);
        it.minor(field!("organizationFeeMinor"), fee.organization.fee);
        it.minor(field!("feeMinor"), fee.fee);
        it.minor(field!("totalDebitMinor"), fee.total_debit);
        it.object(field!("breakdown"), |it| {
            it.number(field!("version"), BREAKDOWN_VERSION);
            it.text(field!("provider"), &target.provider);
            it.word(field!("paymentMethod"), request.method.as_str());
            it.plain(field!("currency"), request.currency.code());
            it.word(field!("channel"), target.channel.fee_channel());
            let layers = [("platform", &fee.platform), ("organization", &fee.organization)];
            it.list(field!("layers"), layers.into_iter(), write_layer);
        });
        it.object(field!("routing"), |it| write_route(it, &quote.route));
        if let Some(decision) = &quote.decision {
            it.object(field!("feeDecision"), |it| write_decision(it, decision, request.currency, fee));
        }
    });
}

fn write_layer(bytes: &mut Vec<u8>, (scope, fee): (&'static str, &LayerFee)) {
    json_writer::object(bytes, |it| {
        it.word(field!("scope"), scope);
        it.boolean(field!("enabled"), fee.layer.enabled);
        it.minor(field!("fixedFeeMinor"), fee.layer.fixed);
        it.number(field!("percentFeeBps"), fee.layer.percent.get().into());
        it.optional_minor(field!("minimumFeeMinor"), fee.layer.minimum);
        it.optional_minor(field!("capFeeMinor"), fee.layer.cap);
        it.minor(field!("feeMinor"), fee.fee);
    });
}

/// Code and rule of every reason as they are written, at the place of its code.
static REASONS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let fields = |code: ReasonCode| format!(r#""code":"{}","rule":"{}""#, code.as_str(), code.rule());
    ReasonCode::ALL.into_iter().map(fields).collect()
});

/// The fields of [`FeeDecisionResponse`].
fn write_decision(it: &mut ObjectWriter<'_>, decision: &FeeDecision, currency: Currency, fee: &FeeSnapshot) {
    it.word(field!("kind"), decision.kind.as_str());
    it.minor(field!("configuredFeeMinor"), decision.configured);
    it.minor(field!("feeMinor"), decision.fee);
    it.object(field!("range"), |it| {
        it.minor(field!("minMinor"), decision.range.min);
        it.minor(field!("maxMinor"), decision.range.max);
    });
    it.list(field!("reasons"), decision.reasons.iter(), |bytes, reason| {
        json_writer::object(bytes, |it| {
            it.ready(REASONS.get(reason.code as usize).map_or("", String::as_str));
            it.optional_text(field!("source"), reason.source.as_deref());
        });
    });
    it.text(field!("disclosure"), &decision.disclosure(currency, fee));
    it.text(field!("rulesVersion"), &decision.rules_version);
}

fn write_route(it: &mut ObjectWriter<'_>, route: &Route<'_>) {
    it.text(field!("provider"), &route.target.provider);
    it.word(field!("channel"), route.target.channel.as_str());
    it.optional_text(field!("matchedRuleId"), route.matched.map(|matched| &*matched.rule));
    let conditions = route.matched.into_iter().flat_map(|matched| matched.conditions.iter());
    it.texts(field!("matchedConditionIds"), conditions.map(|id| &**id));
    it.boolean(field!("fallback"), route.matched.is_none());
    if let Some(split) = route.destination.shares() {
        it.list(field!("split"), split.iter(), write_share);
    }
}

fn write_share(bytes: &mut Vec<u8>, Share { target, weight }: &Share) {
    json_writer::object(bytes, |it| {
        it.text(field!("provider"), &target.provider);
        it.word(field!("channel"), target.channel.as_str());
        it.number(field!("weight"), *weight);
    });
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tollgate_configuration::Configuration;
    use tollgate_engine::SystemClock;

    use super::*;

    #[test]
    fn a_split_lists_every_target_and_prices_the_heaviest() {
        let document = json!({
            "providers": {
                "a": {"adapter": "stripe", "credentials": {}},
                "b": {"adapter": "square", "credentials": {}, "environment": "sandbox"},
            },
            "routing": {"web_card": {"default": {"split": [
                {"provider": "a", "channel": "web_card", "weight": 30},
                {"provider": "b", "channel": "web_card", "weight": 70},
            ]}}},
        });
        let configuration = Configuration::read(&document, &Configuration::default()).unwrap();
        let request = read(br#"{"amountMinor":"100","currency":"USD"}"#, &configuration.fee_rules).unwrap();
        let mut bytes = Vec::new();
        write(&mut bytes, &request, &tollgate_engine::quote(&configuration, &SystemClock, &request).unwrap());
        let quote: Value = serde_json::from_slice(&bytes).unwrap();
        let split = document.pointer("/routing/web_card/default/split");
        assert_eq!(quote.pointer("/routing/split"), split);
        assert_eq!(quote.pointer("/routing/provider"), Some(&json!("b")));
        assert_eq!(quote.pointer("/breakdown/provider"), Some(&json!("b")));
    }

    #[test]
    fn a_decision_is_written_as_it_is_described() {
        let layer = json!({"enabled": true, "percentFeeBps": 350, "feeKind": "surcharge"});
        let document = json!({
            "providers": {"cards": {"adapter": "stripe", "credentials": {}, "options": {"apiVersion": "2026-10-28.endive"}}},
            "routing": {"web_card": {"default": {"provider": "cards", "channel": "web_card"}}},
            "fees": [{"provider": "cards", "paymentMethod": "web_card", "channel": "none", "currency": "USD", "organization": layer}],
            "settings": {"feeProgram": {
                "merchant": {"country": "US", "state": "CO", "mcc": "5999"},
                "cost": {"cards": {"percentBps": 290, "fixedMinor": "30"}},
                "noticeGivenOn": "2026-01-01", "entryNoticeAttested": true, "amexParityConfirmed": true,
            }},
        });
        let configuration = Configuration::read(&document, &Configuration::default()).unwrap();
        let order = br#"{"amountMinor":"12500","currency":"USD"}"#;
        let of_card = br#"{"amountMinor":"12500","currency":"USD","card":{"brand":"visa","funding":"credit"},
            "payer":{"country":"US","state":"CO"}}"#;
        for (body, fee) in [(&order[..], "0"), (&of_card[..], "250")] {
            let request = read(body, &configuration.fee_rules).unwrap();
            let quote = tollgate_engine::quote(&configuration, &SystemClock, &request).unwrap();
            let mut bytes = Vec::new();
            write(&mut bytes, &request, &quote);
            let written: Value = serde_json::from_slice(&bytes).unwrap();
            let decision = quote.decision.as_deref().unwrap();
            let described = FeeDecisionResponse::of(decision, request.currency, &quote.fee);
            assert_eq!(written["feeDecision"], serde_json::to_value(described).unwrap());
            assert_eq!(written["feeDecision"]["feeMinor"], fee);
        }
        for code in ReasonCode::ALL {
            assert_eq!(json!(code.rule()).to_string(), format!("\"{}\"", code.rule()), "it is not escaped");
            let fields: Value = serde_json::from_str(&format!("{{{}}}", REASONS[code as usize])).unwrap();
            assert_eq!(fields, json!({"code": code.as_str(), "rule": code.rule()}));
        }
    }
}
