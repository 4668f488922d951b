//! Providers by what they can do. What is asked is recorded before it is asked, and an answer says what is known:
//! "refused" and "unknown" are different things.

mod cards;
mod transfers;
mod webhooks;

use std::time::Duration;

use tollgate_configuration::Adapter;
use tollgate_domain::{Timestamp, transaction::Failure};

use super::ProviderChecks;

pub use cards::{
    BrowserResults, Captures, Cards, Charge, ChargeTerms, Charges, Component, Confirmation, DisputeLists,
    DisputePage, DomainWallet, Embedded, EmbeddedCards, HostedCheckout, Identified, ListedDispute, Prepared,
    Preparing, Reading, Refunds, RegisteredDomain, Subject, TokenCard, TokenCards,
};
pub use transfers::{AchTransfers, BankAccount, InstantCapability};
pub use webhooks::{
    InboundWebhook, SignatureError, SignedReport, SignedStep, UnreadableEvent, WebhookNotice, Webhooks,
};

/// The adapters this service speaks.
pub trait Adapters: Send + Sync + 'static {
    /// What an adapter offers.
    fn capabilities(&self, adapter: Adapter) -> Capabilities<'_>;
}

/// What an adapter offers. What is absent cannot be asked for.
#[derive(Clone, Copy, Default)]
pub struct Capabilities<'a> {
    pub cards: Option<&'a dyn Cards>,
    pub transfers: Option<&'a dyn AchTransfers>,
    pub webhooks: Option<&'a dyn Webhooks>,
    pub checks: Option<&'a dyn ProviderChecks>,
}

impl<'a> Capabilities<'a> {
    pub fn of_cards(adapter: &'a (impl Cards + Webhooks + ProviderChecks)) -> Self {
        Self { cards: Some(adapter), transfers: None, webhooks: Some(adapter), checks: Some(adapter) }
    }

    pub fn of_transfers(adapter: &'a (impl AchTransfers + Webhooks + ProviderChecks)) -> Self {
        Self { cards: None, transfers: Some(adapter), webhooks: Some(adapter), checks: Some(adapter) }
    }
}

/// Why a provider did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallError {
    /// The provider said no: nothing moved.
    Rejected(Rejection),
    /// It was never taken: no connection, or turned away before it was looked at. Nothing moved.
    Unsent(TransientError),
    /// Time-out, server error, torn or unreadable answer: it may have been done. Only asking again, under the same
    /// key, tells.
    Unknown(TransientError),
}

impl CallError {
    /// Why to ask again, where a rejection of a question says nothing about its subject.
    pub(crate) fn into_transient(self) -> TransientError {
        match self {
            Self::Unsent(transient) | Self::Unknown(transient) => transient,
            Self::Rejected(rejection) => TransientError {
                reason: format!("the provider does not return it: {}", rejection.failure.message),
                retry_after: None,
            },
        }
    }
}

/// A provider's no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// What kind of no.
    pub kind: RejectionKind,
    /// Our code and a sentence that may be shown.
    pub failure: Failure,
    /// The permission that the credentials lack, by the provider's name for it.
    pub lacks: Option<String>,
}

impl Rejection {
    /// Our code, and what is lacking.
    pub fn summary(&self) -> String {
        match &self.lacks {
            Some(permission) => format!("{} ({permission})", self.failure.code),
            None => self.failure.code.clone(),
        }
    }
}

/// What kind of no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RejectionKind {
    /// The customer's card was declined; another may be tried.
    Declined,
    /// The provider's own validation refused the request.
    Invalid,
    /// The provider does not accept our credentials, or they lack a permission.
    Credentials,
    /// The provider knows no such object.
    Missing,
    /// The object is in no state for what was asked; reading it tells which.
    State,
    /// The provider's own account lacks the money to pay out. An earlier request under the same key may have been taken
    /// all the same; looking it up tells.
    Funds,
    /// The provider takes the card, but no surcharge on it: without one it can be charged.
    Surcharge,
}

/// What went wrong on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransientError {
    /// A message for operators.
    pub reason: String,
    /// When the provider wants to be asked again.
    pub retry_after: Option<Duration>,
}

/// What a provider was asked and its result, for the timeline: no secrets, no bodies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallLog {
    /// The provider's name for it, such as `payment_intents.create`.
    pub operation: &'static str,
    /// The key it was sent under, where it was a command.
    pub idempotency_key: Option<String>,
    /// Each time it was sent.
    pub tries: Vec<Try>,
}

/// One exchange with a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Try {
    /// When it began.
    pub at: Timestamp,
    /// How long it took.
    pub took: Duration,
    /// The answer's HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// The provider's own id of the request.
    pub provider_request: Option<String>,
    /// In a few words: `ok`, `timed out`, `card_declined`, …
    pub outcome: String,
}

/// A call's outcome together with its log.
#[derive(Debug)]
pub struct Call<T, E = CallError> {
    /// Its result.
    pub outcome: Result<T, E>,
    /// What was asked, in order.
    pub logs: Vec<CallLog>,
}

/// What a provider would not take in an order, by the caller's field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderFault {
    pub field: &'static str,
    /// What is wrong, and what would be right.
    pub message: String,
}
