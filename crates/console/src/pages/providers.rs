//! Providers: ready or not, how they answer, where their webhooks go, and what they sent that waits.

use askama::Template;
use axum::response::Response;
use tollgate_configuration::ForcedCircuit;
use tollgate_domain::tenant::Mode;
use tollgate_engine::{
    ProviderIncident, ProviderState,
    ports::{ProviderCheck, ProviderCheckRecord, ProviderEventState, StoredProviderEvent},
};

use crate::{
    layout::{
        format::{count, second},
        frame::Frame,
        page::{self, Page, PageError},
    },
    request::{signed_in::SignedIn, submitted::Submitted},
};

/// Events of one state that are shown.
const SHOWN: u32 = 20;

struct Provider {
    name: String,
    adapter: &'static str,
    method: &'static str,
    /// Whether real money moves, as far as its entry tells.
    mode: Option<&'static str>,
    state: &'static str,
    class: &'static str,
    incident: Option<Incident>,
    missing: Vec<String>,
    webhook_url: String,
    circuit: &'static str,
    circuit_tone: &'static str,
    circuit_since: Option<String>,
    exchanges: String,
    error_rate: String,
    median: String,
    slow: String,
    last_test: Option<LastTest>,
}

/// Failures that are not over.
struct Incident {
    since: String,
    last_error: String,
    last_error_at: String,
    affected_payments: usize,
}

impl From<ProviderIncident> for Incident {
    fn from(incident: ProviderIncident) -> Self {
        Self {
            since: second(incident.since),
            last_error: incident.last_error,
            last_error_at: second(incident.last_error_at),
            affected_payments: incident.affected_payments,
        }
    }
}

/// What the last live check found.
struct LastTest {
    at: String,
    is_current: bool,
    version: u64,
    checks: Vec<ProviderCheck>,
}

impl LastTest {
    fn of(record: &ProviderCheckRecord, current: u64) -> Self {
        Self {
            at: second(record.at),
            is_current: record.config_version == current,
            version: record.config_version,
            checks: record.checks.clone(),
        }
    }
}

struct Event {
    id: String,
    at: String,
    provider: String,
    kind: String,
    note: String,
    tries: u32,
}

impl Event {
    fn of(stored: StoredProviderEvent) -> Self {
        Self {
            id: stored.event.id,
            at: second(stored.event.received_at),
            provider: stored.event.provider,
            kind: stored.event.kind,
            note: stored.note,
            tries: stored.tries,
        }
    }
}

#[derive(Template)]
#[template(path = "providers.html")]
struct ProvidersPage {
    frame: Frame,
    providers: Vec<Provider>,
    waiting: Vec<Event>,
    parked: Vec<Event>,
}

pub(crate) async fn list(signed_in: SignedIn) -> Page {
    let environment = signed_in.environment()?;
    let frame = signed_in.frame("Providers", "providers").await?;
    let engine = &signed_in.console.engine;
    let view = signed_in.view(environment)?;
    let tests = engine.provider_checks(environment).await?;
    let providers = view.configuration.providers.iter().map(|provider| {
        let circuit = engine.circuit_status(&view, &provider.name);
        let health = engine.provider_health(environment, &provider.name);
        let millis =
            |millis: Option<u64>| millis.map_or_else(|| "–".to_owned(), |millis| format!("≤ {millis} ms"));
        let readiness = engine.provider_readiness(&view, provider);
        let permille = health.failures.saturating_mul(1_000).checked_div(health.exchanges);
        Provider {
            name: provider.name.to_string(),
            adapter: provider.adapter.as_str(),
            method: provider.adapter.method().as_str(),
            mode: provider.mode().map(Mode::as_str),
            state: readiness.state.as_str(),
            class: match readiness.state {
                ProviderState::Ready => "good",
                ProviderState::Degraded => "warn",
                ProviderState::Down => "bad",
            },
            incident: readiness.incident.map(Incident::from),
            missing: provider.missing(),
            webhook_url: engine.webhook_url(environment, &provider.name),
            circuit: circuit.as_str(),
            circuit_tone: if matches!(circuit.as_str(), "closed" | "forced_closed") { "good" } else { "bad" },
            circuit_since: circuit.since().map(second),
            exchanges: count(health.exchanges),
            error_rate: permille
                .map_or_else(|| "–".to_owned(), |rate| format!("{}.{} %", rate / 10, rate % 10)),
            median: millis(health.median_millis),
            slow: millis(health.slow_millis),
            last_test: tests
                .iter()
                .find(|record| *record.provider == *provider.name)
                .map(|record| LastTest::of(record, view.config_version)),
        }
    });
    let providers = providers.collect();
    let events = async |state| {
        let found = engine.provider_events(environment, Some(state), None, SHOWN).await?;
        Ok::<_, PageError>(found.into_iter().map(Event::of).collect())
    };
    page::render(&ProvidersPage {
        providers,
        waiting: events(ProviderEventState::Waiting).await?,
        parked: events(ProviderEventState::Parked).await?,
        frame,
    })
}

pub(crate) async fn retry(form: Submitted) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    let environment = signed_in.environment()?;
    let (provider, event) = (form.field("provider"), form.field("event"));
    signed_in.console.engine.retry_provider_event(environment, provider, event, &signed_in.origin()).await?;
    Ok(signed_in.back(&format!("/console/{environment}/providers"), "Event queued for retry."))
}

/// Decides whether a provider gets new work.
pub(crate) async fn force_circuit(form: Submitted) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    let environment = signed_in.environment()?;
    let provider = form.field("provider");
    let (state, said) = match form.field("state") {
        "open" => (Some(ForcedCircuit::Open), "gets no new work"),
        "closed" => (Some(ForcedCircuit::Closed), "gets new work, however it answers"),
        "automatic" => (None, "gets new work by how it answers"),
        _ => return Err(PageError::Missing),
    };
    let engine = &signed_in.console.engine;
    engine.force_circuit(environment, provider, state, signed_in.origin()).await?;
    Ok(signed_in.back(&format!("/console/{environment}/providers"), &format!("{provider} {said}.")))
}

/// Asks a provider whether its configuration is right, and shows what it said.
pub(crate) async fn test(form: Submitted) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    let environment = signed_in.environment()?;
    let (provider, register) = (form.field("provider"), form.is_ticked("register"));
    let engine = &signed_in.console.engine;
    let checked = engine.check_provider(environment, provider, register, signed_in.origin()).await?;
    let failed = checked.checks.iter().filter(|check| !check.ok).count();
    let said = match failed {
        0 => format!("{provider} passed every check."),
        1 => format!("{provider}: 1 check failed; see below what to do."),
        count => format!("{provider}: {count} checks failed; see below what to do."),
    };
    Ok(signed_in.back(&format!("/console/{environment}/providers"), &said))
}
