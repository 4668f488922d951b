//! The books of card payments, and what a month's statement is made of.

use async_trait::async_trait;
use tollgate_domain::{
    Timestamp,
    books::CardPosting,
    id::{EnvironmentId, PaymentId, PostingId},
    statement::{Month, StatementLine},
    transaction::Dispute,
};

use super::StoreError;

/// A posting to the books of card payments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCardPosting {
    pub id: PostingId,
    pub at: Timestamp,
    pub posting: CardPosting,
}

/// The part of the store that keeps the books of card payments. A change of a payment writes its postings itself.
#[async_trait]
pub trait BooksStore: Send + Sync + 'static {
    /// A payment's postings, oldest first.
    async fn card_postings(
        &self,
        environment: EnvironmentId,
        id: PaymentId,
    ) -> Result<Vec<NewCardPosting>, StoreError>;

    /// What was posted in a month, added up by provider, method, currency and kind: what [`Self::add_up_statements`] has kept
    /// and every posting since.
    async fn statement(
        &self,
        environment: EnvironmentId,
        month: Month,
    ) -> Result<Vec<StatementLine>, StoreError>;

    /// Adds up what was posted since the last time and keeps the sums, so that statements need not read it. Statements are
    /// the same before and after.
    async fn add_up_statements(&self) -> Result<(), StoreError>;

    /// Disputes that are not decided, those whose evidence is wanted next first, with the payments they are about.
    async fn open_disputes(
        &self,
        environment: EnvironmentId,
        limit: u32,
    ) -> Result<Vec<(PaymentId, Dispute)>, StoreError>;

    /// Some payments from before there were books that are not posted yet.
    async fn unposted_payments(&self, limit: u32) -> Result<Vec<(EnvironmentId, PaymentId)>, StoreError>;

    /// Adds payments to that list that nodes of an earlier version may have recorded since the books were opened, which takes
    /// a day at most: a payment that turns out to be posted is only taken off again.
    async fn list_unposted_payments(&self, now: Timestamp) -> Result<(), StoreError>;

    /// Posts such a payment, if it is still at this revision and not posted yet; `false` otherwise.
    async fn post_payment(
        &self,
        environment: EnvironmentId,
        id: PaymentId,
        revision: u64,
        postings: &[NewCardPosting],
    ) -> Result<bool, StoreError>;
}
