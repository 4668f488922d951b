//! Routing: an ordered list of rules picks a provider and a channel, and says why.
//!
//! [`RoutingTable::decide`] is what every payment goes through; [`RoutingTable::explain`] walks the same rules one
//! by one and reports every verdict. Both always agree.

mod attempt;
mod axis;
mod checks;
mod condition;
mod crowd;
mod crowds;
mod destination;
mod explain;
mod filing;
mod index;
mod ranges;
mod tree;

use std::sync::Arc;

use crate::{currency::Currency, metadata::Metadata, money::Principal, payment::Flow};
use index::Index;

pub use attempt::{LeftTarget, RouteAttempt, RouteOutcome, RouteProgress};
pub use condition::{Condition, Field, InvalidTest, Test};
pub use destination::{Destination, Share, Split, Target};
pub use explain::{ConditionResult, Explanation, RuleOutcome, RuleResult};

/// The routing of one environment and payment method, ready to decide.
#[derive(Debug, Clone)]
pub struct RoutingTable {
    enabled: bool,
    rules: Vec<Rule>,
    default: Option<Destination>,
    /// What a decision hands out, one for each rule, so that deciding clones two pointers and builds nothing.
    matched: Vec<Matched>,
    index: Index,
}

impl RoutingTable {
    /// Prepares the rules once; the cost is that of sorting everything they mention.
    pub fn new(enabled: bool, rules: Vec<Rule>, default: Option<Destination>) -> Self {
        let matched = rules
            .iter()
            .map(|rule| Matched {
                rule: Arc::clone(&rule.id),
                conditions: rule.conditions.iter().map(|condition| Arc::clone(condition.id())).collect(),
            })
            .collect();
        let index = Index::new(&rules);
        Self { enabled, rules, default, matched, index }
    }

    /// Whether the method routes at all.
    pub const fn enabled(&self) -> bool {
        self.enabled
    }

    /// The rules in order, disabled ones included.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Where a payment goes that no rule wants.
    pub const fn default_destination(&self) -> Option<&Destination> {
        self.default.as_ref()
    }

    /// The first enabled rule whose conditions all hold, otherwise the default target. Hands out references: on the
    /// way of every payment, nothing is copied and no counter is shared between threads.
    pub fn route(&self, facts: &Facts<'_>) -> Result<Route<'_>, Unroutable> {
        if !self.enabled {
            return Err(Unroutable::Disabled);
        }
        let winner = self.index.first_match(facts);
        if let Some((rule, matched)) = winner.and_then(|at| self.rules.get(at).zip(self.matched.get(at))) {
            return Ok(Route::to(&rule.target, Some(matched)));
        }
        let default = self.default.as_ref().ok_or(Unroutable::Incomplete)?;
        Ok(Route::to(default, None))
    }

    /// The same as a value to keep.
    pub fn decide(&self, facts: &Facts<'_>) -> Result<Decision, Unroutable> {
        self.route(facts).map(Decision::from)
    }
}

impl Default for RoutingTable {
    /// What is in force where nothing is configured: no routing at all.
    fn default() -> Self {
        Self::new(false, Vec::new(), None)
    }
}

/// All conditions must hold; a rule without conditions holds always.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Unique within its method.
    pub id: Arc<str>,
    /// A disabled rule is passed over.
    pub enabled: bool,
    /// In the order they are reported.
    pub conditions: Vec<Condition>,
    /// Where the payment goes when the rule wins.
    pub target: Destination,
}

/// The facts of a payment that rules look at.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The principal.
    pub amount: Principal,
    /// Its currency.
    pub currency: Currency,
    /// How a card reaches the customer; `None` for ACH, where a condition on it meets a missing field.
    pub flow: Option<Flow>,
    /// The caller's pairs.
    pub metadata: &'a Metadata,
}

/// Where a payment goes, and what decided it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    pub destination: Destination,
    /// The rule that won; `None` means the default target.
    pub matched: Option<Matched>,
}

/// Where a payment goes, as the table that decided has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route<'a> {
    /// Provider and channel: the heaviest target, until one is picked for a payment.
    pub target: &'a Target,
    pub destination: &'a Destination,
    /// The rule that won; `None` means the default target.
    pub matched: Option<&'a Matched>,
}

impl From<Route<'_>> for Decision {
    fn from(route: Route<'_>) -> Self {
        Self { destination: route.destination.clone(), matched: route.matched.cloned() }
    }
}

impl Decision {
    /// The decision as a reference.
    pub fn as_route(&self) -> Route<'_> {
        Route::to(&self.destination, self.matched.as_ref())
    }
}

impl<'a> Route<'a> {
    const fn to(destination: &'a Destination, matched: Option<&'a Matched>) -> Self {
        Self { target: destination.target(), destination, matched }
    }

    /// The same with the target of one payment.
    #[must_use]
    pub fn of_payment(self, reference: &[u8; 16], metadata: &Metadata) -> Self {
        Self { target: self.destination.pick(reference, metadata), ..self }
    }
}

/// The winning rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matched {
    pub rule: Arc<str>,
    /// Its conditions' ids, in the rule's order.
    pub conditions: Arc<[Arc<str>]>,
}

/// Why there is no route.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unroutable {
    /// Routing for the method is switched off, or not configured at all.
    #[error("routing is disabled")]
    Disabled,
    /// No rule matched and there is no default target.
    #[error("no rule matched and there is no default target")]
    Incomplete,
}
