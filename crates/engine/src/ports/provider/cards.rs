//! Card payments by what a provider offers of them.

use std::time::Duration;

use async_trait::async_trait;
use tollgate_configuration::Provider;
use tollgate_domain::{
    Currency, Flow, Minor, Timestamp,
    card::{CardOrder, ProviderReport},
    card_fee::{Instrument, Place},
    hold::HoldAction,
    refund::{Refund, RefundReport},
    transaction::Dispute,
};
use tollgate_vault::Secret;

use super::{Call, CallError, OrderFault, TransientError};

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
    /// What it can be paid with, by the provider's names, where the provider said so.
    pub methods: Vec<String>,
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
        /// The connected account that the intent belongs to, where it is not the key's own.
        account: Option<String>,
        /// The script that draws it.
        script_url: String,
        /// What it can be paid with, where a card can be looked at before it is charged.
        token_methods: Option<Vec<String>>,
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
    /// The third variant, `card_provider_c_drop_in`.
    DropIn {
        client_key: String,
        /// `test` or `live`.
        environment: &'static str,
        session_id: String,
        /// What lets this browser pay this payment.
        session_data: Secret,
        country_code: String,
        /// The script and the style sheet that draw it.
        script_url: String,
        style_url: String,
    },
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

/// A dispute as a provider lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedDispute {
    /// The provider's name for the payment, which need not be one of ours.
    pub payment: String,
    pub dispute: Dispute,
}

/// One page of an account's disputes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisputePage {
    pub disputes: Vec<ListedDispute>,
    /// Where the next page begins; `None` after the last.
    pub next: Option<String>,
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

/// Where a payment stands, as far as its provider can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    Report(ProviderReport),
    /// The provider has no call that tells: its signed webhook does. Until then this much is known, where anything is.
    CannotBeAsked(Option<Box<ProviderReport>>),
}

impl Call<ProviderReport> {
    /// The answer of a provider that can be asked.
    pub fn read(self) -> Call<Reading> {
        Call { outcome: self.outcome.map(Reading::Report), logs: self.logs }
    }
}

/// How the payments of a provider's component are confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confirmation {
    /// The browser has paid already: the provider is asked its outcome.
    Look,
    /// The browser has a token for the card: the provider is told to charge it.
    Charge,
    /// The browser has paid already, and has what the provider is asked with.
    Result,
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
    /// What is charged, where the fee was decided for the card; the order's total otherwise.
    pub terms: Option<ChargeTerms>,
}

/// What is charged to a card that was looked at first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChargeTerms {
    /// What was made at preparation, by the provider's name for it.
    pub object: String,
    pub total: Minor,
    /// The part of the total that is a surcharge.
    pub surcharge: Minor,
}

/// What a token was made of, as the provider tells the merchant's server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenCard {
    pub instrument: Instrument,
    /// Where the payer says they are, as part of their address.
    pub payer: Option<Place>,
    /// True if the address names a state that cannot be read, so that it may be any.
    pub has_unreadable_state: bool,
    /// True if it was used, or its time is over: nothing can be charged with it.
    pub is_spent: bool,
}

/// What to read at the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject<'a> {
    /// What was made at preparation.
    Object(&'a str),
    /// The payment itself, by the provider's name for it.
    Payment(&'a str),
}

/// How a provider's component is paid.
#[derive(Clone, Copy)]
pub enum Embedded<'a> {
    /// The browser pays what the provider made for it.
    InBrowser(&'a dyn EmbeddedCards),
    /// The browser gets a token for the card, which is charged on our word. Nothing is made before that.
    ByToken(&'a dyn Charges),
}

/// Card payments through one provider: what each can do, and which of the rest it offers.
///
/// Each method bounds its own tries and time. Commands carry an idempotency key made of the order's id (and the
/// attempt's number), so that repeating one, also after a restart, does it once.
#[async_trait]
pub trait Cards: Send + Sync {
    /// Pages of the provider's own.
    fn hosted_checkout(&self) -> Option<&dyn HostedCheckout> {
        None
    }

    /// A component in the caller's page.
    fn embedded(&self) -> Option<Embedded<'_>> {
        None
    }

    /// Payments of this flow that are only authorized at first.
    fn captures(&self, _flow: Flow) -> Option<&dyn Captures> {
        None
    }

    fn refunds(&self) -> Option<&dyn Refunds> {
        None
    }

    /// Disputes by account, where payments do not say that they are disputed.
    fn dispute_lists(&self) -> Option<&dyn DisputeLists> {
        None
    }

    /// What the provider would not take in an order, as far as that is known or can be read without making anything. Asked
    /// before anything is recorded; not knowing is no fault.
    async fn check_order(&self, _provider: &Provider, _order: &CardOrder) -> Call<(), OrderFault> {
        Call { outcome: Ok(()), logs: Vec::new() }
    }

    /// Reads where a payment stands, with every refund of it.
    async fn read(&self, provider: &Provider, order: &CardOrder, subject: Subject<'_>) -> Call<Reading>;

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

    /// Whether the current credentials see the account that the configuration names, or where it names none, `account`,
    /// which the credentials before them belonged to: then they are the same owner's. `false` also where neither names one.
    async fn can_access_account(&self, provider: &Provider, account: Option<&str>) -> Call<bool>;

    /// The newest dispute about a payment, by the provider's name for the payment; `known` is the dispute on record.
    /// `None` if there is none, or the provider cannot be asked.
    async fn dispute(&self, provider: &Provider, payment: &str, known: Option<&str>)
    -> Call<Option<Dispute>>;

    /// Takes back what was made at preparation, so that nobody can pay on it anymore, and says where the payment then
    /// stands: also where it turns out to have been paid. [`Reading::CannotBeAsked`] if it can only be waited for its end.
    async fn withdraw(&self, provider: &Provider, order: &CardOrder, object: &str) -> Call<Reading>;

    /// Whether what was made for this flow can be taken back before it ends by itself.
    fn can_withdraw(&self, _flow: Flow) -> bool {
        true
    }

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

/// Payments for which the provider makes something before the customer pays.
#[async_trait]
pub trait Preparing: Send + Sync {
    /// Makes what the customer pays on.
    async fn prepare(&self, provider: &Provider, order: &CardOrder) -> Call<Prepared>;

    /// After [`Preparing::prepare`] was answered with errors of the provider's own: looks for what it may have made all the
    /// same, and takes that back. `Ok` is proof that nobody can pay on anything there.
    async fn withdraw_unanswered(&self, _provider: &Provider, _order: &CardOrder) -> Call<()> {
        let reason = "the provider cannot be searched for what it may have made".to_owned();
        let outcome = Err(CallError::Unknown(TransientError { reason, retry_after: None }));
        Call { outcome, logs: Vec::new() }
    }
}

/// Payments on a page of the provider's own.
pub trait HostedCheckout: Preparing {
    /// How long a page can be paid at most; `None` if the provider sets no limit.
    fn max_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// Payments that the browser makes in the provider's component.
#[async_trait]
pub trait EmbeddedCards: Preparing {
    /// How long what is made can be paid at most; `None` if the provider sets no limit.
    fn max_lifetime(&self) -> Option<Duration> {
        None
    }

    /// Reading by what the browser gets when it is done, where the provider is asked with that.
    fn results(&self) -> Option<&dyn BrowserResults> {
        None
    }

    /// What was made at preparation, once more with what lets a browser pay.
    async fn reopen(&self, provider: &Provider, order: &CardOrder, object: &str) -> Call<Prepared>;

    /// What the browser needs. `None` if the configuration lacks something, which [`Provider::missing`] names.
    fn component(&self, provider: &Provider, order: &CardOrder, prepared: &Prepared) -> Option<Component>;

    /// Cards that can be looked at before they are charged, where the browser's token of a card says enough of it.
    fn tokens(&self, _provider: &Provider) -> Option<&dyn TokenCards> {
        None
    }
}

/// Cards that the browser makes a token of, which is looked at here and then charged on our word, on what was made at
/// preparation.
#[async_trait]
pub trait TokenCards: Send + Sync {
    /// Looks at a token's card. A token that the provider does not know is a
    /// [`RejectionKind::Missing`](super::RejectionKind::Missing).
    async fn read_token(&self, provider: &Provider, token: &Secret) -> Call<TokenCard>;

    /// The provider takes totals in multiples of this.
    fn amount_step(&self, _currency: Currency) -> u64 {
        1
    }

    /// Charges the token's card by the charge's terms. A decline is a
    /// [`RejectionKind::Declined`](super::RejectionKind::Declined). What came of a charge whose answer was lost, reading what was
    /// made at preparation tells.
    async fn charge_token(
        &self,
        provider: &Provider,
        order: &CardOrder,
        charge: &Charge,
    ) -> Call<ProviderReport>;
}

/// Where a payment stands, asked with what its browser got when it was done.
#[async_trait]
pub trait BrowserResults: Send + Sync {
    async fn read_result(
        &self,
        provider: &Provider,
        order: &CardOrder,
        object: &str,
        result: &Secret,
    ) -> Call<Reading>;
}

/// Payments that are made on our word, with a card's token from the browser.
#[async_trait]
pub trait Charges: Send + Sync {
    /// What the browser needs. `None` if the configuration lacks something, which [`Provider::missing`] names.
    fn component(&self, provider: &Provider) -> Option<Component>;

    /// Charges a card. A decline is a [`RejectionKind::Declined`](super::RejectionKind::Declined).
    async fn charge(&self, provider: &Provider, order: &CardOrder, charge: &Charge) -> Call<ProviderReport>;

    /// Looks for a charge that may have been made between two moments, under a key the provider may have forgotten.
    async fn find_charge(
        &self,
        provider: &Provider,
        order: &CardOrder,
        from: Timestamp,
        until: Timestamp,
    ) -> Call<Option<ProviderReport>>;
}

/// Money that is held first and captured or released later.
#[async_trait]
pub trait Captures: Send + Sync {
    /// Captures money that is held, or releases it, by the provider's name for the payment and under the action's id as the
    /// key. Says where the payment then stands, also where it turns out to have been captured or released before;
    /// [`Reading::CannotBeAsked`] if it is taken and a webhook will tell. A rejection means that the money is still held.
    async fn act_on_hold(
        &self,
        provider: &Provider,
        order: &CardOrder,
        payment: &str,
        action: &HoldAction,
    ) -> Call<Reading>;
}

/// Money that goes back to the card.
#[async_trait]
pub trait Refunds: Send + Sync {
    /// The provider takes totals in multiples of this many minor units.
    fn amount_step(&self, _currency: Currency) -> u64 {
        1
    }

    /// Refunds some of a payment, by the provider's name for the payment, under the refund's id as the key. What the provider
    /// makes of it carries that id, so that it is recognized in a report.
    async fn refund(
        &self,
        provider: &Provider,
        order: &CardOrder,
        payment: &str,
        refund: &Refund,
    ) -> Call<RefundReport>;
}

/// The disputes of the configured account.
#[async_trait]
pub trait DisputeLists: Send + Sync {
    /// One page: the first, or the one that begins where an earlier one says.
    async fn list_disputes(&self, provider: &Provider, from: Option<&str>) -> Call<DisputePage>;
}
