//! The fee quote: route, then fees. No store, no clock, no waiting.

use tollgate_configuration::Configuration;
use tollgate_domain::{
    Currency, Flow, PaymentMethod, Principal,
    card_fee::{ExplainedStep, FeeDecision, FeeKind, PaymentFacts},
    fee::FeeSnapshot,
    metadata::Metadata,
    routing::{Explanation, Facts, Route, Target, Unroutable},
};

use crate::ports::Clock;

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuoteRequest {
    /// The amount to move.
    pub principal: Principal,
    /// Its currency.
    pub currency: Currency,
    /// What is paid with.
    pub method: PaymentMethod,
    /// How a card reaches the customer; `None` for ACH.
    pub flow: Option<Flow>,
    /// The caller's pairs.
    pub metadata: Metadata,
    /// What is known of card and payer, which decide a card fee that has a kind.
    pub card_fee: PaymentFacts,
}

/// The answer: where the payment would go and what it would cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote<'a> {
    /// The route and what decided it.
    pub route: Route<'a>,
    /// The fees and the total.
    pub fee: FeeSnapshot,
    /// Why the card fee is what it is; `None` where it has no kind.
    pub decision: Option<Box<FeeDecision>>,
}

/// A quote with every rule tried, every condition's verdict and every step of the fee.
#[derive(Debug, Clone)]
pub struct QuoteExplanation {
    /// The routing, rule by rule.
    pub routing: Explanation,
    /// The fees, or why there is no route to have any.
    pub price: Result<Price, Unroutable>,
    /// The rules about the card fee, in the order in which they are looked at; empty where it has no kind.
    pub card_fee: Vec<ExplainedStep>,
}

/// What a payment costs at a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Price {
    pub fee: FeeSnapshot,
    /// Why the card fee is what it is; `None` where it has no kind.
    pub decision: Option<Box<FeeDecision>>,
}

impl QuoteExplanation {
    /// The quote itself, or why there is none.
    pub fn quote(&self) -> Result<Quote<'_>, Unroutable> {
        let decision = self.routing.decision.as_ref().map_err(|unroutable| *unroutable)?;
        let Price { fee, decision: card_fee } = self.price.clone()?;
        Ok(Quote { route: decision.as_route(), fee, decision: card_fee })
    }
}

impl QuoteRequest {
    pub(crate) fn facts(&self) -> Facts<'_> {
        Facts { amount: self.principal, currency: self.currency, flow: self.flow, metadata: &self.metadata }
    }
}

/// Routes and prices a payment.
pub fn quote<'a>(
    configuration: &'a Configuration,
    clock: &dyn Clock,
    request: &QuoteRequest,
) -> Result<Quote<'a>, Unroutable> {
    let route = configuration.routing(request.method).route(&request.facts())?;
    let Price { fee, decision } = price(configuration, clock, request, route.target);
    Ok(Quote { route, fee, decision })
}

/// The same for one payment, whose reference decides where its route is split.
pub(crate) fn quote_payment<'a>(
    configuration: &'a Configuration,
    clock: &dyn Clock,
    request: &QuoteRequest,
    reference: &[u8; 16],
) -> Result<Quote<'a>, Unroutable> {
    let route = configuration.routing(request.method).route(&request.facts())?;
    let route = route.of_payment(reference, &request.metadata);
    let Price { fee, decision } = price(configuration, clock, request, route.target);
    Ok(Quote { route, fee, decision })
}

/// The same, with its reasons.
pub fn explain(configuration: &Configuration, clock: &dyn Clock, request: &QuoteRequest) -> QuoteExplanation {
    let routing = explain_routing(configuration, request);
    let (price, card_fee) = match &routing.decision {
        Ok(decision) => {
            let target = decision.destination.target();
            let card_fee = explain_card_fee(configuration, clock, request, target);
            (Ok(price(configuration, clock, request, target)), card_fee)
        }
        Err(unroutable) => (Err(*unroutable), Vec::new()),
    };
    QuoteExplanation { routing, price, card_fee }
}

/// The way to a route, without a price.
pub fn explain_routing(configuration: &Configuration, request: &QuoteRequest) -> Explanation {
    configuration.routing(request.method).explain(&request.facts())
}

/// What a payment costs at a target. The day is asked for only where the fee has a kind.
pub(crate) fn price(
    configuration: &Configuration,
    clock: &dyn Clock,
    request: &QuoteRequest,
    target: &Target,
) -> Price {
    let (entry, kind) =
        configuration.fees.entry_with_kind(&target.provider, target.channel, request.currency);
    let fee = entry.assess(request.principal);
    match kind {
        None => Price { fee, decision: None },
        Some(kind) => decided(configuration, clock, request, target, kind, fee),
    }
}

#[cold]
fn decided(
    configuration: &Configuration,
    clock: &dyn Clock,
    request: &QuoteRequest,
    target: &Target,
    kind: FeeKind,
    fee: FeeSnapshot,
) -> Price {
    let flow = request.flow.unwrap_or(Flow::PaymentComponent);
    let today = clock.now().utc_date();
    let decision = configuration.decide_card_fee(kind, &target.provider, &fee, flow, request.card_fee, today);
    let fee = fee.with_fees(decision.kind, decision.platform, decision.organization);
    Price { fee, decision: Some(Box::new(decision)) }
}

fn explain_card_fee(
    configuration: &Configuration,
    clock: &dyn Clock,
    request: &QuoteRequest,
    target: &Target,
) -> Vec<ExplainedStep> {
    let (entry, kind) =
        configuration.fees.entry_with_kind(&target.provider, target.channel, request.currency);
    let Some(kind) = kind else { return Vec::new() };
    let (fee, today) = (entry.assess(request.principal), clock.now().utc_date());
    let flow = request.flow.unwrap_or(Flow::PaymentComponent);
    configuration.explain_card_fee(kind, &target.provider, &fee, flow, request.card_fee, today)
}
