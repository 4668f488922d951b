//! A database for each test.

use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use futures_util::FutureExt as _;
use tokio::sync::OnceCell;
use tokio_postgres::{Client, NoTls};
use tollgate_store::{
    DatabaseUrl,
    postgres::{PostgresSettings, PostgresStore},
};
use tollgate_store_conformance::Nodes;

/// A server plans a statement for its parameters at first, and for any once it was run a few times: what holds of one plan
/// need not hold of the other.
pub(crate) const PLANS: [&str; 2] = ["force_custom_plan", "force_generic_plan"];

static MADE: AtomicU32 = AtomicU32::new(0);

pub(crate) struct Database {
    pub(crate) name: String,
    /// A session beside the store's, on the same database.
    pub(crate) stranger: Client,
}

fn server_url() -> String {
    std::env::var("TOLLGATE_TEST_POSTGRES_URL").expect(
        "TOLLGATE_TEST_POSTGRES_URL is not set: run `make test`, which starts a throw-away PostgreSQL and names it",
    )
}

fn url_of(database: &str) -> String {
    let url = server_url();
    let (place, parameters) = url
        .split_once('?')
        .map_or((url.as_str(), String::new()), |(place, rest)| (place, format!("?{rest}")));
    let (scheme, rest) = place.split_once("://").expect("the URL begins with postgres://");
    let authority = rest.split('/').next().unwrap();
    format!("{scheme}://{authority}/{database}{parameters}")
}

async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("the test server answers");
    tokio::spawn(connection);
    client
}

/// A database with our tables and nothing in them, which is copied in less time than the tables take to create.
async fn template() -> &'static str {
    static TEMPLATE: OnceCell<String> = OnceCell::const_new();
    TEMPLATE
        .get_or_init(async || {
            let name = format!("tollgate_template_{}", std::process::id());
            let admin = connect(&server_url()).await;
            admin.batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await.unwrap();
            create(&admin, &name, "template0").await;
            PostgresStore::open(&url_of(&name).parse().unwrap(), &generous()).await.unwrap();
            let sessions = format!("SELECT count(*) FROM pg_stat_activity WHERE datname = '{name}'");
            while admin.query_one(&sessions, &[]).await.unwrap().get::<_, i64>(0) > 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            name
        })
        .await
}

async fn create(admin: &Client, name: &str, template: &str) {
    admin
        .batch_execute(&format!("CREATE DATABASE {name} TEMPLATE {template} ENCODING 'UTF8'"))
        .await
        .unwrap();
}

/// Runs `work` on a database of its own and drops it, also when the test fails.
pub(crate) async fn with_database(work: impl AsyncFnOnce(&Database)) {
    with_copy_of(template().await, work).await;
}

/// The same without any table.
pub(crate) async fn with_empty_database(work: impl AsyncFnOnce(&Database)) {
    with_copy_of("template0", work).await;
}

async fn with_copy_of(template: &str, work: impl AsyncFnOnce(&Database)) {
    let count = MADE.fetch_add(1, Ordering::Relaxed);
    let name = format!("tollgate_test_{}_{count}", std::process::id());
    let admin = connect(&server_url()).await;
    admin.batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await.unwrap();
    create(&admin, &name, template).await;
    let stranger = connect(&url_of(&name)).await;
    let database = Database { name: name.clone(), stranger };
    let outcome = AssertUnwindSafe(work(&database)).catch_unwind().await;
    drop(database);
    admin.batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)")).await.unwrap();
    if let Err(panic) = outcome {
        std::panic::resume_unwind(panic);
    }
}

/// Small pools and short limits, so that tests of limits are short.
pub(crate) fn settings() -> PostgresSettings {
    PostgresSettings {
        connections: 8,
        connect_timeout: Duration::from_secs(2),
        wait_timeout: Duration::from_secs(3),
        statement_timeout: Duration::from_secs(5),
        node_url: None,
    }
}

/// The same pools where limits are not what is tested: fifty units that wait for one row may take long on a busy machine.
fn generous() -> PostgresSettings {
    let limit = Duration::from_mins(1);
    PostgresSettings { connect_timeout: limit, wait_timeout: limit, statement_timeout: limit, ..settings() }
}

impl Database {
    /// One more session, which ends when it is dropped.
    pub(crate) async fn visitor(&self) -> Client {
        connect(&url_of(&self.name)).await
    }

    pub(crate) fn url(&self) -> DatabaseUrl {
        url_of(&self.name).parse().unwrap()
    }

    /// The database as another role.
    pub(crate) fn url_as(&self, role: &str, password: &str) -> DatabaseUrl {
        let (host, port) = self.server_address();
        format!("postgres://{role}:{password}@{host}:{port}/{}", self.name).parse().unwrap()
    }

    /// A session of another role.
    pub(crate) async fn visitor_as(&self, role: &str, password: &str) -> Client {
        let (host, port) = self.server_address();
        connect(&format!("postgres://{role}:{password}@{host}:{port}/{}", self.name)).await
    }

    /// The same database behind another port of this machine.
    pub(crate) fn url_through(&self, port: u16) -> DatabaseUrl {
        self.url_through_any(&[port])
    }

    /// The same with several hosts, of which the one that answers is to be found.
    pub(crate) fn url_through_any(&self, ports: &[u16]) -> DatabaseUrl {
        let config: tokio_postgres::Config = url_of(&self.name).parse().unwrap();
        let user = config.get_user().unwrap_or("postgres");
        let password = config
            .get_password()
            .map_or_else(String::new, |bytes| format!(":{}", String::from_utf8(bytes.to_vec()).unwrap()));
        let hosts: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        format!("postgres://{user}{password}@{}/{}", hosts.join(","), self.name).parse().unwrap()
    }

    pub(crate) fn server_address(&self) -> (String, u16) {
        let config: tokio_postgres::Config = url_of(&self.name).parse().unwrap();
        let tokio_postgres::config::Host::Tcp(host) = &config.get_hosts()[0] else {
            panic!("the test server is reached over TCP");
        };
        (host.clone(), config.get_ports().first().copied().unwrap_or(5432))
    }

    pub(crate) async fn open(&self) -> Arc<PostgresStore> {
        self.open_with(&generous()).await
    }

    pub(crate) async fn open_with(&self, settings: &PostgresSettings) -> Arc<PostgresStore> {
        Arc::new(PostgresStore::open(&self.url(), settings).await.unwrap())
    }

    /// Ends every session on this database but the stranger's; how many there were.
    pub(crate) async fn kill_sessions(&self) -> i64 {
        let sql = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                   WHERE datname = current_database() AND pid <> pg_backend_pid()";
        self.stranger.query_one(sql, &[]).await.unwrap().get(0)
    }

    /// How statements are planned in sessions from now on; one of [`PLANS`].
    pub(crate) async fn plan(&self, mode: &str) {
        let sql = format!("ALTER DATABASE {} SET plan_cache_mode = {mode}", self.name);
        self.stranger.batch_execute(&sql).await.unwrap();
    }

    pub(crate) async fn count(&self, sql: &str) -> i64 {
        self.stranger.query_one(sql, &[]).await.unwrap().get(0)
    }
}

/// Runs `work` on a store of its own. Sessions tell what they read when they end, so it waits for that.
pub(crate) async fn with_sessions(database: &Database, work: impl AsyncFnOnce(Nodes)) {
    let store = database.open().await;
    work(Nodes::new(store.clone(), store)).await;
    let others = "SELECT count(*) FROM pg_stat_activity
                  WHERE datname = current_database() AND pid <> pg_backend_pid()";
    while database.count(others).await > 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
