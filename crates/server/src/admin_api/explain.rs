//! `POST /admin/v1/environments/<id>/explain`: a quote with its reasons, by the current configuration.

use axum::body::Body;
use serde::Serialize;
use serde_json::value::RawValue;
use tollgate_domain::{
    Minor,
    fee::{Bound, LayerFee},
    routing::{ConditionResult, RuleOutcome, RuleResult},
};
use tollgate_engine::{ExplainedFallback, Quote, QuoteRequest};
use utoipa::ToSchema;

use crate::{
    admin_api::operator::{Operator, not_found_here},
    client_api::quote,
    json::minor::digits,
    reference::{scalars, words},
    request::body,
    response::{
        error::ApiError,
        respond::{self, ApiResult},
    },
};

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Explanation)]
pub(crate) struct ExplainResponse<'a> {
    config_version: u64,
    /// As the client API answers it; null where there is no route, and `unavailable` then says why.
    #[schema(value_type = Option<crate::client_api::quote::QuoteResponse>, required)]
    quote: Option<Box<RawValue>>,
    #[schema(required)]
    unavailable: Option<String>,
    rules: Vec<RuleResponse<'a>>,
    /// The targets that are tried, in order, where the first cannot take a payment.
    fallbacks: Vec<FallbackResponse>,
    fee_steps: Vec<FeeStepsResponse>,
}

/// A target that is tried where the one before cannot take a payment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ExplainedFallback)]
pub(crate) struct FallbackResponse {
    provider: String,
    #[schema(value_type = words::Channel)]
    channel: &'static str,
    #[serde(serialize_with = "digits")]
    #[schema(value_type = scalars::MinorUnits)]
    total_debit_minor: Minor,
    /// Why it would be passed over; null if it would be tried.
    #[schema(required)]
    skipped: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = RuleVerdict)]
pub(crate) struct RuleResponse<'a> {
    id: &'a str,
    #[schema(value_type = words::RuleOutcome)]
    outcome: &'static str,
    conditions: Vec<ConditionResponse<'a>>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = ConditionVerdict)]
pub(crate) struct ConditionResponse<'a> {
    id: &'a str,
    field: &'a str,
    #[schema(value_type = words::ConditionOp)]
    op: &'static str,
    holds: bool,
    /// What the payment had; null where it had nothing.
    #[schema(required)]
    found: Option<&'a str>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FeeSteps)]
pub(crate) struct FeeStepsResponse {
    #[schema(value_type = words::FeeScope)]
    scope: &'static str,
    enabled: bool,
    #[serde(serialize_with = "digits")]
    #[schema(value_type = scalars::MinorUnits)]
    fixed_fee_minor: Minor,
    #[serde(serialize_with = "digits")]
    #[schema(value_type = scalars::MinorUnits)]
    percent_part_minor: Minor,
    #[serde(serialize_with = "digits")]
    #[schema(value_type = scalars::MinorUnits)]
    before_bounds_minor: Minor,
    /// `minimum` or `cap`, whichever had the last word.
    #[schema(value_type = Option<words::FeeBound>, required)]
    bound: Option<&'static str>,
    #[serde(serialize_with = "digits")]
    #[schema(value_type = scalars::MinorUnits)]
    fee_minor: Minor,
}

pub(crate) async fn handle(operator: Operator, body: Body) -> ApiResult {
    let environment = operator.path("environment")?;
    let body = body::read_json(&operator.headers, body, body::CLIENT_LIMIT).await?;
    let request = quote::read(&body)?;
    let snapshot = operator.app.engine.directory().snapshot();
    let view = snapshot.environment(environment).ok_or_else(not_found_here)?;
    let explanation = tollgate_engine::explain(&view.configuration, &request);
    let (written, unavailable) = match explanation.quote() {
        Ok(quote) => (Some(written(&request, &quote)?), None),
        Err(unroutable) => (None, Some(unroutable.to_string())),
    };
    respond::ok(&ExplainResponse {
        config_version: view.config_version,
        quote: written,
        unavailable,
        rules: explanation.routing.rules.iter().map(rule).collect(),
        fallbacks: operator
            .app
            .engine
            .explain_fallbacks(view, &request, &explanation)
            .map(fallback)
            .collect(),
        fee_steps: explanation.fee.map_or_else(
            |_| Vec::new(),
            |fee| vec![fee_steps("platform", &fee.platform), fee_steps("organization", &fee.organization)],
        ),
    })
}

fn written(request: &QuoteRequest, quote: &Quote<'_>) -> Result<Box<RawValue>, ApiError> {
    let mut bytes = Vec::new();
    quote::write(&mut bytes, request, quote);
    serde_json::from_slice(&bytes).map_err(|error| ApiError::internal(error.to_string()))
}

fn fallback(explained: ExplainedFallback<'_>) -> FallbackResponse {
    FallbackResponse {
        provider: explained.target.provider.to_string(),
        channel: explained.target.channel.as_str(),
        total_debit_minor: explained.fee.total_debit,
        skipped: explained.skipped,
    }
}

pub(crate) fn rule(verdict: &RuleResult) -> RuleResponse<'_> {
    let outcome = match verdict.outcome {
        RuleOutcome::Disabled => "disabled",
        RuleOutcome::Matched => "matched",
        RuleOutcome::Failed => "failed",
        RuleOutcome::NotTried => "not_tried",
    };
    RuleResponse { id: &verdict.id, outcome, conditions: verdict.conditions.iter().map(condition).collect() }
}

fn condition(verdict: &ConditionResult) -> ConditionResponse<'_> {
    ConditionResponse {
        id: &verdict.id,
        field: &verdict.field,
        op: verdict.op,
        holds: verdict.holds,
        found: verdict.found.as_deref(),
    }
}

pub(crate) fn fee_steps(scope: &'static str, fee: &LayerFee) -> FeeStepsResponse {
    FeeStepsResponse {
        scope,
        enabled: fee.layer.enabled,
        fixed_fee_minor: fee.layer.fixed,
        percent_part_minor: fee.percent_part,
        before_bounds_minor: fee.before_bounds,
        bound: fee.bound.map(|bound| match bound {
            Bound::Minimum => "minimum",
            Bound::Cap => "cap",
        }),
        fee_minor: fee.fee,
    }
}
