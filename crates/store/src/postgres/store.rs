//! The port's methods, each attempted within bounds.

use std::time::Duration;

use async_trait::async_trait;
use tollgate_domain::{
    Currency, Timestamp,
    id::{ApplicationId, EnvironmentId, KeyId, OrganizationId, PostingId},
    ledger::{Balances, Movement},
    tenant::{Application, Environment, KeyRecord, Organization},
};
use tollgate_engine::ports::{
    ChangeSignal, ConfigChange, ConfigPut, ConfigVersion, ConfigVersionSummary, Created, Delta,
    DirectoryVersion, Issued, LedgerLine, Moved, Page, Revoked, Rotated, Store, StoreError,
};

use super::{
    PostgresStore,
    attempts::{Attempts, Limits, Purpose, attempt},
    config, directory, keys, wallet,
};

/// Whoever asks whether the store is well wants to know soon.
const PROBE_LIMIT: Duration = Duration::from_secs(2);

#[async_trait]
impl Store for PostgresStore {
    async fn probe(&self) -> Result<(), StoreError> {
        // Limits of its own, rather than a wait that is given up: a connection that does not answer is then thrown
        // away instead of being handed to the next who asks.
        let limits = Limits { attempt: PROBE_LIMIT, total: PROBE_LIMIT };
        let attempts = Attempts::new(&self.pool, Purpose::Read, limits);
        if attempt!(attempts, |client| directory::takes_writes(client))? {
            return Ok(());
        }
        Err(StoreError::Unavailable("the database takes no writes".to_owned()))
    }

    async fn pin(&self, name: &str, value: &str) -> Result<String, StoreError> {
        attempt!(self, Write, |client| directory::pin(client, name, value))
    }

    async fn change_signal(&self) -> Result<Box<dyn ChangeSignal>, StoreError> {
        Ok(self.listener().announcer().waiter())
    }

    async fn directory_since(&self, since: DirectoryVersion) -> Result<Delta, StoreError> {
        attempt!(self, Read, |client| directory::directory_since(client, since))
    }

    async fn create_organization(&self, organization: &Organization) -> Result<(), StoreError> {
        attempt!(self, Write, |client| directory::create_organization(client, organization))
    }

    async fn create_application(&self, application: &Application) -> Result<Created, StoreError> {
        attempt!(self, Write, |client| directory::create_application(client, application))
    }

    async fn create_environment(&self, environment: &Environment) -> Result<Created, StoreError> {
        attempt!(self, Write, |client| directory::create_environment(client, environment))
    }

    async fn organizations(&self, page: Page<OrganizationId>) -> Result<Vec<Organization>, StoreError> {
        attempt!(self, Read, |client| directory::organizations(client, page))
    }

    async fn organization(&self, id: OrganizationId) -> Result<Option<Organization>, StoreError> {
        attempt!(self, Read, |client| directory::organization(client, id))
    }

    async fn application(&self, id: ApplicationId) -> Result<Option<Application>, StoreError> {
        attempt!(self, Read, |client| directory::application(client, id))
    }

    async fn applications(
        &self,
        organization: OrganizationId,
        page: Page<ApplicationId>,
    ) -> Result<Vec<Application>, StoreError> {
        attempt!(self, Read, |client| directory::applications(client, organization, page))
    }

    async fn environments(
        &self,
        application: ApplicationId,
        page: Page<EnvironmentId>,
    ) -> Result<Vec<Environment>, StoreError> {
        attempt!(self, Read, |client| directory::environments(client, application, page))
    }

    async fn environment(&self, id: EnvironmentId) -> Result<Option<Environment>, StoreError> {
        attempt!(self, Read, |client| directory::environment(client, id))
    }

    async fn issue_key(&self, key: &KeyRecord) -> Result<Issued, StoreError> {
        attempt!(self, Write, |client| keys::issue(client, key))
    }

    async fn revoke_key(
        &self,
        environment: EnvironmentId,
        key: KeyId,
        at: Timestamp,
    ) -> Result<Revoked, StoreError> {
        attempt!(self, Write, |client| keys::revoke(client, environment, key, at))
    }

    async fn rotate_key(
        &self,
        environment: EnvironmentId,
        key: KeyId,
        replacement: &KeyRecord,
        old_ends_at: Timestamp,
    ) -> Result<Rotated, StoreError> {
        attempt!(self, Write, |client| keys::rotate(client, environment, key, replacement, old_ends_at))
    }

    async fn key(&self, environment: EnvironmentId, key: KeyId) -> Result<Option<KeyRecord>, StoreError> {
        attempt!(self, Read, |client| keys::find(client, environment, key))
    }

    async fn keys(
        &self,
        environment: EnvironmentId,
        page: Page<KeyId>,
    ) -> Result<Vec<KeyRecord>, StoreError> {
        attempt!(self, Read, |client| keys::list(client, environment, page))
    }

    async fn put_config(
        &self,
        environment: EnvironmentId,
        change: &ConfigChange,
    ) -> Result<ConfigPut, StoreError> {
        attempt!(self, Write, |client| config::put(client, environment, change))
    }

    async fn config(&self, environment: EnvironmentId) -> Result<Option<ConfigVersion>, StoreError> {
        attempt!(self, Read, |client| config::in_force(client, environment))
    }

    async fn config_version(
        &self,
        environment: EnvironmentId,
        version: u64,
    ) -> Result<Option<ConfigVersion>, StoreError> {
        attempt!(self, Read, |client| config::of_version(client, environment, version))
    }

    async fn config_history(
        &self,
        environment: EnvironmentId,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<ConfigVersionSummary>, StoreError> {
        attempt!(self, Read, |client| config::history(client, environment, before, limit))
    }

    async fn move_funds(&self, environment: EnvironmentId, movement: &Movement) -> Result<Moved, StoreError> {
        attempt!(self, Write, |client| wallet::move_funds(client, environment, movement))
    }

    async fn balances(
        &self,
        environment: EnvironmentId,
        currency: Currency,
    ) -> Result<Option<Balances>, StoreError> {
        attempt!(self, Read, |client| wallet::balances(client, environment, currency))
    }

    async fn wallet_currencies(&self, environment: EnvironmentId) -> Result<Vec<Currency>, StoreError> {
        attempt!(self, Read, |client| wallet::currencies(client, environment))
    }

    async fn ledger(
        &self,
        environment: EnvironmentId,
        currency: Currency,
        before: Option<PostingId>,
        limit: u32,
    ) -> Result<Vec<LedgerLine>, StoreError> {
        attempt!(self, Read, |client| wallet::ledger(client, environment, currency, before, limit))
    }
}
