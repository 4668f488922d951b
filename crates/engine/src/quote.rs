//! The fee quote: route, then fees. No store, no clock, no waiting.

use tollgate_configuration::Configuration;
use tollgate_domain::{
    Currency, Flow, PaymentMethod, Principal,
    fee::FeeSnapshot,
    metadata::Metadata,
    routing::{Decision, Explanation, Facts, Unroutable},
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    /// The route and what decided it.
    pub decision: Decision,
    /// The fees and the total.
    pub fee: FeeSnapshot,
}

/// A quote with every rule tried, every condition's verdict and every step of the fee.
#[derive(Debug, Clone)]
pub struct QuoteExplanation {
    /// The routing, rule by rule.
    pub routing: Explanation,
    /// The quote, or why there is none.
    pub quote: Result<Quote, Unroutable>,
}

impl QuoteRequest {
    fn facts(&self) -> Facts<'_> {
        Facts { amount: self.principal, currency: self.currency, flow: self.flow, metadata: &self.metadata }
    }
}

/// Routes and prices a payment.
pub fn quote(configuration: &Configuration, request: &QuoteRequest) -> Result<Quote, Unroutable> {
    let decision = configuration.routing(request.method).decide(&request.facts())?;
    Ok(price(configuration, request, decision))
}

/// The same, with its reasons.
pub fn explain(configuration: &Configuration, request: &QuoteRequest) -> QuoteExplanation {
    let routing = configuration.routing(request.method).explain(&request.facts());
    let quote = routing.decision.clone().map(|decision| price(configuration, request, decision));
    QuoteExplanation { routing, quote }
}

fn price(configuration: &Configuration, request: &QuoteRequest, decision: Decision) -> Quote {
    let target = &decision.target;
    let entry = configuration.fees.entry(&target.provider, target.channel, request.currency);
    Quote { fee: entry.assess(request.principal), decision }
}
