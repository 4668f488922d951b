//! The store as whole units of work: each method is one database transaction, done entirely or not at all.
//!
//! Every id is made by the caller, so repeating a unit whose answer was lost changes nothing a second time. What
//! scopes a call, the environment, leads its arguments; a thing of another environment is simply not there.

use async_trait::async_trait;
use tollgate_domain::{
    Currency, Minor, Timestamp,
    id::{ApplicationId, ChangeId, EnvironmentId, KeyId, OrganizationId, PostingId},
    ledger::{Account, Balances, Movement, PostingCause},
    tenant::{Application, Environment, KeyRecord, Organization},
};

use super::{
    AuditLogStore, BooksStore, ErasureStore, InspectionStore, LimitStore, NewCircuitEvent, OutboxStore,
    PaymentStore, PeopleStore, ProposalStore, ReportingStore, RequestLogStore, SealedStore, SecurityStore,
    TransferStore, UserState,
};

/// Why a unit of work did not respond.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The store could not be reached, or refused before anything happened. Nothing was changed.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// The connection broke while the store was committing: the unit may or may not have been done. Doing it again
    /// with the same ids is safe.
    #[error("the store did not confirm the commit: {0}")]
    Unknown(String),
    /// The store answered something that this version cannot read, or refused a statement. A defect, or a
    /// damaged database; trying again does not help.
    #[error("the store failed: {0}")]
    Broken(String),
}

/// Counts the changes of organizations, environments, keys, configurations and users, in the order they were committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct DirectoryVersion(pub u64);

/// A slice of a list that is ordered by id: what comes after `after`, at most `limit` of it.
#[derive(Debug, Clone, Copy)]
pub struct Page<Id> {
    /// The last id already seen.
    pub after: Option<Id>,
    /// How many at most.
    pub limit: u32,
}

/// The outcome of a creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Created {
    /// It is there now (also when this very id was there before).
    Done(DirectoryVersion),
    /// What it should belong to does not exist.
    ParentMissing,
    /// A sibling has the name already.
    NameTaken,
}

/// The outcome of a new key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Issued {
    /// It is stored.
    Done(DirectoryVersion),
    /// No such environment.
    EnvironmentMissing,
}

/// The outcome of a revocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revoked {
    /// The key is revoked; the moment of the first revocation stays.
    Done(DirectoryVersion),
    /// No such key in this environment.
    Missing,
}

/// The outcome of a rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rotated {
    /// The new key is stored and the old one has its end.
    Done(DirectoryVersion),
    /// No such key in this environment.
    Missing,
    /// The key is revoked, expired or was rotated before.
    NotLive,
}

/// A configuration to be put in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigChange {
    /// The change's own id: putting it twice stores it once.
    pub id: ChangeId,
    /// The version this change was made from; another version in force means it is stale.
    pub from_version: u64,
    /// The whole document, its secrets sealed.
    pub document: String,
    pub actor: String,
    /// In which request.
    pub request: String,
    pub at: Timestamp,
    /// Events about circuits that it forces or releases, each written unless the provider's latest says the same. A proposal
    /// has none: they come with its decision.
    pub circuits: Vec<NewCircuitEvent>,
}

/// The outcome of a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigPut {
    /// It is in force under this version (also when this very change was put before).
    Done {
        /// The new version, one above the one it was made from.
        version: u64,
        /// The directory's version that holds it.
        directory: DirectoryVersion,
    },
    /// Another version is in force than the one the change was made from.
    Stale {
        /// The current version.
        current: u64,
    },
    /// No such environment.
    EnvironmentMissing,
}

/// A configuration as stored. Version 0 is the empty one every environment begins with; it has no document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigVersion {
    /// Counts up from 1 within its environment.
    pub version: u64,
    /// The whole document, its secrets sealed; `None` for version 0.
    pub document: Option<String>,
}

/// A line of the configuration's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigVersionSummary {
    pub version: u64,
    /// Who made it.
    pub actor: String,
    /// In which request.
    pub request: String,
    pub at: Timestamp,
}

/// All that a node keeps in memory of one environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvironmentState {
    /// The environment itself.
    pub environment: Environment,
    /// Its keys that are not revoked, expired ones included.
    pub keys: Vec<KeyRecord>,
    /// The version of the current configuration. The document of a version never changes, and is read by itself: what
    /// changes a key must not read thousands of rules.
    pub config_version: u64,
}

/// What changed in the directory since an earlier version, seen in one consistent read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    /// The directory's version at this read.
    pub version: DirectoryVersion,
    /// Every environment touched since, whole.
    pub environments: Vec<EnvironmentState>,
    /// Every user touched since, whole.
    pub users: Vec<UserState>,
}

/// What became of a wallet movement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moved {
    /// It is posted, now or by an earlier call with the same reference.
    Done(AppliedMovement),
    /// The reference was used for another amount: nothing moved.
    ReferenceReused {
        /// The amount it was used for.
        amount: Minor,
    },
    /// The available funds are below the amount: nothing moved.
    Insufficient {
        /// What is there.
        available: Minor,
    },
    /// The wallet would hold more than can be counted: nothing moved.
    TooMuch,
    /// No such environment.
    EnvironmentMissing,
}

/// A movement that is in the books.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedMovement {
    /// The posting that holds it.
    pub posting: PostingId,
    /// Whether an earlier call had posted it.
    pub replayed: bool,
    /// The wallet as it is now.
    pub balances: Balances,
}

/// One entry of the ledger with its posting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerLine {
    /// The posting.
    pub posting: PostingId,
    /// Why it was made.
    pub cause: PostingCause,
    /// The cause's own name.
    pub reference: String,
    /// Who asked.
    pub actor: String,
    pub at: Timestamp,
    /// The account touched.
    pub account: Account,
    /// What was added to it; negative was taken away.
    pub amount_minor: i64,
}

/// Wakes whoever waits when the directory may have changed.
#[async_trait]
pub trait ChangeSignal: Send {
    /// Returns when a change was announced, possibly long after it or for nothing; waits for ever where no
    /// announcement can come. Whoever waits polls as well.
    async fn announced(&mut self);
}

/// Durable memory. SQLite and PostgreSQL keep these promises alike; one suite checks both.
#[async_trait]
pub trait Store:
    PaymentStore
    + TransferStore
    + OutboxStore
    + ReportingStore
    + InspectionStore
    + SecurityStore
    + BooksStore
    + RequestLogStore
    + PeopleStore
    + ProposalStore
    + LimitStore
    + SealedStore
    + AuditLogStore
    + ErasureStore
{
    /// Whether a unit of work would be taken right now: reaches the database and finds it writable.
    async fn probe(&self) -> Result<(), StoreError>;

    /// The database's clock.
    async fn now(&self) -> Result<Timestamp, StoreError>;

    /// Keeps `value` under `name` unless something is kept there already, and returns what is kept: how the nodes of
    /// one database agree on a fact that must never change.
    async fn pin(&self, name: &str, value: &str) -> Result<String, StoreError>;

    /// Listens for changes of the directory, also those made by other nodes.
    async fn change_signal(&self) -> Result<Box<dyn ChangeSignal>, StoreError>;

    /// Reads every environment and user touched after `since`, and the version to ask from next time.
    async fn directory_since(&self, since: DirectoryVersion) -> Result<Delta, StoreError>;

    /// Stores a new organization.
    async fn create_organization(&self, organization: &Organization) -> Result<(), StoreError>;

    /// Stores a new application of an existing organization.
    async fn create_application(&self, application: &Application) -> Result<Created, StoreError>;

    /// Stores a new environment with the empty configuration; its organization must be that of its application.
    async fn create_environment(&self, environment: &Environment) -> Result<Created, StoreError>;

    /// Organizations by id.
    async fn organizations(&self, page: Page<OrganizationId>) -> Result<Vec<Organization>, StoreError>;

    /// The organization, if there is one.
    async fn organization(&self, id: OrganizationId) -> Result<Option<Organization>, StoreError>;

    /// The application, if there is one.
    async fn application(&self, id: ApplicationId) -> Result<Option<Application>, StoreError>;

    /// An organization's applications by id.
    async fn applications(
        &self,
        organization: OrganizationId,
        page: Page<ApplicationId>,
    ) -> Result<Vec<Application>, StoreError>;

    /// An application's environments by id.
    async fn environments(
        &self,
        application: ApplicationId,
        page: Page<EnvironmentId>,
    ) -> Result<Vec<Environment>, StoreError>;

    /// The environment, if there is one.
    async fn environment(&self, id: EnvironmentId) -> Result<Option<Environment>, StoreError>;

    /// Stores a new key of `key.environment`.
    async fn issue_key(&self, key: &KeyRecord) -> Result<Issued, StoreError>;

    /// Revokes a key, whatever its state.
    async fn revoke_key(
        &self,
        environment: EnvironmentId,
        key: KeyId,
        at: Timestamp,
    ) -> Result<Revoked, StoreError>;

    /// Stores `replacement` and lets `key` end at `old_ends_at`, both or neither. `key` must be live at
    /// `replacement.created_at` and not rotated before; a repetition with the same replacement is done already.
    async fn rotate_key(
        &self,
        environment: EnvironmentId,
        key: KeyId,
        replacement: &KeyRecord,
        old_ends_at: Timestamp,
    ) -> Result<Rotated, StoreError>;

    /// A key of this environment, whatever its state.
    async fn key(&self, environment: EnvironmentId, key: KeyId) -> Result<Option<KeyRecord>, StoreError>;

    /// All keys of an environment by id, revoked ones included.
    async fn keys(&self, environment: EnvironmentId, page: Page<KeyId>)
    -> Result<Vec<KeyRecord>, StoreError>;

    /// Applies a configuration and keeps it in the history, or does neither.
    async fn put_config(
        &self,
        environment: EnvironmentId,
        change: &ConfigChange,
    ) -> Result<ConfigPut, StoreError>;

    /// The current configuration; `None` if the environment does not exist.
    async fn config(&self, environment: EnvironmentId) -> Result<Option<ConfigVersion>, StoreError>;

    /// A configuration of the history; `None` if there is no such version.
    async fn config_version(
        &self,
        environment: EnvironmentId,
        version: u64,
    ) -> Result<Option<ConfigVersion>, StoreError>;

    /// The history, newest first, below `before` if given.
    async fn config_history(
        &self,
        environment: EnvironmentId,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<ConfigVersionSummary>, StoreError>;

    /// Posts money into or out of a wallet, once per cause and reference.
    async fn move_funds(&self, environment: EnvironmentId, movement: &Movement) -> Result<Moved, StoreError>;

    /// What a wallet holds; all zero for a currency never funded, `None` if the environment does not exist.
    async fn balances(
        &self,
        environment: EnvironmentId,
        currency: Currency,
    ) -> Result<Option<Balances>, StoreError>;

    /// The currencies an environment has a wallet in.
    async fn wallet_currencies(&self, environment: EnvironmentId) -> Result<Vec<Currency>, StoreError>;

    /// The entries of a wallet, newest posting first, below the posting `before` if given; `limit`
    /// counts postings.
    async fn ledger(
        &self,
        environment: EnvironmentId,
        currency: Currency,
        before: Option<PostingId>,
        limit: u32,
    ) -> Result<Vec<LedgerLine>, StoreError>;
}
