//! The methods of the records' port, each attempted within bounds.

use async_trait::async_trait;
use tollgate_domain::{PaymentMethod, Timestamp, id::EnvironmentId};
use tollgate_engine::ports::{
    Activity, Attention, PastPayment, ReportingStore, SearchCursor, SearchHit, StoreError,
};

use super::{PostgresStore, attempts::attempt, digest, records};

#[async_trait]
impl ReportingStore for PostgresStore {
    async fn index_events(&self, limit: u32) -> Result<u32, StoreError> {
        attempt!(self, Write, |client| digest::digest(client, limit))
    }

    async fn find_payments(
        &self,
        environment: EnvironmentId,
        term: &str,
        before: Option<SearchCursor>,
        limit: u32,
    ) -> Result<Vec<SearchHit>, StoreError> {
        attempt!(self, Read, |client| records::find(client, environment, term, before, limit))
    }

    async fn activity(
        &self,
        environment: EnvironmentId,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<Activity>, StoreError> {
        attempt!(self, Read, |client| records::activity(client, environment, from, until))
    }

    async fn past_payments(
        &self,
        environment: EnvironmentId,
        method: Option<PaymentMethod>,
        limit: u32,
    ) -> Result<Vec<PastPayment>, StoreError> {
        attempt!(self, Read, |client| records::past_payments(client, environment, method, limit))
    }

    async fn attention(&self, environment: EnvironmentId, most: u32) -> Result<Attention, StoreError> {
        attempt!(self, Read, |client| records::attention(client, environment, most))
    }
}
