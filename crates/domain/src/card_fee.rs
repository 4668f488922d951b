//! Lawful card fees: what kind of fee a payment carries, how much of the configured one may be asked for, and why.
//!
//! Rules come in as values ([`Rules`]), with what the environment says of its merchant ([`FeeProgram`]) and what is known
//! of the payment ([`PaymentFacts`]). Whatever is needed and unknown makes the fee zero.

mod case;
mod charge;
mod disclosure;
mod explain;
mod facts;
mod limits;
mod payment;
mod plan;
mod program;
mod reason;
mod refund;
mod rules;

use std::sync::Arc;

use crate::money::Minor;

pub use case::FeeCase;
pub use charge::{UnlawfulCharge, check_charge};
pub use explain::{ExplainedStep, Side, explain};
pub use facts::{Brand, CardFacts, Country, Funding, Instrument, PaymentFacts, Place, State};
pub use limits::FeeShape;
pub use payment::{CardDecision, Consent, PaymentFee};
pub use plan::{FeePlan, decide};
pub use program::{Cost, FeeProgram, MAX_OVERRIDE_DAYS, Mcc, Override};
pub use reason::{Reason, ReasonCode};
pub use refund::check_refund;
pub use rules::{Confidence, CountryRule, Found, NetworkRule, PAYER_AT_MERCHANT, PlaceRule, Rules, Verdict};

/// What a card fee is, in the words of networks and laws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FeeKind {
    /// For paying with a credit card.
    Surcharge,
    /// A flat amount for paying by another channel than the usual one.
    Convenience,
    /// Of government and education.
    Service,
    /// The same whatever is paid with.
    Neutral,
}

impl FeeKind {
    pub const ALL: [Self; 4] = [Self::Surcharge, Self::Convenience, Self::Service, Self::Neutral];

    /// The name in the configuration, the API and the stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Surcharge => "surcharge",
            Self::Convenience => "convenience",
            Self::Service => "service",
            Self::Neutral => "neutral",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// What payers read beside the amount.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Surcharge => "Credit card surcharge",
            Self::Convenience => "Convenience fee",
            Self::Service => "Service fee",
            Self::Neutral => "Fee",
        }
    }
}

/// The least and the most that a fee can become once the rest is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeeRange {
    pub min: Minor,
    pub max: Minor,
}

/// What was decided about the card fee of a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeeDecision {
    pub kind: FeeKind,
    /// Both layers as configured.
    pub configured: Minor,
    /// The platform layer's part of the fee.
    pub platform: Minor,
    /// The organization layer's part of the fee.
    pub organization: Minor,
    /// What may be asked for as things are known now.
    pub fee: Minor,
    pub range: FeeRange,
    /// What decided: the first that stops the fee, or the lowest limit and, behind it, those that are just as low. Never empty.
    pub reasons: Vec<Reason>,
    /// The lowest limit; `None` where nothing limits the fee or none may be asked for at all.
    pub cap: Option<Minor>,
    /// What accepting the card costs, where that is recorded.
    pub cost: Option<Minor>,
    /// The places whose law was looked at: the merchant's, and the payer's where it is another.
    pub places: Arc<[Place]>,
    /// Sentences that a place prescribes.
    pub sentences: Arc<[Arc<str>]>,
    /// The overrides that the decision rests on.
    pub overrides: Arc<[Arc<str>]>,
    /// The version of the rules.
    pub rules_version: Arc<str>,
}

impl FeeDecision {
    /// The same, with nothing that may be asked for.
    #[must_use]
    pub fn without_fee(self, reason: Reason) -> Self {
        let (fee, range) = (Minor::ZERO, FeeRange { min: Minor::ZERO, max: Minor::ZERO });
        let (platform, organization, reasons) = (fee, fee, vec![reason]);
        Self { platform, organization, fee, range, reasons, cap: None, sentences: Arc::default(), ..self }
    }

    /// The same with a lower fee; what is cut comes off the organization layer first.
    #[must_use]
    pub fn lowered(self, by: Minor) -> Self {
        let less = |amount: Minor, by: Minor| amount.checked_sub(by).unwrap_or(Minor::ZERO);
        let organization = less(self.organization, by);
        let platform = less(self.platform, less(by, self.organization));
        let range = FeeRange { min: less(self.range.min, by), max: less(self.range.max, by) };
        Self { platform, organization, fee: less(self.fee, by), range, ..self }
    }

    /// Whether everything is known that the fee depends on.
    pub fn is_exact(&self) -> bool {
        self.range.min == self.range.max
    }

    /// What decided.
    pub fn reason(&self) -> ReasonCode {
        self.reasons.first().map_or(ReasonCode::AsConfigured, |reason| reason.code)
    }
}
