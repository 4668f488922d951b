//! What providers tell by themselves.

use tollgate_configuration::Provider;
use tollgate_domain::{
    Minor, Timestamp,
    id::HoldActionId,
    refund::RefundReport,
    transaction::{Dispute, Failure},
};

/// A webhook as it came.
#[derive(Debug, Clone, Copy)]
pub struct InboundWebhook<'a> {
    /// The address the provider was told to send to, byte for byte.
    pub url: &'a str,
    /// The headers, names in lower case.
    pub headers: &'a [(String, String)],
    /// The body's bytes as they came.
    pub body: &'a [u8],
}

/// Why a webhook is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// There is no secret to check it with.
    #[error("the provider's webhook secret is not configured")]
    NoSecret,
    /// It has no signature in the form this provider uses.
    #[error("the signature is missing or malformed")]
    Malformed,
    /// It is too old, or from the future.
    #[error("the signature timestamp is more than five minutes off")]
    Stale,
    /// The signature is not this body's.
    #[error("the signature does not match")]
    Forged,
    /// It is of the provider's test side, and the configuration is for the live one, or the other way around.
    #[error("it is of the provider's other environment, test or live")]
    OtherMode,
}

/// What a provider tells, as far as it concerns us.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WebhookNotice {
    /// The provider's own id of the event.
    pub event: String,
    /// The provider's word for what happened.
    pub kind: String,
    /// Whether it is of a kind that can change anything here.
    pub relevant: bool,
    /// The provider's names by which the payment may be known here, the most particular first.
    pub objects: Vec<String>,
    /// The provider's name for the payment, where reading it by that tells most.
    pub payment: Option<String>,
    /// The account it happened in, where that is not the one whose webhook endpoint it was sent to.
    pub account: Option<String>,
    /// Our reference, as the event has it.
    pub reference: Option<String>,
    /// A dispute's news, which cannot be read elsewhere.
    pub dispute: Option<Dispute>,
    /// All that the event says it is about, where it says no more: [`Cards::identify`](super::Cards::identify) tells which payment that is.
    pub names_only: Option<String>,
    /// It only says that the provider has the object, which is no news where that is known.
    pub is_creation: bool,
    /// The provider's word for why what had arrived is not certain anymore. What is then read looks like a late answer.
    pub taken_back: Option<String>,
    /// The provider only tests whether its events arrive.
    pub is_ping: bool,
    /// What the provider's signature vouches for, where that is the truth because the provider cannot be asked.
    pub signed: Option<SignedReport>,
}

/// One step of a payment, as the signed part of a webhook has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedReport {
    pub step: SignedStep,
    pub amount: Minor,
    /// In capitals.
    pub currency: String,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignedStep {
    /// The customer's bank approved an attempt: it is paid, or held where it is captured by hand.
    Approved,
    /// An attempt came to nothing; another may succeed.
    Declined(Failure),
    /// What was held is captured.
    Captured,
    /// What was held is released on somebody's word.
    Released,
    /// What was not captured in time is released.
    Expired,
    /// Nobody has paid, and nobody can anymore.
    Closed,
    /// A capture or void did not happen: the money is still held. `None` if it was not asked for here.
    HoldActionFailed(Option<HoldActionId>, Failure),
    /// What was captured did not arrive after all.
    CaptureFailed,
    /// What became of a refund.
    Refund(RefundReport),
    /// The notice's dispute.
    Disputed,
    /// What happened is not in the signed part: a person looks it up.
    Unclear,
}

/// An event that is signed and still cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the event cannot be read: {0}")]
pub struct UnreadableEvent(pub String);

/// Reads a provider's webhooks: verifies each one, then translates it.
pub trait Webhooks: Send + Sync {
    /// Checks the signature on the raw bytes and, where the provider has one, its time.
    fn verify(
        &self,
        provider: &Provider,
        delivery: InboundWebhook<'_>,
        now: Timestamp,
    ) -> Result<(), SignatureError>;

    /// What a verified body says, event by event: one that cannot be read does not stand in the way of the others.
    fn translate(&self, body: &[u8]) -> Vec<Result<WebhookNotice, UnreadableEvent>>;

    /// Whether webhooks come for everything that is sold under the account, most of which may have nothing to do with this
    /// service. Those are dropped, not kept.
    fn tells_of_other_sales(&self) -> bool {
        false
    }
}
