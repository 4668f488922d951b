//! `POST /admin/v1/environments/<id>/explain`: a quote with its reasons, by the current configuration.

use serde_json::value::RawValue;
use tollgate_domain::{
    fee::{Bound, LayerFee},
    routing::{ConditionResult, RuleOutcome, RuleResult},
};
use tollgate_engine::{ExplainedFallback, Price, Quote, QuoteRequest};

use crate::{
    client_api::quote::{self, QuoteBody},
    prelude::*,
    response::fee_decision::FeeRuleResponse,
};

responses! {
    ExplainResponse<'a> as Explanation {
        config_version: u64,
        /// As the client API answers it; null where there is no route, and `unavailable` then says why.
        #[schema(value_type = Option<crate::client_api::quote::QuoteResponse>, required)]
        quote: Option<Box<RawValue>>,
        unavailable: Option<String>,
        rules: Vec<RuleResponse<'a>>,
        /// The targets that are tried, in order, where the first cannot take a payment.
        fallbacks: Vec<FallbackResponse>,
        fee_steps: Vec<FeeStepsResponse>,
        /// Every rule about the card fee, in the order in which they are looked at; empty where it has no kind.
        fee_rules: Vec<FeeRuleResponse>,
    }

    /// A target that is tried where the one before cannot take a payment.
    FallbackResponse as ExplainedFallback {
        provider: String,
        channel: words::Channel,
        total_debit_minor: MinorUnits,
        /// Why it would be passed over; null if it would be tried.
        skipped: Option<String>,
    }

    RuleResponse<'a> as RuleVerdict {
        id: &'a str,
        outcome: words::RuleOutcome,
        conditions: Vec<ConditionResponse<'a>>,
    }

    ConditionResponse<'a> as ConditionVerdict {
        id: &'a str,
        field: &'a str,
        op: words::ConditionOp,
        holds: bool,
        /// What the payment had; null where it had nothing.
        found: Option<&'a str>,
    }

    FeeStepsResponse as FeeSteps {
        scope: words::FeeScope,
        enabled: bool,
        fixed_fee_minor: MinorUnits,
        percent_part_minor: MinorUnits,
        before_bounds_minor: MinorUnits,
        /// `minimum` or `cap`, whichever had the last word.
        bound: Option<words::FeeBound>,
        fee_minor: MinorUnits,
    }
}

pub(crate) async fn handle(
    operator: Operator,
    body: JsonBody<QuoteBody<'static>>,
) -> Done<ExplainResponse<'static>> {
    let environment = operator.path("environment")?;
    let body = body.bytes(&operator.headers).await?;
    let engine = &operator.app.engine;
    let snapshot = engine.directory().snapshot();
    let view = snapshot.environment(environment).ok_or_else(not_found_here)?;
    let request = quote::read(&body, &view.configuration.fee_rules)?;
    let explanation = tollgate_engine::explain(&view.configuration, engine.clock(), &request);
    let (written, unavailable) = match explanation.quote() {
        Ok(quote) => (Some(written(&request, &quote)?), None),
        Err(unroutable) => (None, Some(unroutable.to_string())),
    };
    respond::ok(&ExplainResponse {
        config_version: view.config_version,
        quote: written,
        unavailable,
        rules: explanation.routing.rules.iter().map(rule).collect(),
        fallbacks: engine.explain_fallbacks(view, &request, &explanation).map(fallback).collect(),
        fee_steps: explanation.price.as_ref().map_or_else(
            |_| Vec::new(),
            |Price { fee, .. }| {
                vec![fee_steps("platform", &fee.platform), fee_steps("organization", &fee.organization)]
            },
        ),
        fee_rules: explanation.card_fee.iter().map(FeeRuleResponse::of).collect(),
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
        channel: explained.target.channel.as_str().into(),
        total_debit_minor: explained.fee.total_debit.into(),
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
    RuleResponse {
        id: &verdict.id,
        outcome: outcome.into(),
        conditions: verdict.conditions.iter().map(condition).collect(),
    }
}

fn condition(verdict: &ConditionResult) -> ConditionResponse<'_> {
    ConditionResponse {
        id: &verdict.id,
        field: &verdict.field,
        op: verdict.op.into(),
        holds: verdict.holds,
        found: verdict.found.as_deref(),
    }
}

pub(crate) fn fee_steps(scope: &'static str, fee: &LayerFee) -> FeeStepsResponse {
    FeeStepsResponse {
        scope: scope.into(),
        enabled: fee.layer.enabled,
        fixed_fee_minor: fee.layer.fixed.into(),
        percent_part_minor: fee.percent_part.into(),
        before_bounds_minor: fee.before_bounds.into(),
        bound: fee
            .bound
            .map(|bound| match bound {
                Bound::Minimum => "minimum",
                Bound::Cap => "cap",
            })
            .map(Into::into),
        fee_minor: fee.fee.into(),
    }
}
