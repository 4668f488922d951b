//! The decision about a payment's card fee, by what an environment configures.

use jiff::civil::Date;
use tollgate_domain::{
    Flow,
    card_fee::{self, ExplainedStep, FeeCase, FeeDecision, FeeKind, FeePlan, FeeShape, PaymentFacts},
    fee::FeeSnapshot,
};

use crate::{Configuration, fee_plans::PlanKey, provider::Provider};

impl Configuration {
    /// How much of a configured card fee may be asked for, and why.
    pub fn decide_card_fee(
        &self,
        kind: FeeKind,
        provider: &str,
        configured: &FeeSnapshot,
        flow: Flow,
        facts: PaymentFacts,
        today: Date,
    ) -> FeeDecision {
        let shape = FeeShape::of(configured);
        let plan = || FeePlan::new(&self.fee_case(kind, provider, flow, facts, today), shape);
        match self.providers.position(provider) {
            Some(provider) => {
                let key = PlanKey { kind, provider, flow, facts, today, shape };
                self.fee_plans.get(key, plan).decide(configured)
            }
            None => plan().decide(configured),
        }
    }

    /// The same rule by rule.
    pub fn explain_card_fee(
        &self,
        kind: FeeKind,
        provider: &str,
        configured: &FeeSnapshot,
        flow: Flow,
        facts: PaymentFacts,
        today: Date,
    ) -> Vec<ExplainedStep> {
        card_fee::explain(&self.fee_case(kind, provider, flow, facts, today), configured)
    }

    pub(crate) fn fee_case<'a>(
        &'a self,
        kind: FeeKind,
        provider: &'a str,
        flow: Flow,
        facts: PaymentFacts,
        today: Date,
    ) -> FeeCase<'a> {
        let reports =
            |provider: &Provider| provider.adapter.reports_surcharge(provider.options.api_version.as_deref());
        FeeCase {
            rules: &self.fee_rules,
            program: self.settings.fee_program.as_ref(),
            kind,
            provider,
            reports_surcharge: self.providers.get(provider).is_some_and(reports),
            flow,
            facts,
            today,
        }
    }
}
