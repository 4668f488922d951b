//! Providers: ready or not, how they answer, where their webhooks go, and what they sent that waits.

use askama::Template;
use tollgate_engine::ports::EventState;

use crate::{
    format::{count, second},
    page::{self, Page},
    visitor::{Frame, Visitor},
};

const WAITING: u32 = 20;

struct Provider {
    name: String,
    adapter: &'static str,
    method: &'static str,
    is_ready: bool,
    missing: Vec<String>,
    webhook_url: String,
    exchanges: String,
    error_rate: String,
    median: String,
    slow: String,
}

struct Waiting {
    at: String,
    provider: String,
    kind: String,
    note: String,
    tries: u32,
}

#[derive(Template)]
#[template(path = "providers.html")]
struct ProvidersPage {
    frame: Frame,
    providers: Vec<Provider>,
    waiting: Vec<Waiting>,
}

pub(crate) async fn list(visitor: Visitor) -> Page {
    let environment = visitor.environment()?;
    let frame = visitor.frame("Providers", "providers").await?;
    let engine = &visitor.console.engine;
    let view = visitor.view(environment)?;
    let providers = view.configuration.providers.iter().map(|provider| {
        let health = engine.provider_health(environment, &provider.name);
        let millis =
            |millis: Option<u64>| millis.map_or_else(|| "–".to_owned(), |millis| format!("≤ {millis} ms"));
        let permille = health.failures.saturating_mul(1_000).checked_div(health.exchanges);
        Provider {
            name: provider.name.to_string(),
            adapter: provider.adapter.as_str(),
            method: provider.adapter.method().as_str(),
            is_ready: provider.missing_to_pay().is_empty(),
            missing: provider.missing(),
            webhook_url: engine.webhook_url(environment, &provider.name),
            exchanges: count(health.exchanges),
            error_rate: permille
                .map_or_else(|| "–".to_owned(), |rate| format!("{}.{} %", rate / 10, rate % 10)),
            median: millis(health.median_millis),
            slow: millis(health.slow_millis),
        }
    });
    let providers = providers.collect();
    let waiting = engine.provider_events(environment, Some(EventState::Waiting), None, WAITING).await?;
    page::render(&ProvidersPage {
        providers,
        waiting: waiting
            .into_iter()
            .map(|stored| Waiting {
                at: second(stored.event.received_at),
                provider: stored.event.provider,
                kind: stored.event.kind,
                note: stored.note,
                tries: stored.tries,
            })
            .collect(),
        frame,
    })
}
