//! The fee quote: route, then fees. No store, no clock, no waiting.

use tollgate_configuration::Configuration;
use tollgate_domain::{
    Currency, Flow, PaymentMethod, Principal,
    fee::FeeSnapshot,
    metadata::Metadata,
    routing::{Explanation, Facts, Route, Target, Unroutable},
};

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
}

/// The answer: where the payment would go and what it would cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quote<'a> {
    /// The route and what decided it.
    pub route: Route<'a>,
    /// The fees and the total.
    pub fee: FeeSnapshot,
}

/// A quote with every rule tried, every condition's verdict and every step of the fee.
#[derive(Debug, Clone)]
pub struct QuoteExplanation {
    /// The routing, rule by rule.
    pub routing: Explanation,
    /// The fees, or why there is no route to have any.
    pub fee: Result<FeeSnapshot, Unroutable>,
}

impl QuoteExplanation {
    /// The quote itself, or why there is none.
    pub fn quote(&self) -> Result<Quote<'_>, Unroutable> {
        let decision = self.routing.decision.as_ref().map_err(|unroutable| *unroutable)?;
        Ok(Quote { route: decision.as_route(), fee: self.fee? })
    }
}

impl QuoteRequest {
    pub(crate) fn facts(&self) -> Facts<'_> {
        Facts { amount: self.principal, currency: self.currency, flow: self.flow, metadata: &self.metadata }
    }
}

/// Routes and prices a payment.
pub fn quote<'a>(configuration: &'a Configuration, request: &QuoteRequest) -> Result<Quote<'a>, Unroutable> {
    let route = configuration.routing(request.method).route(&request.facts())?;
    Ok(Quote { route, fee: price(configuration, request, route.target) })
}

/// The same for one payment, whose reference decides where its route is split.
pub(crate) fn quote_payment<'a>(
    configuration: &'a Configuration,
    request: &QuoteRequest,
    reference: &[u8; 16],
) -> Result<Quote<'a>, Unroutable> {
    let route = configuration.routing(request.method).route(&request.facts())?;
    let route = route.of_payment(reference, &request.metadata);
    Ok(Quote { route, fee: price(configuration, request, route.target) })
}

/// The same, with its reasons.
pub fn explain(configuration: &Configuration, request: &QuoteRequest) -> QuoteExplanation {
    let routing = configuration.routing(request.method).explain(&request.facts());
    let fee = match &routing.decision {
        Ok(decision) => Ok(price(configuration, request, decision.destination.target())),
        Err(unroutable) => Err(*unroutable),
    };
    QuoteExplanation { routing, fee }
}

/// What a payment costs at a target.
pub(crate) fn price(configuration: &Configuration, request: &QuoteRequest, target: &Target) -> FeeSnapshot {
    configuration.fees.entry(&target.provider, target.channel, request.currency).assess(request.principal)
}
