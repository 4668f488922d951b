//! How environments, providers and queues stand at the moment of a scrape: the facts that the doctor judges, as numbers.
//!
//! They are read for each scrape and kept nowhere, so that what is gone is gone from the metrics, too, and nothing is shown
//! that the store did not say just now.

use std::{fmt, sync::Arc, time::Duration};

use data_encoding::HEXLOWER;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, text::encode_registry},
    metrics::MetricType,
    registry::Registry,
};
use tokio::time::timeout;
use tollgate_domain::{
    PaymentMethod, Timestamp,
    ach::{ReturnKind, ReturnRates},
    audit_log::AuditHead,
    id::EnvironmentId,
};
use tollgate_engine::{
    CircuitStatus, Engine, EnvironmentView, ProviderReadiness, ProviderState,
    ports::{Attention, Backlog, EnvironmentHealth, WalletHealth},
};

const MAX_ENVIRONMENTS: usize = 200;
/// A store that does not respond does not keep the rest from being scraped.
const STORE_TIMEOUT: Duration = Duration::from_secs(1);

type Labels = Vec<(&'static str, String)>;
type Sample = (Labels, i64);

/// Everything that is read for one scrape.
pub(crate) struct ServiceState {
    now: Timestamp,
    /// In milliseconds.
    clock_ahead: i64,
    views: Vec<Arc<EnvironmentView>>,
    providers: Vec<(EnvironmentId, Arc<str>, ProviderReadiness)>,
    queued_units: usize,
    /// None: the store did not answer in time.
    stored: Option<(Vec<EnvironmentHealth>, Vec<Backlog>)>,
    return_rates: Vec<(EnvironmentId, ReturnRates)>,
    audit_head: Option<AuditHead>,
}

impl ServiceState {
    pub(crate) async fn read(engine: &Engine) -> Self {
        let views: Vec<_> = {
            let snapshot = engine.directory().snapshot();
            snapshot.environments().into_iter().take(MAX_ENVIRONMENTS).map(Arc::clone).collect()
        };
        let ids: Vec<_> = views.iter().map(|view| view.environment.id).collect();
        let of_view = |view: &Arc<EnvironmentView>| {
            let ready = |provider| engine.provider_readiness(view, provider);
            let providers = view.configuration.providers.iter();
            providers.map(|it| (view.environment.id, Arc::clone(&it.name), ready(it))).collect::<Vec<_>>()
        };
        let providers = views.iter().flat_map(of_view).collect();
        let reading = async {
            let stored = (engine.environment_health(ids.clone()).await?, engine.backlog().await?);
            Ok::<_, tollgate_engine::ports::StoreError>(stored)
        };
        let stored = timeout(STORE_TIMEOUT, reading).await.ok().and_then(Result::ok);
        let return_rates = timeout(STORE_TIMEOUT, engine.recent_return_rates(ids)).await.unwrap_or_default();
        let audit_head = timeout(STORE_TIMEOUT, engine.audit_head()).await.ok().and_then(Result::ok);
        let (now, queued_units) = (engine.clock().now(), engine.queued_units());
        let clock_ahead = engine.clock().standing().machine_ahead;
        Self { now, clock_ahead, views, providers, queued_units, stored, return_rates, audit_head }
    }

    /// Adds them to the text to scrape.
    pub(crate) fn render(&self, text: &mut String) -> fmt::Result {
        let mut shown = Shown::default();
        let stored = [(Vec::new(), i64::from(self.stored.is_some()))];
        shown.add("store_up", "1 if the store answered this scrape in time", stored);
        let queued = [(Vec::new(), number(self.queued_units))];
        shown.add("store_queued_units", "Work waiting for the database writer or a connection", queued);
        let ahead = [(Vec::new(), self.clock_ahead)];
        shown.add(
            "clock_ahead_milliseconds",
            "How far this server's clock is ahead of the database's",
            ahead,
        );
        let unusable = self.views.iter().map(|view| {
            (vec![("environment", view.environment.id.to_string())], i64::from(view.unusable.is_some()))
        });
        let help = "1 if this node cannot use the environment's newest configuration and goes on with the one before";
        shown.add("configuration_unusable", help, unusable);
        if let Some(AuditHead { entries, hash }) = self.audit_head {
            let entries = i64::try_from(entries).unwrap_or(i64::MAX);
            let head = [(vec![("hash", HEXLOWER.encode(&hash))], entries)];
            shown.add("audit_log_entries", "Entries of the audit log, with the hash of the last", head);
        }
        self.show_providers(&mut shown);
        self.show_return_rates(&mut shown);
        if let Some((health, backlog)) = &self.stored {
            show_attention(&mut shown, health, self.now);
            show_wallets(&mut shown, health);
            self.show_backlog(&mut shown, backlog);
        }
        let mut registry = Registry::with_prefix("tollgate");
        registry.register_collector(Box::new(shown));
        encode_registry(text, &registry)
    }

    fn show_providers(&self, shown: &mut Shown) {
        let sets = |all: &'static [&'static str], current: fn(&ProviderReadiness) -> &'static str| {
            self.providers.iter().flat_map(move |(environment, provider, readiness)| {
                all.iter().map(move |state| {
                    let mut labels = labels(*environment, "provider", provider);
                    labels.push(("state", (*state).to_owned()));
                    (labels, i64::from(*state == current(readiness)))
                })
            })
        };
        let circuits = sets(&CircuitStatus::ALL, |readiness| readiness.circuit.as_str());
        shown.add("provider_circuit", "1 for the state of the circuit on this node", circuits);
        let states = sets(&ProviderState::ALL, |readiness| readiness.state.as_str());
        shown.add("provider_state", "1 for the state of the provider as this node sees it", states);
    }

    fn show_return_rates(&self, shown: &mut Shown) {
        let of_kind = |kind: ReturnKind| {
            move |(environment, rates): &(EnvironmentId, ReturnRates)| {
                (labels(*environment, "kind", kind.as_str()), rates.bps(kind))
            }
        };
        let rates = ReturnKind::ALL.into_iter().flat_map(|kind| self.return_rates.iter().map(of_kind(kind)));
        let rates = rates.map(|(labels, bps)| (labels, number(bps)));
        let help = "Bank transfers of the last 60 days that came back, in hundredths of a percent";
        shown.add("ach_return_rate_bps", help, rates);
        let exceeded = self.return_rates.iter().flat_map(|(environment, rates)| {
            let view = self.views.iter().find(|view| view.environment.id == *environment);
            let thresholds = view.map(|view| &view.configuration.settings.return_rates);
            thresholds.into_iter().flat_map(move |thresholds| {
                ReturnKind::ALL.map(|kind| {
                    let labels = labels(*environment, "kind", kind.as_str());
                    (labels, i64::from(rates.exceeds(kind, thresholds)))
                })
            })
        });
        shown.add("ach_return_rate_exceeded", "1 if the rate is above its configured threshold", exceeded);
    }

    fn show_backlog(&self, shown: &mut Shown, backlog: &[Backlog]) {
        let of = |backlog: &Backlog| vec![("work", backlog.what.replace(' ', "_"))];
        let due = backlog.iter().map(|it| (of(it), i64::from(it.due)));
        shown.add("backlog_due", "Due work that no node has taken, counted up to 1000", due);
        let ages = backlog.iter().map(|it| (of(it), age(it.oldest, self.now)));
        shown.add("backlog_oldest_due_seconds", "For how long the oldest of it is due", ages);
    }
}

/// A name, its help and what it counts.
type Counted = (&'static str, &'static str, fn(&Attention) -> u32);

const COUNTED: [Counted; 9] = [
    ("open_exceptions", "Discrepancies with a provider that are open", |it| it.open_exceptions),
    (
        "open_approvals",
        "Transfers, refunds, wallet movements and configuration changes waiting for approval",
        |it| it.open_approvals,
    ),
    ("open_disputes", "Disputes that are not decided", |it| it.open_disputes),
    ("waiting_deliveries", "Deliveries of events that are due now or later", |it| it.waiting_deliveries),
    ("parked_deliveries", "Deliveries of events that failed for good", |it| it.parked_deliveries),
    ("disabled_endpoints", "Webhook endpoints that are disabled", |it| it.disabled_endpoints),
    ("failing_endpoints", "Enabled endpoints that failed three times in a row", |it| it.failing_endpoints),
    ("waiting_provider_events", "Provider events not applied yet", |it| it.waiting_provider_events),
    ("parked_provider_events", "Provider events that failed too often", |it| it.parked_provider_events),
];

fn show_attention(shown: &mut Shown, health: &[EnvironmentHealth], now: Timestamp) {
    let of_methods = |it: &EnvironmentHealth| {
        let Attention { waiting_payments, waiting_transfers, .. } = it.attention;
        let Attention { oldest_waiting_payment, oldest_waiting_transfer, .. } = it.attention;
        let labels = |method: PaymentMethod| labels(it.environment, "method", method.as_str());
        [
            (labels(PaymentMethod::WebCard), waiting_payments, oldest_waiting_payment),
            (labels(PaymentMethod::Ach), waiting_transfers, oldest_waiting_transfer),
        ]
    };
    let pending = health.iter().flat_map(of_methods).map(|(labels, count, _)| (labels, i64::from(count)));
    shown.add("pending_payments", "Payments whose outcome is not known, counted up to 1000", pending);
    let ages = health.iter().flat_map(of_methods).map(|(labels, _, oldest)| (labels, age(oldest, now)));
    shown.add("pending_payment_age_seconds", "Age of the oldest pending payment", ages);
    for (name, help, count) in COUNTED {
        let counts = health.iter().map(|it| (environment(it), i64::from(count(&it.attention))));
        shown.add(name, help, counts);
    }
    let lags = health.iter().map(|it| (environment(it), age(it.attention.oldest_waiting_delivery, now)));
    shown.add("delivery_lag_seconds", "Age of the oldest event that waits to be delivered", lags);
    let due = health.iter().filter_map(|it| {
        let respond_by = it.attention.respond_by?.unix_millis();
        Some((environment(it), respond_by.saturating_sub(now.unix_millis()).div_euclid(1_000)))
    });
    shown.add("dispute_response_due_seconds", "Time left for the next evidence in a dispute", due);
}

fn show_wallets(shown: &mut Shown, health: &[EnvironmentHealth]) {
    let wallets = |value: fn(&WalletHealth) -> i64| {
        health.iter().flat_map(move |it| {
            let sample = move |wallet: &WalletHealth| {
                (labels(it.environment, "currency", wallet.currency.code()), value(wallet))
            };
            it.wallets.iter().map(sample)
        })
    };
    let available = wallets(|wallet| wallet.balances.available.signed());
    shown.add("wallet_available_minor", "Available in the wallet, in minor units", available);
    let reserved = wallets(|wallet| wallet.balances.reserved.signed());
    shown.add("wallet_reserved_minor", "Set aside for transfers under way, in minor units", reserved);
    let spent = wallets(|wallet| wallet.spent.signed());
    shown.add("wallet_spent_minor", "Spent in the last 24 hours, in minor units", spent);
    let low = wallets(|wallet| i64::from(wallet.is_low()));
    shown.add("wallet_low", "1 if less is available than was spent in the last 24 hours", low);
}

/// Gauges with their samples. Those without any are named all the same, so that whoever writes a rule finds them.
#[derive(Debug, Default)]
struct Shown(Vec<(&'static str, &'static str, Vec<Sample>)>);

impl Shown {
    fn add(&mut self, name: &'static str, help: &'static str, samples: impl IntoIterator<Item = Sample>) {
        self.0.push((name, help, samples.into_iter().collect()));
    }
}

impl Collector for Shown {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for (name, help, samples) in &self.0 {
            let mut gauge = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for (labels, value) in samples {
                gauge.encode_family(labels)?.encode_gauge(value)?;
            }
        }
        Ok(())
    }
}

fn environment(health: &EnvironmentHealth) -> Labels {
    vec![("environment", health.environment.to_string())]
}

fn labels(environment: EnvironmentId, name: &'static str, value: &str) -> Labels {
    vec![("environment", environment.to_string()), (name, value.to_owned())]
}

/// In seconds; 0 of nothing.
fn age(since: Option<Timestamp>, now: Timestamp) -> i64 {
    let millis = since.map_or(0, |since| now.unix_millis().saturating_sub(since.unix_millis()));
    millis.max(0) / 1_000
}

fn number(value: impl TryInto<i64>) -> i64 {
    value.try_into().unwrap_or(i64::MAX)
}
