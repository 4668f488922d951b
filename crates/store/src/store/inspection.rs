//! Looking into a database.

use async_trait::async_trait;
use tollgate_domain::{Currency, ServiceReference, Timestamp, id::EnvironmentId};
use tollgate_engine::ports::{
    Backlog, Diagnosis, EnvironmentHealth, HealthQuery, InspectionStore, LedgerLine, ProviderCheckRecord,
    StoreError,
};

use super::{SqlStore, port};
use crate::{
    session::{Driver, run},
    units::{diagnosis, health, provider_checks},
};

port! {
    impl InspectionStore {
        Read diagnosis::backlog => backlog(now: Timestamp) -> Vec<Backlog>;
        Read health::health => environment_health(query: &HealthQuery) -> Vec<EnvironmentHealth>;
        Read diagnosis::postings_of => postings_of(
            environment: EnvironmentId, currency: Currency, reference: ServiceReference
        ) -> Vec<LedgerLine>;
        Write provider_checks::put => put_provider_check(
            environment: EnvironmentId, record: &ProviderCheckRecord
        ) -> bool;
        Read provider_checks::list => provider_checks(environment: EnvironmentId) -> Vec<ProviderCheckRecord>;
        Write provider_checks::put_account => put_credential_account(
            environment: EnvironmentId, credential: &str, account: &str
        ) -> bool;
        Read provider_checks::account => credential_account(
            environment: EnvironmentId, credential: &str
        ) -> Option<String>;
    } and {
        async fn diagnose(&self, now: Timestamp) -> Result<Diagnosis, StoreError> {
            self.driver.diagnose(now).await
        }

        fn queued_units(&self) -> usize {
            self.driver.queued_units()
        }
    }
}
