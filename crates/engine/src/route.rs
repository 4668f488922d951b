//! The targets of a payment's route, one after the other.

use std::time::Duration;

use tokio::time::Instant;
use tollgate_configuration::{ForcedCircuit, Provider};
use tollgate_domain::{
    Minor,
    card_fee::PaymentFacts,
    fee::FeeSnapshot,
    routing::{RouteAttempt, RouteOutcome, RouteProgress, Target},
};

use crate::{
    circuits::{CircuitStatus, FORCED_OPEN},
    engine::Engine,
    ports::{CallError, Clock, RejectionKind},
    quote::{Quote, QuoteExplanation, QuoteRequest, price},
    snapshot::EnvironmentView,
};

/// A provider is asked only so long after the first one: with all its tries it takes up to twice as long, and the caller waits
/// no longer than its deadline.
const FALLBACK_WINDOW: Duration = Duration::from_secs(10);

const COSTS_MORE: &str = "costs more than the first target";

/// What a payment may do where its provider cannot take it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FallbackRules {
    began: Instant,
    /// The highest total debit that a fallback may have.
    most: Option<Minor>,
}

impl FallbackRules {
    /// For a payment that begins now with this quote of its first target.
    pub(crate) fn of(view: &EnvironmentView, first: &Quote<'_>) -> Self {
        Self::up_to(view, first.fee.total_debit)
    }

    /// The same with the total debit of the first target.
    pub(crate) fn up_to(view: &EnvironmentView, first: Minor) -> Self {
        let may_cost_more = view.configuration.settings.fallback_may_cost_more;
        Self { began: Instant::now(), most: (!may_cost_more).then_some(first) }
    }

    /// Whether there is time left to ask another provider.
    pub(crate) fn is_in_time(&self) -> bool {
        self.began.elapsed() < FALLBACK_WINDOW
    }
}

/// What a route has to offer at its beginning: what is left after its first target.
pub(crate) fn beginning(quoted: &Quote<'_>, facts: PaymentFacts) -> RouteProgress {
    let PaymentFacts { payer, recurring, .. } = facts;
    let next = quoted.route.destination.fallbacks().to_vec();
    RouteProgress { next, payer, recurring, ..RouteProgress::default() }
}

/// Goes on to the next target that was not tried and does not cost too much, and prices it. Those that are passed over are noted.
pub(crate) fn next_target(
    route: &mut RouteProgress,
    view: &EnvironmentView,
    clock: &dyn Clock,
    request: &QuoteRequest,
    rules: FallbackRules,
) -> Option<(Target, FeeSnapshot)> {
    while !route.next.is_empty() {
        let target = route.next.remove(0);
        if route.has_tried(&target.provider) {
            continue;
        }
        let fee = price(&view.configuration, clock, request, &target).fee;
        if rules.most.is_none_or(|most| fee.total_debit <= most) {
            return Some((target, fee));
        }
        route.attempts.push(skipped(&target.provider, COSTS_MORE));
    }
    None
}

/// A fallback as it stands now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainedFallback<'a> {
    pub target: &'a Target,
    /// What a payment would cost there.
    pub fee: FeeSnapshot,
    /// Why it would be passed over; `None` if it would be tried.
    pub skipped: Option<String>,
}

impl Engine {
    /// The fallbacks of an explained route, each with its price and whether it would be tried.
    pub fn explain_fallbacks<'a>(
        &'a self,
        view: &'a EnvironmentView,
        request: &'a QuoteRequest,
        explained: &'a QuoteExplanation,
    ) -> impl Iterator<Item = ExplainedFallback<'a>> {
        let quoted = explained.quote().ok();
        let fallbacks = quoted.map(|quoted| (quoted.route, FallbackRules::of(view, &quoted)));
        fallbacks.into_iter().flat_map(move |(route, rules)| {
            route.destination.fallbacks().iter().map(move |target| {
                let fee = price(&view.configuration, self.clock(), request, target).fee;
                let provider = view.configuration.providers.get(&target.provider);
                let missing = provider.map(Provider::missing_to_pay).unwrap_or_default();
                let skipped = if rules.most.is_some_and(|most| fee.total_debit > most) {
                    Some(COSTS_MORE.to_owned())
                } else if missing.is_empty() {
                    match self.circuit_status(view, &target.provider) {
                        CircuitStatus::Open { since } => {
                            Some(format!("circuit open since {}", since.utc_minute()))
                        }
                        CircuitStatus::Forced(ForcedCircuit::Open) => Some(FORCED_OPEN.to_owned()),
                        _ => None,
                    }
                } else {
                    Some(format!("not configured: {}", missing.join(", ")))
                };
                ExplainedFallback { target, fee, skipped }
            })
        })
    }
}

pub(crate) fn skipped(provider: &str, reason: impl Into<String>) -> RouteAttempt {
    RouteAttempt { provider: provider.to_owned(), outcome: RouteOutcome::Skipped, reason: reason.into() }
}

/// The attempt that a failed call was, if it proves that the provider has made nothing: it was not reached, turned the request
/// away unread, or did not let us in.
pub(crate) fn proven_nothing(provider: &str, error: &CallError) -> Option<RouteAttempt> {
    let (outcome, reason) = match error {
        CallError::Unsent(transient) => (RouteOutcome::Unavailable, transient.reason.clone()),
        CallError::Rejected(rejection) if rejection.kind == RejectionKind::Credentials => {
            (RouteOutcome::Refused, rejection.failure.message.clone())
        }
        CallError::Rejected(_) | CallError::Unknown(_) => return None,
    };
    Some(RouteAttempt { provider: provider.to_owned(), outcome, reason })
}
