//! What a decision depends on.

use jiff::civil::Date;

use crate::{
    card_fee::{FeeKind, facts::PaymentFacts, program::FeeProgram, rules::Rules},
    payment::Flow,
};

/// Everything a decision depends on besides the configured amounts.
#[derive(Debug, Clone, Copy)]
pub struct FeeCase<'a> {
    pub rules: &'a Rules,
    /// What the environment says of its merchant; `None` if it says nothing.
    pub program: Option<&'a FeeProgram>,
    pub kind: FeeKind,
    /// The provider's name in the configuration, whose cost counts.
    pub provider: &'a str,
    /// Whether the provider can tell the network that a payment has a surcharge.
    pub reports_surcharge: bool,
    pub flow: Flow,
    pub facts: PaymentFacts,
    /// The day it is, in UTC.
    pub today: Date,
}
