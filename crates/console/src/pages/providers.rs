//! Providers: ready or not, how they answer, where their webhooks go, and what they sent that waits.

use askama::Template;
use axum::response::Response;
use tollgate_configuration::ForcedCircuit;
use tollgate_domain::{id::EnvironmentId, tenant::Mode};
use tollgate_engine::{
    CircuitStatus, ProviderIncident, ProviderState,
    ports::{ProviderCheck, ProviderCheckRecord, ProviderEventState, StoredProviderEvent},
};

use crate::{
    layout::{
        format::{count, second},
        frame::Frame,
        page::{self, Page, PageError},
        review::{Choice, Review},
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
    /// What an operator has decided about it.
    forced: Option<ForcedCircuit>,
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
            circuit: circuit_words(circuit).0,
            circuit_tone: circuit_words(circuit).1,
            forced: match circuit {
                CircuitStatus::Forced(forced) => Some(forced),
                _ => None,
            },
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

/// Pauses a provider, resumes it, or keeps it in use however it answers.
pub(crate) async fn force_circuit(form: Submitted) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    let environment = signed_in.environment()?;
    let provider = form.field("provider");
    let decision = Decision::read(form.field("state")).ok_or(PageError::Missing)?;
    signed_in.view(environment)?.configuration.providers.get(provider).ok_or(PageError::Missing)?;
    if !form.is_confirmed() {
        let review = decision.review(&form, environment, provider);
        let title = format!("{} {provider}", decision.verb());
        return review.page(signed_in.frame(&title, "providers").await?);
    }
    let engine = &signed_in.console.engine;
    engine.force_circuit(environment, provider, decision.forced(), signed_in.origin()).await?;
    let said = match decision {
        Decision::Pause => format!("{provider} is paused: it gets no new payments."),
        Decision::Resume => format!("{provider} gets new payments again, by how it answers."),
        Decision::Keep => format!("{provider} gets new payments, however it answers."),
    };
    Ok(signed_in.done(&format!("/console/{environment}/providers"), &said).await)
}

/// What an operator decides about a provider's circuit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Decision {
    Pause,
    /// Its answers decide again.
    Resume,
    Keep,
}

impl Decision {
    fn read(text: &str) -> Option<Self> {
        match text {
            "open" => Some(Self::Pause),
            "automatic" => Some(Self::Resume),
            "closed" => Some(Self::Keep),
            _ => None,
        }
    }

    fn forced(self) -> Option<ForcedCircuit> {
        match self {
            Self::Pause => Some(ForcedCircuit::Open),
            Self::Resume => None,
            Self::Keep => Some(ForcedCircuit::Closed),
        }
    }

    fn verb(self) -> &'static str {
        match self {
            Self::Pause => "Pause",
            Self::Resume => "Resume",
            Self::Keep => "Keep in use",
        }
    }

    fn review(self, form: &Submitted, environment: EnvironmentId, provider: &str) -> Review {
        let (effect, affected) = match self {
            Self::Pause => (
                format!("{provider} will get no new payments, on every node"),
                "Customers whose payments would go there: they go to the route's fallbacks, or are refused with \
                 provider_unavailable where there is none. Payments under way, refunds and captures go on.",
            ),
            Self::Resume => (
                format!("{provider} will get new payments again"),
                "Customers whose payments go there from now on. It is paused by itself again where too many calls fail.",
            ),
            Self::Keep => (
                format!("{provider} will get new payments, however it answers"),
                "Customers whose payments go there: they may fail or wait while the provider has trouble.",
            ),
        };
        let mut review = Review::of(form, effect);
        review.affected = affected.into();
        review.permanent = "Nothing: it can be changed back at any time. Payments that are refused meanwhile have to be made \
                            again."
            .into();
        let title = format!("{} {provider}", self.verb());
        review.choices = vec![if self == Self::Pause { Choice::danger(title) } else { Choice::plain(title) }];
        review.back = ("Back".to_owned(), format!("/console/{environment}/providers"));
        review
    }
}

/// What a circuit's state means to people, and how it looks.
fn circuit_words(circuit: CircuitStatus) -> (&'static str, &'static str) {
    match circuit {
        CircuitStatus::Closed => ("gets new payments", "good"),
        CircuitStatus::Open { .. } => ("paused by its errors", "bad"),
        CircuitStatus::Probing { .. } => ("tried again after errors", "warn"),
        CircuitStatus::Forced(ForcedCircuit::Open) => ("paused by an operator", "bad"),
        CircuitStatus::Forced(ForcedCircuit::Closed) => ("kept in use by an operator", "warn"),
    }
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
