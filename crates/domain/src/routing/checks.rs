//! Whether a payment's position satisfies everything a rule demands, by comparing integers only.

use std::{cmp::Reverse, collections::HashMap, ops::Range};

use super::{axis::Position, ranges::Ranges};

/// What a rule admits: each axis it mentions once, with the coordinates it takes there.
pub(super) type Demands = Vec<(usize, Ranges)>;

/// The demands of all rules. Rules that share a demand share its check, and a decision makes each check at most once:
/// where very many rules are found together, it is because they demand the same.
#[derive(Debug, Clone)]
pub(super) struct Checks {
    /// Where in `numbers` those of each rule lie, by rule number.
    of_rule: Vec<Range<usize>>,
    /// Numbers of checks, in rule order.
    numbers: Vec<usize>,
    distinct: Vec<Check>,
    known: HashMap<(usize, Ranges), usize>,
}

/// A demand on one axis.
#[derive(Debug, Clone)]
struct Check {
    axis: usize,
    admitted: Ranges,
}

/// The checks made so far for one payment, by number.
pub(super) struct CheckResults(Vec<Option<bool>>);

impl Checks {
    /// No checks yet, for this many rules.
    pub(super) fn new(rules: usize) -> Self {
        Self { of_rule: vec![0..0; rules], numbers: Vec::new(), distinct: Vec::new(), known: HashMap::new() }
    }

    /// Keeps what a rule demands.
    pub(super) fn keep(&mut self, rule: usize, demands: Demands) {
        let first = self.numbers.len();
        for demand in demands {
            let next = self.distinct.len();
            let number = *self.known.entry(demand.clone()).or_insert(next);
            if number == next {
                let (axis, admitted) = demand;
                self.distinct.push(Check { axis, admitted });
            }
            self.numbers.push(number);
        }
        if let Some(of_rule) = self.of_rule.get_mut(rule) {
            *of_rule = first..self.numbers.len();
        }
    }

    /// Ends the keeping: a rule's commonest checks come first, since those are likely made already, and what is only
    /// needed to recognise a demand is let go.
    pub(super) fn seal(&mut self) {
        let mut uses = vec![0_usize; self.distinct.len()];
        for number in &self.numbers {
            if let Some(uses) = uses.get_mut(*number) {
                *uses += 1;
            }
        }
        for range in &self.of_rule {
            if let Some(numbers) = self.numbers.get_mut(range.clone()) {
                numbers.sort_by_key(|number| Reverse(uses.get(*number).copied()));
            }
        }
        self.known = HashMap::new();
    }

    /// No verdicts yet, for one payment.
    pub(super) fn verdicts(&self) -> CheckResults {
        CheckResults(vec![None; self.distinct.len()])
    }

    /// Whether the position satisfies the rule.
    pub(super) fn pass(&self, rule: usize, position: &Position, verdicts: &mut CheckResults) -> bool {
        let numbers = self.of_rule.get(rule).and_then(|range| self.numbers.get(range.clone()));
        numbers.unwrap_or_default().iter().all(|number| {
            let Some(verdict) = verdicts.0.get_mut(*number) else { return false };
            *verdict.get_or_insert_with(|| {
                let check = self.distinct.get(*number);
                check.is_some_and(|check| check.admitted.contains(position.coordinate(check.axis)))
            })
        })
    }
}
