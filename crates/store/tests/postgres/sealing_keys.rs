//! A destroyed key is in none of the server's files: not in the table's, not in the write-ahead log.

use std::{fs, path::Path};

use tollgate_domain::id::SealingKeyId;
use tollgate_engine::ports::{SealingKey, SecurityStore as _, Store as _};
use tollgate_store_conformance::at;

use crate::server::{Database, with_database};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_destroyed_key_is_in_none_of_the_servers_files() {
    with_database(async |database| {
        let store = database.open().await;
        let key = |number: u8| SealingKey {
            id: SealingKeyId::from_bytes([number; 16]),
            sealed: format!("v1.abc.canary-{number}-of-{}", std::process::id()),
            created_at: at(i64::from(number)),
        };
        let (old, kept) = (key(1), key(9));
        // What is written as usual is in both, which shows that both are looked through.
        let logged = format!("logged-canary-of-{}", std::process::id());
        store.pin(&logged, "x").await.unwrap();
        assert_eq!(places(database, &logged).await, ["table", "log"]);
        store.put_sealing_keys(&[old.clone(), kept.clone()]).await.unwrap();
        assert_eq!(places(database, &old.sealed).await, ["table"], "the table has it, and the log does not");
        assert_eq!(store.destroy_sealing_keys(at(5)).await.unwrap(), 1);
        assert!(places(database, &old.sealed).await.is_empty());
        assert_eq!(store.sealing_key(kept.id).await.unwrap(), Some(kept));
    })
    .await;
}

/// Where the files hold this text, once everything is written out.
async fn places(database: &Database, text: &str) -> Vec<&'static str> {
    let visitor = database.visitor().await;
    let sql = "SELECT current_setting('data_directory'), oid::text FROM pg_database WHERE datname = current_database()";
    let row = visitor.query_one(sql, &[]).await.unwrap();
    let (data, own): (String, String) = (row.get(0), row.get(1));
    let (table, log) = (format!("{data}/base/{own}"), format!("{data}/pg_wal"));
    // Before the log's oldest files are used again, which what is done next can lead to.
    let was_logged = holds(Path::new(&log), text);
    // A checkpoint leaves unlogged tables in memory; copying a database file by file writes out everything.
    let copy = format!(
        "{}_flushed",
        visitor.query_one("SELECT current_database()", &[]).await.unwrap().get::<_, String>(0)
    );
    visitor
        .batch_execute(&format!("CREATE DATABASE {copy} TEMPLATE template0 STRATEGY file_copy"))
        .await
        .unwrap();
    visitor.batch_execute(&format!("DROP DATABASE {copy}")).await.unwrap();
    let is_logged = was_logged || holds(Path::new(&log), text);
    let found = [("table", holds(Path::new(&table), text)), ("log", is_logged)];
    found.into_iter().filter_map(|(name, is_there)| is_there.then_some(name)).collect()
}

fn holds(folder: &Path, text: &str) -> bool {
    let files =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    // A file may vanish meanwhile.
    files.filter_map(|path| fs::read(path).ok()).any(|bytes| String::from_utf8_lossy(&bytes).contains(text))
}
