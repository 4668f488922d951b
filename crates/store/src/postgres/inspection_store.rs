//! The methods of the inspection's port, each handed to a connection.

use async_trait::async_trait;
use tollgate_domain::{Currency, ServiceReference, Timestamp, id::EnvironmentId};
use tollgate_engine::ports::{Diagnosis, InspectionStore, LedgerLine, StoreError};

use super::{PostgresStore, attempts::attempt, diagnosis};

#[async_trait]
impl InspectionStore for PostgresStore {
    async fn diagnose(&self, now: Timestamp) -> Result<Diagnosis, StoreError> {
        attempt!(self, Read, |client| diagnosis::diagnose(client, now))
    }

    async fn postings_of(
        &self,
        environment: EnvironmentId,
        currency: Currency,
        reference: ServiceReference,
    ) -> Result<Vec<LedgerLine>, StoreError> {
        attempt!(self, Read, |client| diagnosis::postings_of(client, environment, currency, reference))
    }
}
