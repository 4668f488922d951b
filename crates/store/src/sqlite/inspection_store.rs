//! The methods of the inspection's port, each handed to a reader.

use async_trait::async_trait;
use tollgate_domain::{Currency, ServiceReference, Timestamp, id::EnvironmentId};
use tollgate_engine::ports::{Diagnosis, InspectionStore, LedgerLine, StoreError};

use super::{SqliteStore, diagnosis};

#[async_trait]
impl InspectionStore for SqliteStore {
    async fn diagnose(&self, now: Timestamp) -> Result<Diagnosis, StoreError> {
        // Asked of the connection that commits: how it does so is a setting of its own.
        let synchronous = self.writer.write(diagnosis::synchronous).await?;
        self.readers.read(move |connection| diagnosis::diagnose(connection, now, synchronous)).await
    }

    async fn postings_of(
        &self,
        environment: EnvironmentId,
        currency: Currency,
        reference: ServiceReference,
    ) -> Result<Vec<LedgerLine>, StoreError> {
        self.readers
            .read(move |connection| diagnosis::postings_of(connection, environment, currency, reference))
            .await
    }
}
