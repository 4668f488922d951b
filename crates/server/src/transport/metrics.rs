//! Counters and latencies, in Prometheus' text format.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use http::StatusCode;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, text::encode_registry},
    metrics::{MetricType, counter::Counter, gauge::Gauge},
    registry::{Registry, Unit},
};
use tollgate_engine::{Circuits, DeliveryOutcome, DeliveryTally};

use crate::policy_tally::PolicyReports;

/// Upper bounds in nanoseconds; from well under a quote to well over a slow store. What is slower is counted too.
const LATENCY_BOUNDS_NANOS: [u64; 14] = [
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    100_000_000,
    250_000_000,
    1_000_000_000,
    5_000_000_000,
    30_000_000_000,
];

/// Threads count in shards of their own, so that two of them seldom write to one line of memory.
const SHARDS: usize = 8;

pub(crate) struct Metrics {
    registry: Registry,
    requests: Arc<Requests>,
    pub(crate) connections: Gauge,
    pub(crate) connections_dropped: Counter,
    request_log_dropped: Counter,
    pub(crate) directory_version: Gauge,
    pub(crate) directory_in_step: Gauge,
}

impl Metrics {
    /// Prepares a set for each operation; a request's operation is its place in this list.
    pub(crate) fn new(
        operations: impl Iterator<Item = &'static str>,
        deliveries: Arc<DeliveryTally>,
        circuits: Arc<Circuits>,
        policy_reports: Arc<PolicyReports>,
    ) -> Self {
        let mut registry = Registry::with_prefix("tollgate");
        let requests = Arc::new(Requests::new(operations));
        registry.register_collector(Box::new(Arc::clone(&requests)));
        registry.register_collector(Box::new(Deliveries(deliveries)));
        registry.register_collector(Box::new(OpenCircuits(circuits)));
        registry.register_collector(Box::new(PageReports(policy_reports)));
        let connections = Gauge::default();
        registry.register("http_connections", "Open connections", connections.clone());
        let connections_dropped = Counter::default();
        let help = "Connections rejected, or closed to make room for others";
        registry.register("http_connections_dropped", help, connections_dropped.clone());
        let help = "Calls that are missing in the request log because the store was too slow for them";
        let request_log_dropped = Counter::default();
        registry.register("request_log_dropped", help, request_log_dropped.clone());
        let directory_version = Gauge::default();
        let help = "Version of keys and configurations loaded on this node";
        registry.register("directory_version", help, directory_version.clone());
        let directory_in_step = Gauge::default();
        let help = "1 while the store responds to this node";
        registry.register("directory_in_step", help, directory_in_step.clone());
        Self {
            registry,
            requests,
            connections,
            connections_dropped,
            request_log_dropped,
            directory_version,
            directory_in_step,
        }
    }

    /// How many calls the request log has dropped so far.
    pub(crate) fn set_dropped_requests(&self, count: u64) {
        self.request_log_dropped.inner().store(count, Ordering::Relaxed);
    }

    pub(crate) fn answered(&self, operation: usize, status: StatusCode, took: Duration) {
        self.requests.count(operation, status, took);
    }

    /// The text to scrape, up to whatever stands behind it.
    pub(crate) fn render(&self, text: &mut String) -> fmt::Result {
        encode_registry(text, &self.registry)
    }
}

/// Answers and latencies of every operation.
#[derive(Debug)]
struct Requests {
    names: Vec<&'static str>,
    /// For each shard, for each operation.
    shards: Vec<Vec<Tally>>,
    /// Every answer but 200, by operation and status: rare enough for a lock.
    others: Mutex<BTreeMap<(usize, u16), u64>>,
}

/// One operation's counts in one shard, on lines of memory of their own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Tally {
    ok: AtomicU64,
    total_nanos: AtomicU64,
    /// Not cumulative; the last one is for what is slower than every bound.
    buckets: [AtomicU64; LATENCY_BOUNDS_NANOS.len() + 1],
}

impl Requests {
    fn new(operations: impl Iterator<Item = &'static str>) -> Self {
        let names: Vec<_> = operations.collect();
        let shard = || names.iter().map(|_| Tally::default()).collect();
        Self { shards: (0..SHARDS).map(|_| shard()).collect(), names, others: Mutex::default() }
    }

    fn count(&self, operation: usize, status: StatusCode, took: Duration) {
        let tally = self.shards.get(own_shard()).and_then(|shard| shard.get(operation));
        let Some(tally) = tally else { return };
        if status == StatusCode::OK {
            tally.ok.fetch_add(1, Ordering::Relaxed);
        } else {
            let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
            *others.entry((operation, status.as_u16())).or_default() += 1;
        }
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let place = LATENCY_BOUNDS_NANOS.iter().take_while(|bound| nanos > **bound).count();
        if let Some(bucket) = tally.buckets.get(place) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        tally.total_nanos.fetch_add(nanos, Ordering::Relaxed);
    }

    fn sum(&self, operation: usize, read: impl Fn(&Tally) -> &AtomicU64) -> u64 {
        let tallies = self.shards.iter().filter_map(|shard| shard.get(operation));
        tallies.map(|tally| read(tally).load(Ordering::Relaxed)).sum()
    }
}

impl Collector for Requests {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Responses by operation and status";
        let mut answers = encoder.encode_descriptor("http_requests", help, None, MetricType::Counter)?;
        let ok =
            (0..self.names.len()).map(|operation| ((operation, 200), self.sum(operation, |tally| &tally.ok)));
        let others = self.others.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for ((operation, status), count) in ok.chain(others) {
            let labels = [("operation", self.name(operation).to_owned()), ("status", status.to_string())];
            answers.encode_family(&labels)?.encode_counter::<NoLabels, _, u64>(&count, None)?;
        }
        let help = "Time from request head to response head";
        let unit = Unit::Seconds;
        let mut latencies =
            encoder.encode_descriptor("http_request_duration", help, Some(&unit), MetricType::Histogram)?;
        for operation in 0..self.names.len() {
            let bounds = LATENCY_BOUNDS_NANOS.iter().map(|nanos| seconds(*nanos)).chain([f64::INFINITY]);
            let buckets: Vec<_> = bounds
                .enumerate()
                .map(|(place, bound)| {
                    (bound, self.sum(operation, |tally| tally.buckets.get(place).unwrap_or(&tally.ok)))
                })
                .collect();
            let count = buckets.iter().map(|(_, count)| count).sum();
            let total = seconds(self.sum(operation, |tally| &tally.total_nanos));
            let labels = [("operation", self.name(operation))];
            latencies.encode_family(&labels)?.encode_histogram::<NoLabels>(total, count, &buckets, None)?;
        }
        Ok(())
    }
}

impl Requests {
    fn name(&self, operation: usize) -> &'static str {
        self.names.get(operation).copied().unwrap_or_default()
    }
}

/// Attempts at deliveries, by how they ended.
#[derive(Debug)]
struct Deliveries(Arc<DeliveryTally>);

impl Collector for Deliveries {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Attempts to deliver events by outcome";
        let mut attempts = encoder.encode_descriptor("event_deliveries", help, None, MetricType::Counter)?;
        for outcome in DeliveryOutcome::ALL {
            let labels = [("outcome", outcome.as_str())];
            let count = self.0.count(outcome);
            attempts.encode_family(&labels)?.encode_counter::<NoLabels, _, u64>(&count, None)?;
        }
        Ok(())
    }
}

/// Providers that get no new work from this node, or only probes.
#[derive(Debug)]
struct OpenCircuits(Arc<Circuits>);

impl Collector for OpenCircuits {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Circuits of providers that are open or probing on this node";
        let count = i64::try_from(self.0.open_count()).unwrap_or(i64::MAX);
        let mut open = encoder.encode_descriptor("provider_circuits_open", help, None, MetricType::Gauge)?;
        open.encode_gauge(&count)?;
        let help = "Circuits of providers that opened or closed on this node";
        let mut changes =
            encoder.encode_descriptor("provider_circuit_changes", help, None, MetricType::Counter)?;
        let (opened, closed) = self.0.changes();
        for (to, count) in [("open", opened), ("closed", closed)] {
            changes.encode_family(&[("to", to)])?.encode_counter::<NoLabels, _, u64>(&count, None)?;
        }
        Ok(())
    }
}

/// What browsers reported of pages with card fields.
#[derive(Debug)]
struct PageReports(Arc<PolicyReports>);

impl Collector for PageReports {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let help =
            "Violations of the policy of pages with card fields, as browsers reported them to this node";
        let mut reports =
            encoder.encode_descriptor("payment_page_reports", help, None, MetricType::Counter)?;
        for (directive, count) in self.0.counts() {
            let labels = [("directive", directive)];
            reports.encode_family(&labels)?.encode_counter::<NoLabels, _, u64>(&count, None)?;
        }
        Ok(())
    }
}

type NoLabels = [(&'static str, &'static str); 0];

fn seconds(nanos: u64) -> f64 {
    Duration::from_nanos(nanos).as_secs_f64()
}

/// The shard of this thread: threads take them in turn.
fn own_shard() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static OWN: usize = NEXT.fetch_add(1, Ordering::Relaxed).checked_rem(SHARDS).unwrap_or_default();
    }
    OWN.with(|own| *own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_all_threads_add_up() {
        let metrics =
            Arc::new(Metrics::new(["a", "b"].into_iter(), Arc::default(), Arc::default(), Arc::default()));
        let threads: Vec<_> = (0..20)
            .map(|_| {
                let metrics = Arc::clone(&metrics);
                std::thread::spawn(move || {
                    for _ in 0..100 {
                        metrics.answered(1, StatusCode::OK, Duration::from_micros(75));
                        metrics.answered(1, StatusCode::NOT_FOUND, Duration::from_mins(1));
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        let mut text = String::new();
        metrics.render(&mut text).unwrap();
        for line in [
            "tollgate_http_requests_total{operation=\"a\",status=\"200\"} 0",
            "tollgate_http_requests_total{operation=\"b\",status=\"200\"} 2000",
            "tollgate_http_requests_total{operation=\"b\",status=\"404\"} 2000",
            "tollgate_http_request_duration_seconds_count{operation=\"b\"} 4000",
            "tollgate_provider_circuits_open 0",
            "tollgate_provider_circuit_changes_total{to=\"open\"} 0",
            "tollgate_event_deliveries_total{outcome=\"delivered\"} 0",
            "tollgate_http_request_duration_seconds_bucket{le=\"0.00005\",operation=\"b\"} 0",
            "tollgate_http_request_duration_seconds_bucket{le=\"0.0001\",operation=\"b\"} 2000",
            "tollgate_http_request_duration_seconds_bucket{le=\"+Inf\",operation=\"b\"} 4000",
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
    }
}
