//! Providers by what they can do. What is asked is recorded before it is asked, and an answer says what is known:
//! "refused" and "unknown" are different things.

use std::time::Duration;

use async_trait::async_trait;
use tollgate_configuration::{Adapter, Provider};
use tollgate_domain::{
    Currency, Flow, Minor, Timestamp,
    ach::{AchProviderReport, TransferOrder, TransferRail},
    card::{CardOrder, ProviderReport},
    hold::HoldAction,
    refund::{Refund, RefundReport},
    transaction::{Dispute, Failure},
};
use tollgate_vault::Secret;

use super::ProviderChecks;

/// The adapters this service speaks, each as far as it goes.
pub trait Adapters: Send + Sync + 'static {
    /// The provider's card payments, if it carries any.
    fn cards(&self, adapter: Adapter) -> Option<&dyn Cards>;

    /// The provider's bank transfers, if it carries any.
    fn transfers(&self, adapter: Adapter) -> Option<&dyn AchTransfers>;

    /// The reader of the provider's webhooks, if it sends any.
    fn webhooks(&self, adapter: Adapter) -> Option<&dyn WebhookReader>;

    /// Checks of the provider's configuration, if the provider can be asked about it.
    fn checks(&self, _adapter: Adapter) -> Option<&dyn ProviderChecks> {
        None
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

/// What a provider made for a payment to be paid on.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// Its name there: an intent, a session, a link.
    pub object: String,
    /// Other names the payment will come back under, such as an order's.
    pub also: Vec<String>,
    /// Where the customer pays, for hosted flows.
    pub checkout_url: Option<String>,
    /// What lets a browser pay, where the provider has such a thing. Handed out once and kept nowhere.
    pub client_secret: Option<Secret>,
}

/// What a browser needs to draw the provider's component: nothing but what may be public.
#[derive(Debug, Clone)]
pub enum Component {
    /// The first variant, `card_provider_a_payment_element`.
    PaymentElement {
        /// The provider's publishable key.
        publishable_key: String,
        /// What lets this browser pay this payment.
        client_secret: Secret,
        /// The payment intent.
        payment_intent_id: String,
        /// The script that draws it.
        script_url: String,
    },
    /// The second variant, `card_provider_b_web_payments`.
    WebPayments {
        application_id: String,
        location_id: String,
        /// `sandbox` or `production`.
        environment: &'static str,
        /// The script that draws it.
        script_url: String,
    },
}

/// What a provider would not take in an order, by the caller's field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderFault {
    pub field: &'static str,
    /// What is wrong, and what would be right.
    pub message: String,
}

/// What an object that an event names belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identified {
    /// The provider's name for the payment.
    pub payment: Option<String>,
    /// Our reference; a payment without one was made by somebody else.
    pub reference: Option<String>,
    /// The dispute, where the object is one.
    pub dispute: Option<Dispute>,
}

/// A web domain registered with a provider, and what can be paid with there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisteredDomain {
    /// The provider's name for it.
    pub id: String,
    pub domain: String,
    pub wallets: Vec<DomainWallet>,
}

/// One wallet on a registered domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainWallet {
    /// Such as `apple_pay`.
    pub name: String,
    /// Whether the provider's component shows it on this domain.
    pub is_active: bool,
    /// Why not, in the provider's words.
    pub problem: Option<String>,
}

/// How a wire's payments are confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confirmation {
    /// The browser has paid already: the provider is asked its outcome.
    Look,
    /// The browser has a token for the card: the provider is told to charge it.
    Charge,
}

/// A card to charge.
#[derive(Debug, Clone)]
pub struct Charge {
    /// The attempt's number: with the payment's id it makes the key.
    pub number: u32,
    /// The card's one-time token.
    pub source: Secret,
    /// Proof that the buyer was verified, in the older browser flow.
    pub verification: Option<Secret>,
    /// Where the provider sends its receipt.
    pub buyer_email: Option<String>,
}

/// What to read at the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject<'a> {
    /// What was made at preparation.
    Object(&'a str),
    /// The payment itself, by the provider's name for it.
    Payment(&'a str),
}

/// Card payments through one provider.
///
/// Each method bounds its own tries and time. Commands carry an idempotency key made of the order's id (and the
/// attempt's number), so that repeating one, also after a restart, does it once.
#[async_trait]
pub trait Cards: Send + Sync {
    /// How payments are confirmed.
    fn confirmation(&self) -> Confirmation;

    /// Whether preparing this flow asks the provider anything; otherwise [`Cards::prepare`] is not called.
    fn prepares_at_provider(&self, flow: Flow) -> bool;

    /// How long what the customer pays on can be paid at most; `None` if the provider sets no limit.
    fn max_lifetime(&self, _flow: Flow) -> Option<Duration> {
        None
    }

    /// What the provider would not take in an order, as far as that is known or can be read without making anything. Asked
    /// before anything is recorded; not knowing is no fault.
    async fn check_order(&self, _provider: &Provider, _order: &CardOrder) -> Call<(), OrderFault> {
        Call { outcome: Ok(()), logs: Vec::new() }
    }

    /// The provider takes totals in multiples of this many minor units.
    fn amount_step(&self, _currency: Currency) -> u64 {
        1
    }

    /// Makes what the customer pays on.
    async fn prepare(&self, provider: &Provider, order: &CardOrder) -> Call<Prepared>;

    /// What was made at preparation, once more with what lets a browser pay. Only asked where preparing a component asked the
    /// provider.
    async fn reopen(&self, provider: &Provider, order: &CardOrder, object: &str) -> Call<Prepared>;

    /// What the browser needs; `prepared` is there exactly where preparing asked the provider. `None` if the
    /// configuration lacks something, which [`Provider::missing`] names.
    fn component(&self, provider: &Provider, prepared: Option<&Prepared>) -> Option<Component>;

    /// Charges a card. A decline is a [`RejectionKind::Declined`].
    async fn charge(&self, provider: &Provider, order: &CardOrder, charge: &Charge) -> Call<ProviderReport>;

    /// Looks for a charge that may have been made between two moments, under a key the provider may have forgotten.
    async fn find_charge(
        &self,
        provider: &Provider,
        order: &CardOrder,
        from: Timestamp,
        until: Timestamp,
    ) -> Call<Option<ProviderReport>>;

    /// Reads where a payment stands, with every refund of it.
    async fn read(
        &self,
        provider: &Provider,
        order: &CardOrder,
        subject: Subject<'_>,
    ) -> Call<ProviderReport>;

    /// Reads where a payment stands by another of its names ([`Prepared::also`]), where what was made is gone. `None` if the
    /// name does not lead to it.
    async fn read_by_name(
        &self,
        _provider: &Provider,
        _order: &CardOrder,
        _name: &str,
    ) -> Call<Option<ProviderReport>> {
        Call { outcome: Ok(None), logs: Vec::new() }
    }

    /// Whether the current credentials see the account that the configuration names: then they are the same owner's as
    /// those that named it before. `false` also where the provider names no accounts.
    async fn can_access_account(&self, provider: &Provider) -> Call<bool>;

    /// Refunds some of a payment, by the provider's name for the payment, under the refund's id as the key. What the provider
    /// makes of it carries that id, so that it is recognized in a report.
    async fn refund(
        &self,
        provider: &Provider,
        order: &CardOrder,
        payment: &str,
        refund: &Refund,
    ) -> Call<RefundReport>;

    /// Captures money that is held, or releases it, by the provider's name for the payment and under the action's id as the
    /// key. Says where the payment then stands, also where it turns out to have been captured or released before. A rejection
    /// means that the money is still held.
    async fn act_on_hold(
        &self,
        provider: &Provider,
        order: &CardOrder,
        payment: &str,
        action: &HoldAction,
    ) -> Call<ProviderReport>;

    /// The newest dispute about a payment, by the provider's name for the payment; `known` is the dispute on record.
    /// `None` if there is none, or the provider cannot be asked.
    async fn dispute(&self, provider: &Provider, payment: &str, known: Option<&str>)
    -> Call<Option<Dispute>>;

    /// Takes back what was made at preparation, so that nobody can pay on it anymore, and says where the payment then
    /// stands: also where it turns out to have been paid.
    async fn withdraw(&self, provider: &Provider, order: &CardOrder, object: &str) -> Call<ProviderReport>;

    /// Asks which payment an object belongs to that an event names and nothing here knows; `None` if none.
    async fn identify(&self, _provider: &Provider, _object: &str) -> Call<Option<Identified>> {
        Call { outcome: Ok(None), logs: Vec::new() }
    }

    /// Registers a web domain for the wallets that the provider's component offers. `None` if the provider has no such
    /// registration, or none that can be made by API.
    async fn register_domain(&self, _provider: &Provider, _domain: &str) -> Option<Call<RegisteredDomain>> {
        None
    }
}

/// Where money goes. Neither number is ever printed.
#[derive(Debug, Clone)]
pub struct BankAccount {
    /// The bank's routing number: nine digits.
    pub routing_number: Secret,
    /// The account's number: four to seventeen digits.
    pub account_number: Secret,
}

/// Bank transfers through one provider.
///
/// Each method bounds its own tries and time. The order's id is the idempotency key of everything that is sent.
#[async_trait]
pub trait AchTransfers: Send + Sync {
    /// What the order's rail cannot carry. Asks nobody; called before anything is recorded, so that nothing is cut or left
    /// out later.
    fn check_order(&self, _order: &TransferOrder) -> Result<(), OrderFault> {
        Ok(())
    }

    /// The instant network by which this provider reaches the bank of a routing number; `None` if there is none.
    async fn instant_rail(&self, provider: &Provider, routing_number: &Secret) -> Call<Option<TransferRail>>;

    /// Pays out the principal on the order's rail. A bank that does not take part in it is a refusal.
    async fn send(
        &self,
        provider: &Provider,
        order: &TransferOrder,
        account: &BankAccount,
    ) -> Call<AchProviderReport>;

    /// Whether the provider took a transfer under the order's key, and how it stands.
    async fn find(&self, provider: &Provider, order: &TransferOrder) -> Call<Option<AchProviderReport>>;

    /// Reads a transfer by the provider's name for it.
    async fn read(&self, provider: &Provider, transfer: &str) -> Call<AchProviderReport>;

    /// Cancels a transfer if the provider still can, and tells how it then stands: also where it no longer could, and where it
    /// was canceled before.
    async fn cancel(&self, provider: &Provider, transfer: &str) -> Call<AchProviderReport>;

    /// Whether the current credentials see the account that the configuration names: then they are the same owner's as
    /// those that named it before. `false` also where the provider names no accounts.
    async fn can_access_account(&self, provider: &Provider) -> Call<bool>;

    /// What the provider's funding account has available.
    async fn funds(&self, provider: &Provider) -> Call<Minor>;
}

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
    /// Our reference, as the event has it.
    pub reference: Option<String>,
    /// A dispute's news, which cannot be read elsewhere.
    pub dispute: Option<Dispute>,
    /// All that the event says it is about, where it says no more: [`Cards::identify`] tells which payment that is.
    pub names_only: Option<String>,
    /// The provider only tests whether its events arrive.
    pub is_ping: bool,
}

/// An event that is signed and still cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the event cannot be read: {0}")]
pub struct UnreadableEvent(pub String);

/// Reads a wire's webhooks: first whether to believe them, then what they say.
pub trait WebhookReader: Send + Sync {
    /// Checks the signature on the raw bytes and, where the provider has one, its time.
    fn verify(
        &self,
        provider: &Provider,
        delivery: InboundWebhook<'_>,
        now: Timestamp,
    ) -> Result<(), SignatureError>;

    /// What a verified body says.
    fn translate(&self, body: &[u8]) -> Result<WebhookNotice, UnreadableEvent>;

    /// Whether webhooks come for everything that is sold under the account, most of which may have nothing to do with this
    /// service. Those are dropped, not kept.
    fn tells_of_other_sales(&self) -> bool {
        false
    }
}
