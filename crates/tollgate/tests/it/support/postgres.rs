//! A database of its own on the throw-away PostgreSQL server that `make test` starts.

use std::{
    env,
    net::{SocketAddr, ToSocketAddrs},
    process,
    sync::OnceLock,
    thread,
    time::Duration,
};

use tokio_postgres::NoTls;
use tollgate_store::postgres::{PostgresSettings, PostgresStore};

/// Created for one test and dropped after it.
pub struct Database {
    pub url: String,
    name: String,
    server: String,
}

impl Database {
    pub fn create() -> Self {
        let server = server();
        let template = template(&server);
        Self::copy(server, template)
    }

    /// Without our tables.
    pub fn create_empty() -> Self {
        Self::copy(server(), "template1")
    }

    fn copy(server: String, template: &str) -> Self {
        let name = format!("it_{:x}", rand::random::<u64>());
        execute(&server, &format!("CREATE DATABASE {name} TEMPLATE {template}"));
        Self { url: url_of(&server, &name), name, server }
    }

    /// Runs a statement as the server's owner, outside this database.
    pub fn on_server(&self, statement: &str) {
        execute(&self.server, statement);
    }

    /// Runs a statement within this database.
    pub fn on_database(&self, statement: &str) {
        execute(&self.url, statement);
    }

    /// The rows of a query within this database, each one's first column as text.
    pub fn texts(&self, query: &str) -> Vec<String> {
        texts(&self.url, query)
    }

    /// The same database, reached by way of another address.
    pub fn url_through(&self, address: SocketAddr) -> String {
        let (before, _) = self.url.rsplit_once('@').unwrap();
        format!("{before}@{address}/{}", self.name)
    }

    /// Where the server listens.
    pub fn address(&self) -> SocketAddr {
        let (_, place) = self.url.rsplit_once('@').unwrap();
        let (address, _) = place.split_once('/').unwrap();
        address.to_socket_addrs().unwrap().next().unwrap()
    }

    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        execute(&self.server, &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
    }
}

fn server() -> String {
    env::var("TOLLGATE_TEST_POSTGRES_URL").expect(
        "TOLLGATE_TEST_POSTGRES_URL is not set: run the tests with `make test`, which starts a PostgreSQL",
    )
}

fn url_of(server: &str, database: &str) -> String {
    let (prefix, _) = server.rsplit_once('/').unwrap();
    format!("{prefix}/{database}")
}

/// A database with our tables and nothing in them, which is copied in less time than the tables take to create.
fn template(server: &str) -> &'static str {
    static TEMPLATE: OnceLock<String> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let name = format!("it_template_{}", process::id());
        execute(server, &format!("CREATE DATABASE {name}"));
        let url = url_of(server, &name).parse().unwrap();
        let settings = PostgresSettings::default();
        // Its sessions end with the runtime: a database in use cannot be copied.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async { PostgresStore::open(&url, &settings).await.unwrap() });
        drop(runtime);
        while !texts(server, &format!("SELECT datname::text FROM pg_stat_activity WHERE datname = '{name}'"))
            .is_empty()
        {
            thread::sleep(Duration::from_millis(10));
        }
        name
    })
}

fn execute(url: &str, statement: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
        let connection = tokio::spawn(connection);
        client.batch_execute(statement).await.unwrap();
        drop(client);
        connection.await.unwrap().unwrap();
    });
}

fn texts(url: &str, query: &str) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
        let connection = tokio::spawn(connection);
        let rows = client.query(query, &[]).await.unwrap();
        drop(client);
        connection.await.unwrap().unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    })
}
