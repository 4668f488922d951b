//! Finds the first matching rule without trying them all.
//!
//! When a table is made, every condition becomes an axis and a set of coordinates on it (see [`super::axis`]), and
//! conditions of one rule on one axis become one set. A rule is *filed* in trees that lead from a payment's coordinate
//! to the rules wanting it. What is found is then *checked* on all its axes, which compares a few integers.
//!
//! A decision costs
//! - one binary search for each field of the payment that rules mention: it grows with the logarithm of the number of
//!   rules, and with the payment's own metadata;
//! - a walk from leaf to root in each tree looked at, again a logarithm;
//! - a few nanoseconds for each rule found; no text is looked at again.
//!
//! So a rule costs something only if the condition it is filed under holds. To make that rare, a rule is filed where
//! it has the least company: of `metadata.tier eq gold` in every rule and `metadata.sku eq …` in one, under the
//! second. Rules whose every place is crowded form a crowd, which a payment narrows down axis by axis (see
//! [`super::crowd`]).
//!
//! The worst table is one large crowd whose rules nearly match and fail each in its own way. There the cost grows with
//! the number of conditions that hold, about a nanosecond each.

use std::collections::HashSet;

use super::{
    Facts, Rule,
    axis::Axes,
    checks::{Checks, Demands},
    crowd::Crowd,
    crowds::Crowds,
    filing::Scattered,
    ranges::Ranges,
};

/// A rule with less company than this has a good place.
const COMPANY_MAX: usize = 32;
/// An axis narrows the crowd if at least one rule in this many mentions it; others would cost more than they save.
const RULES_PER_MENTION_MAX: usize = 64;

/// The enabled rules, by number in the table.
#[derive(Debug, Clone)]
pub(super) struct Index {
    axes: Axes,
    scattered: Scattered,
    crowd: Crowd,
    checks: Checks,
    /// The first rule without conditions: it always matches, and no rule behind it can win.
    catch_all: Option<usize>,
}

impl Index {
    /// Compiles the rules.
    pub(super) fn new(rules: &[Rule]) -> Self {
        let catch_all = rules.iter().position(|rule| rule.enabled && rule.conditions.is_empty());
        let live = || {
            rules.iter().take(catch_all.unwrap_or(rules.len())).enumerate().filter(|(_, rule)| rule.enabled)
        };
        let axes = Axes::of(live().map(|(_, rule)| rule));
        let lengths = axes.lengths();
        let demands = live().filter_map(|(number, rule)| Some((number, demands(&axes, rule)?)));
        // Of rules that demand the same only the first can win.
        let mut seen = HashSet::new();
        let demands: Vec<(usize, Demands)> =
            demands.filter(|(_, demands)| seen.insert(demands.clone())).collect();
        let crowds = Crowds::new(&lengths, &demands);

        let narrows = |axis: usize| crowds.mentions(axis) > rules.len() / RULES_PER_MENTION_MAX;
        let mut crowd = Crowd::new(lengths.iter().copied().enumerate().filter(|(axis, _)| narrows(*axis)));
        let mut scattered = Scattered::new(&lengths);
        let mut checks = Checks::new(rules.len());
        for (rule, demands) in demands {
            let company = |(axis, admitted): &&(usize, Ranges)| crowds.company(*axis, admitted);
            let Some(best @ (axis, admitted)) = demands.iter().min_by_key(company) else { continue };
            let best = company(&best);
            let crowded = best.rules >= COMPANY_MAX || (best.found_without_key && rules.len() >= COMPANY_MAX);
            // A rule with a single demand is found by those payments only that it wants.
            if crowded && demands.len() > 1 && demands.iter().any(|(axis, _)| narrows(*axis)) {
                crowd.add(rule, &demands);
            } else {
                scattered.file(rule, *axis, admitted);
            }
            checks.keep(rule, demands);
        }
        checks.seal();
        Self { axes, scattered, crowd, checks, catch_all }
    }

    /// The number of the first enabled rule whose conditions all hold.
    pub(super) fn first_match(&self, facts: &Facts<'_>) -> Option<usize> {
        let position = self.axes.locate(facts);
        let mut verdicts = self.checks.verdicts();
        let mut best = self.catch_all;
        let mut try_in_order = |candidates: &mut dyn Iterator<Item = usize>| {
            // Candidates ascend, so their first match is their best, and nothing behind the best so far can win.
            let mut worth_trying = candidates.take_while(|rule| best.is_none_or(|best| *rule < best));
            best = worth_trying.find(|rule| self.checks.pass(*rule, &position, &mut verdicts)).or(best);
        };
        for list in self.scattered.lists(&position) {
            try_in_order(&mut list.iter().copied());
        }
        try_in_order(&mut self.crowd.candidates(&position));
        best
    }
}

/// What the rule admits on each axis it mentions; `None` if its conditions contradict one another.
fn demands(axes: &Axes, rule: &Rule) -> Option<Demands> {
    let mut demands = Demands::new();
    for condition in &rule.conditions {
        let (number, admitted) = axes.admitted(condition)?;
        match demands.iter_mut().find(|(known, _)| *known == number) {
            Some((_, so_far)) => *so_far = so_far.intersection(&admitted),
            None => demands.push((number, admitted)),
        }
    }
    demands.sort_unstable_by_key(|(axis, _)| *axis);
    demands.iter().all(|(_, admitted)| !admitted.as_slice().is_empty()).then_some(demands)
}
