//! The decision rule by rule.

use std::sync::Arc;

use crate::{
    card_fee::{
        FeeCase, ReasonCode,
        facts::Place,
        limits::{Asked, Check, FeeShape},
        plan::source_of,
    },
    fee::FeeSnapshot,
    money::Minor,
};

pub use crate::card_fee::limits::Side;

/// A rule that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainedStep {
    pub code: ReasonCode,
    /// Whose place it is about.
    pub side: Option<Side>,
    /// The place whose rule it is.
    pub place: Option<Place>,
    /// The most it allows; zero for a rule that stops the fee.
    pub limit: Option<Minor>,
    /// Whether it stops the fee, or lowers what is configured.
    pub applies: bool,
    pub source: Option<Arc<str>>,
}

/// Every rule about a fee, in the order in which they are looked at: first those that stop it, then those that limit it.
pub fn explain(case: &FeeCase<'_>, configured: &FeeSnapshot) -> Vec<ExplainedStep> {
    let asked = Asked::new(case, FeeShape::of(configured));
    let step = |code, side, limit: Option<Minor>, applies| ExplainedStep {
        code,
        side,
        place: side.and_then(|side| asked.rule(side)).map(|rule| rule.place),
        limit,
        applies,
        source: source_of(&asked, code, side),
    };
    let stops = Check::of(case.kind).iter().map(|check| {
        let stops = asked.stops(*check);
        step(check.code(), check.side(), stops.then_some(Minor::ZERO), stops)
    });
    let limits = asked.limits().map(|limit| {
        let most = limit.cap.of(configured.principal);
        step(limit.code, limit.side, Some(most), most < configured.fee)
    });
    stops.chain(limits).collect()
}
