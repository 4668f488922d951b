//! Finding payments and adding them up.

use async_trait::async_trait;
use tollgate_domain::{
    PaymentMethod, ServiceReference, Timestamp,
    id::{EnvironmentId, PaymentId, RequestId, TransferId},
};
use tollgate_engine::ports::{
    Activity, PastPayment, PaymentCustomer, ReportingStore, ReturnCounts, SearchCursor, SearchHit, StoreError,
};

use super::{SqlStore, port};
use crate::{
    session::{Driver, run},
    units::{digest, records},
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
