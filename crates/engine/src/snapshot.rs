//! What a node keeps in memory of organizations, keys and configurations: immutable, replaced whole.

use std::{collections::HashMap, sync::Arc};

use tollgate_configuration::Configuration;
use tollgate_domain::{
    Timestamp,
    id::{EnvironmentId, KeyId},
    tenant::{Environment, KeyKind, KeyRecord},
};
use tollgate_vault::Digest;

use crate::{meter::Meter, ports::DirectoryVersion};

/// One environment with the configuration in force.
#[derive(Debug)]
pub struct EnvironmentView {
    /// The environment itself.
    pub environment: Environment,
    /// The version of the configuration, kept with every decision made by it.
    pub config_version: u64,
    /// The configuration.
    pub configuration: Configuration,
}

/// A key that opens an environment.
#[derive(Debug, Clone)]
pub struct LiveKey {
    /// Its public name.
    pub id: KeyId,
    /// What it may do.
    pub kind: KeyKind,
    /// What it opens.
    pub environment: Arc<EnvironmentView>,
    /// Its share of requests, where the environment limits them. Survives a change of the configuration.
    pub meter: Arc<Meter>,
    digest: Digest,
    expires_at: Option<Timestamp>,
}

/// Why a credential opens nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyRefusal {
    /// It was never issued here, or was revoked.
    Unknown,
    /// Its time is over: it was rotated, and the grace period has passed.
    Expired,
}

/// The whole directory at one version.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    version: DirectoryVersion,
    environments: HashMap<EnvironmentId, Arc<EnvironmentView>>,
    /// By the digest's first eight bytes; the whole digest is then compared in constant time.
    keys: HashMap<u64, Vec<LiveKey>>,
}

impl Snapshot {
    /// The directory's version it shows.
    pub fn version(&self) -> DirectoryVersion {
        self.version
    }

    /// How many environments there are.
    pub fn environment_count(&self) -> usize {
        self.environments.len()
    }

    /// The environment, if there is one.
    pub fn environment(&self, id: EnvironmentId) -> Option<&Arc<EnvironmentView>> {
        self.environments.get(&id)
    }

    /// The key whose digest a caller's credential has, if it opens anything at this moment.
    pub fn authenticate(&self, presented: Digest, now: Timestamp) -> Result<&LiveKey, KeyRefusal> {
        let candidates = self.keys.get(&presented.bucket()).map(Vec::as_slice).unwrap_or_default();
        let key = candidates.iter().find(|key| key.digest == presented).ok_or(KeyRefusal::Unknown)?;
        if key.expires_at.is_some_and(|expiry| now >= expiry) {
            return Err(KeyRefusal::Expired);
        }
        Ok(key)
    }

    /// The same directory, known to be this version.
    #[must_use]
    pub(crate) fn at(mut self, version: DirectoryVersion) -> Self {
        self.version = version;
        self
    }

    /// The same directory with one environment and its keys replaced.
    #[must_use]
    pub(crate) fn with(mut self, view: EnvironmentView, records: &[KeyRecord]) -> Self {
        let id = view.environment.id;
        let view = Arc::new(view);
        let mut meters = HashMap::new();
        for candidates in self.keys.values_mut() {
            for key in candidates.extract_if(.., |key| key.environment.environment.id == id) {
                meters.insert(key.id, key.meter);
            }
        }
        self.keys.retain(|_, candidates| !candidates.is_empty());
        for record in records.iter().filter(|record| record.revoked_at.is_none()) {
            let digest = Digest::from_bytes(record.digest);
            self.keys.entry(digest.bucket()).or_default().push(LiveKey {
                id: record.id,
                kind: record.kind,
                environment: Arc::clone(&view),
                meter: meters.remove(&record.id).unwrap_or_default(),
                digest,
                expires_at: record.expires_at,
            });
        }
        self.environments.insert(id, view);
        self
    }
}
