//! Lists of transactions by status, method and provider read hardly more than they show, whatever the others are.

use tollgate_domain::{PaymentMethod, id::EnvironmentId, transaction::Status};
use tollgate_engine::ports::TransactionFilter;
use tollgate_store_conformance::{
    Nodes,
    samples::{PROVIDER, in_status},
};

use crate::server::{Database, with_empty_database, with_sessions};

/// Twenty thousand that differ in nothing but their ids.
const FILL: &str = "INSERT INTO transactions
    SELECT (jsonb_populate_record(t, jsonb_build_object('id', n.id, 'reference', n.id))).*
    FROM transactions t CROSS JOIN (
        SELECT (lpad(to_hex(1800000000000 + n), 12, '0') || lpad(to_hex(n), 20, '0'))::uuid AS id
        FROM generate_series(1, 20000) n) n;
    ANALYZE";

/// A hundred of them are disputed, a hundred others were refunded in part.
const PARTICULAR: &str = "
    UPDATE transactions SET dispute_id = 'dp_1', dispute_status = 'needs_response'
        WHERE id IN (SELECT id FROM transactions ORDER BY id LIMIT 100);
    UPDATE transactions SET refunded_minor = 1 WHERE id IN (SELECT id FROM transactions ORDER BY id LIMIT 100 OFFSET 900);
    ANALYZE";

const OFTEN: i64 = 12;

/// How many rows and entries of indexes were read, as the server counts it.
async fn read(database: &Database) -> i64 {
    let sql = "SELECT ((SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE relname = 'transactions')
                   + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = 'transactions'))::bigint";
    database.count(sql).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_a_list_is_filtered_by_it_reads_little() {
    with_empty_database(async |database| {
        let mut made = None;
        with_sessions(database, async |nodes: Nodes| {
            let environment = nodes.environment().await.id;
            let id = nodes.payment(environment).await;
            nodes.record(environment, id, in_status(Status::Succeeded)).await;
            made = Some(environment);
        })
        .await;
        let environment = made.unwrap();
        with_sessions(database, async |_| database.visitor().await.batch_execute(FILL).await.unwrap()).await;
        every_filter_reads_little(database, environment).await;
        with_sessions(database, async |_| database.visitor().await.batch_execute(PARTICULAR).await.unwrap())
            .await;
        particular_lists_read_little(database, environment).await;
    })
    .await;
}

async fn particular_lists_read_little(database: &Database, environment: EnvironmentId) {
    for (is_partly_refunded, is_disputed, count) in [(true, false, 5), (false, true, 5), (true, true, 0)] {
        let filter = TransactionFilter { is_partly_refunded, is_disputed, ..TransactionFilter::default() };
        let before = read(database).await;
        with_sessions(database, async |nodes| {
            for _ in 0..OFTEN {
                let found = nodes.two.transactions(environment, &filter, None, 5).await.unwrap();
                assert_eq!(found.len(), count, "{filter:?}");
            }
        })
        .await;
        let some = read(database).await - before;
        // Of both at once the hundred disputed ones are read.
        assert!(some <= if count == 0 { 250 } else { 20 } * OFTEN, "{filter:?} read {some} rows and entries");
    }
}

async fn every_filter_reads_little(database: &Database, environment: EnvironmentId) {
    let (cards, transfers) = (Some(PaymentMethod::WebCard), Some(PaymentMethod::Ach));
    let (theirs, nobodys) = (Some(PROVIDER.to_owned()), Some("nobody".to_owned()));
    for status in [None, Some(Status::Succeeded), Some(Status::Failed)] {
        for method in [None, cards, transfers] {
            for provider in [&None, &theirs, &nobodys] {
                let fits = status != Some(Status::Failed) && method != transfers && *provider != nobodys;
                let filter = TransactionFilter {
                    status,
                    method,
                    provider: provider.clone(),
                    ..TransactionFilter::default()
                };
                let before = read(database).await;
                with_sessions(database, async |nodes| {
                    // Often enough for a server to think of another plan.
                    for _ in 0..OFTEN {
                        let found = nodes.two.transactions(environment, &filter, None, 5).await.unwrap();
                        assert_eq!(found.len(), if fits { 5 } else { 0 }, "{filter:?}");
                    }
                })
                .await;
                let some = read(database).await - before;
                assert!(some <= 20 * OFTEN, "{filter:?} read {some} rows and entries");
            }
        }
    }
}
