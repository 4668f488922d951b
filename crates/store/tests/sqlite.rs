//! The store on SQLite: the shared suite, and what only a file can go through.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    path::PathBuf,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use rusqlite::Connection;
use tempfile::TempDir;
use tokio::time::Instant;
use tollgate_domain::{
    Currency,
    id::SealingKeyId,
    ledger::{Cause, TransferStep},
};
use tollgate_engine::ports::{
    AuditScope, Changed, DeliveryState, DirectoryVersion, Durability, EndpointEffect, InspectionStore as _,
    Moved, OutboxStore as _, PaymentStore as _, ReportingStore as _, Reserved, SealingKey, Store, StoreError,
    TransferStore as _,
};
use tollgate_store::{
    OpenError, Options,
    sqlite::{SqliteSettings, SqliteStore},
};
use tollgate_store_conformance::{
    Nodes, at,
    audit::{damage_is_found_when_it_is_looked_for, every_damage_is_found},
    audit_log::{every_tampering_is_found, new_entry},
    created,
    erasure::{CANARY, somebody},
    minor,
    outbox_samples::{SUCCEEDED, attempted},
    samples::{card, due},
    transfer_samples::{ach, fees},
    upgrade,
    wallet::books_balance,
};

tollgate_store_conformance::conformance_suite!(super::on_a_fresh_database);

async fn on_a_fresh_database(work: impl AsyncFnOnce(Nodes)) {
    let folder = Folder::new();
    let store: Arc<dyn Store> = folder.open().await;
    work(Nodes::new(Arc::clone(&store), store)).await;
}

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("tollgate.db")
    }

    async fn open(&self) -> Arc<SqliteStore> {
        Arc::new(SqliteStore::open(&self.path(), &SqliteSettings::default()).await.unwrap())
    }

    /// As [`Folder::open`], but gives up on a locked file soon.
    async fn open_impatient(&self) -> Arc<SqliteStore> {
        let settings =
            SqliteSettings { busy_timeout: Duration::from_millis(150), ..SqliteSettings::default() };
        Arc::new(SqliteStore::open(&self.path(), &settings).await.unwrap())
    }

    /// As [`Folder::open`], and waits for a locked file as long as it takes.
    async fn open_patient(&self) -> Arc<SqliteStore> {
        let limit = Duration::from_mins(1);
        let settings =
            SqliteSettings { busy_timeout: limit, queue_timeout: limit, ..SqliteSettings::default() };
        Arc::new(SqliteStore::open(&self.path(), &settings).await.unwrap())
    }

    /// What another process, such as a backup, would have.
    fn stranger(&self) -> Connection {
        let connection = Connection::open(self.path()).unwrap();
        connection.busy_timeout(Duration::from_secs(5)).unwrap();
        connection
    }
}

fn nodes(store: &Arc<SqliteStore>) -> Nodes {
    Nodes::new(Arc::<SqliteStore>::clone(store), Arc::<SqliteStore>::clone(store))
}

/// Units that were begun at once, so that each waits for the one who writes.
#[derive(Default)]
struct Begun(Arc<AtomicUsize>);

impl Begun {
    /// Does a unit, and counts it once it has come as far as it does by itself.
    fn count<T, F: Future<Output = T>>(&self, unit: F) -> impl Future<Output = T> + use<T, F> {
        let begun = Arc::clone(&self.0);
        async move {
            let mut unit = pin!(unit);
            tokio::select! {
                biased;
                answer = &mut unit => return answer,
                () = std::future::ready(()) => {}
            }
            begun.fetch_add(1, Ordering::Relaxed);
            unit.await
        }
    }

    async fn wait(&self, count: usize) {
        while self.0.load(Ordering::Relaxed) < count {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        // A little more than what they do by themselves.
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_units_share_a_commit() {
    let folder = Folder::new();
    let store = folder.open_patient().await;
    let nodes = nodes(&store);
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 10, "f").await;
    let before = store.commits();

    let stranger = folder.stranger();
    stranger.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (mut running, begun) = (tokio::task::JoinSet::new(), Begun::default());
    for place in 0..200 {
        let store = Arc::clone(&store);
        // Every other one is refused, which must not undo its neighbors in the same transaction.
        let (cause, amount) = if place % 2 == 0 { (Cause::Fund, 1) } else { (Cause::Withdraw, 1_000_000) };
        let movement = nodes.new_movement(cause, amount, &format!("r{place}"));
        running.spawn(begun.count(async move { store.move_funds(environment, &movement).await.unwrap() }));
    }
    begun.wait(200).await;
    assert_eq!(store.commits(), before, "nothing is committed, or answered, while the file is locked");
    assert!(running.try_join_next().is_none());
    stranger.execute_batch("ROLLBACK").unwrap();

    let answers = running.join_all().await;
    let done = answers.iter().filter(|answer| matches!(answer, Moved::Done(_))).count();
    assert_eq!(done, 100);
    assert!(store.commits() - before <= 4, "200 units took {} commits", store.commits() - before);
    assert_eq!(books_balance(&nodes, environment, Currency::USD).await, 110);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_file_is_unavailable_and_recovers() {
    let folder = Folder::new();
    let store = folder.open_impatient().await;
    let nodes = nodes(&store);
    let environment = nodes.environment().await;
    let stranger = folder.stranger();
    stranger.execute_batch("BEGIN IMMEDIATE").unwrap();

    let began = Instant::now();
    assert!(matches!(store.probe().await, Err(StoreError::Unavailable(_))));
    let key = nodes.new_key(environment.id);
    let error = store.issue_key(&key).await.unwrap_err();
    assert!(
        matches!(&error, StoreError::Unavailable(reason) if reason.contains("another process")),
        "{error}"
    );
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    // Whoever reads is not disturbed.
    assert!(store.environment(environment.id).await.unwrap().is_some());

    stranger.execute_batch("ROLLBACK").unwrap();
    store.probe().await.unwrap();
    assert!(nodes.keys(environment.id).await.is_empty(), "unavailable means that nothing happened");
    nodes.key(environment.id).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_lost_midway_is_unavailable_and_recovers() {
    let folder = Folder::new();
    let store = folder.open().await;
    let nodes = nodes(&store);
    let environment = nodes.environment().await.id;
    // A trigger stands in for a failing disk: SQLite gives up the whole transaction in the middle of a unit.
    let stranger = folder.stranger();
    stranger
        .execute_batch(
            "CREATE TRIGGER sabotage BEFORE INSERT ON ledger_postings WHEN NEW.reference = 'bad'
             BEGIN SELECT RAISE(ROLLBACK, 'sabotage'); END",
        )
        .unwrap();
    let bad = nodes.new_movement(Cause::Fund, 5, "bad");
    let good = nodes.new_movement(Cause::Fund, 7, "good");
    let (bad, good_answer) =
        tokio::join!(store.move_funds(environment, &bad), store.move_funds(environment, &good));
    assert!(matches!(bad, Err(StoreError::Unavailable(_))), "{bad:?}");
    // Its neighbor was in the same transaction or in the next one: told that nothing happened, or done.
    let held = books_balance(&nodes, environment, Currency::USD).await;
    assert_eq!(held, if good_answer.is_ok() { 7 } else { 0 });
    let moved = store.move_funds(environment, &good).await.unwrap();
    assert!(matches!(moved, Moved::Done(applied) if applied.balances.available == minor(7)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_handle_is_refused() {
    let folder = Folder::new();
    let store = folder.open().await;
    let error = SqliteStore::open(&folder.path(), &SqliteSettings::default()).await.unwrap_err();
    let sentence = error.to_string();
    assert!(matches!(error, OpenError::InUse { .. }));
    assert!(sentence.contains("tollgate.db is in use by another process"), "{sentence}");
    assert!(sentence.contains("tollgate.db.lock"), "{sentence}");
    // Nor by another name of the same file.
    let link = folder.0.path().join("link.db");
    std::os::unix::fs::symlink(folder.path(), &link).unwrap();
    assert!(matches!(
        SqliteStore::open(&link, &SqliteSettings::default()).await,
        Err(OpenError::InUse { .. })
    ));
    // Nor by a hard link, nor after the file of the lock was removed.
    let hard_link = folder.0.path().join("hard.db");
    std::fs::hard_link(folder.path(), &hard_link).unwrap();
    let error = SqliteStore::open(&hard_link, &SqliteSettings::default()).await.unwrap_err();
    assert!(matches!(error, OpenError::InUse { .. }), "{error}");
    std::fs::remove_file(&hard_link).unwrap();
    std::fs::remove_file(folder.0.path().join("tollgate.db.lock")).unwrap();
    let error = SqliteStore::open(&folder.path(), &SqliteSettings::default()).await.unwrap_err();
    assert!(matches!(error, OpenError::InUse { .. }), "{error}");
    nodes(&store).environment().await;
    drop(store);
    folder.open().await;
}

/// Whatever is written to a file without a name is lost at the next start: nothing is acknowledged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_was_deleted_or_moved_takes_no_writes() {
    async fn becomes_unavailable(store: &SqliteStore) -> StoreError {
        let deadline = Instant::now() + Duration::from_mins(1);
        loop {
            match store.probe().await {
                Err(error) => return error,
                Ok(()) => assert!(Instant::now() < deadline, "the file is not missed"),
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    let folder = Folder::new();
    let store = folder.open().await;
    let environment = nodes(&store).environment().await;
    let moved = folder.0.path().join("moved.db");
    std::fs::rename(folder.path(), &moved).unwrap();
    let error = becomes_unavailable(&store).await;
    assert!(matches!(&error, StoreError::Unavailable(reason) if reason.contains("was deleted")), "{error}");
    let refused = store.issue_key(&nodes(&store).new_key(environment.id)).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    std::fs::write(folder.path(), b"").unwrap();
    assert!(store.probe().await.is_err(), "another file under its name is not this one");
    std::fs::rename(&moved, folder.path()).unwrap();
    store.probe().await.unwrap();
    nodes(&store).key(environment.id).await;

    let log = folder.0.path().join("tollgate.db-wal");
    std::fs::remove_file(&log).unwrap();
    becomes_unavailable(&store).await;
    std::fs::remove_dir_all(folder.0.path()).unwrap();
    becomes_unavailable(&store).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reopening_finds_everything() {
    let folder = Folder::new();
    let url = format!("sqlite:{}", folder.path().display()).parse().unwrap();
    let store = tollgate_store::open(&url, &Options::default()).await.unwrap();
    let nodes = Nodes::new(Arc::clone(&store), store);
    let environment = nodes.environment().await;
    nodes.key(environment.id).await;
    nodes.fund(environment.id, 77, "f").await;
    let payment = nodes.payment_with(&nodes.new_full_order(environment.id), &due(at(1))).await;
    let payment = nodes.change(environment.id, payment, &nodes.full_change(0, "evt_1")).await;
    let before = nodes.one.directory_since(DirectoryVersion::default()).await.unwrap();
    drop(nodes);

    let store = tollgate_store::open(&url, &Options::default()).await.unwrap();
    assert_eq!(store.directory_since(DirectoryVersion::default()).await.unwrap(), before);
    let balances = store.balances(environment.id, Currency::USD).await.unwrap().unwrap();
    assert_eq!(balances.available, minor(77));
    assert_eq!(store.payment(environment.id, payment.order.id).await.unwrap(), Some(payment));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn looking_for_work_writes_nothing_while_there_is_none() {
    let folder = Folder::new();
    let store = folder.open().await;
    let nodes = nodes(&store);
    let environment = nodes.environment().await.id;
    nodes.payment_with(&nodes.new_order(environment), &due(at(10))).await;
    nodes.one.receive_provider_event(environment, &nodes.new_event("evt_1"), at(10)).await.unwrap();
    let before = store.commits();
    for _ in 0..10 {
        assert!(store.claim_payments(at(9), at(100), 5).await.unwrap().is_empty());
        assert!(store.claim_provider_events(at(9), at(100), 5).await.unwrap().is_empty());
    }
    // Not even while another process holds the lock that writing needs.
    let stranger = folder.stranger();
    stranger.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(store.claim_payments(at(9), at(100), 5).await.unwrap().is_empty());
    stranger.execute_batch("ROLLBACK").unwrap();
    assert_eq!(store.commits(), before);
    assert_eq!(store.claim_payments(at(10), at(100), 5).await.unwrap().len(), 1);
    assert_eq!(store.claim_provider_events(at(10), at(100), 5).await.unwrap().len(), 1);
    assert_eq!(store.commits(), before + 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_read_is_named() {
    let folder = Folder::new();
    let store = folder.open().await;
    let nodes = nodes(&store);
    let environment = nodes.environment().await.id;
    let id = nodes.payment_with(&nodes.new_full_order(environment), &due(at(1))).await;
    nodes.one.receive_provider_event(environment, &nodes.new_event("evt_1"), at(1)).await.unwrap();
    nodes.change(environment, id, &nodes.full_change(0, "evt_1")).await;
    let stranger = folder.stranger();
    stranger.execute_batch("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF").unwrap();
    let layers = "json_set(fee_layers, '$.platform.";
    for (table, change, named) in [
        ("card_payments", "flow = 'unheard of'", "flow"),
        ("card_payments", "channel = ''", "channel"),
        ("card_payments", "matched = '{}'", "matched rule"),
        ("card_payments", "config_version = -1", "config_version"),
        ("card_payments", "currency = 'XTS'", "currency"),
        ("card_payments", "principal_minor = 0", "principal"),
        ("card_payments", "total_debit_minor = -1", "negative amount"),
        ("card_payments", "fee_layers = 'null'", "fee"),
        ("card_payments", &format!("fee_layers = {layers}fixedMinor', -1)"), "fee"),
        ("card_payments", &format!("fee_layers = {layers}percentBps', 10001)"), "percentage of a fee"),
        ("card_payments", &format!("fee_layers = {layers}bound', 'floor')"), "fee"),
        ("card_payments", "preparation = 'done'", "preparation"),
        ("card_payments", "tries = 4294967296", "tries"),
        ("card_attempts", "state = 'lost'", "state of an attempt"),
        ("transactions", "status = 'paid'", "status"),
        ("transactions", "failure_message = NULL", "half of a failure"),
        ("transactions", "dispute_id = NULL", "half of a dispute"),
        ("provider_events", "state = 'lost'", "state of an event"),
        ("reconciliation_exceptions", "kind = 'mood'", "kind of disagreement"),
        ("reconciliation_exceptions", "resolved_at = 1", "part of a resolution"),
    ] {
        // Changed and changed back, so that each is met alone.
        let kept = format!("CREATE TEMP TABLE kept AS SELECT * FROM {table}; UPDATE {table} SET {change}");
        stranger.execute_batch(&kept).unwrap();
        let error = match table {
            "provider_events" => {
                // Lists look for states by name; a claim meets whatever is due.
                stranger.execute_batch("UPDATE provider_events SET due_at = 0").unwrap();
                store.claim_provider_events(at(1), at(2), 5).await.unwrap_err()
            }
            "reconciliation_exceptions" => store.exceptions(environment, false, None, 5).await.unwrap_err(),
            _ => store.payment(environment, id).await.unwrap_err(),
        };
        let expected = format!("holds a {named} that this version cannot read");
        assert!(
            matches!(&error, StoreError::Broken(reason) if reason.contains(&expected)),
            "{table} {change}: {error}"
        );
        let back = format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM kept; DROP TABLE kept");
        stranger.execute_batch(&back).unwrap();
        assert!(store.payment(environment, id).await.unwrap().is_some(), "{table} {change}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_damage_to_the_books_is_found() {
    let folder = Folder::new();
    let store = folder.open().await;
    let stranger = folder.stranger();
    stranger.execute_batch("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF").unwrap();
    let behind = async |sql: &str| stranger.execute_batch(sql).unwrap();
    every_damage_is_found(&nodes(&store), "randomblob(16)", behind).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damage_to_the_books_is_found_when_it_is_looked_for() {
    let folder = Folder::new();
    let store = folder.open().await;
    let stranger = folder.stranger();
    stranger.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    let behind = async |sql: &str| stranger.execute_batch(sql).unwrap();
    damage_is_found_when_it_is_looked_for(&nodes(&store), behind).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_tampering_with_the_audit_log_is_found() {
    let folder = Folder::new();
    let store = folder.open().await;
    let stranger = folder.stranger();
    let triggers = "DROP TRIGGER audit_log_keeps_entries; DROP TRIGGER audit_log_changes_no_entry";
    stranger.execute_batch(triggers).unwrap();
    let blob = |hex: &str| format!("x'{hex}'");
    every_tampering_is_found(&nodes(&store), blob, async |sql: &str| stranger.execute_batch(sql).unwrap())
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_audit_log_is_append_only() {
    let folder = Folder::new();
    let store = folder.open().await;
    nodes(&store).one.add_audit_entries(&[new_entry("key.issue", "key_1")]).await.unwrap();
    let stranger = folder.stranger();
    for sql in ["DELETE FROM audit_log", "UPDATE audit_log SET actor = 'another'"] {
        let refused = stranger.execute_batch(sql).unwrap_err();
        assert!(refused.to_string().contains("append-only"), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transfers_share_a_commit() {
    let folder = Folder::new();
    let store = folder.open_patient().await;
    let nodes = nodes(&store);
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 100 * 1_035 + 5, "f").await;
    let before = store.commits();
    let stranger = folder.stranger();
    stranger.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (mut running, begun) = (tokio::task::JoinSet::new(), Begun::default());
    for place in 0..200 {
        let store = Arc::clone(&store);
        // Every other one is refused, which must not undo its neighbors in the same transaction.
        let fee = if place % 2 == 0 { fees(1_000, 25, 10) } else { fees(1_000_000, 0, 0) };
        let new = nodes.new_transfer_of(environment, fee);
        running.spawn(begun.count(async move { store.reserve_transfer(environment, &new).await.unwrap() }));
    }
    begun.wait(200).await;
    assert_eq!(store.commits(), before, "nothing is committed, or answered, while the file is locked");
    stranger.execute_batch("ROLLBACK").unwrap();
    let answers = running.join_all().await;
    assert_eq!(answers.iter().filter(|answer| **answer == Reserved::Created).count(), 100);
    assert!(store.commits() - before <= 4, "200 units took {} commits", store.commits() - before);
    assert_eq!(books_balance(&nodes, environment, Currency::USD).await, 5);
    nodes.audit_is_clean().await;
}

/// One that fails after it has written is undone by itself, and its neighbors in the same transaction are done once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_fails_for_a_neighbours_sake() {
    let folder = Folder::new();
    let store = folder.open_patient().await;
    let nodes = nodes(&store);
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 1_000_000, "f").await;
    let mut work = Vec::new();
    for place in 0..40 {
        let new = nodes.new_transfer(environment);
        nodes.reserve(&new).await;
        // Nothing has been paid out that could come back: found out by the last of several statements.
        let step = if place % 8 == 3 { TransferStep::Reverse } else { TransferStep::Release };
        let change = nodes.transfer_step(0, step, &new.order.fee);
        work.push((place, new, change));
    }
    let before = store.commits();
    let stranger = folder.stranger();
    stranger.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (mut running, begun) = (tokio::task::JoinSet::new(), Begun::default());
    for (place, new, change) in work {
        let store = Arc::clone(&store);
        running.spawn(begun.count(async move {
            let answer = store.change_transfer(environment, new.order.id, &change).await;
            (place, new, answer)
        }));
    }
    begun.wait(40).await;
    stranger.execute_batch("ROLLBACK").unwrap();
    for (place, new, answer) in running.join_all().await {
        let transfer = nodes.read_transfer(&new).await;
        let lines = store.timeline(environment, ach(new.order.id)).await.unwrap();
        if place % 8 == 3 {
            assert!(matches!(answer, Err(StoreError::Broken(_))), "{answer:?}");
            assert_eq!((transfer.revision, lines.len()), (0, 0));
        } else {
            assert_eq!(answer.unwrap(), Changed::Done);
            assert_eq!((transfer.revision, lines.len()), (1, 1));
        }
    }
    assert!(store.commits() - before <= 4, "40 units took {} commits", store.commits() - before);
    assert_eq!(books_balance(&nodes, environment, Currency::USD).await, 1_000_000 - 5 * 1_035);
    nodes.audit_is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_schema_is_refused() {
    let folder = Folder::new();
    drop(folder.open().await);
    let record = |sql: &str| folder.stranger().execute(sql, []).unwrap();
    record("INSERT INTO schema_changes VALUES (998, 'of a later version', 'x', 0, 51)");
    assert_eq!(folder.open().await.diagnose(at(0)).await.unwrap().schema_version, 998);
    record("INSERT INTO schema_changes VALUES (999, 'from the future', 'x', 0, 998)");
    let error = SqliteStore::open(&folder.path(), &SqliteSettings::default()).await.unwrap_err();
    assert!(matches!(error, OpenError::SchemaNewer { database: 999, needed: 998, .. }), "{error}");
    assert!(error.to_string().contains("start a newer tollgate"), "{error}");

    let folder = Folder::new();
    drop(folder.open().await);
    folder.stranger().execute("UPDATE schema_migrations SET checksum = 'x'", []).unwrap();
    let error = SqliteStore::open(&folder.path(), &SqliteSettings::default()).await.unwrap_err();
    assert!(matches!(error, OpenError::SchemaDiffers { version: 1, .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_there_before_is_found_and_counted() {
    let folder = Folder::new();
    let before = upgrade::before(&nodes(&folder.open().await)).await;
    let order = "DROP TRIGGER ledger_postings_are_ordered; DROP TRIGGER card_postings_are_ordered; DROP TABLE posting_order;
         CREATE TABLE ledger_entries (
             environment_id BLOB, currency TEXT, posting_id BLOB, account TEXT, amount_minor INTEGER,
             PRIMARY KEY (environment_id, currency, posting_id, account)) WITHOUT ROWID";
    folder.stranger().execute_batch(order).unwrap();
    folder.stranger().execute_batch(upgrade::UNDO).unwrap();
    upgrade::after(&nodes(&folder.open().await), &before).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_order_of_postings_is_kept_until_they_are_verified_and_added_up() {
    let folder = Folder::new();
    let nodes = nodes(&folder.open().await);
    let environment = nodes.environment().await.id;
    let ordered = || -> i64 {
        folder.stranger().query_row("SELECT count(*) FROM posting_order", (), |row| row.get(0)).unwrap()
    };
    nodes.fund(environment, 500_000, "f").await;
    let settled = async || {
        let new = nodes.new_transfer(environment);
        nodes.reserve(&new).await;
        let step = nodes.transfer_step(0, TransferStep::Settle, &new.order.fee);
        nodes.change_transfer(&new, &step).await;
        nodes.one.add_up_statements().await.unwrap();
    };
    let audit = async |scope, postings| {
        let audit = nodes.one.audit(scope, at(0)).await.unwrap();
        assert_eq!((audit.findings, audit.postings), (Vec::new(), postings));
    };
    settled().await;
    assert_eq!(ordered(), 3, "not verified yet");
    audit(AuditScope::Everything, 3).await;
    settled().await;
    assert_eq!(ordered(), 3, "the last that was verified, and two more");
    audit(AuditScope::Recent, 2).await;
    settled().await;
    assert_eq!(ordered(), 3);
    audit(AuditScope::Recent, 2).await;
    audit(AuditScope::Recent, 0).await;
    audit(AuditScope::Everything, 7).await;
}

/// As versions wrote them that had a row for each line, and later one for each change.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_of_earlier_versions_come_before_the_newer_ones() {
    let folder = Folder::new();
    let nodes = nodes(&folder.open().await);
    let environment = nodes.environment().await.id;
    let id = nodes.payment(environment).await;
    let change = nodes.full_change(0, "evt_1");
    nodes.change(environment, id, &change).await;
    let new = nodes.two.timeline(environment, card(id)).await.unwrap();
    assert_eq!(new, change.entries);
    let lines = r#"[{"id":"00000000000000000000000000000002","kind":"status","at":7,"request":"none","detail":{"to":"a"}},
        {"id":"00000000000000000000000000000003","kind":"webhook","detail":{"type":"b"}}]"#;
    for (number, kind, request, detail) in
        [(1_u8, "status", None, r#"{"to":"first"}"#), (3, "lines", Some("req_3"), lines)]
    {
        let mut name = [0; 16];
        name[15] = number;
        let sql = "INSERT INTO timeline (environment_id, method, reference, id, at, kind, request, detail)
             VALUES (?1, 'web_card', ?2, ?3, 5, ?4, ?5, ?6)";
        let values = rusqlite::params![environment.to_bytes(), id.to_bytes(), name, kind, request, detail];
        folder.stranger().execute(sql, values).unwrap();
    }
    let all = nodes.two.timeline(environment, card(id)).await.unwrap();
    let read: Vec<_> = all
        .iter()
        .map(|line| (line.at.unix_millis(), line.request.as_deref(), line.detail.as_str()))
        .take(3)
        .collect();
    let expected =
        [(5, None, r#"{"to":"first"}"#), (7, None, r#"{"to":"a"}"#), (5, Some("req_3"), r#"{"type":"b"}"#)];
    assert_eq!(read, expected);
    assert_eq!(all[3..], new);
}

/// Looking for work writes nothing while there is none, also where much waits for one who rests.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn looking_for_work_commits_nothing() {
    let folder = Folder::new();
    let store = folder.open().await;
    let nodes = nodes(&store);
    let environment = nodes.environment().await.id;
    let endpoint = nodes.endpoint(environment, &["*"]).await;
    let event = nodes.append_event(environment, SUCCEEDED).await;
    let rests = attempted(DeliveryState::Waiting, Some(event.at), EndpointEffect::Rests(at(9_000)));
    nodes.settle(environment, endpoint.id, event.id, &rests).await;
    assert_eq!(store.index_events(9).await.unwrap(), 1);
    let before = store.commits();
    for _ in 0..3 {
        assert!(store.claim_deliveries(at(8_000), at(9_000), 5, 5).await.unwrap().is_empty());
        assert_eq!(store.index_events(9).await.unwrap(), 0);
    }
    assert_eq!(store.commits(), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_cannot_be_used_is_named() {
    let folder = Folder::new();
    let nowhere = folder.0.path().join("missing").join("tollgate.db");
    let error = SqliteStore::open(&nowhere, &SqliteSettings::default()).await.unwrap_err().to_string();
    assert!(error.contains("missing/tollgate.db") && error.contains("folder exists"), "{error}");

    std::fs::write(folder.path(), "this is no database, only a text of some length").unwrap();
    let error = SqliteStore::open(&folder.path(), &SqliteSettings::default()).await.unwrap_err().to_string();
    assert!(error.contains("not a database"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_file_is_durable_and_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    let store = folder.open().await;
    let nodes = nodes(&store);
    created(
        nodes
            .one
            .create_environment(&nodes.new_environment(&nodes.application().await, "test"))
            .await
            .unwrap(),
    );
    for name in ["tollgate.db", "tollgate.db-wal", "tollgate.db.lock"] {
        let mode = std::fs::metadata(folder.0.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let stranger = folder.stranger();
    let mode: String = stranger.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    let violations: i64 =
        stranger.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0)).unwrap();
    assert_eq!(violations, 0);
}

/// Whether a file of the database has the text, the log included.
fn is_in_files(folder: &Folder, text: &str) -> bool {
    let files = std::fs::read_dir(folder.0.path()).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| std::fs::read(path).unwrap()).any(|bytes| {
        let bytes = String::from_utf8_lossy(&bytes).to_lowercase();
        bytes.contains(&text.to_lowercase())
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn somebody_who_was_erased_is_in_none_of_the_files() {
    let folder = Folder::new();
    let store = folder.open().await;
    let nodes = nodes(&store);
    let who = somebody(&nodes).await;
    assert!(is_in_files(&folder, CANARY));
    who.erase(&nodes).await;
    assert!(!is_in_files(&folder, CANARY));
    // Nor once the file is closed and opened again.
    drop((nodes, store));
    folder.open().await;
    assert!(!is_in_files(&folder, CANARY));
}

/// A backup reads while a customer is erased: the log is truncated once the backup is done, without another request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn somebody_who_was_erased_while_others_read_is_gone_once_they_are_done() {
    let folder = Folder::new();
    let store = folder.open().await;
    let nodes = nodes(&store);
    let who = somebody(&nodes).await;
    let reader = folder.stranger();
    reader.execute_batch("BEGIN").unwrap();
    let _: i64 = reader.query_row("SELECT count(*) FROM transfers", [], |row| row.get(0)).unwrap();
    who.erase(&nodes).await;
    assert!(is_in_files(&folder, CANARY), "the reader needs the log");
    assert!(keeps_deleted(&nodes).await);
    reader.execute_batch("COMMIT").unwrap();
    wait_until_nothing_deleted_is_kept(&nodes).await;
    assert!(!is_in_files(&folder, CANARY));
}

/// The same with a key: what it sealed could be opened with the copy that the log keeps.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_was_destroyed_while_others_read_is_gone_once_they_are_done() {
    let folder = Folder::new();
    let store = folder.open().await;
    let nodes = nodes(&store);
    let sealed = "v1.abc.a-sealed-key";
    let key =
        SealingKey { id: SealingKeyId::from_bytes([7; 16]), sealed: sealed.to_owned(), created_at: at(0) };
    nodes.one.put_sealing_keys(&[key]).await.unwrap();
    let reader = folder.stranger();
    reader.execute_batch("BEGIN").unwrap();
    let _: i64 = reader.query_row("SELECT count(*) FROM sealing_keys", [], |row| row.get(0)).unwrap();
    assert_eq!(nodes.one.destroy_sealing_keys(at(50)).await.unwrap(), 1);
    assert!(is_in_files(&folder, sealed), "the reader needs the log");
    assert!(keeps_deleted(&nodes).await);
    reader.execute_batch("COMMIT").unwrap();
    wait_until_nothing_deleted_is_kept(&nodes).await;
    assert!(!is_in_files(&folder, sealed));
}

async fn keeps_deleted(nodes: &Nodes) -> bool {
    match nodes.one.diagnose(at(0)).await.unwrap().durability {
        Durability::File { keeps_deleted, .. } => keeps_deleted,
        other @ Durability::Server { .. } => panic!("{other:?}"),
    }
}

async fn wait_until_nothing_deleted_is_kept(nodes: &Nodes) {
    let deadline = std::time::Instant::now() + Duration::from_mins(2);
    while keeps_deleted(nodes).await {
        assert!(std::time::Instant::now() < deadline, "it is still in the log");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
