//! Migrations.

use tollgate_engine::ports::InspectionStore as _;
use tollgate_store::{
    OpenError, Options,
    postgres::{PostgresSettings, PostgresStore},
};
use tollgate_store_conformance::at;

use crate::server::{settings, with_database, with_empty_database};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_nodes_may_start_at_once() {
    with_empty_database(async |database| {
        let mut opening = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let url = database.url();
            opening.spawn(async move { PostgresStore::open(&url, &settings()).await.map(drop) });
        }
        for opened in opening.join_all().await {
            opened.unwrap();
        }
        let applied = database.count("SELECT count(*) FROM schema_migrations").await;
        assert!(applied > 0);
        assert!(database.count("SELECT count(*) FROM schema_changes").await > 0);
        assert_eq!(database.count("SELECT count(*) FROM directory").await, 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_schema_is_refused() {
    with_empty_database(async |database| {
        drop(database.open().await);
        let sql = "INSERT INTO schema_changes VALUES (998, 'of a later version', 'x', 0, 51)";
        database.stranger.batch_execute(sql).await.unwrap();
        assert_eq!(database.open().await.diagnose(at(0)).await.unwrap().schema_version, 998);
        let sql = "INSERT INTO schema_migrations VALUES (999, 'from the future', 'x', 0)";
        database.stranger.batch_execute(sql).await.unwrap();
        let error = PostgresStore::open(&database.url(), &settings()).await.unwrap_err();
        assert!(matches!(error, OpenError::SchemaNewer { database: 999, .. }), "{error}");
        assert!(error.to_string().contains("start a newer tollgate"), "{error}");

        let sql =
            "DELETE FROM schema_migrations WHERE version = 999; UPDATE schema_migrations SET checksum = 'x'";
        database.stranger.batch_execute(sql).await.unwrap();
        let error = PostgresStore::open(&database.url(), &settings()).await.unwrap_err();
        assert!(matches!(error, OpenError::SchemaDiffers { version: 1, .. }), "{error}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_user_without_rights_to_create_can_serve() {
    with_empty_database(async |database| {
        drop(tollgate_store::open(&database.url(), &Options::default()).await.unwrap());
        let user = format!("{}_user", database.name);
        let sql = format!(
            "CREATE ROLE {user} LOGIN PASSWORD 'x';
             GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {user};
             REVOKE CREATE ON SCHEMA public FROM PUBLIC"
        );
        database.stranger.batch_execute(&sql).await.unwrap();
        let (host, port) = database.server_address();
        let url = format!("postgres://{user}:x@{host}:{port}/{}", database.name).parse().unwrap();
        let store = tollgate_store::open(&url, &Options::default()).await.unwrap();
        assert_eq!(store.pin("a", "b").await.unwrap(), "b");
        drop(store);
        let sql = format!("DROP OWNED BY {user}; DROP ROLE {user}");
        database.kill_sessions().await;
        database.stranger.batch_execute(&sql).await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_node_of_a_database_says_where_it_is_reached() {
    with_database(async |database| {
        let open = async |url: &str| {
            let settings = PostgresSettings { node_url: Some(url.to_owned()), ..settings() };
            PostgresStore::open(&database.url(), &settings).await.unwrap()
        };
        let (one, _two) = (open("https://one.example").await, open("https://two.example").await);
        let mut found = one.diagnose(at(0)).await.unwrap().node_urls;
        found.sort();
        assert_eq!(found, ["https://one.example", "https://two.example"]);
    })
    .await;
}
