//! The circuits of this node: which providers get new work. Each node judges by its own calls; what an operator forces is part
//! of the configuration, and so the same on every node.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::sync::Notify;
use tollgate_configuration::{CircuitConfig, ForcedCircuit};
use tollgate_domain::{
    Timestamp,
    circuit::{Admission, Circuit, CircuitChange, CircuitSettings},
    id::EnvironmentId,
};
use tracing::{info, warn};

use crate::{
    audit_log::Audited,
    circuit_events::Reported,
    configure::{ConfigRead, ConfigureError, Origin},
    engine::Engine,
    ports::CallLog,
    provider_health::has_failed,
    snapshot::EnvironmentView,
};

pub(crate) const FORCED_OPEN: &str = "circuit forced open by an operator";

/// The circuits of every provider that was ever called.
#[derive(Debug, Default)]
pub struct Circuits {
    opened: AtomicU64,
    closed: AtomicU64,
    known: RwLock<Known>,
    /// Poked when one has opened or closed.
    pub(crate) changed: Notify,
}

type Known = HashMap<EnvironmentId, HashMap<String, Arc<Guarded>>>;

/// A circuit. Almost always it is closed, and then new work takes no lock of its own.
#[derive(Debug)]
pub(crate) struct Guarded {
    is_closed: AtomicBool,
    circuit: Mutex<Circuit>,
    reported: Mutex<Reported>,
}

/// Where a provider's circuit stands on this node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CircuitStatus {
    Closed,
    Open {
        since: Timestamp,
    },
    /// It was open, and a few pieces of new work decide.
    Probing {
        since: Timestamp,
    },
    /// By an operator.
    Forced(ForcedCircuit),
}

impl CircuitStatus {
    /// The name in the API: `closed`, `open`, `probing`, `forced_open` or `forced_closed`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open { .. } => "open",
            Self::Probing { .. } => "probing",
            Self::Forced(ForcedCircuit::Open) => "forced_open",
            Self::Forced(ForcedCircuit::Closed) => "forced_closed",
        }
    }

    pub const ALL: [&'static str; 5] = ["closed", "open", "probing", "forced_open", "forced_closed"];

    /// Since when it is not closed.
    pub const fn since(self) -> Option<Timestamp> {
        match self {
            Self::Open { since } | Self::Probing { since } => Some(since),
            Self::Closed | Self::Forced(_) => None,
        }
    }
}

/// A provider that gets no new work now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CircuitOpen {
    /// Such as `circuit open since 2026-11-16T10:00:00Z`.
    pub reason: String,
    pub retry_after: Duration,
}

impl Guarded {
    fn lock(&self) -> MutexGuard<'_, Circuit> {
        self.circuit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn open_since(&self) -> Option<Timestamp> {
        self.lock().open_since()
    }

    pub(crate) fn reported(&self) -> MutexGuard<'_, Reported> {
        self.reported.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Circuits {
    /// How many are open, or being probed, on this node.
    pub fn open_count(&self) -> usize {
        let known = self.known();
        let all = known.values().flat_map(HashMap::values);
        all.filter(|guarded| !guarded.is_closed.load(Ordering::Acquire)).count()
    }

    /// How often one has opened on this node, and how often one has closed again.
    pub fn changes(&self) -> (u64, u64) {
        (self.opened.load(Ordering::Relaxed), self.closed.load(Ordering::Relaxed))
    }

    pub(crate) fn known(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, environment: EnvironmentId, provider: &str) -> Option<Arc<Guarded>> {
        self.known().get(&environment)?.get(provider).map(Arc::clone)
    }

    /// Decides on a piece of new work, or only says what would be decided.
    fn admit(
        &self,
        environment: EnvironmentId,
        provider: &str,
        now: Timestamp,
        settings: &CircuitSettings,
        is_work: bool,
    ) -> Admission {
        match self.find(environment, provider) {
            Some(guarded) if !guarded.is_closed.load(Ordering::Acquire) => {
                let mut circuit = guarded.lock();
                if is_work { circuit.admit(now, settings) } else { circuit.clone().admit(now, settings) }
            }
            _ => Admission::Admitted,
        }
    }

    fn note(
        &self,
        environment: EnvironmentId,
        provider: &str,
        outcomes: impl Iterator<Item = (Timestamp, bool)>,
        settings: &CircuitSettings,
    ) -> Vec<CircuitChange> {
        let guarded = self.find(environment, provider).unwrap_or_else(|| {
            let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
            let new = || {
                let (circuit, reported) = (Mutex::default(), Mutex::default());
                Arc::new(Guarded { is_closed: AtomicBool::new(true), circuit, reported })
            };
            let of_environment = known.entry(environment).or_default();
            Arc::clone(of_environment.entry(provider.to_owned()).or_insert_with(new))
        });
        let mut circuit = guarded.lock();
        let changes = outcomes.filter_map(|(at, failed)| circuit.note(at, failed, settings)).collect();
        guarded.is_closed.store(circuit.is_closed(), Ordering::Release);
        changes
    }
}

impl Engine {
    /// The circuits of this node.
    pub fn circuits(&self) -> &Arc<Circuits> {
        &self.circuits
    }

    /// Takes note of what was asked of a provider.
    pub(crate) fn note_calls(
        &self,
        environment: EnvironmentId,
        provider: &str,
        payment: Option<[u8; 16]>,
        logs: &[CallLog],
    ) {
        self.provider_watch.note(environment, provider, payment, logs);
        let view = self.view(environment);
        let settings = view.as_deref().map(|view| circuit_of(view).settings).unwrap_or_default();
        let now = self.clock.now();
        let outcomes = logs.iter().filter_map(|log| log.tries.last()).map(|last| (now, has_failed(last)));
        for change in self.circuits.note(environment, provider, outcomes, &settings) {
            self.circuits.changed.notify_one();
            match change {
                CircuitChange::Opened => {
                    self.circuits.opened.fetch_add(1, Ordering::Relaxed);
                    warn!(%environment, provider, "circuit opened: new payments go to fallbacks, or are answered 503");
                }
                CircuitChange::Closed => {
                    self.circuits.closed.fetch_add(1, Ordering::Relaxed);
                    info!(%environment, provider, "circuit closed");
                }
            }
        }
    }

    /// Whether a provider gets a piece of new work, which may be a probe. What has begun goes on in any case.
    pub(crate) fn admit(&self, view: &EnvironmentView, provider: &str) -> Result<(), CircuitOpen> {
        self.check_circuit(view, provider, true)
    }

    /// Whether it would, if there were any.
    pub(crate) fn would_admit(&self, view: &EnvironmentView, provider: &str) -> Result<(), CircuitOpen> {
        self.check_circuit(view, provider, false)
    }

    fn check_circuit(
        &self,
        view: &EnvironmentView,
        provider: &str,
        is_work: bool,
    ) -> Result<(), CircuitOpen> {
        let CircuitConfig { settings, forced } = circuit_of(view);
        match forced.get(provider) {
            Some(ForcedCircuit::Closed) => return Ok(()),
            Some(ForcedCircuit::Open) => {
                let reason = FORCED_OPEN.to_owned();
                return Err(CircuitOpen { reason, retry_after: settings.open_for });
            }
            None => {}
        }
        match self.circuits.admit(view.environment.id, provider, self.clock.now(), settings, is_work) {
            Admission::Admitted => Ok(()),
            Admission::Refused { since, retry_after } => {
                Err(CircuitOpen { reason: format!("circuit open since {}", since.utc_minute()), retry_after })
            }
        }
    }

    /// Decides for every node whether a provider gets new work, until it is taken back with `None`. Answers the version of the
    /// configuration that says so.
    pub async fn force_circuit(
        &self,
        environment: EnvironmentId,
        provider: &str,
        state: Option<ForcedCircuit>,
        origin: Origin,
    ) -> Result<u64, ConfigureError> {
        let name = provider.to_owned();
        let edit = move |current: ConfigRead| {
            let mut configuration = current.configuration;
            configuration.providers.get(&name).ok_or(ConfigureError::Missing)?;
            let forced = &mut configuration.settings.circuit.forced;
            match state {
                Some(state) => forced.insert(name.clone(), state),
                None => forced.remove(&name),
            };
            Ok((configuration, ()))
        };
        let done = Audited::new("circuit.force", provider);
        let (version, ()) = self.change_config(environment, None, origin, done, edit).await?;
        Ok(version)
    }

    /// Where a provider's circuit stands on this node.
    pub fn circuit_status(&self, view: &EnvironmentView, provider: &str) -> CircuitStatus {
        let CircuitConfig { settings, forced } = circuit_of(view);
        if let Some(forced) = forced.get(provider) {
            return CircuitStatus::Forced(*forced);
        }
        let guarded = self.circuits.find(view.environment.id, provider).filter(|_| settings.is_enabled);
        let Some(guarded) = guarded else { return CircuitStatus::Closed };
        let circuit = guarded.lock();
        match circuit.open_since() {
            None => CircuitStatus::Closed,
            Some(since) if circuit.is_probing(self.clock.now()) => CircuitStatus::Probing { since },
            Some(since) => CircuitStatus::Open { since },
        }
    }
}

pub(crate) fn circuit_of(view: &EnvironmentView) -> &CircuitConfig {
    &view.configuration.settings.circuit
}
