//! Somebody who was erased is in none of the tables' rows, and once the tables are written anew in none of their files.

use std::{fs, path::Path, time::Duration};

use tollgate_store_conformance::{
    Nodes,
    erasure::{CANARY, somebody},
};

use crate::server::{Database, with_database};

/// Other tests are done with their transactions long before.
const MOST_VACUUMS: u32 = 60;

/// The tables of which a row has the text.
async fn tables_with(database: &Database, text: &str) -> Vec<String> {
    let visitor = database.visitor().await;
    let tables = visitor
        .query("SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' ORDER BY 1", &[])
        .await
        .unwrap();
    let mut found = Vec::new();
    for table in tables.iter().map(|row| row.get::<_, String>(0)) {
        let sql = format!("SELECT count(*) FROM {table} AS r WHERE strpos(lower(r::text), lower($1)) > 0");
        let count: i64 = visitor.query_one(&sql, &[&text]).await.unwrap().get(0);
        if count > 0 {
            found.push(table);
        }
    }
    found
}

/// Whether a file of the database has the text, once everything is written out.
async fn is_in_files(database: &Database, text: &str) -> bool {
    let visitor = database.visitor().await;
    visitor.batch_execute("CHECKPOINT").await.unwrap();
    let sql = "SELECT current_setting('data_directory') || '/base/' || oid FROM pg_database
               WHERE datname = current_database()";
    let folder: String = visitor.query_one(sql, &[]).await.unwrap().get(0);
    let files = fs::read_dir(Path::new(&folder)).unwrap().map(|entry| entry.unwrap().path());
    files.filter_map(|path| fs::read(path).ok()).any(|bytes| String::from_utf8_lossy(&bytes).contains(text))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn somebody_who_was_erased_is_in_no_row_and_after_a_full_vacuum_in_no_file() {
    with_database(async |database| {
        let store = database.open().await;
        let nodes = Nodes::new(store.clone(), store.clone());
        let who = somebody(&nodes).await;
        while nodes.one.index_events(50).await.unwrap() > 0 {}
        let before = tables_with(database, CANARY).await;
        let expected = [
            "card_payments",
            "out_events",
            "reconciliation_exceptions",
            "refunds",
            "search_terms",
            "transactions",
            "transfers",
        ];
        assert_eq!(before, expected, "wherever it can be");
        who.erase(&nodes).await;
        assert_eq!(tables_with(database, CANARY).await, [""; 0]);
        // As the guide says: what the rows were before is in the files until the tables are written anew.
        assert!(is_in_files(database, CANARY).await);
        // As long as a transaction is open anywhere on the server that began before, dead rows are kept.
        let mut is_there = true;
        for _ in 0..MOST_VACUUMS {
            database.visitor().await.batch_execute("VACUUM FULL ANALYZE").await.unwrap();
            is_there = is_in_files(database, CANARY).await;
            if !is_there {
                break;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        assert!(!is_there);
    })
    .await;
}
