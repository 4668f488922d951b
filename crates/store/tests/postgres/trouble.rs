//! Lost connections, lost answers, locks, races and servers that take no writes.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;
use tollgate_domain::{Currency, event::EventKind, ledger::Cause};
use tollgate_engine::ports::{
    Changed, ConfigPut, DirectoryVersion, Inserted, Issued, Moved, PaymentChange, Rotated, StoreError,
};
use tollgate_store::{
    OpenError,
    postgres::{PostgresSettings, PostgresStore},
};
use tollgate_store_conformance::{
    Nodes, at,
    samples::{card, preparing},
    wallet::books_balance,
};

use crate::{
    proxy::{Proxy, Weather},
    server::{Database, settings, with_database},
};

pub(crate) async fn two_nodes(database: &Database) -> Nodes {
    Nodes::new(database.open().await, database.open().await)
}

/// Two nodes of which the first is behind the proxy.
pub(crate) async fn behind_a_proxy(database: &Database, settings: &PostgresSettings) -> (Proxy, Nodes) {
    let proxy = Proxy::start(database.server_address()).await;
    let near = PostgresStore::open(&database.url_through(proxy.port), settings).await.unwrap();
    let nodes = Nodes::new(Arc::new(near), database.open().await);
    (proxy, nodes)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_connections_are_not_noticed_by_callers() {
    with_database(async |database| {
        let nodes = two_nodes(database).await;
        let environment = nodes.environment().await.id;
        let mut running = tokio::task::JoinSet::new();
        for caller in 0..8 {
            let nodes = nodes.clone();
            running.spawn(async move {
                for count in 0..25 {
                    let movement = nodes.new_movement(Cause::Fund, 1, &format!("{caller}-{count}"));
                    let node = if caller % 2 == 0 { &nodes.one } else { &nodes.two };
                    let moved = node.move_funds(environment, &movement).await.unwrap();
                    assert!(matches!(moved, Moved::Done(_)), "{moved:?}");
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            });
        }
        let mut killed = 0;
        // One time less than a unit is attempted, and one more for a connection that is not known to be dead yet.
        for _ in 0..3 {
            tokio::time::sleep(Duration::from_millis(80)).await;
            killed += database.kill_sessions().await;
        }
        running.join_all().await;
        assert!(killed >= 4, "only {killed} connections were there to kill");
        assert_eq!(books_balance(&nodes, environment, Currency::USD).await, 200, "each moved exactly once");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_answer_is_asked_for_again() {
    with_database(async |database| {
        let (proxy, nodes) =
            behind_a_proxy(database, &PostgresSettings { connections: 1, ..settings() }).await;
        let environment = nodes.environment().await.id;
        let first = nodes.key(environment).await;
        // Statements are prepared by now, so the next answer is that of the unit itself.
        let warm = nodes.one.put_config(environment, &nodes.new_change(0, "one")).await.unwrap();
        assert!(matches!(warm, ConfigPut::Done { version: 1, .. }));

        proxy.swallow_answer(1);
        let change = nodes.new_change(1, "two");
        let answer = nodes.one.put_config(environment, &change).await.unwrap();
        assert!(proxy.has_swallowed());
        assert!(matches!(answer, ConfigPut::Done { version: 2, .. }), "{answer:?}");
        assert_eq!(nodes.two.config_history(environment, None, 9).await.unwrap().len(), 2, "put once");

        let key = nodes.key(environment).await;
        proxy.swallow_answer(1);
        let another = nodes.new_key(environment);
        assert!(matches!(nodes.one.issue_key(&another).await.unwrap(), Issued::Done(_)));
        assert!(proxy.has_swallowed());
        assert_eq!(nodes.keys(environment).await.len(), 3);

        let replacement = nodes.new_key(environment);
        nodes.one.rotate_key(environment, first.id, &replacement, at(90_000)).await.unwrap();
        proxy.swallow_answer(1);
        let replacement = nodes.new_key(environment);
        let answer = nodes.one.rotate_key(environment, key.id, &replacement, at(90_000)).await.unwrap();
        assert!(proxy.has_swallowed());
        assert!(matches!(answer, Rotated::Done(_)), "{answer:?}");
        assert_eq!(nodes.keys(environment).await.len(), 5);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_payment_is_stored_and_changed_once_though_the_answer_is_lost() {
    with_database(async |database| {
        let (proxy, nodes) =
            behind_a_proxy(database, &PostgresSettings { connections: 1, ..settings() }).await;
        let environment = nodes.environment().await.id;
        // Statements are prepared by this one, so the next answer is that of the unit itself. A lost connection takes
        // its statements along.
        let warm = async |event: &str| {
            let id = nodes.payment(environment).await;
            let mut change = nodes.change_to(0, preparing());
            change.new_events = vec![nodes.new_outbox_event(EventKind::PaymentPrepared)];
            nodes.change(environment, id, &change).await;
            nodes.change(environment, id, &nodes.full_change(1, event)).await;
            nodes.append_event(environment, EventKind::PaymentPrepared).await;
            nodes.one.receive_provider_event(environment, &nodes.new_event(event), at(1)).await.unwrap();
        };
        warm("warm_0").await;
        let (order, entries) = (nodes.new_order(environment), [nodes.new_entry("request")]);
        let new_events = [nodes.new_outbox_event(EventKind::PaymentPrepared)];
        proxy.swallow_answer(1);
        let answer =
            nodes.one.insert_payment(environment, &order, &preparing(), &entries, &new_events).await.unwrap();
        assert!(proxy.has_swallowed());
        assert_eq!(answer, Inserted::Done);

        let short = PaymentChange {
            objects: vec!["cs_1".to_owned()],
            entries: vec![nodes.new_entry("provider_call")],
            new_events: vec![nodes.new_outbox_event(EventKind::PaymentPrepared)],
            ..nodes.change_to(0, preparing())
        };
        // First it is asked whether the event is settled.
        for (change, nth, event) in [(short, 1, "warm_1"), (nodes.full_change(1, "evt_1"), 2, "warm_2")] {
            warm(event).await;
            proxy.swallow_answer(nth);
            let answer = nodes.one.change_payment(environment, order.id, &change).await.unwrap();
            assert!(proxy.has_swallowed());
            assert_eq!(answer, Changed::Done);
        }
        assert_eq!(nodes.read(environment, order.id).await.revision, 2, "each was made once");
        assert_eq!(nodes.two.timeline(environment, card(order.id)).await.unwrap().len(), 4);
        let told = nodes.all_events(environment).await;
        let of_this = told.iter().filter(|event| event.reference == Some(card(order.id))).count();
        assert_eq!(of_this, 1 + 1 + 2, "each was told once");

        warm("warm_3").await;
        proxy.swallow_answer(1);
        nodes.one.receive_provider_event(environment, &nodes.new_event("evt_2"), at(1)).await.unwrap();
        assert!(proxy.has_swallowed());
        let due = nodes.two.claim_provider_events(at(1), at(9), 9).await.unwrap();
        assert_eq!(due.iter().filter(|stored| stored.event.id == "evt_2").count(), 1, "once, and due");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_movement_is_made_once_whichever_answer_is_lost() {
    with_database(async |database| {
        let (proxy, nodes) =
            behind_a_proxy(database, &PostgresSettings { connections: 1, ..settings() }).await;
        let environment = nodes.environment().await.id;
        let (mut nth, mut made, mut replayed) = (0, 0_u64, 0);
        // The transaction begins together with its first statement, whose answers come in one piece or in two; so the last
        // answer, the commit's, is not always the same one, and is tried for again until it was lost.
        for round in 1.. {
            nth += 1;
            // A new connection prepares its statements first; with that done, only the unit's own answers count.
            nodes.fund(environment, 1, &format!("warm {round}")).await;
            let movement = nodes.new_movement(Cause::Fund, 1, &format!("r{round}"));
            proxy.swallow_answer(nth);
            let Moved::Done(applied) = nodes.one.move_funds(environment, &movement).await.unwrap() else {
                panic!("not moved");
            };
            made += 2;
            assert_eq!(applied.posting, movement.posting);
            replayed += u32::from(applied.replayed);
            if !proxy.has_swallowed() {
                assert!(nth > 3, "a movement has several answers, each of which was lost once");
                if replayed > 0 {
                    break;
                }
                nth = 0;
            }
            assert!(round < 100, "the commit's answer was never lost");
        }
        assert_eq!(books_balance(&nodes, environment, Currency::USD).await, made);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unreachable_server_is_unavailable_soon_and_recovers() {
    with_database(async |database| {
        let (proxy, nodes) = behind_a_proxy(database, &settings()).await;
        let environment = nodes.environment().await.id;
        proxy.set(Weather::Cut);
        // The connection may have been lost with the first unit on it; after that nothing can have happened.
        let _ = nodes.one.probe().await;
        let began = Instant::now();
        assert!(matches!(nodes.one.probe().await, Err(StoreError::Unavailable(_))));
        let read = nodes.one.environment(environment).await;
        assert!(matches!(read, Err(StoreError::Unavailable(_))), "{read:?}");
        let movement = nodes.new_movement(Cause::Fund, 5, "f");
        let written = nodes.one.move_funds(environment, &movement).await;
        assert!(matches!(written, Err(StoreError::Unavailable(_))), "{written:?}");
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
        assert_eq!(
            books_balance(&Nodes::new(nodes.two.clone(), nodes.two.clone()), environment, Currency::USD)
                .await,
            0
        );

        proxy.set(Weather::Clear);
        nodes.one.probe().await.unwrap();
        assert!(matches!(nodes.one.move_funds(environment, &movement).await.unwrap(), Moved::Done(_)));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_server_leaves_doubt_about_writes_only() {
    with_database(async |database| {
        let short = PostgresSettings { statement_timeout: Duration::from_millis(300), ..settings() };
        let (proxy, nodes) = behind_a_proxy(database, &short).await;
        let environment = nodes.environment().await.id;
        proxy.set(Weather::Silent);
        let began = Instant::now();
        let written = nodes.one.put_config(environment, &nodes.new_change(0, "{}")).await;
        assert!(matches!(written, Err(StoreError::Unknown(_))), "{written:?}");
        let read = nodes.one.config(environment).await;
        assert!(matches!(read, Err(StoreError::Unavailable(_))), "{read:?}");
        assert!(matches!(nodes.one.probe().await, Err(StoreError::Unavailable(_))));
        assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
        proxy.set(Weather::Clear);
        nodes.one.probe().await.unwrap();
        assert!(nodes.one.config(environment).await.unwrap().is_some());
    })
    .await;
}

/// As with a leader whose machine is paused: connections stay open or are even accepted, and nothing is said on them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_host_costs_one_unit_its_time_and_no_other() {
    with_database(async |database| {
        let (first, second) =
            (Proxy::start(database.server_address()).await, Proxy::start(database.server_address()).await);
        let short = PostgresSettings { statement_timeout: Duration::from_millis(300), ..settings() };
        let url = database.url_through_any(&[first.port, second.port]);
        let near = Arc::new(PostgresStore::open(&url, &short).await.unwrap());
        let nodes = Nodes::new(near, database.open().await);
        let environment = nodes.environment().await.id;
        // Several connections wait in the pool, all to the first host.
        let reads = (0..6).map(|_| nodes.one.config(environment));
        futures_util::future::try_join_all(reads).await.unwrap();
        first.set(Weather::Silent);
        let lost = nodes.one.config(environment).await;
        assert!(matches!(lost, Err(StoreError::Unavailable(_))), "{lost:?}");
        let began = Instant::now();
        for count in 0..6 {
            let movement = nodes.new_movement(Cause::Fund, 1, &format!("after {count}"));
            let moved = nodes.one.move_funds(environment, &movement).await.unwrap();
            assert!(matches!(moved, Moved::Done(_)), "{moved:?}");
        }
        // If each of them waited to be connected, that would take twelve seconds.
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        // A node that starts now, or has no connection left, finds the other host as well. On a machine busy with other
        // things, it may be slow once.
        let mut shortest = Duration::MAX;
        for _ in 0..3 {
            let began = Instant::now();
            PostgresStore::open(&url, &short).await.unwrap();
            shortest = shortest.min(began.elapsed());
            if shortest < Duration::from_secs(3) {
                break;
            }
        }
        assert!(shortest < Duration::from_secs(3), "{shortest:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_not_there_is_named_without_the_password() {
    // Port 1 of this machine answers nobody.
    let url = "postgres://me:hunter2@127.0.0.1:1/pay".parse().unwrap();
    let began = Instant::now();
    let error = PostgresStore::open(&url, &settings()).await.unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(20));
    let sentence = format!("{error} {error:?}");
    assert!(matches!(error, OpenError::Server { .. }));
    assert!(
        sentence.contains("postgres://me:…@127.0.0.1:1/pay") && !sentence.contains("hunter2"),
        "{sentence}"
    );
    assert!(sentence.contains("refused") && sentence.contains("check that the server runs"), "{sentence}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_listener_comes_back_by_itself() {
    with_database(async |database| {
        let nodes = two_nodes(database).await;
        let mut signal = nodes.two.change_signal().await.unwrap();
        let wait = Duration::from_mins(1);
        tokio::time::timeout(wait, signal.announced()).await.expect("it announces that it listens");
        for _ in 0..3 {
            let listening = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                 WHERE datname = current_database() AND query LIKE 'LISTEN%'";
            assert_eq!(database.count(listening).await, 1);
            tokio::time::timeout(wait, signal.announced()).await.expect("it announces that it listens again");
            let before = nodes.two.directory_since(DirectoryVersion::default()).await.unwrap().version;
            nodes.environment().await;
            tokio::time::timeout(wait, signal.announced()).await.expect("a change is announced");
            assert_eq!(nodes.two.directory_since(before).await.unwrap().environments.len(), 1);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_held_too_long_is_unavailable() {
    with_database(async |database| {
        let short = PostgresSettings {
            connections: 1,
            statement_timeout: Duration::from_secs(3),
            wait_timeout: Duration::from_millis(100),
            ..settings()
        };
        let node = database.open_with(&short).await;
        let nodes = Nodes::new(node.clone(), node);
        let environment = nodes.environment().await.id;
        database.stranger.batch_execute("BEGIN; UPDATE directory SET version = version").await.unwrap();
        let (key, other) = (nodes.new_key(environment), nodes.new_key(environment));
        let (first, second) = tokio::join!(nodes.one.issue_key(&key), async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            nodes.one.issue_key(&other).await
        });
        assert!(
            matches!(&first, Err(StoreError::Unavailable(reason)) if reason.contains("57014")),
            "{first:?}"
        );
        assert!(
            matches!(&second, Err(StoreError::Unavailable(reason)) if reason.contains("busy")),
            "{second:?}"
        );
        database.stranger.batch_execute("ROLLBACK").await.unwrap();
        assert!(nodes.keys(environment).await.is_empty(), "unavailable means that nothing happened");
        assert!(matches!(nodes.one.issue_key(&key).await.unwrap(), Issued::Done(_)));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_races_are_run_again_but_not_for_ever() {
    with_database(async |database| {
        let nodes = two_nodes(database).await;
        let environment = nodes.environment().await.id;
        for (code, reference) in [("40001", "serialization"), ("40P01", "deadlock")] {
            // Sequences count through rollbacks: the first attempts fail as a lost race does.
            let sql = format!(
                "DROP SEQUENCE IF EXISTS tries; CREATE SEQUENCE tries;
                 CREATE OR REPLACE FUNCTION sabotage() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                     IF nextval('tries') <= 3 OR NEW.reference LIKE 'always%' THEN
                         RAISE EXCEPTION 'sabotage' USING ERRCODE = '{code}';
                     END IF;
                     RETURN NEW;
                 END $$;
                 DROP TRIGGER IF EXISTS sabotage ON ledger_postings;
                 CREATE TRIGGER sabotage BEFORE INSERT ON ledger_postings
                     FOR EACH ROW EXECUTE FUNCTION sabotage()"
            );
            database.stranger.batch_execute(&sql).await.unwrap();
            nodes.fund(environment, 10, reference).await;
            assert_eq!(database.count("SELECT last_value FROM tries").await, 4);
            let movement = nodes.new_movement(Cause::Fund, 1, &format!("always {code}"));
            let refused = nodes.two.move_funds(environment, &movement).await;
            assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
            assert_eq!(database.count("SELECT last_value FROM tries").await, 9, "five attempts, no more");
        }
        assert_eq!(books_balance(&nodes, environment, Currency::USD).await, 20);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_takes_no_writes_is_unavailable() {
    with_database(async |database| {
        let nodes = two_nodes(database).await;
        let environment = nodes.environment().await.id;
        // What a demoted server looks like to new sessions.
        let name = &database.name;
        let demote = format!("ALTER DATABASE {name} SET default_transaction_read_only = on");
        database.stranger.batch_execute(&demote).await.unwrap();
        database.kill_sessions().await;
        let probe = nodes.one.probe().await;
        assert!(matches!(probe, Err(StoreError::Unavailable(_))), "{probe:?}");
        let key = nodes.new_key(environment);
        let refused = nodes.one.issue_key(&key).await;
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
        let promote = format!("ALTER DATABASE {name} RESET default_transaction_read_only");
        database.stranger.batch_execute(&promote).await.unwrap();
        nodes.one.probe().await.unwrap();
        assert!(matches!(nodes.one.issue_key(&key).await.unwrap(), Issued::Done(_)));
    })
    .await;
}

/// Payments of many callers share commits, and one that cannot be stored harms no other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn payments_share_commits_and_not_their_faults() {
    with_database(async |database| {
        let nodes = two_nodes(database).await;
        let environment = nodes.environment().await.id;
        let mut orders: Vec<_> = (0..40).map(|_| nodes.new_order(environment)).collect();
        for faulty in [None, Some(17)] {
            let mut running = tokio::task::JoinSet::new();
            for (place, order) in orders.iter_mut().enumerate() {
                *order = nodes.new_order(environment);
                if faulty == Some(place) {
                    order.description = Some("nul \0".to_owned());
                }
                let (node, order) = (Arc::clone(&nodes.one), order.clone());
                running.spawn(async move {
                    (place, node.insert_payment(environment, &order, &preparing(), &[], &[]).await)
                });
            }
            for (place, answer) in running.join_all().await {
                let is_stored = matches!(answer, Ok(Inserted::Done));
                assert_eq!(is_stored, faulty != Some(place), "{place}: {answer:?}");
            }
        }
        let sql = "SELECT count(*), count(DISTINCT xmin::text) FROM card_payments";
        let row = database.stranger.query_one(sql, &[]).await.unwrap();
        let (payments, commits): (i64, i64) = (row.get(0), row.get(1));
        assert!(payments == 79 && commits < payments, "{payments} payments in {commits} commits");

        // So with changes, of which one is out of date and one is for a payment that is not there.
        let mut running = tokio::task::JoinSet::new();
        for (place, order) in orders.iter().enumerate() {
            let change = nodes.change_to(u64::from(place == 5), preparing());
            let (node, id) = (Arc::clone(&nodes.one), order.id);
            running
                .spawn(async move { (place, node.change_payment(environment, id, &change).await.unwrap()) });
        }
        for (place, answer) in running.join_all().await {
            let expected = match place {
                5 => Changed::Stale,
                17 => Changed::Missing,
                _ => Changed::Done,
            };
            assert_eq!(answer, expected, "{place}");
        }
    })
    .await;
}
