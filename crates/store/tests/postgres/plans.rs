//! Lists, claims and books read only their part of a table.

use std::time::Duration;

use tollgate_domain::{PaymentMethod, card::Preparation, transaction::Status};
use tollgate_engine::ports::{AuditScope, PaymentFilter, ProviderEventState, TransactionFilter};
use tollgate_store_conformance::{
    at,
    samples::{card, settled},
    transfer_samples::ach,
};

use crate::server::{Database, with_empty_database, with_sessions};

/// How often each index was used, as the server counts it.
async fn uses(database: &Database, index: &str) -> i64 {
    let sql = format!("SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = '{index}'");
    database.count(&sql).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_list_and_claim_has_its_index() {
    with_empty_database(async |database| {
        // A few rows are read faster without an index: only whether there is a fitting one is the question here.
        let sql = format!("ALTER DATABASE {} SET enable_seqscan = off", database.name);
        database.stranger.batch_execute(&sql).await.unwrap();
        let mut environment = None;
        with_sessions(database, async |nodes| {
            let scope = nodes.environment().await.id;
            let id = nodes.payment(scope).await;
            nodes.change(scope, id, &nodes.full_change(0, "evt_1")).await;
            nodes.fund(scope, 5_000, "f").await;
            let transfer = nodes.new_transfer(scope);
            nodes.reserve(&transfer).await;
            let change = nodes.full_transfer_change(0, "evt_2", &transfer.order.fee);
            nodes.change_transfer(&transfer, &change).await;
            environment = Some((scope, id));
        })
        .await;
        let (scope, id) = environment.unwrap();
        // One payment's discrepancies are found among many only where there are many.
        let sql = "INSERT INTO reconciliation_exceptions
                       (environment_id, id, method, reference, kind, expected, found, found_digest, source, at)
                   SELECT environment_id, gen_random_uuid(), method, gen_random_uuid(), kind, expected, found,
                       found_digest, source, at
                   FROM reconciliation_exceptions CROSS JOIN generate_series(1, 1000);
                   ANALYZE reconciliation_exceptions";
        database.stranger.batch_execute(sql).await.unwrap();
        let expired = PaymentFilter { preparation: Some(Preparation::Expired), waiting: false };
        let waiting = PaymentFilter { preparation: None, waiting: true };
        let succeeded = TransactionFilter {
            status: Some(Status::Succeeded),
            method: Some(PaymentMethod::Ach),
            ..TransactionFilter::default()
        };
        for index in [
            "card_payments_due",
            "card_payments_follow_ups",
            "card_payments_pkey",
            "card_payments_by_preparation",
            "card_payments_waiting",
            "provider_objects_by_payment",
            "transactions_pkey",
            "transactions_by_kind",
            "transactions_by_provider",
            "transactions_by_object",
            "transfers_due",
            "transfers_waiting",
            "timeline_pkey",
            "provider_events_due",
            "provider_events_by_state",
            "reconciliation_exceptions_pkey",
            "reconciliation_exceptions_open",
            "reconciliation_exceptions_environment_id_method_reference_k_key",
        ] {
            let before = uses(database, index).await;
            with_sessions(database, async |nodes| {
                let node = &nodes.two;
                match index {
                    "card_payments_due" => drop(node.claim_payments(at(0), at(1), 5).await.unwrap()),
                    "card_payments_follow_ups" => drop(node.claim_follow_ups(at(0), at(1), 5).await.unwrap()),
                    "card_payments_pkey" => {
                        drop(node.payments(scope, PaymentFilter::default(), None, 5).await.unwrap());
                    }
                    "card_payments_by_preparation" => {
                        drop(node.payments(scope, expired, None, 5).await.unwrap());
                    }
                    "card_payments_waiting" => drop(node.payments(scope, waiting, None, 5).await.unwrap()),
                    "provider_objects_by_payment" => drop(node.objects_of_payment(scope, id).await.unwrap()),
                    "transactions_pkey" => {
                        drop(node.transactions(scope, &TransactionFilter::default(), None, 5).await.unwrap());
                    }
                    "transactions_by_kind" => {
                        drop(node.transactions(scope, &succeeded, None, 5).await.unwrap());
                    }
                    "transactions_by_provider" => {
                        let filter =
                            TransactionFilter { provider: Some("nobody".to_owned()), ..succeeded.clone() };
                        drop(node.transactions(scope, &filter, None, 5).await.unwrap());
                    }
                    "transactions_by_object" => {
                        assert_eq!(node.transfer_of_object(scope, "nobody", "x").await.unwrap(), None);
                    }
                    "transfers_due" => drop(node.claim_transfers(at(0), at(1), 5).await.unwrap()),
                    "transfers_waiting" => drop(node.waiting_transfers(scope, None, 5).await.unwrap()),
                    "timeline_pkey" => drop(node.timeline(scope, card(id)).await.unwrap()),
                    "provider_events_due" => drop(node.claim_provider_events(at(0), at(1), 5).await.unwrap()),
                    "provider_events_by_state" => {
                        drop(node.provider_events(scope, Some(ProviderEventState::Waiting), None, 5).await.unwrap());
                    }
                    "reconciliation_exceptions_pkey" => {
                        drop(node.exceptions(scope, false, None, 5).await.unwrap());
                    }
                    "reconciliation_exceptions_open" => {
                        drop(node.exceptions(scope, true, None, 5).await.unwrap());
                    }
                    _ => drop(node.exceptions_of(scope, card(id)).await.unwrap()),
                }
            })
            .await;
            assert_eq!(uses(database, index).await, before + 1, "{index}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_latest_event_about_a_provider_has_its_index() {
    with_empty_database(async |database| {
        let mut environment = None;
        with_sessions(database, async |nodes| {
            let scope = nodes.environment().await.id;
            let id = nodes.payment(scope).await;
            nodes.change(scope, id, &nodes.full_change(0, "evt_1")).await;
            environment = Some(scope);
        })
        .await;
        // Among thousands of its environment.
        let sql = "INSERT INTO out_events (environment_id, id, kind, method, reference, at, state)
                   SELECT environment_id, gen_random_uuid(), kind, method, gen_random_uuid(), at, state
                   FROM out_events CROSS JOIN generate_series(1, 3000);
                   ANALYZE out_events";
        database.stranger.batch_execute(sql).await.unwrap();
        let index = "out_events_by_reference";
        let before = uses(database, index).await;
        with_sessions(database, async |nodes| {
            let last = nodes.two.last_circuit_event(environment.unwrap(), "nobody").await.unwrap();
            assert_eq!(last, None);
        })
        .await;
        assert_eq!(uses(database, index).await, before + 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_number_is_read_once_for_many_events() {
    with_empty_database(async |database| {
        let mut environment = None;
        with_sessions(database, async |nodes| {
            let scope = nodes.environment().await.id;
            let id = nodes.payment(scope).await;
            nodes.change(scope, id, &nodes.full_change(0, "evt_1")).await;
            nodes.all_events(scope).await;
            environment = Some(scope);
        })
        .await;
        let sql = "INSERT INTO out_events (environment_id, id, kind, method, reference, at, state)
                   SELECT environment_id, gen_random_uuid(), kind, method, gen_random_uuid(), at, state
                   FROM (SELECT * FROM out_events LIMIT 1) e CROSS JOIN generate_series(1, 900)";
        database.visitor().await.batch_execute(sql).await.unwrap();
        let index = "event_sequence_pkey";
        let before = uses(database, index).await;
        with_sessions(database, async |nodes| {
            assert!(nodes.all_events(environment.unwrap()).await.len() > 900);
        })
        .await;
        let used = uses(database, index).await - before;
        assert!(used < 100, "{used} times");
    })
    .await;
}

/// Twenty thousand postings that differ in nothing but their ids and references, and the balances they add up to.
const FILL: &str = "INSERT INTO ledger_postings
    SELECT (jsonb_populate_record(p, jsonb_build_object('id', n.id, 'reference', n.id::text))).*
    FROM ledger_postings p CROSS JOIN (
        SELECT (lpad(to_hex(1800000000000 + n), 12, '0') || lpad(to_hex(n), 20, '0'))::uuid AS id
        FROM generate_series(1, 20000) n) n
    WHERE p.reference = 'first';
    UPDATE ledger_accounts a SET balance_minor = (
        SELECT sum(e.amount_minor) FROM posting_entries e WHERE e.account = a.account);
    ANALYZE";

const MOST_SECONDS: u32 = 120;

/// How many postings and entries of their indexes were read, as the server counts it.
async fn postings_read(database: &Database) -> i64 {
    let sql = "SELECT ((SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE relname = 'ledger_postings')
                   + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = 'ledger_postings'))::bigint";
    database.count(sql).await
}

/// What an audit has seen ends at the oldest transaction that is open anywhere on the server, and other tests have some.
async fn wait_for_older_transactions(database: &Database) {
    let sql = "SELECT (SELECT count(*) FROM ledger_postings
                   WHERE written_by >= pg_snapshot_xmin(pg_current_snapshot()))";
    // A session that ends before anything is counted.
    let visitor = database.visitor().await;
    for _ in 0..MOST_SECONDS {
        if visitor.query_one(sql, &[]).await.unwrap().get::<_, i64>(0) == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    panic!("a transaction is open for longer than {MOST_SECONDS} s");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_entries_of_a_posting_are_read_with_it() {
    with_empty_database(async |database| {
        let mut made = None;
        with_sessions(database, async |nodes| {
            let scope = nodes.environment().await.id;
            nodes.fund(scope, 5_000, "first").await;
            let transfer = nodes.new_transfer(scope);
            nodes.reserve(&transfer).await;
            made = Some((scope, transfer.order.id, transfer.order.currency));
        })
        .await;
        let (scope, transfer, currency) = made.unwrap();
        with_sessions(database, async |nodes| {
            database.visitor().await.batch_execute(FILL).await.unwrap();
            wait_for_older_transactions(database).await;
            let all = nodes.two.audit(AuditScope::Everything, at(1)).await.unwrap();
            assert_eq!((all.findings.len(), all.postings), (0, 20_002));
        })
        .await;
        for question in ["page of the ledger", "postings of a transfer", "audit of what is new"] {
            let before = postings_read(database).await;
            with_sessions(database, async |nodes| match question {
                "page of the ledger" => {
                    assert_eq!(nodes.two.ledger(scope, currency, None, 5).await.unwrap().len(), 10);
                }
                "postings of a transfer" => {
                    let found = nodes.two.postings_of(scope, currency, ach(transfer)).await.unwrap();
                    assert_eq!(found.len(), 2);
                }
                _ => {
                    nodes.fund(scope, 10, "another").await;
                    let recent = nodes.two.audit(AuditScope::Recent, at(2)).await.unwrap();
                    assert_eq!(recent.findings.len(), 0);
                }
            })
            .await;
            let read = postings_read(database).await - before;
            assert!(read < 200, "{question}: {read} postings were read");
        }
    })
    .await;
}

/// Before the server has counted its rows it takes a table for small, and may read it once for each transfer; what grows
/// faster than that pairs transfers with each other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_audit_does_not_pair_transfers_with_each_other() {
    const TRANSFERS: i64 = 150;
    with_empty_database(async |database| {
        with_sessions(database, async |nodes| {
            let scope = nodes.environment().await.id;
            nodes.fund(scope, 500_000_000, "f").await;
            for _ in 0..20 {
                nodes.reserve(&nodes.new_transfer(scope)).await;
            }
            nodes.audit_is_clean().await;
            let sql = "ANALYZE;
                ALTER TABLE transfers SET (autovacuum_enabled = off);
                ALTER TABLE transactions SET (autovacuum_enabled = off);
                ALTER TABLE ledger_postings SET (autovacuum_enabled = off)";
            database.stranger.batch_execute(sql).await.unwrap();
            for _ in 0..TRANSFERS {
                nodes.reserve(&nodes.new_transfer(scope)).await;
            }
        })
        .await;
        for scope in [AuditScope::Recent, AuditScope::Everything] {
            let before = rows_read(database).await;
            with_sessions(database, async |nodes| {
                let audit = nodes.two.audit(scope, at(2)).await.unwrap();
                assert!(audit.findings.is_empty(), "{:#?}", audit.findings);
            })
            .await;
            let read = rows_read(database).await - before;
            assert!(
                read < 2 * TRANSFERS * TRANSFERS,
                "{scope:?}: {read} rows were read for {TRANSFERS} transfers"
            );
        }
    })
    .await;
}

/// How many rows sessions that have ended read of the tables of transfers.
async fn rows_read(database: &Database) -> i64 {
    let sql = "SELECT CAST(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) AS BIGINT) FROM pg_stat_user_tables
               WHERE relname IN ('transfers', 'transactions', 'ledger_postings')";
    database.count(sql).await
}

/// Many events that wait, of which the planner does not know yet: when it looked, all were applied.
const WAITING: &str = "UPDATE provider_events SET state = 'applied', due_at = NULL;
    INSERT INTO provider_events
        SELECT (jsonb_populate_record(e, jsonb_build_object('id', 'done ' || n))).*
        FROM provider_events e CROSS JOIN generate_series(1, 300) n WHERE e.id = 'evt_4';
    ANALYZE;
    UPDATE provider_events SET state = 'waiting', due_at = 4000000000000 WHERE id LIKE 'evt%';
    INSERT INTO provider_events
        SELECT (jsonb_populate_record(e, jsonb_build_object('id', 'many ' || n))).*
        FROM provider_events e CROSS JOIN generate_series(1, 5000) n WHERE e.id = 'evt_4'";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_is_settled_by_its_key_however_many_wait() {
    with_empty_database(async |database| {
        let mut made = None;
        with_sessions(database, async |nodes| {
            let scope = nodes.environment().await.id;
            nodes.fund(scope, 5_000, "f").await;
            let id = nodes.payment(scope).await;
            let transfer = nodes.new_transfer(scope);
            nodes.reserve(&transfer).await;
            for event in ["evt_1", "evt_2", "evt_3", "evt_4"] {
                nodes.one.receive_provider_event(scope, &nodes.new_event(event), at(5)).await.unwrap();
            }
            made = Some((scope, id, transfer));
        })
        .await;
        let (scope, id, transfer) = made.unwrap();
        database.visitor().await.batch_execute(WAITING).await.unwrap();
        let sql =
            "SELECT sum(idx_tup_read)::bigint FROM pg_stat_user_indexes WHERE relname = 'provider_events'";
        let before = database.count(sql).await;
        with_sessions(database, async |nodes| {
            let settled = settled("evt_1", ProviderEventState::Applied);
            assert!(nodes.one.settle_provider_event(scope, &settled).await.unwrap());
            nodes.change(scope, id, &nodes.full_change(0, "evt_2")).await;
            let change = nodes.full_transfer_change(0, "evt_3", &transfer.order.fee);
            nodes.change_transfer(&transfer, &change).await;
        })
        .await;
        let read = database.count(sql).await - before;
        assert!(read < 100, "{read} entries were read");
        let waiting = "SELECT count(*) FROM provider_events WHERE state = 'waiting' AND id NOT LIKE 'many%'";
        assert_eq!(database.count(waiting).await, 1);
    })
    .await;
}
