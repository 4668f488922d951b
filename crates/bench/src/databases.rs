//! Databases of our own on a PostgreSQL server of this machine, dropped when the run is over.

use std::net::IpAddr;
use std::time::Duration;

use tokio_postgres::config::Host;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, NoTls};

use crate::rows::describe;
use crate::{Fault, process, unless_stopped};

/// A database can be copied only when it has no connections left, and the server takes a moment to notice that.
const COPY_TRIES: u32 = 100;
const COPY_PAUSE: Duration = Duration::from_millis(50);
/// A plan made while the tables were small would read them whole, and be kept while they grow.
const NO_WHOLE_TABLES: &str = "-c enable_seqscan=off";

/// A server, and what was made on it.
pub(crate) struct Databases {
    url: String,
    client: Client,
    made: Vec<String>,
    /// The server's first process, where it runs on this machine as the processes we can see.
    pub(crate) server: Option<u32>,
}

/// Does the work with a server, if there is one, and drops what was made on it, also when the work fails or is stopped.
pub(crate) async fn with_databases<T>(
    url: Option<&str>,
    work: impl AsyncFnOnce(&mut Option<Databases>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let mut databases = None;
    if let Some(url) = url {
        databases = Some(Databases::connect(url).await?);
    } else {
        eprintln!("no PostgreSQL was named: only SQLite is measured");
    }
    let outcome = unless_stopped(work(&mut databases)).await;
    if let Some(databases) = databases {
        databases.drop_all().await;
    }
    outcome
}

impl Databases {
    async fn connect(url: &str) -> Result<Self, Fault> {
        let config: Config = url.parse().map_err(|error| format!("the database URL: {error}"))?;
        if !is_this_machine(&config) {
            return Err("the database URL: only a server on this machine's loopback interface is used".into());
        }
        let client = client(url).await?;
        let row = client.query_one("SELECT pg_backend_pid()", &[]).await.map_err(|error| describe(&error))?;
        let server = u32::try_from(row.try_get::<_, i32>(0)?).ok().and_then(server_of);
        Ok(Self { url: url.to_owned(), client, made: Vec::new(), server })
    }

    /// Makes a database, empty or a copy, and returns its URL.
    pub(crate) async fn create(&mut self, what: &str, copy_of: Option<&str>) -> Result<String, Fault> {
        let name = own_name(what);
        let sql = match copy_of {
            Some(original) => format!("CREATE DATABASE {name} TEMPLATE {}", own_name(original)),
            None => format!("CREATE DATABASE {name}"),
        };
        let mut tries = 0;
        loop {
            match self.client.batch_execute(&sql).await {
                Ok(()) => break,
                Err(error) if error.code() == Some(&SqlState::OBJECT_IN_USE) && tries < COPY_TRIES => {
                    tries += 1;
                    tokio::time::sleep(COPY_PAUSE).await;
                }
                Err(error) => return Err(format!("{sql}: {}", describe(&error)).into()),
            }
        }
        let url = with_database(&self.url, &name).ok_or("the database URL has no place for a database")?;
        self.made.push(name);
        Ok(url)
    }

    /// Drops what was made. A server that is gone has dropped it, too.
    async fn drop_all(self) {
        for name in &self.made {
            let dropped = self.client.batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)")).await;
            if let Err(error) = dropped {
                eprintln!("the database {name} could not be dropped: {}", describe(&error));
            }
        }
    }
}

fn own_name(what: &str) -> String {
    format!("tollgate_bench_{}_{what}", std::process::id())
}

/// A connection without plans that read tables whole, driven by a task of its own until the client is dropped.
pub(crate) async fn client(url: &str) -> Result<Client, Fault> {
    let mut config: Config = url.parse()?;
    config.options(NO_WHOLE_TABLES);
    let (client, connection) =
        config.connect(NoTls).await.map_err(|error| format!("PostgreSQL: {}", describe(&error)))?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            eprintln!("a connection to PostgreSQL broke: {error}");
        }
    });
    Ok(client)
}

fn is_this_machine(config: &Config) -> bool {
    let is_near = |host: &Host| match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        Host::Unix(_) => true,
    };
    let hosts = config.get_hosts();
    !hosts.is_empty() && hosts.iter().all(is_near) && config.get_hostaddrs().iter().all(IpAddr::is_loopback)
}

/// The parent of the process that serves us, if both are what they should be.
fn server_of(backend: u32) -> Option<u32> {
    let is_postgres = |id: u32| {
        let name = std::fs::read_to_string(format!("/proc/{id}/comm"));
        name.is_ok_and(|name| name.trim_end().starts_with("postgres"))
    };
    let server = process::parent(backend).ok()?;
    (is_postgres(backend) && is_postgres(server)).then_some(server)
}

/// The URL of another database on the same server.
fn with_database(url: &str, name: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let (place, parameters) = rest.split_once('?').map_or((rest, None), |(place, rest)| (place, Some(rest)));
    let server = place.rsplit_once('/').map_or(place, |(server, _)| server);
    let parameters = parameters.map(|rest| format!("?{rest}")).unwrap_or_default();
    Some(format!("{scheme}://{server}/{name}{parameters}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_database_is_replaced() {
        for (url, expected) in [
            ("postgres://u@127.0.0.1:5433/postgres", "postgres://u@127.0.0.1:5433/x"),
            ("postgres://u:p@localhost", "postgres://u:p@localhost/x"),
            ("postgres://u@[::1]/d?application_name=a", "postgres://u@[::1]/x?application_name=a"),
        ] {
            assert_eq!(with_database(url, "x").as_deref(), Some(expected), "{url}");
        }
        assert_eq!(with_database("host=localhost", "x"), None);
    }

    #[test]
    fn only_this_machine_is_used() {
        let near = |url: &str| is_this_machine(&url.parse().unwrap());
        assert!(near("postgres://u@127.0.0.1:5433/d") && near("postgres://u@localhost/d"));
        assert!(!near("postgres://u@db.example/d") && !near("postgres://u@localhost/d?hostaddr=10.0.0.7"));
    }
}
