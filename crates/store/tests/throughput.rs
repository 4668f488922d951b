//! How many transfers a store takes in a second. Measured, not asserted, and only when asked for:
//!
//! `cargo xtask postgres -- cargo test --release -p tollgate-store --test throughput -- --ignored --nocapture`

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

#[path = "postgres/server.rs"]
#[allow(dead_code)]
mod server;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use tollgate_domain::{
    event::EventKind,
    id::{EnvironmentId, TransferId},
    ledger::TransferStep,
    transaction::{Status, TransactionState},
};
use tollgate_engine::ports::{Changed, Entry, NewTransfer, Reserved, Store, TransferChange};
use tollgate_store::{postgres, sqlite};
use tollgate_store_conformance::{Nodes, created, transfer_samples::sending};

const CALLERS: usize = 64;

/// `TOLLGATE_BENCH_TRANSFERS` says how many transfers each line is measured with.
fn transfers() -> usize {
    std::env::var("TOLLGATE_BENCH_TRANSFERS").ok().and_then(|count| count.parse().ok()).unwrap_or(20_000)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes a minute"]
async fn sqlite() {
    for wallets in [1, 1_000] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tollgate.db");
        let store = sqlite::SqliteStore::open(&path, &sqlite::SqliteSettings::default()).await.unwrap();
        let store: Arc<dyn Store> = Arc::new(store);
        measure("SQLite", &Nodes::new(Arc::clone(&store), store), wallets, async || writers()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes a minute"]
async fn postgresql() {
    for wallets in [1, 1_000] {
        server::with_database(async |database| {
            let store: Arc<dyn Store> = database.open_with(&postgres::PostgresSettings::default()).await;
            let sessions = async || {
                let sql = "SELECT pid FROM pg_stat_activity WHERE datname = current_database()";
                let rows = database.stranger.query(sql, &[]).await.unwrap();
                rows.iter().map(|row| row.get::<_, i32>(0).to_string()).collect()
            };
            measure("PostgreSQL", &Nodes::new(Arc::clone(&store), store), wallets, sessions).await;
        })
        .await;
    }
}

/// Processor time of a process so far, in hundredths of a second, where the system tells: unlike the rate, it does not
/// depend on who else uses the machine.
fn processor_time(process: &str) -> u64 {
    let told = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let after_name = told.rsplit(')').next().unwrap_or_default();
    after_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
}

/// The threads of this process that write.
fn writers() -> Vec<String> {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let names = threads.map(|thread| format!("self/task/{}", thread.file_name().display()));
    names
        .filter(|thread| {
            std::fs::read_to_string(format!("/proc/{thread}/comm"))
                .is_ok_and(|name| name.trim() == "sqlite-writer")
        })
        .collect()
}

/// `workers` names the processes or threads that do the store's work.
async fn measure(name: &str, nodes: &Nodes, wallets: usize, workers: impl AsyncFn() -> Vec<String>) {
    let environments = environments(nodes, wallets).await;
    let spent = async || {
        let theirs: u64 = workers().await.iter().map(|process| processor_time(process)).sum();
        (processor_time("self"), theirs)
    };
    for what in [What::Reserve, What::ReserveAndChange, What::WholeLife] {
        let before = spent().await;
        let (began, next) = (Instant::now(), Arc::new(AtomicUsize::new(0)));
        let count = transfers();
        let mut callers = tokio::task::JoinSet::new();
        for _ in 0..CALLERS {
            let (nodes, environments, next) = (nodes.clone(), Arc::clone(&environments), Arc::clone(&next));
            callers.spawn(async move {
                let mut took = Vec::new();
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    if place >= count {
                        return took;
                    }
                    let began = Instant::now();
                    one(&nodes, environments[place % environments.len()], what).await;
                    took.push(began.elapsed());
                }
            });
        }
        let mut took: Vec<Duration> = callers.join_all().await.into_iter().flatten().collect();
        took.sort();
        let after = spent().await;
        let each =
            |before: u64, after: u64| after.saturating_sub(before) * 10_000 / u64::try_from(count).unwrap();
        let (own, theirs) = (each(before.0, after.0), each(before.1, after.1));
        let rate = u128::try_from(count).unwrap() * 1_000 / began.elapsed().as_millis().max(1);
        let (middle, late) = (took[took.len() / 2], took[took.len() * 99 / 100]);
        println!(
            "{name}, {wallets} wallet(s), {what:?}: {rate}/s with {CALLERS} callers; half within {middle:.1?}, 99 % within \
             {late:.1?}; processor time of each {own} µs in this process, {theirs} µs in the writer's thread or the server"
        );
    }
    let began = Instant::now();
    let audit = nodes.audit().await;
    assert!(audit.findings.is_empty(), "{:?}", audit.findings);
    println!("{name}, {wallets} wallet(s): audit of {} postings in {:.1?}", audit.postings, began.elapsed());
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Reserve,
    ReserveAndChange,
    WholeLife,
}

async fn environments(nodes: &Nodes, count: usize) -> Arc<Vec<EnvironmentId>> {
    let application = nodes.application().await;
    let mut environments = Vec::new();
    for place in 0..count {
        let environment = nodes.new_environment(&application, &format!("e{place}"));
        created(nodes.one.create_environment(&environment).await.unwrap());
        nodes.fund(environment.id, 1_000_000_000_000, "f").await;
        environments.push(environment.id);
    }
    Arc::new(environments)
}

/// As large as they usually are.
fn new_transfer(nodes: &Nodes, environment: EnvironmentId) -> NewTransfer {
    let mut new = nodes.new_transfer(environment);
    new.order.id = TransferId::from_bytes(rand::random());
    new.order.metadata = format!("{{\"order\":\"{}\"}}", "0123456789".repeat(10));
    new.fingerprints = format!("{{\"all\":\"{}\"}}", "0123456789".repeat(45));
    new.progress.sealed_account = Some("sealed0123456789".repeat(12));
    new.progress.expected_on = Some("2027-03-01".to_owned());
    new.progress.due = Some(new.order.created_at);
    new
}

fn lines(nodes: &Nodes) -> Vec<Entry> {
    let detail = format!("{{\"call\":\"{}\"}}", "0123456789".repeat(15));
    ["provider_call", "status"].map(|kind| Entry { detail: detail.clone(), ..nodes.new_entry(kind) }).into()
}

async fn one(nodes: &Nodes, environment: EnvironmentId, what: What) {
    let new = new_transfer(nodes, environment);
    assert_eq!(nodes.one.reserve_transfer(environment, &new).await.unwrap(), Reserved::Created);
    if what == What::Reserve {
        return;
    }
    let provider_reference = Some(format!("ach_transfer_{}", new.order.id));
    let status = Status::Processing;
    let mut sent = TransferChange {
        state: Some(TransactionState { status, provider_reference, ..TransactionState::pending() }),
        entries: lines(nodes),
        new_events: vec![nodes.new_outbox_event(EventKind::Transaction(status))],
        ..nodes.transfer_change(0, sending())
    };
    sent.progress.due = Some(new.order.created_at);
    change(nodes, &new, &sent).await;
    if what == What::WholeLife {
        change(nodes, &new, &nodes.transfer_step(1, TransferStep::Settle, &new.order.fee)).await;
    }
}

async fn change(nodes: &Nodes, new: &NewTransfer, change: &TransferChange) {
    let changed = nodes.one.change_transfer(new.order.environment, new.order.id, change).await.unwrap();
    assert_eq!(changed, Changed::Done);
}
