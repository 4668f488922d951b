//! The port's methods, each handed to the writer or to a reader.

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

use super::{SqliteStore, config, directory, keys, wallet};

/// More than a payment's largest unit of work writes.
const SCRATCH_BYTES: u32 = 256 * 1024;

#[async_trait]
impl Store for SqliteStore {
    async fn probe(&self) -> Result<(), StoreError> {
        // A real commit: only that finds a locked or read-only file and a full disk alike. One as large as real units
        // are where space is short, or where a unit has failed for the disk's sake.
        let is_doubtful =
            self.writer.disk_failed() || self.file.as_ref().is_some_and(|file| file.has_little_room());
        let scratch = is_doubtful.then_some(SCRATCH_BYTES);
        self.writer.write(move |connection| directory::rewrite_version(connection, scratch)).await?;
        if is_doubtful {
            self.writer.write(directory::clear_scratch).await?;
            self.writer.disk_recovered();
        }
        Ok(())
    }

    async fn pin(&self, name: &str, value: &str) -> Result<String, StoreError> {
        let (name, value) = (name.to_owned(), value.to_owned());
        self.writer.write(move |connection| directory::pin(connection, &name, &value)).await
    }

    async fn change_signal(&self) -> Result<Box<dyn ChangeSignal>, StoreError> {
        Ok(self.announcer.waiter())
    }

    async fn directory_since(&self, since: DirectoryVersion) -> Result<Delta, StoreError> {
        self.readers.read(move |connection| directory::directory_since(connection, since)).await
    }

    async fn create_organization(&self, organization: &Organization) -> Result<(), StoreError> {
        let organization = organization.clone();
        self.writer.write(move |connection| directory::create_organization(connection, &organization)).await
    }

    async fn create_application(&self, application: &Application) -> Result<Created, StoreError> {
        let application = application.clone();
        self.writer.write(move |connection| directory::create_application(connection, &application)).await
    }

    async fn create_environment(&self, environment: &Environment) -> Result<Created, StoreError> {
        let environment = environment.clone();
        self.writer.write(move |connection| directory::create_environment(connection, &environment)).await
    }

    async fn organizations(&self, page: Page<OrganizationId>) -> Result<Vec<Organization>, StoreError> {
        self.readers.read(move |connection| directory::organizations(connection, page)).await
    }

    async fn organization(&self, id: OrganizationId) -> Result<Option<Organization>, StoreError> {
        self.readers.read(move |connection| directory::organization(connection, id)).await
    }

    async fn application(&self, id: ApplicationId) -> Result<Option<Application>, StoreError> {
        self.readers.read(move |connection| directory::application(connection, id)).await
    }

    async fn applications(
        &self,
        organization: OrganizationId,
        page: Page<ApplicationId>,
    ) -> Result<Vec<Application>, StoreError> {
        self.readers.read(move |connection| directory::applications(connection, organization, page)).await
    }

    async fn environments(
        &self,
        application: ApplicationId,
        page: Page<EnvironmentId>,
    ) -> Result<Vec<Environment>, StoreError> {
        self.readers.read(move |connection| directory::environments(connection, application, page)).await
    }

    async fn environment(&self, id: EnvironmentId) -> Result<Option<Environment>, StoreError> {
        self.readers.read(move |connection| directory::environment(connection, id)).await
    }

    async fn issue_key(&self, key: &KeyRecord) -> Result<Issued, StoreError> {
        let key = key.clone();
        self.writer.write(move |connection| keys::issue(connection, &key)).await
    }

    async fn revoke_key(
        &self,
        environment: EnvironmentId,
        key: KeyId,
        at: Timestamp,
    ) -> Result<Revoked, StoreError> {
        self.writer.write(move |connection| keys::revoke(connection, environment, key, at)).await
    }

    async fn rotate_key(
        &self,
        environment: EnvironmentId,
        key: KeyId,
        replacement: &KeyRecord,
        old_ends_at: Timestamp,
    ) -> Result<Rotated, StoreError> {
        let replacement = replacement.clone();
        self.writer
            .write(move |connection| keys::rotate(connection, environment, key, &replacement, old_ends_at))
            .await
    }

    async fn key(&self, environment: EnvironmentId, key: KeyId) -> Result<Option<KeyRecord>, StoreError> {
        self.readers.read(move |connection| keys::find(connection, environment, key)).await
    }

    async fn keys(
        &self,
        environment: EnvironmentId,
        page: Page<KeyId>,
    ) -> Result<Vec<KeyRecord>, StoreError> {
        self.readers.read(move |connection| keys::list(connection, environment, page)).await
    }

    async fn put_config(
        &self,
        environment: EnvironmentId,
        change: &ConfigChange,
    ) -> Result<ConfigPut, StoreError> {
        let change = change.clone();
        self.writer.write(move |connection| config::put(connection, environment, &change)).await
    }

    async fn config(&self, environment: EnvironmentId) -> Result<Option<ConfigVersion>, StoreError> {
        self.readers.read(move |connection| config::in_force(connection, environment)).await
    }

    async fn config_version(
        &self,
        environment: EnvironmentId,
        version: u64,
    ) -> Result<Option<ConfigVersion>, StoreError> {
        self.readers.read(move |connection| config::of_version(connection, environment, version)).await
    }

    async fn config_history(
        &self,
        environment: EnvironmentId,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<ConfigVersionSummary>, StoreError> {
        self.readers.read(move |connection| config::history(connection, environment, before, limit)).await
    }

    async fn move_funds(&self, environment: EnvironmentId, movement: &Movement) -> Result<Moved, StoreError> {
        let movement = movement.clone();
        self.writer.write(move |connection| wallet::move_funds(connection, environment, &movement)).await
    }

    async fn balances(
        &self,
        environment: EnvironmentId,
        currency: Currency,
    ) -> Result<Option<Balances>, StoreError> {
        self.readers.read(move |connection| wallet::balances(connection, environment, currency)).await
    }

    async fn wallet_currencies(&self, environment: EnvironmentId) -> Result<Vec<Currency>, StoreError> {
        self.readers.read(move |connection| wallet::currencies(connection, environment)).await
    }

    async fn ledger(
        &self,
        environment: EnvironmentId,
        currency: Currency,
        before: Option<PostingId>,
        limit: u32,
    ) -> Result<Vec<LedgerLine>, StoreError> {
        self.readers
            .read(move |connection| wallet::ledger(connection, environment, currency, before, limit))
            .await
    }
}
