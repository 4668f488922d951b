//! The methods of the records' port, each handed to the writer or to a reader.

use async_trait::async_trait;
use tollgate_domain::{PaymentMethod, Timestamp, id::EnvironmentId};
use tollgate_engine::ports::{
    Activity, Attention, PastPayment, ReportingStore, SearchCursor, SearchHit, StoreError,
};

use super::{SqliteStore, digest, records};

#[async_trait]
impl ReportingStore for SqliteStore {
    async fn index_events(&self, limit: u32) -> Result<u32, StoreError> {
        if !self.readers.read(digest::is_any_undigested).await? {
            return Ok(0);
        }
        self.writer.write(move |connection| digest::digest(connection, limit)).await
    }

    async fn find_payments(
        &self,
        environment: EnvironmentId,
        term: &str,
        before: Option<SearchCursor>,
        limit: u32,
    ) -> Result<Vec<SearchHit>, StoreError> {
        let term = term.to_owned();
        self.readers
            .read(move |connection| records::find(connection, environment, &term, before, limit))
            .await
    }

    async fn activity(
        &self,
        environment: EnvironmentId,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<Activity>, StoreError> {
        self.readers.read(move |connection| records::activity(connection, environment, from, until)).await
    }

    async fn past_payments(
        &self,
        environment: EnvironmentId,
        method: Option<PaymentMethod>,
        limit: u32,
    ) -> Result<Vec<PastPayment>, StoreError> {
        self.readers
            .read(move |connection| records::past_payments(connection, environment, method, limit))
            .await
    }

    async fn attention(&self, environment: EnvironmentId, most: u32) -> Result<Attention, StoreError> {
        self.readers.read(move |connection| records::attention(connection, environment, most)).await
    }
}
