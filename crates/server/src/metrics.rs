//! Counters and latencies, in Prometheus' text format.

use std::time::Duration;

use http::StatusCode;
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};

/// Seconds; from well under a quote to well over a slow store.
const LATENCY_BUCKETS: [f64; 14] =
    [0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.1, 0.25, 1.0, 5.0, 30.0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OperationLabel {
    operation: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AnswerLabel {
    operation: &'static str,
    status: u16,
}

/// Everything this node counts.
pub(crate) struct Metrics {
    registry: Registry,
    answers: Family<AnswerLabel, Counter>,
    operations: Vec<OperationMetrics>,
    pub(crate) connections: Gauge,
    pub(crate) directory_version: Gauge,
    pub(crate) directory_in_step: Gauge,
}

/// The handles of one operation, so that counting a request looks nothing up.
struct OperationMetrics {
    name: &'static str,
    success: Counter,
    latency: Histogram,
}

impl Metrics {
    /// Prepares a set for each operation; a request's operation is its place in this list.
    pub(crate) fn new(operations: impl Iterator<Item = &'static str>) -> Self {
        let mut registry = Registry::with_prefix("tollgate");
        let answers = Family::<AnswerLabel, Counter>::default();
        registry.register("http_requests", "Answers by operation and status", answers.clone());
        let latencies =
            Family::<OperationLabel, Histogram>::new_with_constructor(|| Histogram::new(LATENCY_BUCKETS));
        let help = "Time from the request's head to the answer's head";
        registry.register_with_unit("http_request_duration", help, Unit::Seconds, latencies.clone());
        let connections = Gauge::default();
        registry.register("http_connections", "Open connections", connections.clone());
        let directory_version = Gauge::default();
        registry.register(
            "directory_version",
            "Version of keys and configurations in force on this node",
            directory_version.clone(),
        );
        let directory_in_step = Gauge::default();
        registry.register(
            "directory_in_step",
            "1 while the store answers this node's questions",
            directory_in_step.clone(),
        );
        let operations = operations
            .map(|name| OperationMetrics {
                name,
                success: answers.get_or_create(&AnswerLabel { operation: name, status: 200 }).clone(),
                latency: latencies.get_or_create(&OperationLabel { operation: name }).clone(),
            })
            .collect();
        Self { registry, answers, operations, connections, directory_version, directory_in_step }
    }

    /// Counts one answer.
    pub(crate) fn answered(&self, operation: usize, status: StatusCode, took: Duration) {
        let Some(metrics) = self.operations.get(operation) else { return };
        if status == StatusCode::OK {
            metrics.success.inc();
        } else {
            self.answers
                .get_or_create(&AnswerLabel { operation: metrics.name, status: status.as_u16() })
                .inc();
        }
        metrics.latency.observe(took.as_secs_f64());
    }

    /// The text to scrape.
    pub(crate) fn render(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}
