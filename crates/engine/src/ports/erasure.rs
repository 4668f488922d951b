//! Personal data in the store: whose it is, and taking it out.

use async_trait::async_trait;
use tollgate_domain::{PaymentMethod, ServiceReference, Timestamp, id::EnvironmentId};

use super::{Entry, KeyedToken, ProviderEventState, StoreError};

/// Whom a payment is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCustomer {
    /// Where the list goes on behind it.
    pub place: [u8; 16],
    pub reference: ServiceReference,
    pub created_at: Timestamp,
    /// The caller's name for the customer; card payments have none.
    pub external_id: Option<String>,
    pub email: Option<String>,
    pub erased_at: Option<Timestamp>,
    /// True if something of the person is there although it was erased: the version that erased it did not know that, or a provider has
    /// reported it since.
    pub is_partly_erased: bool,
}

impl StoredCustomer {
    /// True if nothing is left of the person.
    pub fn is_erased(&self) -> bool {
        self.erased_at.is_some() && !self.is_partly_erased
    }
}

/// What became of erasing a payment's personal data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Erased {
    /// It is gone.
    Done,
    /// It was gone before, all of it.
    Before,
    /// It is still needed: the payment has not ended, or its events are being indexed. That it is to be erased is remembered.
    InProgress,
    /// There is no such payment.
    Missing,
}

/// The part of the store that forgets people.
#[async_trait]
pub trait ErasureStore: Send + Sync + 'static {
    /// Whom the payments of an environment are of, behind `after` and in the order of their places.
    async fn payment_customers(
        &self,
        environment: EnvironmentId,
        method: PaymentMethod,
        after: Option<[u8; 16]>,
        limit: u32,
    ) -> Result<Vec<StoredCustomer>, StoreError>;

    /// Takes out of a payment, its events, its timeline and the search index whatever may be about a person: names,
    /// addresses, bank details, and every text that callers, providers and operators wrote. Amounts, statuses, references
    /// and postings stay. `entry` becomes its timeline, and who did it is recorded.
    async fn erase_payment(
        &self,
        environment: EnvironmentId,
        reference: ServiceReference,
        entry: &Entry,
    ) -> Result<Erased, StoreError>;

    /// The payments of a method that wait for their erasure, in the order of their references and behind `after`, each with
    /// the detail of the entry that asked for it.
    async fn erasure_wishes(
        &self,
        environment: EnvironmentId,
        method: PaymentMethod,
        after: Option<[u8; 16]>,
        limit: u32,
    ) -> Result<Vec<(ServiceReference, String)>, StoreError>;

    /// Customer tokens that were issued under a key, behind `after`.
    async fn customer_tokens(
        &self,
        environment: EnvironmentId,
        after: Option<[u8; 32]>,
        limit: u32,
    ) -> Result<Vec<KeyedToken>, StoreError>;

    /// Forgets a customer token.
    async fn forget_customer_token(
        &self,
        environment: EnvironmentId,
        key: &[u8; 32],
    ) -> Result<(), StoreError>;

    /// Forgets up to `limit` webhooks in this state that came before that moment, and says how many those were.
    async fn forget_provider_events(
        &self,
        environment: EnvironmentId,
        state: ProviderEventState,
        before: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError>;

    /// Overwrites what was erased in the database's own files, as far as the database can.
    async fn overwrite_erased(&self) -> Result<(), StoreError>;
}
