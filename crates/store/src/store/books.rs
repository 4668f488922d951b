//! The books of card payments.

use async_trait::async_trait;
use tollgate_domain::{
    Timestamp,
    id::{EnvironmentId, PaymentId},
    statement::{Month, StatementLine},
    transaction::Dispute,
};
use tollgate_engine::ports::{BooksStore, NewCardPosting, StoreError};

use super::{SqlStore, port};
use crate::{
    session::{Driver, run},
    units::{books, statement},
};

port! {
    impl BooksStore {
        Read books::of_payment => card_postings(environment: EnvironmentId, id: PaymentId) -> Vec<NewCardPosting>;
        Snapshot statement::of_month => statement(environment: EnvironmentId, month: Month) -> Vec<StatementLine>;
        Read books::open_disputes => open_disputes(environment: EnvironmentId, limit: u32) -> Vec<(PaymentId, Dispute)>;
        Read books::unposted => unposted_payments(limit: u32) -> Vec<(EnvironmentId, PaymentId)>;
        Write books::list_unposted => list_unposted_payments(now: Timestamp) -> ();
        Write books::post_payment => post_payment(
            environment: EnvironmentId, id: PaymentId, revision: u64, postings: &[NewCardPosting]
        ) -> bool;
    } and {
        /// Added up by a unit that only reads, which may take long the first time: SQLite has one writer.
        async fn add_up_statements(&self) -> Result<(), StoreError> {
            if let Some(next) = run!(self.driver, Audit, statement::since_kept()).await? {
                run!(self.driver, Write, statement::keep(&next)).await?;
            }
            Ok(())
        }
    }
}
