//! Keeps the snapshot in step with the store.
//!
//! Keys and configurations come in two steps. Whatever changed in the store is read and swapped in at once, with the
//! configurations as they are compiled already; one that is new is read and compiled beside that, and swapped in when it
//! is done. So a revocation never waits for anybody's thousands of rules, and what changes keys compiles nothing.

use std::{
    cmp::Ordering,
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use arc_swap::{ArcSwap, Guard};
use tokio::{sync::Mutex, time};
use tollgate_configuration::{Configuration, StoredConfigError};
use tollgate_domain::{card_fee::Rules, id::EnvironmentId};
use tollgate_vault::Sealer;
use tracing::{error, info, warn};

use crate::{
    ports::{ConfigVersion, Delta, DirectoryVersion, EnvironmentState, Host, Store, StoreError},
    snapshot::{EnvironmentView, Snapshot, UnusableConfig},
};

/// How often the store is asked when no announcement comes. Half of the second in which a change made on another
/// node has to be in force here.
pub const FOLLOW_POLL: Duration = Duration::from_millis(400);

/// Longer than this for one question to the store, and the question is given up.
const READ_LIMIT: Duration = Duration::from_secs(10);

/// How many earlier configurations a node that starts tries, where it cannot use the newest.
const EARLIER_MAX: usize = 50;

/// Environments as they were last read whose configuration in force is not compiled yet.
type Pending = BTreeMap<EnvironmentId, EnvironmentState>;

/// The snapshot in force, and the way to a newer one.
pub struct Directory {
    host: Arc<dyn Host>,
    store: Arc<dyn Store>,
    sealer: Sealer,
    fee_rules: Arc<Rules>,
    current: ArcSwap<Snapshot>,
    /// Whoever replaces the snapshot holds this: a slow refresh must not overwrite a newer one. Nothing is compiled
    /// under it.
    pending: Mutex<Pending>,
    /// One compiles at a time, the others find it done.
    compiling: Mutex<()>,
    in_step: AtomicBool,
}

impl Directory {
    /// Reads the whole directory once.
    pub async fn load(
        host: Arc<dyn Host>,
        store: Arc<dyn Store>,
        sealer: Sealer,
        fee_rules: Arc<Rules>,
    ) -> Result<Self, StoreError> {
        let directory = Self {
            host,
            store,
            sealer,
            fee_rules,
            current: ArcSwap::from_pointee(Snapshot::default()),
            pending: Mutex::default(),
            compiling: Mutex::new(()),
            in_step: AtomicBool::new(false),
        };
        directory.refresh().await?;
        directory.compile_pending().await?;
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

    /// Brings environments and keys up to what the store has now. A configuration that is not compiled yet stays the one
    /// it was, and is left to [`Self::compile_pending`].
    pub async fn refresh(&self) -> Result<(), StoreError> {
        let mut pending = self.pending.lock().await;
        let before = self.current.load_full();
        let since = before.version();
        let mut delta = self.ask(since).await?;
        let has_gone_back = match delta.version.cmp(&since) {
            Ordering::Equal => return Ok(()),
            Ordering::Greater => false,
            Ordering::Less => {
                // The database was put back to an earlier state under our feet: what we hold may never have been.
                warn!("the store was reset to an earlier state; reloading everything");
                delta = self.ask(DirectoryVersion::default()).await?;
                true
            }
        };
        let mut waiting = if has_gone_back { Pending::new() } else { pending.clone() };
        // There may be thousands of environments and keys, which quotes must not wait for.
        let building = self.host.compute(move || {
            let mut next = if has_gone_back { Snapshot::default() } else { Snapshot::clone(&before) };
            for state in delta.environments {
                let known = before.environment(state.environment.id);
                next = with_keys(next, known, state, has_gone_back, &mut waiting);
            }
            (next.with_users(delta.users).at(delta.version), waiting)
        });
        let (next, waiting) = building.await.map_err(|error| StoreError::Broken(error.to_string()))?;
        *pending = waiting;
        self.current.store(Arc::new(next));
        Ok(())
    }

    /// Compiles the configurations that wait for it, and puts each in force when it is done.
    pub async fn compile_pending(&self) -> Result<(), StoreError> {
        let _turn = self.compiling.lock().await;
        loop {
            let next = self
                .pending
                .lock()
                .await
                .values()
                .next()
                .map(|state| (state.environment.id, state.config_version));
            let Some((id, version)) = next else { return Ok(()) };
            let compiled = self.compile(id, version).await?;
            let is_new_here = self.current.load().environment(id).is_none();
            let earlier =
                if compiled.is_err() && is_new_here { self.earlier(id, version).await? } else { None };
            self.put_in_force(id, version, compiled, earlier).await;
        }
    }

    async fn compile(
        &self,
        id: EnvironmentId,
        version: u64,
    ) -> Result<Result<Configuration, String>, StoreError> {
        let read = time::timeout(READ_LIMIT, self.store.config_version(id, version)).await;
        let stored = read.unwrap_or_else(|_| Err(late()))?;
        let (sealer, fee_rules) = (self.sealer.clone(), Arc::clone(&self.fee_rules));
        let compiling = self.host.compute(move || match &stored {
            Some(stored) => opened(stored, id, &sealer, &fee_rules).map_err(|error| error.to_string()),
            None => Err("it is not in the store".to_owned()),
        });
        compiling.await.map_err(|error| StoreError::Broken(error.to_string()))
    }

    /// The last configuration before this one that can be used here: what a node that was started again, after one of a later
    /// release has saved a configuration, would still have had in force.
    async fn earlier(
        &self,
        id: EnvironmentId,
        version: u64,
    ) -> Result<Option<(u64, Arc<Configuration>)>, StoreError> {
        for version in (1..version).rev().take(EARLIER_MAX) {
            if let Ok(configuration) = self.compile(id, version).await? {
                return Ok(Some((version, Arc::new(configuration))));
            }
        }
        Ok(None)
    }

    /// Unless another version is wanted by now.
    async fn put_in_force(
        &self,
        id: EnvironmentId,
        version: u64,
        compiled: Result<Configuration, String>,
        earlier: Option<(u64, Arc<Configuration>)>,
    ) {
        let mut pending = self.pending.lock().await;
        let Some(state) = pending.remove(&id) else { return };
        if state.config_version != version {
            pending.insert(id, state);
            return;
        }
        let snapshot = self.current.load_full();
        let (config_version, configuration, unusable) = match compiled {
            Ok(configuration) => {
                warn_replaced_versions(id, version, &configuration);
                (version, Arc::new(configuration), None)
            }
            // The one that was in force stays.
            Err(error) => {
                let in_force = snapshot.environment(id);
                let in_force = in_force.map(|view| (view.config_version, Arc::clone(&view.configuration)));
                let (config_version, configuration) = in_force.or(earlier).unwrap_or_default();
                error!(environment = %id, version, in_force = config_version, %error,
                    "stored configuration not usable");
                (config_version, configuration, Some(UnusableConfig { version, reason: error }))
            }
        };
        let view =
            EnvironmentView { environment: state.environment, config_version, configuration, unusable };
        self.current.store(Arc::new(Snapshot::clone(&snapshot).with(view, &state.keys)));
    }

    async fn ask(&self, since: DirectoryVersion) -> Result<Delta, StoreError> {
        let answer = time::timeout(READ_LIMIT, self.store.directory_since(since)).await;
        let delta = answer.unwrap_or_else(|_| Err(late()));
        self.in_step.store(delta.is_ok(), Relaxed);
        delta
    }

    /// Brings environments and keys up to at least `version`, which this node has just committed. The commit stands even
    /// if this fails: the follower catches up.
    pub async fn catch_up(&self, version: DirectoryVersion) {
        if self.current.load().version() >= version {
            return;
        }
        if let Err(error) = self.refresh().await {
            warn!(%error, "committed change not loaded on this node yet; it will be once the store responds");
        }
    }

    /// The same where what was committed is a configuration: until it is compiled.
    pub async fn catch_up_with_config(
        &self,
        environment: EnvironmentId,
        config_version: u64,
        version: DirectoryVersion,
    ) {
        self.catch_up(version).await;
        let is_in_force = self
            .current
            .load()
            .environment(environment)
            .is_some_and(|view| view.config_version >= config_version);
        if is_in_force {
            return;
        }
        if let Err(error) = self.compile_pending().await {
            warn!(%error, "committed configuration not loaded on this node yet; it will be once the store responds");
        }
    }

    /// Follows the store until the process ends: on every announcement, and by asking in between.
    pub async fn follow(self: Arc<Self>) {
        self.follow_every(FOLLOW_POLL).await;
    }

    /// The same, asking so often.
    pub async fn follow_every(self: Arc<Self>, poll: Duration) {
        let mut signal = None;
        loop {
            if signal.is_none() {
                signal = self.store.change_signal().await.ok();
            }
            match &mut signal {
                Some(signal) => _ = time::timeout(poll, signal.announced()).await,
                None => time::sleep(poll).await,
            }
            let was_in_step = self.is_in_step();
            match self.refresh().await {
                Ok(()) if !was_in_step => info!("store is responding again"),
                Err(error) if was_in_step => {
                    warn!(%error, "store not responding; continuing with the loaded state");
                }
                Ok(()) | Err(_) => {}
            }
            // Beside this loop, which has revocations to hear of.
            let is_compiling = self.compiling.try_lock().is_err();
            if !is_compiling && !self.pending.lock().await.is_empty() {
                let directory = Arc::clone(&self);
                self.host.spawn(Box::pin(async move {
                    if let Err(error) = directory.compile_pending().await {
                        warn!(%error, "configuration not readable; continuing with the loaded one");
                    }
                }));
            }
        }
    }
}

fn warn_replaced_versions(environment: EnvironmentId, version: u64, configuration: &Configuration) {
    for provider in configuration.providers.iter() {
        if let Some(stored) = &provider.options.replaced_api_version {
            let provider = &*provider.name;
            warn!(%environment, version, provider, api_version = stored,
                "stored API version no longer permitted; the default one is used");
        }
    }
}

fn late() -> StoreError {
    StoreError::Unavailable("timed out".to_owned())
}

/// The snapshot with an environment's keys as they are now, and its configuration if that is compiled. An environment that
/// is new here is not shown until then.
fn with_keys(
    snapshot: Snapshot,
    known: Option<&Arc<EnvironmentView>>,
    state: EnvironmentState,
    has_gone_back: bool,
    pending: &mut Pending,
) -> Snapshot {
    let id = state.environment.id;
    pending.remove(&id);
    let is_same = |view: &Arc<EnvironmentView>| !has_gone_back && view.config_version == state.config_version;
    let view = |(config_version, configuration)| EnvironmentView {
        environment: state.environment.clone(),
        config_version,
        configuration,
        unusable: known
            .and_then(|view| view.unusable.clone())
            .filter(|it| it.version == state.config_version),
    };
    let in_force = known.map(|view| (view.config_version, Arc::clone(&view.configuration)));
    if state.config_version == 0 || known.is_some_and(is_same) {
        let in_force = in_force.filter(|_| state.config_version > 0).unwrap_or_default();
        return snapshot.with(view(in_force), &state.keys);
    }
    let shown = match in_force {
        Some(in_force) => snapshot.with(view(in_force), &state.keys),
        None => snapshot,
    };
    pending.insert(id, state);
    shown
}

/// The configuration of a version, its secrets opened.
pub(crate) fn opened(
    stored: &ConfigVersion,
    environment: EnvironmentId,
    sealer: &Sealer,
    fee_rules: &Arc<Rules>,
) -> Result<Configuration, StoredConfigError> {
    match &stored.document {
        Some(document) => Configuration::from_stored(document, environment, sealer, fee_rules),
        None => Ok(Configuration::empty(Arc::clone(fee_rules))),
    }
}
