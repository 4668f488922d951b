//! What operators look into: the store's own health, the postings of one payment, and the last check of each provider.

use async_trait::async_trait;
use tollgate_domain::{Currency, ServiceReference, Timestamp, id::EnvironmentId};

use super::{EnvironmentHealth, HealthQuery, LedgerLine, ProviderCheck, StoreError};

/// What a store says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnosis {
    /// The software and its version, such as `SQLite 3.50.4`.
    pub software: String,
    /// The newest migration that was applied.
    pub schema_version: u64,
    /// Whether what was acknowledged survives.
    pub durability: Durability,
    /// Due work that no node has claimed.
    pub backlog: Vec<Backlog>,
    /// The public URLs of the nodes that are connected, each as far as the database keeps it; empty if it does not tell.
    pub node_urls: Vec<String>,
}

/// What keeps acknowledged work safe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Durability {
    /// A file on this machine.
    File {
        /// How changes are written ahead.
        journal_mode: String,
        /// How often the disk is waited for; 2 is for every commit.
        synchronous: u32,
        /// How long the disk took to confirm a small write beside the file, in microseconds, each of several times.
        sync_micros: Vec<u64>,
        /// Whether what was deleted may still be in the write-ahead log, because somebody reads.
        keeps_deleted: bool,
    },
    /// A database server.
    Server {
        /// Such as 170002.
        version_number: u32,
        /// Whether it waits for its disk at all.
        fsync: bool,
        /// What a commit of ours waits for.
        synchronous_commit: String,
        /// Whether a page that was torn by a crash can be restored.
        full_page_writes: bool,
        /// The standbys that confirm commits, as the server's setting names them; empty where none does.
        synchronous_standbys: String,
        /// Whether it is itself a standby and takes no changes.
        in_recovery: bool,
    },
}

/// Due work of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backlog {
    /// What, in words: `card payments`.
    pub what: &'static str,
    /// How much of it, counted up to [`Backlog::MOST`].
    pub due: u32,
    /// Since when the oldest is due.
    pub oldest: Option<Timestamp>,
}

impl Backlog {
    /// Where counting ends.
    pub const MOST: u32 = 1_000;
}

/// A provider's last live check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderCheckRecord {
    /// The provider's name in the configuration.
    pub provider: String,
    /// The version of the configuration that was checked.
    pub config_version: u64,
    /// When.
    pub at: Timestamp,
    /// What was found.
    pub checks: Vec<ProviderCheck>,
}

/// The part of the store that operators look into.
#[async_trait]
pub trait InspectionStore: Send + Sync + 'static {
    /// Looks at the database and its settings; work counts as due if it was so at `now`. May write beside a database
    /// file to time its disk, and changes nothing in it.
    async fn diagnose(&self, now: Timestamp) -> Result<Diagnosis, StoreError>;

    /// The due work of [`Diagnosis::backlog`] alone, without touching the disk.
    async fn backlog(&self, now: Timestamp) -> Result<Vec<Backlog>, StoreError>;

    /// How environments stand, those that exist, with a number of statements that does not depend on how many they are
    /// where statements are round trips, and each by ranges of indexes.
    async fn environment_health(&self, query: &HealthQuery) -> Result<Vec<EnvironmentHealth>, StoreError>;

    /// Units of work that wait on this node for the one who writes, or for a connection.
    fn queued_units(&self) -> usize;

    /// The entries of every posting that a payment has in the books, the newest posting first.
    async fn postings_of(
        &self,
        environment: EnvironmentId,
        currency: Currency,
        reference: ServiceReference,
    ) -> Result<Vec<LedgerLine>, StoreError>;

    /// Keeps a provider's check in place of the one before, unless a later one is there. `false`: no such environment.
    async fn put_provider_check(
        &self,
        environment: EnvironmentId,
        record: &ProviderCheckRecord,
    ) -> Result<bool, StoreError>;

    /// The last check of every provider that was checked, by name.
    async fn provider_checks(
        &self,
        environment: EnvironmentId,
    ) -> Result<Vec<ProviderCheckRecord>, StoreError>;

    /// Keeps the provider's account that a credential belongs to, by the credential's digest; the first one stays. `false`:
    /// no such environment.
    async fn put_credential_account(
        &self,
        environment: EnvironmentId,
        credential: &str,
        account: &str,
    ) -> Result<bool, StoreError>;

    /// The account that a credential belongs to, if that was ever learned.
    async fn credential_account(
        &self,
        environment: EnvironmentId,
        credential: &str,
    ) -> Result<Option<String>, StoreError>;
}
