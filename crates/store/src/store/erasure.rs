//! Personal data: found, erased, forgotten after its time.

use async_trait::async_trait;
use tollgate_domain::{PaymentMethod, ServiceReference, Timestamp, id::EnvironmentId};
use tollgate_engine::ports::{
    Entry, Erased, ErasureStore, KeyedToken, ProviderEventState, StoreError, StoredCustomer,
};

use super::{SqlStore, port};
use crate::{
    session::{Driver, run},
    units::erasure,
};

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
