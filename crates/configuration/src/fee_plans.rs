//! A cache of card fee plans, so that the rules are evaluated once per case and not for every payment.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use foldhash::fast::RandomState;
use jiff::civil::Date;
use tollgate_domain::{
    Flow,
    card_fee::{FeeKind, FeePlan, FeeShape, PaymentFacts},
};

/// Callers choose card and places, so the number of cases has no natural end. Every environment has a cache of its own.
const MAX_PLANS: usize = 256;

/// Plans by case. They belong to one configuration, whose values do not change once it decides; a clone starts empty.
#[derive(Debug, Default)]
pub(crate) struct FeePlans(RwLock<HashMap<PlanKey, Arc<FeePlan>, RandomState>>);

impl Clone for FeePlans {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// What a plan depends on besides the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PlanKey {
    pub(crate) kind: FeeKind,
    /// Its place among the configuration's providers.
    pub(crate) provider: usize,
    pub(crate) flow: Flow,
    pub(crate) facts: PaymentFacts,
    pub(crate) today: Date,
    pub(crate) shape: FeeShape,
}

impl FeePlans {
    pub(crate) fn get(&self, key: PlanKey, plan: impl FnOnce() -> FeePlan) -> Arc<FeePlan> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&key).map(Arc::clone);
        known.unwrap_or_else(|| {
            let plan = Arc::new(plan());
            let mut plans = self.0.write().unwrap_or_else(PoisonError::into_inner);
            if plans.len() >= MAX_PLANS {
                plans.clear();
            }
            plans.insert(key, Arc::clone(&plan));
            plan
        })
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use tollgate_domain::card_fee::FeeCase;

    use super::*;
    use crate::built_in_fee_rules;

    fn key(day: i8, year: i16) -> PlanKey {
        let (kind, flow, facts) = (FeeKind::Surcharge, Flow::PaymentComponent, PaymentFacts::default());
        let principal = tollgate_domain::Principal::new(12_500).unwrap();
        let shape = FeeShape::of(&tollgate_domain::fee::FeeEntry::default().assess(principal));
        PlanKey { kind, provider: 0, flow, facts, today: date(year, 1, day), shape }
    }

    fn plan(key: &PlanKey) -> FeePlan {
        let rules = built_in_fee_rules();
        let PlanKey { kind, flow, facts, today, shape, .. } = *key;
        let case = FeeCase {
            rules: &rules,
            program: None,
            kind,
            provider: "cards",
            reports_surcharge: true,
            flow,
            facts,
            today,
        };
        FeePlan::new(&case, shape)
    }

    #[test]
    fn a_case_is_evaluated_once_and_another_by_itself() {
        let (plans, mut evaluated) = (FeePlans::default(), 0);
        for day in [1, 1, 2, 1] {
            plans.get(key(day, 2026), || {
                evaluated += 1;
                plan(&key(day, 2026))
            });
        }
        assert_eq!(evaluated, 2);
    }

    #[test]
    fn there_is_an_end_of_them_and_a_clone_has_none() {
        let plans = FeePlans::default();
        for year in 1_000..1_300 {
            plans.get(key(1, year), || plan(&key(1, year)));
            assert!(plans.0.read().unwrap().len() <= MAX_PLANS);
        }
        assert!(!plans.0.read().unwrap().is_empty());
        assert!(plans.clone().0.read().unwrap().is_empty());
    }
}
