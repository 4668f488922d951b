//! Looking into a database.

use async_trait::async_trait;
use tollgate_domain::{Currency, ServiceReference, Timestamp, id::EnvironmentId};
use tollgate_engine::ports::{Diagnosis, InspectionStore, LedgerLine, StoreError};

use super::{SqlStore, port};
use crate::{
    session::{Driver, run},
    units::diagnosis,
};

port! {
    impl InspectionStore {
        Read diagnosis::postings_of => postings_of(
            environment: EnvironmentId, currency: Currency, reference: ServiceReference
        ) -> Vec<LedgerLine>;
    } and {
        async fn diagnose(&self, now: Timestamp) -> Result<Diagnosis, StoreError> {
            self.driver.diagnose(now).await
        }
    }
}
