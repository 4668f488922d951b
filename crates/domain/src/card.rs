//! Card payments: what is prepared, what a provider says became of it, and what that means for the books.

mod status_decision;

use crate::{
    currency::Currency,
    fee::FeeSnapshot,
    hold::CaptureMode,
    id::{EnvironmentId, PaymentId},
    payment::{Channel, Flow},
    provider_account::ProviderAccount,
    routing::{Matched, RouteProgress},
    time::Timestamp,
};

pub use status_decision::{
    Discrepancy, DiscrepancyKind, ProviderReport, ProviderStatus, ReportSource, StatusDecision, Trigger,
    decide_status, discrepancies,
};

/// Where a preparation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Preparation {
    /// Recorded; the provider has been asked, or is about to be, and has not answered as far as we know.
    Preparing,
    /// The customer can pay.
    Prepared,
    /// The provider said no.
    Refused,
    /// The provider's answer was lost, the caller was told to try again, and what the provider had made was taken back.
    Withdrawn,
    /// Nobody paid in time.
    Expired,
}

impl Preparation {
    /// Every one.
    pub const ALL: [Self; 5] =
        [Self::Preparing, Self::Prepared, Self::Refused, Self::Withdrawn, Self::Expired];

    /// The name in the API and in the stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Preparing => "preparing",
            Self::Prepared => "prepared",
            Self::Refused => "refused",
            Self::Withdrawn => "withdrawn",
            Self::Expired => "expired",
        }
    }

    /// The one of this name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

/// The terms fixed when a card payment is prepared. Only a payment that nobody can pay yet moves on to the
/// next target of its route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardOrder {
    pub environment: EnvironmentId,
    /// The payment's reference.
    pub id: PaymentId,
    /// Hosted page or embedded component.
    pub flow: Flow,
    /// The provider routing picked, by its name in the configuration.
    pub provider: String,
    /// The name of the adapter in use.
    pub adapter: String,
    /// The account it was sent to when it was prepared; `None` if preparing sends nothing.
    pub account: Option<ProviderAccount>,
    /// The channel routing picked.
    pub channel: Channel,
    /// The rule that decided; `None` for the default target.
    pub matched: Option<Matched>,
    /// What was tried before that provider, and what may be tried after it.
    pub route: RouteProgress,
    /// The configuration that decided.
    pub config_version: u64,
    /// The currency of all amounts.
    pub currency: Currency,
    /// The amounts.
    pub fee: FeeSnapshot,
    /// The caller's description.
    pub description: Option<String>,
    /// The customer's name.
    pub customer_name: Option<String>,
    /// The customer's address.
    pub customer_email: Option<String>,
    /// The caller's metadata, as JSON text.
    pub metadata: String,
    pub capture: CaptureMode,
    /// Where a hosted page sends the customer after paying.
    pub success_url: Option<String>,
    /// Where a hosted page sends a customer who gives up.
    pub cancel_url: Option<String>,
    /// A digest of the caller's idempotency key, where there was one.
    pub key: Option<[u8; 32]>,
    /// The request that asked.
    pub request: String,
    /// When it was asked.
    pub created_at: Timestamp,
    /// When it is taken back if nobody has paid.
    pub expires_at: Timestamp,
}

impl CardOrder {
    /// What idempotency keys at the provider begin with: each provider of the route gets its own.
    pub fn provider_key(&self) -> String {
        match self.route.number_of(&self.provider) {
            1 => self.id.to_string(),
            number => format!("{}.{number}", self.id),
        }
    }

    /// Whether its provider is one that it is to leave after a decline.
    pub fn is_leaving(&self) -> bool {
        self.route.was_declined_at(&self.provider)
    }
}

/// One try at charging a card for a prepared payment, for providers that charge on our word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Counts from 1 within the payment.
    pub number: u32,
    /// A keyed digest of the card's token: the same token twice is the same attempt.
    pub source_digest: [u8; 32],
    /// What is needed to send it again, sealed; gone once the outcome is known.
    pub sealed_source: Option<String>,
    pub state: AttemptState,
    /// The account it is charged at.
    pub account: Option<ProviderAccount>,
    /// When it was first sent.
    pub created_at: Timestamp,
}

/// Where an attempt stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AttemptState {
    /// Sent, or about to be; the outcome is not known.
    Open,
    /// The provider took it: the transaction says its outcome.
    Taken,
    /// The provider declined it.
    Declined,
    /// The provider did not look at it, because it did not accept our credentials: the same card may be charged again,
    /// under the next number.
    Unsent,
}

impl AttemptState {
    pub const ALL: [Self; 4] = [Self::Open, Self::Taken, Self::Declined, Self::Unsent];

    /// The name in the stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Taken => "taken",
            Self::Declined => "declined",
            Self::Unsent => "unsent",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}
