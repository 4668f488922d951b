//! Why a payment goes where it goes: every rule, every condition, one by one.
//!
//! This walks the rules plainly and shares nothing with the index behind [`RoutingTable::decide`], so that each can be
//! checked against the other.

use std::sync::Arc;

use super::{Condition, Decision, Facts, Matched, RoutingTable, Rule, Unroutable, condition::FieldValue};

/// The whole walk through a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Every rule of the table, in order.
    pub rules: Vec<RuleResult>,
    /// Where it led.
    pub decision: Result<Decision, Unroutable>,
}

/// The outcome of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleResult {
    /// The rule's id.
    pub id: Arc<str>,
    /// Whether it won, and if not, why.
    pub outcome: RuleOutcome,
    /// Every condition of a rule that was tried, also those behind the first that failed; empty otherwise.
    pub conditions: Vec<ConditionResult>,
}

/// Whether a rule won, and if not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleOutcome {
    /// The rule is switched off and was passed over.
    Disabled,
    /// All conditions held: this rule decided.
    Matched,
    /// At least one condition did not hold.
    Failed,
    /// An earlier rule had won, or the whole table is disabled.
    NotTried,
}

/// The outcome of a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionResult {
    /// The condition's id.
    pub id: Arc<str>,
    /// The field as a configuration writes it.
    pub field: String,
    /// The test's name.
    pub op: &'static str,
    /// Whether it held.
    pub holds: bool,
    /// What the payment had there; `None` if the field is missing.
    pub found: Option<String>,
}

impl RoutingTable {
    /// Tries the rules in order and keeps every verdict. The decision is the one [`RoutingTable::decide`] makes.
    pub fn explain(&self, facts: &Facts<'_>) -> Explanation {
        let mut winner = None;
        let mut rules = Vec::with_capacity(self.rules().len());
        for rule in self.rules() {
            let verdict = if !self.enabled() || winner.is_some() {
                RuleResult {
                    id: Arc::clone(&rule.id),
                    outcome: RuleOutcome::NotTried,
                    conditions: Vec::new(),
                }
            } else {
                try_rule(rule, facts)
            };
            if verdict.outcome == RuleOutcome::Matched {
                winner = Some(rule);
            }
            rules.push(verdict);
        }
        Explanation { rules, decision: self.conclude(winner) }
    }

    fn conclude(&self, winner: Option<&Rule>) -> Result<Decision, Unroutable> {
        match (self.enabled(), winner, self.default_destination()) {
            (false, _, _) => Err(Unroutable::Disabled),
            (true, Some(rule), _) => {
                let conditions = rule.conditions.iter().map(|condition| Arc::clone(condition.id())).collect();
                let matched = Matched { rule: Arc::clone(&rule.id), conditions };
                Ok(Decision { destination: rule.target.clone(), matched: Some(matched) })
            }
            (true, None, Some(default)) => Ok(Decision { destination: default.clone(), matched: None }),
            (true, None, None) => Err(Unroutable::Incomplete),
        }
    }
}

fn try_rule(rule: &Rule, facts: &Facts<'_>) -> RuleResult {
    let id = Arc::clone(&rule.id);
    if !rule.enabled {
        return RuleResult { id, outcome: RuleOutcome::Disabled, conditions: Vec::new() };
    }
    let conditions: Vec<_> =
        rule.conditions.iter().map(|condition| try_condition(condition, facts)).collect();
    let matched = conditions.iter().all(|verdict| verdict.holds);
    RuleResult { id, outcome: if matched { RuleOutcome::Matched } else { RuleOutcome::Failed }, conditions }
}

fn try_condition(condition: &Condition, facts: &Facts<'_>) -> ConditionResult {
    let found = match condition.found(facts) {
        FieldValue::Missing => None,
        FieldValue::Composite => Some("an object, a list or null".to_owned()),
        FieldValue::Amount(amount) => Some(amount.to_string()),
        FieldValue::Text(text) => Some(text.to_owned()),
    };
    ConditionResult {
        id: Arc::clone(condition.id()),
        field: condition.field().to_string(),
        op: condition.test().op(),
        holds: condition.holds(facts),
        found,
    }
}
