//! Why a card fee is what it is, as callers and operators see it.

use tollgate_domain::{
    Currency,
    card_fee::{ExplainedStep, FeeDecision, Reason, Side},
    fee::FeeSnapshot,
};

use crate::types::prelude::*;

responses! {
    /// What was decided about a card fee that has a kind.
    FeeDecisionResponse<'a> as FeeDecision {
        kind: words::FeeKind,
        /// What the configuration would charge.
        configured_fee_minor: MinorUnits,
        /// What may be charged as things are known now.
        fee_minor: MinorUnits,
        range: FeeRangeResponse,
        /// Why: the first rule that stops the fee, or the lowest limit and, behind it, those that are just as low (network, merchant's
        /// place, payer's place, cost). `explain` shows every rule.
        reasons: Vec<FeeReasonResponse<'a>>,
        /// What the payer must be shown before agreeing.
        disclosure: String,
        /// The version of the rules it was decided by.
        rules_version: &'a str,
    }

    /// The least and the most that the fee can become once card and payer are known.
    FeeRangeResponse as FeeRange {
        min_minor: MinorUnits,
        max_minor: MinorUnits,
    }

    FeeReasonResponse<'a> as FeeReason {
        code: words::FeeReasonCode,
        /// The rule as a sentence.
        rule: &'static str,
        /// Where it is written; null where it is the configuration itself.
        source: Option<&'a str>,
    }

    /// A rule about a card fee, and what it made of this one.
    FeeRuleResponse as FeeRule {
        code: words::FeeReasonCode,
        rule: &'static str,
        /// Whose place it is about; null if it is about the payment.
        side: Option<words::FeeRuleSide>,
        /// The place whose rule it is, such as `US-GA`.
        place: Option<String>,
        /// The most it allows; null where it limits nothing.
        limit_minor: Option<MinorUnits>,
        /// Whether it stops the fee, or lowers what is configured.
        applies: bool,
        source: Option<String>,
    }
}

impl<'a> FeeDecisionResponse<'a> {
    pub(crate) fn of(decision: &'a FeeDecision, currency: Currency, fee: &FeeSnapshot) -> Self {
        let reason = |reason: &'a Reason| FeeReasonResponse {
            code: reason.code.as_str().into(),
            rule: reason.code.rule(),
            source: reason.source.as_deref(),
        };
        Self {
            kind: decision.kind.as_str().into(),
            configured_fee_minor: decision.configured.into(),
            fee_minor: decision.fee.into(),
            range: FeeRangeResponse {
                min_minor: decision.range.min.into(),
                max_minor: decision.range.max.into(),
            },
            reasons: decision.reasons.iter().map(reason).collect(),
            disclosure: decision.disclosure(currency, fee),
            rules_version: &decision.rules_version,
        }
    }
}

impl FeeRuleResponse {
    pub(crate) fn of(step: &ExplainedStep) -> Self {
        Self {
            code: step.code.as_str().into(),
            rule: step.code.rule(),
            side: step.side.map(|side| match side {
                Side::Merchant => "merchant".into(),
                Side::Payer => "payer".into(),
            }),
            place: step.place.map(|place| place.to_string()),
            limit_minor: step.limit.map(Into::into),
            applies: step.applies,
            source: step.source.as_deref().map(str::to_owned),
        }
    }
}
