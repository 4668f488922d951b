//! The methods of the records' port, each handed to the writer or to a reader.

use async_trait::async_trait;
use tollgate_domain::{PaymentMethod, Timestamp, id::EnvironmentId};
use tollgate_engine::ports::{Activity, Attention, Found, FoundPlace, PastPayment, RecordStore, StoreError};

use super::PostgresStore;

#[async_trait]
impl RecordStore for PostgresStore {
    async fn digest_events(&self, _limit: u32) -> Result<u32, StoreError> {
        Err(StoreError::Broken("not yet".to_owned()))
    }

    async fn find_payments(
        &self,
        _environment: EnvironmentId,
        _term: &str,
        _before: Option<FoundPlace>,
        _limit: u32,
    ) -> Result<Vec<Found>, StoreError> {
        Err(StoreError::Broken("not yet".to_owned()))
    }

    async fn activity(
        &self,
        _environment: EnvironmentId,
        _from: Timestamp,
        _until: Timestamp,
    ) -> Result<Vec<Activity>, StoreError> {
        Err(StoreError::Broken("not yet".to_owned()))
    }

    async fn past_payments(
        &self,
        _environment: EnvironmentId,
        _method: Option<PaymentMethod>,
        _limit: u32,
    ) -> Result<Vec<PastPayment>, StoreError> {
        Err(StoreError::Broken("not yet".to_owned()))
    }

    async fn attention(&self, _environment: EnvironmentId, _most: u32) -> Result<Attention, StoreError> {
        Err(StoreError::Broken("not yet".to_owned()))
    }
}
