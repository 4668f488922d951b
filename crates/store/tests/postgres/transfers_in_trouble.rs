//! Transfers through what only a server can do: batches that fail, lost connections and lost answers.

use std::{sync::Arc, time::Duration};

use tokio::{task::JoinSet, time::Instant};
use tollgate_domain::{
    Currency,
    id::EnvironmentId,
    ledger::TransferStep,
    transaction::{Status, TransactionState},
};
use tollgate_engine::ports::{AuditScope, Changed, NewTransfer, Reserved, StoreError, TransferChange};
use tollgate_store::postgres::PostgresSettings;
use tollgate_store_conformance::{
    Nodes, at,
    audit::{damage_is_found_when_it_is_looked_for, every_damage_is_found},
    audit_log::every_tampering_is_found,
    transfer_races::denials_and_sends_share_a_wallet,
    transfer_samples::{sending, sending_until},
    wallet::books_balance,
};

use crate::{
    proxy::Weather,
    server::{Database, settings, with_database, with_empty_database, with_sessions},
    trouble::{behind_a_proxy, two_nodes},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_damage_to_the_books_is_found() {
    with_database(async |database| {
        let nodes = two_nodes(database).await;
        let unchecked = "SET session_replication_role = replica;
             ALTER TABLE ledger_accounts DROP CONSTRAINT ledger_accounts_check";
        database.stranger.batch_execute(unchecked).await.unwrap();
        let behind = async |sql: &str| database.stranger.batch_execute(sql).await.unwrap();
        every_damage_is_found(&nodes, "gen_random_uuid()", behind).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damage_to_the_books_is_found_when_it_is_looked_for() {
    with_database(async |database| {
        let nodes = two_nodes(database).await;
        let behind = async |sql: &str| database.stranger.batch_execute(sql).await.unwrap();
        damage_is_found_when_it_is_looked_for(&nodes, behind).await;
    })
    .await;
}

/// A transaction that began before others and commits after an audit has seen those.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_posting_that_commits_late_is_not_skipped() {
    with_database(async |database| {
        let nodes = two_nodes(database).await;
        let (slow, quick) = (nodes.environment().await.id, nodes.environment().await.id);
        nodes.fund(slow, 10, "first").await;
        let euro = Currency::parse("EUR").unwrap();
        nodes.fund_in(slow, euro, 10, "first").await;
        let begun = "BEGIN;
             INSERT INTO ledger_postings (environment_id, currency, id, cause, reference, amount_minor, actor, at)
             SELECT environment_id, currency, gen_random_uuid(), 'fund', 'late', 5, '', 0
             FROM ledger_accounts WHERE currency = 'EUR' AND account = 'available';
             INSERT INTO ledger_entries (environment_id, currency, posting_id, account, amount_minor)
             SELECT p.environment_id, p.currency, p.id, x.account, x.amount
             FROM ledger_postings p CROSS JOIN (VALUES ('available', 5), ('funding', -5)) x (account, amount)
             WHERE p.reference = 'late';
             UPDATE ledger_accounts
             SET balance_minor = balance_minor + CASE account WHEN 'available' THEN 5 ELSE -5 END WHERE currency = 'EUR'";
        database.stranger.batch_execute(begun).await.unwrap();
        nodes.fund(quick, 10, "meanwhile").await;
        nodes.audit_is_clean().await;
        nodes.fund(quick, 10, "later").await;
        let recent = async || {
            let audit = nodes.two.audit(AuditScope::Recent, at(0)).await.unwrap();
            assert!(audit.findings.is_empty(), "{audit:?}");
            audit.postings
        };
        assert_eq!(recent().await, 1);
        database.stranger.batch_execute("COMMIT").await.unwrap();
        assert_eq!(recent().await, 1, "the one that was late");
        assert_eq!(recent().await, 0);
        nodes.audit_is_clean().await;
        // The numbers of another server's transactions mean nothing here.
        let moved = "UPDATE audit_checkpoint SET position = '1/' || split_part(position, '/', 2)";
        database.stranger.batch_execute(moved).await.unwrap();
        assert_eq!(recent().await, 5, "everything");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_tampering_with_the_audit_log_is_found() {
    with_database(async |database| {
        let nodes = two_nodes(database).await;
        let refused = database.stranger.batch_execute("TRUNCATE audit_log").await.unwrap_err();
        let refused = refused.as_db_error().unwrap().message().to_owned();
        assert!(refused.contains("append-only"), "{refused}");
        database.stranger.batch_execute("ALTER TABLE audit_log DISABLE TRIGGER ALL").await.unwrap();
        let behind = async |sql: &str| database.stranger.batch_execute(sql).await.unwrap();
        let blob = |hex: &str| format!("decode('{hex}', 'hex')");
        every_tampering_is_found(&nodes, blob, behind).await;
    })
    .await;
}

/// A deadlock is resolved by the server after a second, and the unit repeated: callers would only notice the time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn denials_and_sends_lock_in_one_order() {
    with_empty_database(async |database| {
        with_sessions(database, async |nodes| denials_and_sends_share_a_wallet(&nodes).await).await;
        let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
        assert_eq!(database.count(deadlocks).await, 0);
    })
    .await;
}

/// Asks again while the store says that it does not know, as callers do.
macro_rules! until_known {
    ($asked:expr) => {{
        let mut times = 0;
        loop {
            times += 1;
            match $asked.await {
                Err(StoreError::Unknown(_) | StoreError::Unavailable(_)) if times < 20 => {}
                answer => break answer.unwrap(),
            }
        }
    }};
}

/// What a transfer goes through: reserved, sent, settled. Each answer must be the right one, also where it is that of a
/// repetition.
async fn live(nodes: &Nodes, place: usize, new: &NewTransfer) {
    let node = if place.is_multiple_of(2) { &nodes.one } else { &nodes.two };
    let (environment, id) = (new.order.environment, new.order.id);
    match until_known!(node.reserve_transfer(environment, new)) {
        Reserved::Created => {}
        Reserved::Existing(known) => {
            assert_eq!(known.transaction, new.transaction, "our own, its answer lost");
        }
        other => panic!("{other:?}"),
    }
    let mut sent = nodes.transfer_change(0, sending_until(at(9)));
    sent.state = Some(TransactionState { status: Status::Processing, ..TransactionState::pending() });
    sent.entries = vec![nodes.new_entry("provider_call")];
    let settled = nodes.transfer_step(1, TransferStep::Settle, &new.order.fee);
    for change in [sent, settled] {
        let changed = until_known!(node.change_transfer(environment, id, &change));
        assert_eq!(changed, Changed::Done);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_connections_reserve_nothing_twice() {
    with_database(async |database| {
        let nodes = two_nodes(database).await;
        let environment = nodes.environment().await.id;
        nodes.fund(environment, 10_000_000, "f").await;
        let mut running = JoinSet::new();
        for caller in 0..16 {
            let nodes = nodes.clone();
            running.spawn(async move {
                for _ in 0..12 {
                    live(&nodes, caller, &nodes.new_transfer(environment)).await;
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            });
        }
        let mut killed = 0;
        for _ in 0..5 {
            tokio::time::sleep(Duration::from_millis(60)).await;
            killed += database.kill_sessions().await;
        }
        running.join_all().await;
        assert!(killed >= 4, "only {killed} connections were there to kill");
        assert_eq!(books_balance(&nodes, environment, Currency::USD).await, 10_000_000 - 16 * 12 * 1_035);
        let audit = nodes.audit().await;
        assert_eq!((audit.findings.len(), audit.transfers), (0, 16 * 12), "{:?}", audit.findings);
    })
    .await;
}

/// Whichever answer is lost, of a batch of several: all of them are done, each once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_is_done_once_whichever_answer_is_lost() {
    with_database(async |database| {
        let (proxy, nodes) =
            behind_a_proxy(database, &PostgresSettings { connections: 1, ..settings() }).await;
        let environment = nodes.environment().await.id;
        nodes.fund(environment, 10_000_000, "f").await;
        let at_once = async |work: Vec<(NewTransfer, Option<TransferChange>)>| {
            let mut running = JoinSet::new();
            for (new, change) in work {
                let node = Arc::clone(&nodes.one);
                running.spawn(async move {
                    let (environment, id) = (new.order.environment, new.order.id);
                    let Some(change) = change else {
                        return match node.reserve_transfer(environment, &new).await.unwrap() {
                            Reserved::Created => true,
                            Reserved::Existing(known) => {
                                assert_eq!(known.transaction, new.transaction);
                                false
                            }
                            other => panic!("{other:?}"),
                        };
                    };
                    assert_eq!(node.change_transfer(environment, id, &change).await.unwrap(), Changed::Done);
                    true
                });
            }
            running.join_all().await
        };
        let (mut nth, mut transfers, mut repeated) = (0, 0, 0);
        loop {
            // Those of a batch of one, each; then some of the batch of the others behind it.
            nth += if nth < 11 { 1 } else { 3 };
            assert!(nth < 60, "a batch has no end of answers");
            // A new connection prepares its statements first; with that done, only the batch's own answers count.
            live(&nodes, 0, &nodes.new_transfer(environment)).await;
            let news: Vec<_> = (0..7).map(|_| nodes.new_transfer(environment)).collect();
            transfers += 8;
            let reserving = news.iter().map(|new| (new.clone(), None)).collect();
            proxy.swallow_answer(nth);
            let answers = at_once(reserving).await;
            let lost_one = proxy.has_swallowed();
            repeated += answers.iter().filter(|created| !**created).count();

            live(&nodes, 0, &nodes.new_transfer(environment)).await;
            transfers += 1;
            let step = |new: &NewTransfer| nodes.transfer_step(0, TransferStep::Settle, &new.order.fee);
            let changing = news.iter().map(|new| (new.clone(), Some(step(new)))).collect();
            proxy.swallow_answer(nth);
            at_once(changing).await;
            let lost_another = proxy.has_swallowed();
            for new in &news {
                assert_eq!(nodes.read_transfer(new).await.revision, 1);
            }
            if !lost_one && !lost_another {
                break;
            }
        }
        assert!(nth >= 3 && repeated > 0, "{nth} answers, {repeated} found to be there already");
        assert_eq!(books_balance(&nodes, environment, Currency::USD).await, 10_000_000 - transfers * 1_035);
        nodes.audit_is_clean().await;
    })
    .await;
}

/// Reserves all at once on one node and returns the answers in order.
async fn reserve_all(nodes: &Nodes, news: &[NewTransfer]) -> Vec<Result<Reserved, StoreError>> {
    let mut running = JoinSet::new();
    for (place, new) in news.iter().cloned().enumerate() {
        let node = Arc::clone(&nodes.one);
        running.spawn(async move { (place, node.reserve_transfer(new.order.environment, &new).await) });
    }
    let mut answers = running.join_all().await;
    answers.sort_by_key(|(place, _)| *place);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

fn batch(nodes: &Nodes, environment: EnvironmentId, count: usize) -> Vec<NewTransfer> {
    (0..count).map(|_| nodes.new_transfer(environment)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_fails_for_a_neighbours_sake() {
    with_database(async |database| {
        let nodes = two_nodes(database).await;
        let environment = nodes.environment().await.id;
        nodes.fund(environment, 1_000_000, "f").await;
        let there = nodes.new_transfer(environment);
        nodes.reserve(&there).await;
        // One takes another's posting id, and one says what PostgreSQL cannot store.
        let mut news = batch(&nodes, environment, 20);
        news[3].posting = there.posting;
        news[11].order.bank_name = "nul \0".to_owned();
        let answers = reserve_all(&nodes, &news).await;
        for (place, answer) in answers.iter().enumerate() {
            if place == 3 || place == 11 {
                assert!(matches!(answer, Err(StoreError::Broken(_))), "{place}: {answer:?}");
            } else {
                assert!(matches!(answer, Ok(Reserved::Created)), "{place}: {answer:?}");
            }
        }
        // So with changes: one takes more than there is, and one is out of date.
        let mut running = JoinSet::new();
        for (place, new) in news.iter().cloned().enumerate() {
            let from = u64::from(place == 5);
            let step = if place == 7 { TransferStep::Reverse } else { TransferStep::Settle };
            let change = nodes.transfer_step(from, step, &new.order.fee);
            let node = Arc::clone(&nodes.one);
            running.spawn(async move {
                (place, node.change_transfer(new.order.environment, new.order.id, &change).await)
            });
        }
        for (place, answer) in running.join_all().await {
            match place {
                3 | 11 => assert!(matches!(answer, Ok(Changed::Missing)), "{place}: {answer:?}"),
                5 => assert!(matches!(answer, Ok(Changed::Stale)), "{place}: {answer:?}"),
                // It comes back before any has gone out, or takes what others have paid: never below zero.
                7 => assert!(matches!(answer, Err(StoreError::Broken(_)) | Ok(Changed::Done)), "{answer:?}"),
                _ => assert!(matches!(answer, Ok(Changed::Done)), "{place}: {answer:?}"),
            }
        }
        books_balance(&nodes, environment, Currency::USD).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_races_are_run_again_but_not_for_ever() {
    with_database(async |database| {
        let nodes = two_nodes(database).await;
        let environment = nodes.environment().await.id;
        nodes.fund(environment, 1_000_000, "f").await;
        for code in ["40001", "40P01"] {
            let mut news = batch(&nodes, environment, 12);
            news[4].order.bank_name = "always".to_owned();
            // Sequences count through rollbacks: the first attempts fail as a lost race does.
            let sql = format!(
                "DROP SEQUENCE IF EXISTS tries; CREATE SEQUENCE tries;
                 CREATE OR REPLACE FUNCTION sabotage() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                     IF NEW.bank_name = 'always' OR nextval('tries') <= 3 THEN
                         RAISE EXCEPTION 'sabotage' USING ERRCODE = '{code}';
                     END IF;
                     RETURN NEW;
                 END $$;
                 DROP TRIGGER IF EXISTS sabotage ON transfers;
                 CREATE TRIGGER sabotage BEFORE INSERT ON transfers
                     FOR EACH ROW EXECUTE FUNCTION sabotage()"
            );
            database.stranger.batch_execute(&sql).await.unwrap();
            for (place, answer) in reserve_all(&nodes, &news).await.into_iter().enumerate() {
                if place == 4 {
                    assert!(matches!(answer, Err(StoreError::Unavailable(_))), "{answer:?}");
                } else {
                    assert!(matches!(answer, Ok(Reserved::Created)), "{place}: {answer:?}");
                }
            }
        }
        assert_eq!(books_balance(&nodes, environment, Currency::USD).await, 1_000_000 - 22 * 1_035);
        nodes.audit_is_clean().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn trouble_is_told_soon_and_passes() {
    with_database(async |database| {
        let short = PostgresSettings { statement_timeout: Duration::from_millis(300), ..settings() };
        let (proxy, nodes) = behind_a_proxy(database, &short).await;
        let environment = nodes.environment().await.id;
        nodes.fund(environment, 1_000_000, "f").await;
        let first = nodes.new_transfer(environment);
        nodes.reserve(&first).await;

        // Silence leaves doubt about those under way; those who waited behind them know that nothing has happened.
        proxy.set(Weather::Silent);
        let (began, news) = (Instant::now(), batch(&nodes, environment, 10));
        let answers = reserve_all(&nodes, &news).await;
        assert!(answers.iter().any(|answer| matches!(answer, Err(StoreError::Unknown(_)))), "{answers:?}");
        for answer in answers {
            let late = matches!(&answer, Err(StoreError::Unavailable(reason)) if reason.contains("too long"));
            assert!(late || matches!(answer, Err(StoreError::Unknown(_))), "{answer:?}");
        }
        let change = nodes.transfer_change(0, sending());
        let changed = nodes.one.change_transfer(environment, first.order.id, &change).await;
        assert!(matches!(changed, Err(StoreError::Unknown(_) | StoreError::Unavailable(_))), "{changed:?}");
        // Nobody lets in: nothing has happened.
        proxy.set(Weather::Cut);
        let _ = nodes.one.probe().await;
        for answer in reserve_all(&nodes, &news).await {
            assert!(matches!(answer, Err(StoreError::Unavailable(_))), "{answer:?}");
        }
        assert!(began.elapsed() < Duration::from_mins(1), "{:?}", began.elapsed());

        proxy.set(Weather::Clear);
        for (new, answer) in news.iter().zip(reserve_all(&nodes, &news).await) {
            match answer.unwrap() {
                Reserved::Created => {}
                Reserved::Existing(known) => assert_eq!(known.transaction, new.transaction),
                other => panic!("{other:?}"),
            }
        }
        let changed = nodes.one.change_transfer(environment, first.order.id, &change).await.unwrap();
        assert_eq!(changed, Changed::Done);
        assert_eq!(books_balance(&nodes, environment, Currency::USD).await, 1_000_000 - 11 * 1_035);
        nodes.audit_is_clean().await;
    })
    .await;
}

/// Whoever holds a wallet's lock for too long delays those who wait for that wallet, and no others for long.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wallet_held_too_long_is_unavailable() {
    with_database(async |database| {
        let short = PostgresSettings { statement_timeout: Duration::from_millis(400), ..settings() };
        let node = database.open_with(&short).await;
        let nodes = Nodes::new(node.clone(), node);
        let environment = nodes.environment().await.id;
        nodes.fund(environment, 1_000_000, "f").await;
        database.stranger.batch_execute("BEGIN; SELECT * FROM ledger_accounts FOR UPDATE").await.unwrap();
        let news = batch(&nodes, environment, 3);
        for answer in reserve_all(&nodes, &news).await {
            assert!(
                matches!(&answer, Err(StoreError::Unavailable(reason)) if reason.contains("57014")),
                "{answer:?}"
            );
        }
        database.stranger.batch_execute("ROLLBACK").await.unwrap();
        assert_eq!(nodes.audit().await.transfers, 0, "unavailable means that nothing happened");
        for answer in reserve_all(&nodes, &news).await {
            assert!(matches!(answer, Ok(Reserved::Created)), "{answer:?}");
        }
    })
    .await;
}

/// Batches are what they are for: waiting units share a transaction.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_units_share_a_transaction() {
    with_database(async |database| {
        let nodes = two_nodes(database).await;
        let environment = nodes.environment().await.id;
        nodes.fund(environment, 1_000_000, "f").await;
        let news = batch(&nodes, environment, 150);
        // While a stranger holds the wallet, a first batch waits in the database and the rest in the lane.
        database.stranger.batch_execute("BEGIN; SELECT * FROM ledger_accounts FOR UPDATE").await.unwrap();
        let waiting = tokio::spawn({
            let (nodes, news) = (nodes.clone(), news.clone());
            async move { reserve_all(&nodes, &news).await }
        });
        tokio::time::sleep(Duration::from_secs(3)).await;
        database.stranger.batch_execute("ROLLBACK").await.unwrap();
        assert!(waiting.await.unwrap().iter().all(|answer| matches!(answer, Ok(Reserved::Created))));
        let transactions = "SELECT count(DISTINCT xmin::text) FROM transfers";
        assert!(database.count(transactions).await <= 4, "{}", database.count(transactions).await);

        let mut running = JoinSet::new();
        for new in news {
            let (node, change) =
                (Arc::clone(&nodes.one), nodes.transfer_step(0, TransferStep::Settle, &new.order.fee));
            running.spawn(
                async move { node.change_transfer(environment, new.order.id, &change).await.unwrap() },
            );
        }
        assert!(running.join_all().await.iter().all(|changed| *changed == Changed::Done));
        let transactions = "SELECT count(DISTINCT xmin::text) FROM ledger_postings WHERE cause = 'settle'";
        assert!(database.count(transactions).await <= 30, "{}", database.count(transactions).await);
        nodes.audit_is_clean().await;
    })
    .await;
}

/// Whoever finds the queue full is told soon that nothing happened; all others are served.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_queue_is_unavailable() {
    with_database(async |database| {
        let nodes = two_nodes(database).await;
        let environment = nodes.environment().await.id;
        nodes.fund(environment, 100_000_000, "f").await;
        database.stranger.batch_execute("BEGIN; SELECT * FROM ledger_accounts FOR UPDATE").await.unwrap();
        let waiting = tokio::spawn({
            let (nodes, news) = (nodes.clone(), batch(&nodes, environment, 1_500));
            async move { reserve_all(&nodes, &news).await }
        });
        tokio::time::sleep(Duration::from_secs(6)).await;
        database.stranger.batch_execute("ROLLBACK").await.unwrap();
        let answers = waiting.await.unwrap();
        let served = answers.iter().filter(|answer| matches!(answer, Ok(Reserved::Created))).count();
        let full = |answer: &&Result<_, _>| {
            matches!(answer, Err(StoreError::Unavailable(reason)) if reason.contains("too many writes"))
        };
        let refused = answers.iter().filter(full).count();
        assert_eq!(served + refused, 1_500, "{:?}", answers.iter().find(|answer| answer.is_err()));
        assert!(served >= 1_024 && refused > 0, "{served} were served, {refused} refused");
        let audit = nodes.audit().await;
        assert_eq!((audit.transfers, audit.findings.len()), (u64::try_from(served).unwrap(), 0));
    })
    .await;
}

/// Sessions tell what they did when they end.
async fn sessions_have_ended(database: &Database) {
    let others = "SELECT count(*) FROM pg_stat_activity
                  WHERE datname = current_database() AND pid <> pg_backend_pid()";
    while database.count(others).await > 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Once the tables are large, batches keep their plans, and none of these reads a table whole.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_tables_are_never_read_whole() {
    with_database(async |database| {
        drop(database.open().await);
        let fill = "INSERT INTO transactions (environment_id, id, method, reference, provider, channel, currency,
                 principal_minor, platform_fee_minor, organization_fee_minor, fee_minor, total_debit_minor, fee_layers,
                 metadata, created_at, updated_at, status, refunded_minor)
             SELECT gen_random_uuid(), gen_random_uuid(), 'web_card', gen_random_uuid(), '', '', '', 1, 0, 0, 0, 1,
                 repeat('x', 500), '', 0, 0, 'pending', 0 FROM generate_series(1, 3000);
             INSERT INTO transfers (environment_id, transaction_id, reference, adapter, config_version,
                 external_customer_id, customer_name, customer_email, bank_name, account_name, account_type, last_four,
                 request, fingerprints, corrections, tries, revision)
             SELECT environment_id, id, '', '', 0, '', '', '', '', '', '', '', '', repeat('y', 500), '', 0, 0
             FROM transactions";
        database.stranger.batch_execute(fill).await.unwrap();
        // What this session itself has read is told now rather than some time later.
        database.stranger.batch_execute("SELECT pg_stat_force_next_flush()").await.unwrap();
        sessions_have_ended(database).await;
        let scans = "SELECT sum(seq_scan)::bigint FROM pg_stat_user_tables WHERE relname IN ('transactions', 'transfers')";
        let before = database.count(scans).await;
        let nodes = two_nodes(database).await;
        let environment = nodes.environment().await.id;
        nodes.fund(environment, 10_000_000, "f").await;
        let mut running = JoinSet::new();
        for caller in 0..12 {
            let nodes = nodes.clone();
            running.spawn(async move {
                for _ in 0..10 {
                    live(&nodes, caller, &nodes.new_transfer(environment)).await;
                }
            });
        }
        running.join_all().await;
        assert_eq!(books_balance(&nodes, environment, Currency::USD).await, 10_000_000 - 120 * 1_035);
        drop(nodes);
        sessions_have_ended(database).await;
        assert_eq!(database.count(scans).await, before);
    })
    .await;
}
