//! Events for operators: a provider's circuit has opened, or closed again.
//!
//! Each node looks at its own circuits now and then and reports what has changed, unless the latest event about the provider says
//! the same: so several nodes that see one outage report it once. A circuit that keeps opening and closing is reported at most
//! every [`PAUSE`].

use std::{collections::HashMap, sync::Arc, time::Duration};

use tokio::{sync::watch, time::sleep};
use tollgate_configuration::{Configuration, ForcedCircuit};
use tollgate_domain::{
    Timestamp,
    circuit::CircuitNotice,
    id::{EnvironmentId, EventId},
};
use tollgate_vault::RandomnessUnavailable;
use tracing::warn;

use crate::{
    circuits::{Circuits, FORCED_OPEN, Guarded, circuit_of},
    engine::Engine,
    ports::{Event, NewCircuitEvent, StoreError},
};

const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// How long a node reports nothing more about a provider after it did.
const PAUSE: Duration = Duration::from_secs(10);
/// After a start it takes so many exchanges without an incident to report that a provider gets new work again.
const MINIMUM_EXCHANGES: u64 = 3;
/// Other nodes may report the same provider in between.
const MAX_TRIES: u32 = 5;

/// What this node has reported about a circuit.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reported {
    /// Whether it was open then; `None` since the start.
    is_open: Option<bool>,
    next_at: Option<Timestamp>,
}

impl Circuits {
    fn all(&self) -> Vec<(EnvironmentId, String, Arc<Guarded>)> {
        let known = self.known();
        let of = |(environment, circuits): (&EnvironmentId, &HashMap<String, Arc<Guarded>>)| {
            let environment = *environment;
            let all = circuits.iter().map(move |(name, it)| (environment, name.clone(), Arc::clone(it)));
            all.collect::<Vec<_>>()
        };
        known.iter().flat_map(of).collect()
    }
}

impl Engine {
    /// Reports circuits that open and close, until told to stop.
    pub async fn report_circuits_until(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        while !*stop.borrow() {
            self.report_circuits().await;
            tokio::select! {
                biased;
                _ = stop.wait_for(|stopped| *stopped) => {}
                () = self.circuits.changed.notified() => {}
                () = sleep(CHECK_INTERVAL) => {}
            }
        }
    }

    /// Reports what has changed about this node's circuits. What the store does not take is reported later.
    pub async fn report_circuits(&self) {
        for (environment, provider, guarded) in self.circuits.all() {
            let Some(notice) = self.change_to_report(environment, &provider, &guarded) else { continue };
            let is_open = Some(notice.is_open);
            if let Err(error) = self.append_circuit_notice(environment, notice).await {
                warn!(%error, %environment, provider, "circuit event not written; will retry");
                continue;
            }
            let next_at = Some(self.clock.now().saturating_add(PAUSE));
            *guarded.reported() = Reported { is_open, next_at };
        }
    }

    /// What this node has to report about a circuit, if anything. What an operator forces is reported with that change.
    fn change_to_report(
        &self,
        environment: EnvironmentId,
        provider: &str,
        guarded: &Guarded,
    ) -> Option<CircuitNotice> {
        let view = self.view(environment)?;
        let circuit = circuit_of(&view);
        view.configuration.providers.get(provider)?;
        let now = self.clock.now();
        let reported = *guarded.reported();
        if circuit.forced.contains_key(provider) || reported.next_at.is_some_and(|next_at| now < next_at) {
            return None;
        }
        let open_since = guarded.open_since().filter(|_| circuit.settings.is_enabled);
        let incident = self.provider_watch.incident(environment, provider, now);
        if open_since.is_none() {
            let is_well = || {
                let health = self.provider_watch.health(environment, provider, now);
                incident.is_none() && health.exchanges >= MINIMUM_EXCHANGES
            };
            if !reported.is_open.unwrap_or_else(is_well) {
                return None;
            }
        }
        Some(CircuitNotice {
            provider: provider.to_owned(),
            is_open: open_since.is_some(),
            since: open_since.unwrap_or(now),
            is_forced: false,
            reason: open_since.and(incident).map(|incident| incident.last_error),
        })
    }

    /// The events about circuits that an operator forces or releases by a change of the configuration.
    pub(crate) fn forced_events(
        &self,
        notices: Vec<CircuitNotice>,
        at: Timestamp,
    ) -> Result<Vec<NewCircuitEvent>, RandomnessUnavailable> {
        let event = |notice| Ok(NewCircuitEvent { id: EventId::new(at, self.random()?), at, notice });
        notices.into_iter().map(event).collect()
    }

    async fn append_circuit_notice(
        &self,
        environment: EnvironmentId,
        notice: CircuitNotice,
    ) -> Result<(), StoreError> {
        for _ in 0..MAX_TRIES {
            let last = self.store.last_circuit_event(environment, &notice.provider).await?;
            if !is_new(&notice, last.as_ref(), self.started_at) {
                return Ok(());
            }
            // Behind the last one also where another node's clock is ahead.
            let after = last.as_ref().map(|last| last.at.saturating_add(Duration::from_millis(1)));
            let at = after.map_or(self.clock.now(), |after| after.max(self.clock.now()));
            let random = self.random().map_err(|error| StoreError::Unavailable(error.to_string()))?;
            let event = NewCircuitEvent { id: EventId::new(at, random), at, notice: notice.clone() };
            let last = last.map(|last| last.id);
            if self.store.append_circuit_event(environment, &event, last).await? {
                self.outbox_notify.notify_one();
                return Ok(());
            }
        }
        Err(StoreError::Unavailable("too many concurrent events about this provider".to_owned()))
    }
}

/// Whether it differs from the latest event. The node that reported an open circuit may be gone without having reported its
/// end, so an opening is reported again if the latest event is from before this node's start.
fn is_new(notice: &CircuitNotice, last: Option<&Event>, started_at: Timestamp) -> bool {
    let latest = last.and_then(|last| Some((last.circuit.as_deref()?, last.at)));
    let is_older = latest.is_some_and(|(latest, at)| latest.is_open && at < started_at);
    notice.is_news_after(latest.map(|(latest, _)| latest)) || (notice.is_open && is_older)
}

/// What a change of the configuration does to circuits.
pub(crate) fn forced_notices(
    before: &Configuration,
    after: &Configuration,
    now: Timestamp,
) -> Vec<CircuitNotice> {
    let was = |name: &str| before.settings.circuit.forced.get(name).copied();
    let is = |name: &str| after.settings.circuit.forced.get(name).copied();
    let names = before.settings.circuit.forced.keys().chain(after.settings.circuit.forced.keys());
    let mut notices: Vec<CircuitNotice> = Vec::new();
    for name in names {
        let (was, is) = (was(name), is(name));
        let is_known = notices.iter().any(|notice| notice.provider == *name);
        let is_open = is == Some(ForcedCircuit::Open);
        let closes = was == Some(ForcedCircuit::Open) || is == Some(ForcedCircuit::Closed);
        if was == is || is_known || !(is_open || closes) {
            continue;
        }
        notices.push(CircuitNotice {
            provider: name.clone(),
            is_open,
            since: now,
            is_forced: is.is_some(),
            reason: is_open.then(|| FORCED_OPEN.to_owned()),
        });
    }
    notices
}
