//! Applying a configuration, and reading it and its history.

use std::{net::IpAddr, ops::Deref, sync::Arc, time::Duration};

use jiff::civil::Date;
use serde_json::{Value, json};
use tokio::{sync::OwnedSemaphorePermit, time::timeout};
use tollgate_configuration::{
    ConfigWarning, Configuration, Difference, StoredConfigError, ValidationErrors, diff,
};
use tollgate_domain::{
    audit_log::ActorKind,
    id::{ApprovalId, ChangeId, EnvironmentId, TokenId, UserId},
    people::Identity,
    tenant::EnvironmentName,
};
use tollgate_vault::{RandomnessUnavailable, SealError, Sealer};

use crate::{
    audit_log::Audited,
    circuit_events::forced_notices,
    directory::opened,
    engine::Engine,
    ports::{ConfigChange, ConfigPut, ConfigVersion, ConfigVersionSummary, StoreError},
};

/// How often a change is made again because another came first. Each try needs somebody else to have won, so even a
/// crowd of writers is through by then.
const MAX_TRIES: usize = 64;

/// How long a document waits for those before it. Thousands of rules take a second or two.
const TURN_TIMEOUT: Duration = Duration::from_secs(10);
/// Stored documents that are read at once on a node.
pub(crate) const READS_AT_ONCE: usize = 2;

/// Differences that the audit log lists of one change; the versions themselves have all of them.
const MAX_DESCRIBED_CHANGES: usize = 100;

/// Who asks for a change, and in which request.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The person or program, as it calls itself.
    pub actor: String,
    /// The id of the request.
    pub request: String,
    /// What is known of them.
    pub kind: ActorKind,
    /// Where the request came from.
    pub address: Option<IpAddr>,
    /// Everybody who may hold the credential it was made with.
    pub people: Vec<UserId>,
    /// The personal token it was made with.
    pub token: Option<TokenId>,
}

impl Origin {
    /// Something the service does by itself.
    pub fn system(actor: &str, request: &str) -> Self {
        let (actor, request) = (actor.to_owned(), request.to_owned());
        Self { actor, request, kind: ActorKind::System, address: None, people: Vec::new(), token: None }
    }

    /// Everybody who may be behind it, as the audit log keeps them.
    pub(crate) fn people_text(&self) -> Vec<String> {
        self.people.iter().map(ToString::to_string).collect()
    }

    /// Something an operator asks for, by whatever name they give; anonymous if nobody could be recognized.
    pub fn of(
        identity: Option<&Identity>,
        given_name: Option<&str>,
        request: String,
        address: Option<IpAddr>,
    ) -> Self {
        Self {
            actor: identity.map(|identity| identity.actor(given_name)).unwrap_or_default(),
            request,
            kind: identity.map_or(ActorKind::Anonymous, Identity::kind),
            address,
            people: identity.map(Identity::people).unwrap_or_default(),
            token: identity.and_then(Identity::token),
        }
    }
}

/// A configuration read from the store.
#[derive(Debug, Clone)]
pub struct ConfigRead {
    /// Its version.
    pub version: u64,
    /// The configuration.
    pub configuration: Configuration,
}

/// The configuration that a payment was decided by: shared where it is in force, otherwise opened for as long as this is held.
#[derive(Debug)]
pub struct DecidedBy {
    configuration: Arc<Configuration>,
    _turn: Option<OwnedSemaphorePermit>,
}

impl Deref for DecidedBy {
    type Target = Configuration;

    fn deref(&self) -> &Configuration {
        &self.configuration
    }
}

/// As many stored documents are read as may be at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many stored configurations are being read")]
pub struct TooManyReads;

/// A configuration's document, with secrets masked.
#[derive(Debug, Clone)]
pub struct ConfigDocument {
    /// Its version.
    pub version: u64,
    /// The document.
    pub document: Value,
}

/// What became of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Configured {
    /// It is in force under this version.
    InForce { version: u64 },
    /// It waits for somebody else to approve it.
    Proposed { approval: ApprovalId },
}

/// A document that was put in force or proposed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedConfig {
    pub outcome: Configured,
    /// What is probably not meant.
    pub warnings: Vec<ConfigWarning>,
}

/// A document that would be put in force.
#[derive(Debug, Clone)]
pub struct ConfigCheck {
    /// The version it was checked against.
    pub version: u64,
    /// The configuration it would be.
    pub configuration: Configuration,
    /// Its document, with secrets masked.
    pub document: Value,
    /// The places at which a secret would be replaced by another.
    pub replaced_secrets: Vec<String>,
    /// What is probably not meant.
    pub warnings: Vec<ConfigWarning>,
}

/// Why a configuration was not put in force or read. The one that was in force still is.
#[derive(Debug, thiserror::Error)]
pub enum ConfigureError {
    /// No such environment, or no such version.
    #[error("environment or version not found")]
    Missing,
    /// The document does not hold together.
    #[error("the document has {} errors", .0.count())]
    Faulty(ValidationErrors),
    /// The caller named the version it had read, and another is in force.
    #[error("version {current} is current")]
    Stale {
        /// The current version.
        current: u64,
    },
    /// A stored document cannot be used.
    #[error(transparent)]
    Stored(#[from] StoredConfigError),
    /// A secret could not be sealed.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// The store did not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The operating system provided no randomness.
    #[error(transparent)]
    Randomness(#[from] RandomnessUnavailable),
    /// As many changes as there may be wait for somebody else already.
    #[error("too many changes wait for approval; approve or deny one first")]
    TooManyProposals,
    /// The work was cut off by a shutdown.
    #[error("the task was interrupted")]
    CutOff,
}

/// Makes another configuration of the one that is in force, and something to tell.
pub(crate) trait Edit<T>:
    Fn(ConfigRead) -> Result<(Configuration, T), ConfigureError> + Send + Sync + 'static
{
}

impl<T, F> Edit<T> for F where
    F: Fn(ConfigRead) -> Result<(Configuration, T), ConfigureError> + Send + Sync + 'static
{
}

/// A change that was made from the version that was in force.
struct MadeChange<T> {
    change: ConfigChange,
    /// What differs, for the audit log.
    changes: Vec<Value>,
    /// Whether somebody else has to approve it.
    waits: bool,
    told: T,
}

impl Engine {
    /// A turn at reading a document that was sent and working with it, until it is dropped: a parsed document takes many times
    /// the memory of its text, and no node has room for any number of them. `None` if those before take too long.
    pub async fn config_turn(&self) -> Option<OwnedSemaphorePermit> {
        timeout(TURN_TIMEOUT, Arc::clone(&self.config_turn).acquire_owned()).await.ok()?.ok()
    }

    /// The same for whoever only reads stored documents, so that readers never keep those waiting who change something.
    pub async fn config_read_turn(&self) -> Option<OwnedSemaphorePermit> {
        timeout(TURN_TIMEOUT, Arc::clone(&self.config_read_turns).acquire_owned()).await.ok()?.ok()
    }

    /// Puts a document in force whole, or changes nothing. With `expected`, only if that version is in force. Where the
    /// configuration asks for approvals of its changes, it waits for somebody else.
    ///
    /// Masked secrets keep what is stored, so the change is always made from the version it replaces: if another
    /// change came in between, it is made again from that one.
    pub async fn put_config(
        &self,
        environment: EnvironmentId,
        document: Value,
        expected: Option<u64>,
        origin: Origin,
    ) -> Result<AppliedConfig, ConfigureError> {
        let document = Arc::new(document);
        let name = self.environment_name(environment).await?;
        let any_host = self.options.allow_other_provider_hosts;
        let today = self.clock.now().utc_date();
        let reading = move |current: ConfigRead| {
            let configuration = read(&document, &current.configuration, any_host, today)?;
            let warnings = configuration.warnings(&name, today);
            Ok((configuration, warnings))
        };
        let done = Audited::new("config.replace", environment);
        let (outcome, warnings) =
            self.change_or_propose(environment, expected, origin, done, reading).await?;
        Ok(AppliedConfig { outcome, warnings })
    }

    /// Puts in force what `edit` makes of the configuration that is in force, and answers its version. If another change came in
    /// between, it is made again from that one; with `expected`, nothing is changed then. The audit log has it as `done`, with
    /// what differs.
    pub(crate) async fn change_config<T: Send + 'static>(
        &self,
        environment: EnvironmentId,
        expected: Option<u64>,
        origin: Origin,
        done: Audited,
        edit: impl Edit<T>,
    ) -> Result<(u64, T), ConfigureError> {
        let edit = Arc::new(edit);
        for _ in 0..MAX_TRIES {
            let made = self.make_change(environment, expected, &origin, &edit).await?;
            if let Some(version) = self.put_change(environment, &origin, &done, &made).await? {
                return Ok((version, made.told));
            }
        }
        Err(StoreError::Unavailable("too many concurrent changes to this configuration".to_owned()).into())
    }

    /// As [`Engine::change_config`], where nobody else has to approve it; otherwise it waits for that. What the service does by
    /// itself waits for nobody.
    async fn change_or_propose<T: Send + 'static>(
        &self,
        environment: EnvironmentId,
        expected: Option<u64>,
        origin: Origin,
        done: Audited,
        edit: impl Edit<T>,
    ) -> Result<(Configured, T), ConfigureError> {
        let edit = Arc::new(edit);
        for _ in 0..MAX_TRIES {
            let made = self.make_change(environment, expected, &origin, &edit).await?;
            if made.waits && origin.kind != ActorKind::System {
                let approval = self.propose_config(environment, &origin, made.change, &made.changes).await?;
                return Ok((Configured::Proposed { approval }, made.told));
            }
            if let Some(version) = self.put_change(environment, &origin, &done, &made).await? {
                return Ok((Configured::InForce { version }, made.told));
            }
        }
        Err(StoreError::Unavailable("too many concurrent changes to this configuration".to_owned()).into())
    }

    /// Makes a change from the version that is in force.
    async fn make_change<T: Send + 'static>(
        &self,
        environment: EnvironmentId,
        expected: Option<u64>,
        origin: &Origin,
        edit: &Arc<impl Edit<T>>,
    ) -> Result<MadeChange<T>, ConfigureError> {
        let current = self.store.config(environment).await?.ok_or(ConfigureError::Missing)?;
        let from_version = current.version;
        if expected.is_some_and(|expected| expected != from_version) {
            return Err(ConfigureError::Stale { current: from_version });
        }
        let (edit, now) = (Arc::clone(edit), self.clock.now());
        let editing = self.with_opened(environment, current, move |current, sealer| {
            let before = current.configuration.clone();
            let (configuration, told) = edit(current)?;
            let changes = described_changes(&before, &configuration);
            let forced = forced_notices(&before, &configuration, now);
            let document = configuration.to_stored(environment, sealer)?;
            Ok((document, changes, forced, before.approvals.configuration, told))
        });
        let (document, changes, forced, waits, told) = editing.await?;
        let change = ConfigChange {
            id: self.new_id(ChangeId::new)?,
            from_version,
            document,
            actor: origin.actor.clone(),
            request: origin.request.clone(),
            at: now,
            circuits: self.forced_events(forced, now)?,
        };
        Ok(MadeChange { change, changes, waits, told })
    }

    /// Puts a change in force, and answers its version; `None` where another version than the one it was made from is in force.
    async fn put_change<T>(
        &self,
        environment: EnvironmentId,
        origin: &Origin,
        done: &Audited,
        made: &MadeChange<T>,
    ) -> Result<Option<u64>, ConfigureError> {
        let audited = put_in_force(done.clone(), environment, made.change.from_version, &made.changes);
        match self.audited(origin, audited).put_config(environment, &made.change).await? {
            ConfigPut::Done { version, directory } => {
                self.directory.catch_up_with_config(environment, version, directory).await;
                self.outbox_notify.notify_one();
                Ok(Some(version))
            }
            ConfigPut::Stale { .. } => Ok(None),
            ConfigPut::EnvironmentMissing => Err(ConfigureError::Missing),
        }
    }

    /// Checks a document exactly as [`Engine::put_config`] would, and changes nothing.
    pub async fn check_config(
        &self,
        environment: EnvironmentId,
        document: Value,
    ) -> Result<ConfigCheck, ConfigureError> {
        let current = self.store.config(environment).await?.ok_or(ConfigureError::Missing)?;
        let name = self.environment_name(environment).await?;
        let any_host = self.options.allow_other_provider_hosts;
        let today = self.clock.now().utc_date();
        self.with_opened(environment, current, move |current, _| {
            let configuration = read(&document, &current.configuration, any_host, today)?;
            let replaced_secrets = configuration.providers.replaced_secrets(&current.configuration.providers);
            let (document, warnings) = (configuration.to_public(), configuration.warnings(&name, today));
            let version = current.version;
            Ok(ConfigCheck { version, configuration, document, replaced_secrets, warnings })
        })
        .await
    }

    /// Puts a version of the history in force again, as a new version; only if `expected` is in force. Secrets that are in
    /// force stay, unless they would be sent elsewhere, which is refused; those of a provider that is not there anymore
    /// come back with it.
    pub async fn restore_config(
        &self,
        environment: EnvironmentId,
        version: u64,
        expected: u64,
        origin: Origin,
    ) -> Result<Configured, ConfigureError> {
        let restored = self.config_version(environment, version).await?.configuration;
        let any_host = self.options.allow_other_provider_hosts;
        let today = self.clock.now().utc_date();
        let restoring = move |current: ConfigRead| {
            let mut restored = restored.clone();
            let providers = restored.providers.with_secrets_of(&current.configuration.providers);
            restored.providers = providers.map_err(ConfigureError::Faulty)?;
            check_hosts(&restored, any_host)?;
            let unlawful = restored.check_fees(Some(today));
            if !unlawful.is_empty() {
                return Err(ConfigureError::Faulty(unlawful));
            }
            Ok((restored, ()))
        };
        let done = Audited::new("config.restore", environment);
        let (outcome, ()) =
            self.change_or_propose(environment, Some(expected), origin, done, restoring).await?;
        Ok(outcome)
    }

    /// The current configuration.
    pub async fn config(&self, environment: EnvironmentId) -> Result<ConfigRead, ConfigureError> {
        let stored = self.store.config(environment).await?.ok_or(ConfigureError::Missing)?;
        self.with_opened(environment, stored, |read, _| Ok(read)).await
    }

    /// The document of the current configuration, or of a version of the history.
    pub async fn config_document(
        &self,
        environment: EnvironmentId,
        version: Option<u64>,
    ) -> Result<ConfigDocument, ConfigureError> {
        let stored = match version {
            None => self.store.config(environment).await?,
            Some(version) => self.store.config_version(environment, version).await?,
        };
        let stored = stored.ok_or(ConfigureError::Missing)?;
        self.with_opened(environment, stored, |read, _| {
            Ok(ConfigDocument { version: read.version, document: read.configuration.to_public() })
        })
        .await
    }

    /// A configuration of the history.
    pub async fn config_version(
        &self,
        environment: EnvironmentId,
        version: u64,
    ) -> Result<ConfigRead, ConfigureError> {
        let stored = self.store.config_version(environment, version).await?.ok_or(ConfigureError::Missing)?;
        self.with_opened(environment, stored, |read, _| Ok(read)).await
    }

    /// The configuration that a payment was decided by; `None` if it cannot be opened anymore. Only one that is not in force has to
    /// be read, and waits for its turn.
    pub async fn decided_by(
        &self,
        environment: EnvironmentId,
        version: u64,
    ) -> Result<Option<DecidedBy>, TooManyReads> {
        if let Some(view) = self.view(environment).filter(|view| view.config_version == version) {
            return Ok(Some(DecidedBy { configuration: Arc::clone(&view.configuration), _turn: None }));
        }
        let turn = self.config_read_turn().await.ok_or(TooManyReads)?;
        let read = self.config_version(environment, version).await.ok();
        Ok(read.map(|read| DecidedBy { configuration: Arc::new(read.configuration), _turn: Some(turn) }))
    }

    /// The history, newest first.
    pub async fn config_history(
        &self,
        environment: EnvironmentId,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<ConfigVersionSummary>, ConfigureError> {
        self.store.environment(environment).await?.ok_or(ConfigureError::Missing)?;
        Ok(self.store.config_history(environment, before, limit).await?)
    }

    /// Opens a stored configuration and works with it. Thousands of rules take up to seconds, so all of that is done on a
    /// thread of its own: nothing else waits for it.
    pub(crate) async fn with_opened<T: Send + 'static>(
        &self,
        environment: EnvironmentId,
        stored: ConfigVersion,
        work: impl FnOnce(ConfigRead, &Sealer) -> Result<T, ConfigureError> + Send + 'static,
    ) -> Result<T, ConfigureError> {
        let (sealer, fee_rules) = (self.sealer.clone(), Arc::clone(&self.options.fee_rules));
        let working = self.host.compute(move || {
            let configuration = opened(&stored, environment, &sealer, &fee_rules)?;
            work(ConfigRead { version: stored.version, configuration }, &sealer)
        });
        working.await.unwrap_or(Err(ConfigureError::CutOff))
    }

    /// From the directory, or from the store where this node has not heard of the environment yet.
    pub(crate) async fn environment_name(
        &self,
        environment: EnvironmentId,
    ) -> Result<EnvironmentName, ConfigureError> {
        if let Some(view) = self.view(environment) {
            return Ok(view.environment.name.clone());
        }
        let stored = self.store.environment(environment).await?;
        stored.map(|stored| stored.name).ok_or(ConfigureError::Missing)
    }
}

/// What the audit log says of a change that is put in force.
pub(crate) fn put_in_force(
    done: Audited,
    environment: EnvironmentId,
    from_version: u64,
    changes: &[Value],
) -> Audited {
    done.in_environment(environment)
        .before(json!({ "version": from_version }))
        .after(json!({ "version": from_version.saturating_add(1), "changes": changes }))
}

/// What differs, for the audit log: secrets masked, and no more of it than an entry should hold.
pub(crate) fn described_changes(before: &Configuration, after: &Configuration) -> Vec<Value> {
    let replaced = after.providers.replaced_secrets(&before.providers);
    let changes = diff(&before.to_public(), &after.to_public(), replaced.iter().map(String::as_str));
    let changes = changes.into_iter().take(MAX_DESCRIBED_CHANGES).map(|change| match change.what {
        Difference::Added(value) => json!({ "path": change.path, "added": value }),
        Difference::Removed(value) => json!({ "path": change.path, "removed": value }),
        Difference::Changed(from, to) => json!({ "path": change.path, "from": from, "to": to }),
        Difference::Reordered(order) => json!({ "path": change.path, "order": order }),
        Difference::OtherSecret => json!({ "path": change.path, "secret": "replaced" }),
    });
    changes.collect()
}

fn read(
    document: &Value,
    current: &Configuration,
    any_host: bool,
    today: Date,
) -> Result<Configuration, ConfigureError> {
    let configuration = Configuration::read_on(document, current, today).map_err(ConfigureError::Faulty)?;
    check_hosts(&configuration, any_host)?;
    Ok(configuration)
}

fn check_hosts(configuration: &Configuration, any_host: bool) -> Result<(), ConfigureError> {
    if any_host {
        return Ok(());
    }
    configuration.providers.check_hosts().map_err(ConfigureError::Faulty)
}
