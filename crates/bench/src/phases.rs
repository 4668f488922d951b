//! How long each phase of making a transfer takes, by the traces that the product itself exports.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::Fault;

/// The request whose phases are looked at.
const REQUEST: &str = "transfer_make";
/// What is in no phase: HTTP, reading and checking the request, writing the answer.
const REST: &str = "HTTP, checks and the rest";

/// What a traced request did, and how long that took in the median.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Phase {
    pub(crate) name: String,
    pub(crate) median: Duration,
}

/// Takes in spans for as long as it lives.
pub(crate) struct Collector {
    pub(crate) url: String,
    spans: Arc<Mutex<Vec<Span>>>,
    serving: JoinHandle<()>,
}

impl Collector {
    pub(crate) async fn start() -> Result<Self, Fault> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let spans: Arc<Mutex<Vec<Span>>> = Arc::default();
        let router = Router::new().route("/v1/traces", post(receive)).with_state(Arc::clone(&spans));
        let serving = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                eprintln!("traces are not taken in anymore: {error}");
            }
        });
        Ok(Self { url, spans, serving })
    }

    /// The phases in the order in which they begin, the whole request first and what is in none of them last.
    pub(crate) fn phases(&self) -> Result<Vec<Phase>, Fault> {
        let spans = self.spans.lock().unwrap_or_else(PoisonError::into_inner);
        let phases = phases(&spans);
        if phases.is_empty() { Err("no trace of a transfer has come".into()) } else { Ok(phases) }
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn receive(State(spans): State<Arc<Mutex<Vec<Span>>>>, body: Bytes) -> StatusCode {
    let Ok(request) = ExportTraceServiceRequest::decode(body) else { return StatusCode::BAD_REQUEST };
    let resources = request.resource_spans.into_iter();
    let new = resources.flat_map(|resource| resource.scope_spans).flat_map(|scope| scope.spans);
    spans.lock().unwrap_or_else(PoisonError::into_inner).extend(new);
    StatusCode::OK
}

fn phases(spans: &[Span]) -> Vec<Phase> {
    let requests = spans.iter().filter(|span| span.name == REQUEST);
    let requests: HashMap<&[u8], &Span> = requests.map(|span| (span.span_id.as_slice(), span)).collect();
    // For each name how long after the request it began, and how long it took.
    let mut found: HashMap<&str, Vec<(u64, u64)>> = HashMap::new();
    let mut within: HashMap<&[u8], u64> = HashMap::new();
    for span in spans {
        if let Some(request) = requests.get(span.parent_span_id.as_slice()) {
            let after = span.start_time_unix_nano.saturating_sub(request.start_time_unix_nano);
            found.entry(&span.name).or_default().push((after, nanos(span)));
            let sum = within.entry(&request.span_id).or_default();
            *sum = sum.saturating_add(nanos(span));
        }
    }
    let rest = requests
        .iter()
        .map(|(id, request)| nanos(request).saturating_sub(within.get(id).copied().unwrap_or_default()));
    let rest: Vec<u64> = rest.collect();
    let whole: Vec<u64> = requests.values().map(|request| nanos(request)).collect();
    let mut named: Vec<(u64, Phase)> = found
        .into_iter()
        // Done once for many requests, such as making a key.
        .filter(|(_, times)| times.len() >= requests.len() / 2)
        .map(|(name, times)| {
            let (after, took) = times.into_iter().unzip();
            (middle(after), phase(name, took))
        })
        .collect();
    named.sort_by_key(|(begins, _)| *begins);
    if whole.is_empty() {
        return Vec::new();
    }
    let named = named.into_iter().map(|(_, phase)| phase);
    [phase(REQUEST, whole)].into_iter().chain(named).chain([phase(REST, rest)]).collect()
}

fn nanos(span: &Span) -> u64 {
    span.end_time_unix_nano.saturating_sub(span.start_time_unix_nano)
}

fn phase(name: &str, took: Vec<u64>) -> Phase {
    Phase { name: name.to_owned(), median: Duration::from_nanos(middle(took)) }
}

/// The median; the upper of two.
fn middle(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(name: &str, id: u8, parent: u8, start: u64, end: u64) -> Span {
        Span {
            name: name.to_owned(),
            span_id: vec![id],
            parent_span_id: vec![parent],
            start_time_unix_nano: start,
            end_time_unix_nano: end,
            ..Span::default()
        }
    }

    #[test]
    fn phases_are_those_of_transfers_in_the_order_they_begin() {
        let request = |id: u8, start: u64| {
            [
                span("reserve", id + 1, id, start + 50, start + 90),
                span("authenticate", id + 2, id, start + 10, start + 20),
                span(REQUEST, id, 0, start, start + 100),
                span("inner", id + 3, id + 1, start + 60, start + 70),
            ]
        };
        let quote = [span("authenticate", 2, 1, 10, 20), span("fee_quote", 1, 0, 0, 100)];
        assert_eq!(phases(&quote), []);
        let mut spans: Vec<Span> = (1..=4).flat_map(|number| request(number * 10, 1_000)).collect();
        spans.extend(quote);
        spans.push(span("make key", 99, 10, 1_020, 1_030));
        let found: Vec<(String, u128)> =
            phases(&spans).into_iter().map(|phase| (phase.name, phase.median.as_nanos())).collect();
        let expected = [(REQUEST, 100), ("authenticate", 10), ("reserve", 40), (REST, 50)];
        assert_eq!(found, expected.map(|(name, nanos)| (name.to_owned(), nanos)));
    }
}
