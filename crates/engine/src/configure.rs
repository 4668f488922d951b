//! Applying a configuration, and reading it and its history.

use std::sync::Arc;

use serde_json::Value;
use tollgate_configuration::{ConfigWarning, Configuration, StoredConfigError, ValidationErrors};
use tollgate_domain::{
    id::{ChangeId, EnvironmentId},
    tenant::EnvironmentName,
};
use tollgate_vault::{RandomnessUnavailable, SealError, Sealer};

use crate::{
    directory::opened,
    engine::Engine,
    ports::{ConfigChange, ConfigPut, ConfigVersion, ConfigVersionSummary, StoreError},
};

/// How often a change is made again because another came first. Each try needs somebody else to have won, so even a
/// crowd of writers is through by then.
const MAX_TRIES: usize = 64;

/// Who asks for a change, and in which request.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The person or program, as it calls itself.
    pub actor: String,
    /// The id of the request.
    pub request: String,
}

/// A configuration read from the store.
#[derive(Debug, Clone)]
pub struct ConfigRead {
    /// Its version.
    pub version: u64,
    /// The configuration.
    pub configuration: Configuration,
}

/// A configuration's document, with secrets masked.
#[derive(Debug, Clone)]
pub struct ConfigDocument {
    /// Its version.
    pub version: u64,
    /// The document.
    pub document: Value,
}

/// A document that was put in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedConfig {
    /// Its version.
    pub version: u64,
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
    /// The work was cut off by a shutdown.
    #[error("the task was interrupted")]
    CutOff,
}

impl Engine {
    /// Puts a document in force whole, or changes nothing. With `expected`, only if that version is in force.
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
        let reading = move |current: ConfigRead| {
            let configuration = read(&document, &current.configuration, any_host)?;
            let warnings = configuration.warnings(&name);
            Ok((configuration, warnings))
        };
        let (version, warnings) = self.change_config(environment, expected, origin, reading).await?;
        Ok(AppliedConfig { version, warnings })
    }

    /// Puts in force what `edit` makes of the configuration that is in force, and answers its version. If another change came in
    /// between, it is made again from that one; with `expected`, nothing is changed then.
    pub(crate) async fn change_config<T: Send + 'static>(
        &self,
        environment: EnvironmentId,
        expected: Option<u64>,
        origin: Origin,
        edit: impl Fn(ConfigRead) -> Result<(Configuration, T), ConfigureError> + Send + Sync + 'static,
    ) -> Result<(u64, T), ConfigureError> {
        let edit = Arc::new(edit);
        for _ in 0..MAX_TRIES {
            let current = self.store.config(environment).await?.ok_or(ConfigureError::Missing)?;
            let from_version = current.version;
            if expected.is_some_and(|expected| expected != from_version) {
                return Err(ConfigureError::Stale { current: from_version });
            }
            let edit = Arc::clone(&edit);
            let editing = self.with_opened(environment, current, move |current, sealer| {
                let (configuration, told) = edit(current)?;
                Ok((configuration.to_stored(environment, sealer)?, told))
            });
            let (document, told) = editing.await?;
            let change = ConfigChange {
                id: self.new_id(ChangeId::new)?,
                from_version,
                document,
                actor: origin.actor.clone(),
                request: origin.request.clone(),
                at: self.clock.now(),
            };
            match self.store.put_config(environment, &change).await? {
                ConfigPut::Done { version, directory } => {
                    self.directory.catch_up_with_config(environment, version, directory).await;
                    return Ok((version, told));
                }
                ConfigPut::Stale { .. } => {}
                ConfigPut::EnvironmentMissing => return Err(ConfigureError::Missing),
            }
        }
        Err(StoreError::Unavailable("too many concurrent changes to this configuration".to_owned()).into())
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
        self.with_opened(environment, current, move |current, _| {
            let configuration = read(&document, &current.configuration, any_host)?;
            let replaced_secrets = configuration.providers.replaced_secrets(&current.configuration.providers);
            let (document, warnings) = (configuration.to_public(), configuration.warnings(&name));
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
    ) -> Result<u64, ConfigureError> {
        let restored = self.config_version(environment, version).await?.configuration;
        let any_host = self.options.allow_other_provider_hosts;
        let restoring = move |current: ConfigRead| {
            let mut restored = restored.clone();
            let providers = restored.providers.with_secrets_of(&current.configuration.providers);
            restored.providers = providers.map_err(ConfigureError::Faulty)?;
            check_hosts(&restored, any_host)?;
            Ok((restored, ()))
        };
        let (version, ()) = self.change_config(environment, Some(expected), origin, restoring).await?;
        Ok(version)
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
        let sealer = self.sealer.clone();
        let working = self.host.compute(move || {
            let configuration = opened(&stored, environment, &sealer)?;
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

fn read(document: &Value, current: &Configuration, any_host: bool) -> Result<Configuration, ConfigureError> {
    let configuration = Configuration::read(document, current).map_err(ConfigureError::Faulty)?;
    check_hosts(&configuration, any_host)?;
    Ok(configuration)
}

fn check_hosts(configuration: &Configuration, any_host: bool) -> Result<(), ConfigureError> {
    if any_host {
        return Ok(());
    }
    configuration.providers.check_hosts().map_err(ConfigureError::Faulty)
}
