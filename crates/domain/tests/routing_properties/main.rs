//! Routing against a third, deliberately naive evaluator: `decide`, `explain` and it must always agree.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

#[path = "../common/mod.rs"]
mod common;
mod draw;
mod naive;

use std::cell::RefCell;

use draw::Draw;
use naive::{NaivePayment, NaiveTable, Outcome};
use proptest::prelude::*;
use tollgate_domain::routing::{Decision, Explanation, RoutingTable, RuleOutcome, Unroutable};

const CASES: u32 = 110_000;
const PAYMENTS_PER_TABLE: usize = 3;

/// How often each outcome was met, so that the test cannot come to say nothing.
#[derive(Debug, Default)]
struct Seen {
    payments: u32,
    first_rule: u32,
    later_rule: u32,
    behind_a_crowd: u32,
    fallback: u32,
    incomplete: u32,
    disabled: u32,
}

#[test]
fn decide_explain_and_a_naive_reading_agree() {
    let seen = RefCell::new(Seen::default());
    // Shrinking a seed leads nowhere, so the first failing one is reported.
    common::check(CASES, &any::<u64>().no_shrink(), |seed| {
        let mut draw = Draw::new(seed);
        let naive = NaiveTable::draw(&mut draw);
        let table = naive.build();
        for _ in 0..PAYMENTS_PER_TABLE {
            let payment = NaivePayment::draw(&mut draw);
            let outcome = naive.route(&payment);
            check_payment(&table, &naive, &payment, &outcome).map_err(|reason| {
                TestCaseError::fail(format!("seed {seed}: {reason}\n{naive:#?}\n{payment:#?}"))
            })?;
            seen.borrow_mut().note(&outcome);
        }
        Ok(())
    });
    seen.into_inner().assert_everything_was_met();
}

fn check_payment(
    table: &RoutingTable,
    naive: &NaiveTable,
    payment: &NaivePayment,
    outcome: &Outcome,
) -> Result<(), String> {
    let metadata = payment.metadata();
    let facts = payment.facts(&metadata);
    let decided = table.decide(&facts);
    if !is_as_expected(&decided, naive, outcome) {
        return Err(format!("decide says {decided:?}, expected {outcome:?}"));
    }
    let explained = table.explain(&facts);
    if explained.decision != decided {
        return Err(format!("explain says {:?}, decide says {decided:?}", explained.decision));
    }
    check_verdicts(&explained, naive, payment, outcome)
}

fn is_as_expected(decided: &Result<Decision, Unroutable>, naive: &NaiveTable, outcome: &Outcome) -> bool {
    match (decided, outcome) {
        (Ok(decision), Outcome::Rule(at)) => {
            let rule = &naive.rules[*at];
            let matched = decision.matched.as_ref();
            let conditions =
                matched.map(|matched| matched.conditions.iter().map(ToString::to_string).collect());
            matched.is_some_and(|matched| *matched.rule == rule.id)
                && conditions
                    == Some(rule.conditions.iter().map(|condition| condition.id.clone()).collect::<Vec<_>>())
                && *decision.destination.target().provider == rule.provider
        }
        (Ok(decision), Outcome::Default) => {
            decision.matched.is_none() && &*decision.destination.target().provider == "default"
        }
        (Err(Unroutable::Incomplete), Outcome::Incomplete)
        | (Err(Unroutable::Disabled), Outcome::Disabled) => true,
        _ => false,
    }
}

fn check_verdicts(
    explained: &Explanation,
    naive: &NaiveTable,
    payment: &NaivePayment,
    outcome: &Outcome,
) -> Result<(), String> {
    let winner = if let Outcome::Rule(at) = outcome { *at } else { naive.rules.len() };
    for (at, rule) in naive.rules.iter().enumerate() {
        let verdict = &explained.rules[at];
        let expected = match rule.enabled {
            _ if !naive.enabled || at > winner => RuleOutcome::NotTried,
            false => RuleOutcome::Disabled,
            true if at == winner => RuleOutcome::Matched,
            true => RuleOutcome::Failed,
        };
        if verdict.outcome != expected || *verdict.id != rule.id {
            return Err(format!("rule {at} is {verdict:?}, expected {expected:?}"));
        }
        let tried = matches!(expected, RuleOutcome::Matched | RuleOutcome::Failed);
        let conditions = if tried { rule.conditions.as_slice() } else { &[] };
        if verdict.conditions.len() != conditions.len() {
            return Err(format!("rule {at} has the wrong number of verdicts"));
        }
        for (verdict, condition) in verdict.conditions.iter().zip(conditions) {
            let found = payment.look_at(&condition.field);
            let same = verdict.holds == condition.holds(payment)
                && verdict.found.is_none() == found.is_none()
                && found.flatten().is_none_or(|text| verdict.found == Some(text))
                && verdict.field == condition.field
                && verdict.op == condition.op
                && *verdict.id == condition.id;
            if !same {
                return Err(format!("rule {at}: {verdict:?} for {condition:?}"));
            }
        }
    }
    Ok(())
}

impl Seen {
    fn note(&mut self, outcome: &Outcome) {
        self.payments += 1;
        *match outcome {
            Outcome::Rule(0) => &mut self.first_rule,
            Outcome::Rule(1..32) => &mut self.later_rule,
            Outcome::Rule(_) => &mut self.behind_a_crowd,
            Outcome::Default => &mut self.fallback,
            Outcome::Incomplete => &mut self.incomplete,
            Outcome::Disabled => &mut self.disabled,
        } += 1;
    }

    fn assert_everything_was_met(&self) {
        let common =
            [self.first_rule, self.later_rule, self.fallback, self.incomplete].into_iter().min().unwrap();
        assert!(common >= self.payments / 20, "{self:?}");
        assert!(self.disabled >= self.payments / 100, "{self:?}");
        assert!(self.behind_a_crowd >= 200, "{self:?}");
        println!("{self:?}");
    }
}
