//! Payments as they are found, added up, limited and erased.

use async_trait::async_trait;
use tollgate_domain::{
    PaymentMethod, ServiceReference, Timestamp,
    id::{EnvironmentId, PaymentId, RequestId, TransactionId, TransferId},
    statement::{Month, StatementLine},
    transaction::Dispute,
};
use tollgate_engine::ports::{
    Activity, BooksStore, ChargedPayment, Entry, Erased, ErasureStore, KeyedToken, LimitStore,
    NewCardPosting, PastPayment, PaymentCustomer, ProviderEventState, ReportingStore, ReturnCounts,
    SearchCursor, SearchHit, StoreError, StoredCustomer,
};

use super::{SqlStore, port};
use crate::{
    session::{Driver, run},
    units::{books, digest, erasure, limits, records, statement},
};

port! {
    impl ReportingStore {
        Read records::find => find_payments(
            environment: EnvironmentId, term: &str, before: Option<SearchCursor>, limit: u32
        ) -> Vec<SearchHit>;
        Read records::terms => search_terms(environment: EnvironmentId, prefix: &str, limit: u32) -> Vec<String>;
        Read records::references => references_between(
            environment: EnvironmentId, first: ServiceReference, last: ServiceReference, limit: u32
        ) -> Vec<ServiceReference>;
        Read records::made_by => payment_of_request(
            environment: EnvironmentId, request: RequestId
        ) -> Option<ServiceReference>;
        Read records::of_objects => transfers_of_objects(
            environment: EnvironmentId, prefix: &str, limit: u32
        ) -> Vec<TransferId>;
        Read records::disputed => payment_of_dispute(environment: EnvironmentId, dispute: &str) -> Option<PaymentId>;
        Read records::customers => customers_of(
            environment: EnvironmentId, references: &[ServiceReference]
        ) -> Vec<PaymentCustomer>;
        Read records::return_counts => return_counts(
            environment: EnvironmentId, from: Timestamp, until: Timestamp
        ) -> ReturnCounts;
        Read records::activity => activity(
            environment: EnvironmentId, from: Timestamp, until: Timestamp
        ) -> Vec<Activity>;
        Read records::past_payments => past_payments(
            environment: EnvironmentId, method: Option<PaymentMethod>, limit: u32
        ) -> Vec<PastPayment>;
        Read records::charged_payments => charged_payments(
            environment: EnvironmentId, from: Timestamp, until: Timestamp, after: Option<TransactionId>, limit: u32
        ) -> Vec<ChargedPayment>;
        Write digest::index_payment => index_payment(environment: EnvironmentId, id: PaymentId) -> ();
    } and {
        async fn index_events(&self, limit: u32) -> Result<u32, StoreError> {
            // Events are numbered on the way, so that they never wait long for somebody to list them.
            self.driver.number_events(None).await?;
            if !run!(self.driver, Read, digest::is_any_undigested()).await? {
                return Ok(0);
            }
            run!(self.driver, WriteByIndex, digest::digest(limit)).await
        }
    }
}

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

port! {
    impl ErasureStore {
        Read erasure::customers => payment_customers(
            environment: EnvironmentId, method: PaymentMethod, after: Option<[u8; 16]>, limit: u32
        ) -> Vec<StoredCustomer>;
        Write erasure::erase => erase_payment(
            environment: EnvironmentId, reference: ServiceReference, entry: &Entry
        ) -> Erased;
        Read erasure::wishes => erasure_wishes(
            environment: EnvironmentId, method: PaymentMethod, after: Option<[u8; 16]>, limit: u32
        ) -> Vec<(ServiceReference, String)>;
        Read erasure::tokens => customer_tokens(
            environment: EnvironmentId, after: Option<[u8; 32]>, limit: u32
        ) -> Vec<KeyedToken>;
        Write erasure::forget_token => forget_customer_token(environment: EnvironmentId, key: &[u8; 32]) -> ();
        Write erasure::forget_provider_events => forget_provider_events(
            environment: EnvironmentId, state: ProviderEventState, before: Timestamp, limit: u32
        ) -> u64;
    } and {
        async fn overwrite_erased(&self) -> Result<(), StoreError> {
            self.driver.erase_deleted().await
        }
    }
}

port! {
    impl LimitStore {
    } and {
        async fn forget_limit_uses(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
            if !run!(self.driver, Read, limits::is_any_ended(now)).await? {
                return Ok(0);
            }
            run!(self.driver, Write, limits::forget_ended(now, limit)).await
        }
    }
}
