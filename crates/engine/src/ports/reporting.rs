//! Finding payments and adding them up, over any number of them.
//!
//! Both read what [`ReportingStore::index_events`] has prepared from the events a moment after they were written, so that
//! making a payment does not wait for it.

use async_trait::async_trait;
use tollgate_domain::{
    Channel, Currency, Flow, Minor, PaymentMethod, ServiceReference, Timestamp,
    card_fee::PaymentFee,
    event::EventKind,
    fee::FeeSnapshot,
    hold::Hold,
    id::{EnvironmentId, PaymentId, RequestId, TransactionId, TransferId},
    payment_card::PaymentCard,
};

use super::StoreError;

/// A payment's place among those found, newer ones above: sixteen bytes that begin with its moment.
pub type SearchCursor = [u8; 16];

/// A payment that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchHit {
    /// Its place.
    pub place: SearchCursor,
    pub reference: ServiceReference,
}

/// Whom a payment is from or for, as far as the caller said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentCustomer {
    pub reference: ServiceReference,
    pub name: Option<String>,
    pub email: Option<String>,
    /// The caller's own name for them.
    pub external_id: Option<String>,
    /// Of a transfer: the bank it goes to.
    pub bank_name: Option<String>,
    /// Of a transfer: the end of the account's number.
    pub last_four: Option<String>,
}

/// What happened within one hour, of one kind, at one provider, in one currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    /// The beginning of the hour.
    pub hour: Timestamp,
    /// The currency of the amounts.
    pub currency: Currency,
    /// By which method.
    pub method: PaymentMethod,
    /// Through which provider.
    pub provider: String,
    pub kind: EventKind,
    /// How often.
    pub count: u64,
    /// The principals, added up; as much as can be counted, where they are more.
    pub principal_minor: i64,
    /// The platform's fees, likewise.
    pub platform_fee_minor: i64,
    /// The organization's fees, likewise.
    pub organization_fee_minor: i64,
}

/// Transfers of some time that were sent, and why some of them failed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReturnCounts {
    pub sent: u64,
    /// By failure code.
    pub by_code: Vec<(String, u64)>,
}

/// A payment of the past as its routing and its fee were decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastPayment {
    pub reference: ServiceReference,
    pub at: Timestamp,
    /// How the card was taken; `None` for a transfer.
    pub flow: Option<Flow>,
    /// In which currency.
    pub currency: Currency,
    /// The caller's metadata, as JSON text.
    pub metadata: String,
    /// By which provider.
    pub provider: String,
    /// Over which channel.
    pub channel: Channel,
    /// For which fee.
    pub fee: FeeSnapshot,
}

/// What was charged for a card payment whose fee has a kind, and by what decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChargedPayment {
    pub id: TransactionId,
    pub provider: String,
    pub currency: Currency,
    pub hold: Option<Hold>,
    pub card: Option<Box<PaymentCard>>,
    pub charged: Box<FeeSnapshot>,
    pub card_fee: Box<PaymentFee>,
    /// What succeeded refunds have given back of the fee.
    pub refunded_fee: Minor,
}

/// The part of the store that finds and adds up.
#[async_trait]
pub trait ReportingStore: Send + Sync + 'static {
    /// Takes up to `limit` events of any environment that were not taken before, adds what their payments are found by to
    /// the index and counts them in their hour. Returns how many it took. Each is taken once, however many nodes do so.
    async fn index_events(&self, limit: u32) -> Result<u32, StoreError>;

    /// Adds what a card payment is found by to the index, where no event leads to it.
    async fn index_payment(&self, environment: EnvironmentId, id: PaymentId) -> Result<(), StoreError>;

    /// Payments found by a term of [`tollgate_domain::search`], newest first, below `before` if given.
    async fn find_payments(
        &self,
        environment: EnvironmentId,
        term: &str,
        before: Option<SearchCursor>,
        limit: u32,
    ) -> Result<Vec<SearchHit>, StoreError>;

    /// The first terms of an environment that begin like this.
    async fn search_terms(
        &self,
        environment: EnvironmentId,
        prefix: &str,
        limit: u32,
    ) -> Result<Vec<String>, StoreError>;

    /// The payments of one method from one reference to another, both included, the last first.
    async fn references_between(
        &self,
        environment: EnvironmentId,
        first: ServiceReference,
        last: ServiceReference,
        limit: u32,
    ) -> Result<Vec<ServiceReference>, StoreError>;

    /// The payment that this request made, if it was [made soon](tollgate_domain::search::made_by).
    async fn payment_of_request(
        &self,
        environment: EnvironmentId,
        request: RequestId,
    ) -> Result<Option<ServiceReference>, StoreError>;

    /// The transfers whose names at their providers begin like this, in the order of the names.
    async fn transfers_of_objects(
        &self,
        environment: EnvironmentId,
        prefix: &str,
        limit: u32,
    ) -> Result<Vec<TransferId>, StoreError>;

    /// The card payment with a dispute of this name at its provider.
    async fn payment_of_dispute(
        &self,
        environment: EnvironmentId,
        dispute: &str,
    ) -> Result<Option<PaymentId>, StoreError>;

    /// The customers of these payments, in their order, as far as there are such payments.
    async fn customers_of(
        &self,
        environment: EnvironmentId,
        references: &[ServiceReference],
    ) -> Result<Vec<PaymentCustomer>, StoreError>;

    /// What happened in an environment in the hours that begin at `from` or later and before `until`, oldest first.
    async fn activity(
        &self,
        environment: EnvironmentId,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<Activity>, StoreError>;

    /// How many transfers were sent in these hours, and by which codes those of them that failed did.
    async fn return_counts(
        &self,
        environment: EnvironmentId,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<ReturnCounts, StoreError>;

    /// Card payments of an environment whose fee has a kind, that succeeded and whose transactions were recorded from `from` on and
    /// before `until`, in the order of their transactions, behind `after` if given.
    async fn charged_payments(
        &self,
        environment: EnvironmentId,
        from: Timestamp,
        until: Timestamp,
        after: Option<TransactionId>,
        limit: u32,
    ) -> Result<Vec<ChargedPayment>, StoreError>;

    /// The latest payments of an environment whatever their outcome, newest first: card payments from their preparation
    /// on, and transfers; of one method if given.
    async fn past_payments(
        &self,
        environment: EnvironmentId,
        method: Option<PaymentMethod>,
        limit: u32,
    ) -> Result<Vec<PastPayment>, StoreError>;
}
