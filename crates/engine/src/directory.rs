//! Keeps the snapshot in step with the store.

use std::{
    cmp::Ordering,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use arc_swap::{ArcSwap, Guard};
use tokio::{sync::Mutex, task::spawn_blocking, time};
use tollgate_configuration::Configuration;
use tollgate_vault::Sealer;
use tracing::{error, info, warn};

use crate::{
    ports::{Delta, DirectoryVersion, EnvironmentState, Store, StoreError},
    snapshot::{EnvironmentView, Snapshot},
};

/// How often the store is asked when no announcement comes. Half of the second in which a change made on another
/// node has to be in force here.
pub const FOLLOW_POLL: Duration = Duration::from_millis(400);

/// Longer than this for one question to the store, and the question is given up.
const READ_LIMIT: Duration = Duration::from_secs(10);

/// The snapshot in force, and the way to a newer one.
pub struct Directory {
    store: Arc<dyn Store>,
    sealer: Sealer,
    current: ArcSwap<Snapshot>,
    /// One refresh at a time: a slow one must not overwrite a newer one.
    refreshing: Mutex<()>,
    in_step: AtomicBool,
}

impl Directory {
    /// Reads the whole directory once.
    pub async fn load(store: Arc<dyn Store>, sealer: Sealer) -> Result<Self, StoreError> {
        let directory = Self {
            store,
            sealer,
            current: ArcSwap::from_pointee(Snapshot::default()),
            refreshing: Mutex::new(()),
            in_step: AtomicBool::new(false),
        };
        directory.refresh().await?;
        Ok(directory)
    }

    /// The snapshot in force. Cheap: no lock, no counting.
    pub fn snapshot(&self) -> Guard<Arc<Snapshot>> {
        self.current.load()
    }

    /// Whether the last question to the store was answered.
    pub fn is_in_step(&self) -> bool {
        self.in_step.load(Relaxed)
    }

    /// Brings the snapshot up to what the store has now.
    pub async fn refresh(&self) -> Result<(), StoreError> {
        let _turn = self.refreshing.lock().await;
        let since = self.current.load().version();
        let delta = self.ask(since).await?;
        let (before, delta) = match delta.version.cmp(&since) {
            Ordering::Equal => return Ok(()),
            Ordering::Greater => (Snapshot::clone(&self.current.load()), delta),
            Ordering::Less => {
                // The database was put back to an earlier state under our feet: what we hold may never have been.
                warn!("the store has gone back to an earlier state; reading all of it anew");
                (Snapshot::default(), self.ask(DirectoryVersion::default()).await?)
            }
        };
        // Opening and compiling thousands of rules takes up to seconds, which quotes must not wait for.
        let sealer = self.sealer.clone();
        let building = spawn_blocking(move || {
            let states = delta.environments.into_iter();
            let next = states.fold(before, |snapshot, state| replaced(snapshot, state, &sealer));
            next.at(delta.version)
        });
        let next = building.await.map_err(|error| StoreError::Broken(error.to_string()))?;
        self.current.store(Arc::new(next));
        Ok(())
    }

    async fn ask(&self, since: DirectoryVersion) -> Result<Delta, StoreError> {
        let answer = time::timeout(READ_LIMIT, self.store.directory_since(since)).await;
        let late = || Err(StoreError::Unavailable("it did not answer in time".to_owned()));
        let delta = answer.unwrap_or_else(|_| late());
        self.in_step.store(delta.is_ok(), Relaxed);
        delta
    }

    /// Brings the snapshot up to at least `version`, which this node has just committed. The commit stands even if
    /// this fails: the follower catches up.
    pub async fn catch_up(&self, version: DirectoryVersion) {
        if self.current.load().version() >= version {
            return;
        }
        if let Err(error) = self.refresh().await {
            warn!(%error, "a committed change is not in force on this node yet; it will be once the store answers");
        }
    }

    /// Follows the store until the process ends: on every announcement, and by asking in between.
    pub async fn follow(self: Arc<Self>) {
        let mut signal = None;
        loop {
            if signal.is_none() {
                signal = self.store.change_signal().await.ok();
            }
            match &mut signal {
                Some(signal) => _ = time::timeout(FOLLOW_POLL, signal.announced()).await,
                None => time::sleep(FOLLOW_POLL).await,
            }
            let was_in_step = self.is_in_step();
            match self.refresh().await {
                Ok(()) if !was_in_step => info!("the store answers again"),
                Err(error) if was_in_step => {
                    warn!(%error, "the store does not answer; going on with what is known");
                }
                Ok(()) | Err(_) => {}
            }
        }
    }
}

/// An environment whose stored configuration cannot be used keeps the one it had, and its keys are still
/// brought up to date: a revocation must not wait for a repair.
fn replaced(snapshot: Snapshot, state: EnvironmentState, sealer: &Sealer) -> Snapshot {
    let id = state.environment.id;
    let stored = match &state.config.document {
        Some(document) => Configuration::from_stored(document, id, sealer),
        None => Ok(Configuration::default()),
    };
    let (config_version, configuration) = match stored {
        Ok(configuration) => (state.config.version, configuration),
        Err(error) => {
            error!(environment = %id, version = state.config.version, %error, "a stored configuration cannot be used");
            snapshot
                .environment(id)
                .map(|view| (view.config_version, view.configuration.clone()))
                .unwrap_or_default()
        }
    };
    let view = EnvironmentView { environment: state.environment, config_version, configuration };
    snapshot.with(view, &state.keys)
}
