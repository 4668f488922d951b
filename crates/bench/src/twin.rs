//! An instance of the product and, beside it, a copy of its database for the yardstick: the same tables with the same
//! rows in them, and the same server or disk.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rusqlite::Connection;

use crate::Fault;
use crate::databases::{self, Databases};
use crate::rows::{Row, Source, open_sqlite};
use crate::service::{Place, Secrets, Service};

const FILE: &str = "tollgate.db";

/// Which database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Sqlite,
    Postgres,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }
}

/// Where instances are made.
pub(crate) struct Ground<'a> {
    pub(crate) binary: &'a Path,
    pub(crate) directory: &'a Path,
    pub(crate) secrets: Secrets,
    pub(crate) databases: &'a mut Option<Databases>,
}

/// The copy.
pub(crate) enum Copied {
    Sqlite(PathBuf),
    Postgres(String),
}

/// The instance, the copy, and what setting up returned.
pub(crate) struct Twin<T> {
    pub(crate) service: Service,
    pub(crate) copied: Copied,
    pub(crate) set_up: T,
}

impl<'a> Ground<'a> {
    /// The kinds of databases there are.
    pub(crate) fn kinds(&self) -> Vec<Kind> {
        let postgres = self.databases.as_ref().map(|_| Kind::Postgres);
        [Kind::Sqlite].into_iter().chain(postgres).collect()
    }

    /// The database server's first process, if there is one and it can be seen.
    pub(crate) fn database_server(&self, kind: Kind) -> Option<u32> {
        match kind {
            Kind::Sqlite => None,
            Kind::Postgres => self.databases.as_ref()?.server,
        }
    }

    /// Starts an instance on an empty database and sets it up, copies the database while nobody uses it, and starts the
    /// instance again.
    pub(crate) async fn twin<T>(
        &mut self,
        kind: Kind,
        set_up: impl AsyncFnOnce(&Service) -> Result<T, Fault>,
    ) -> Result<Twin<T>, Fault> {
        eprintln!("setting up on {}", kind.name());
        let directory = self.directory.join(kind.name());
        let database_url = match (kind, self.databases.as_mut()) {
            (Kind::Sqlite, _) => format!("sqlite:{}", directory.join(FILE).display()),
            (Kind::Postgres, Some(databases)) => databases.create("product", None).await?,
            (Kind::Postgres, None) => return Err("there is no PostgreSQL".into()),
        };
        let place = Place { binary: self.binary, directory, database_url, listen: None, settings: &[] };
        let service = Service::start(&place, &self.secrets).await?;
        let set_up = set_up(&service).await?;
        service.process.stop().await?;
        let copied = self.copy(kind, &place).await?;
        let service = Service::start(&place, &self.secrets).await?;
        Ok(Twin { service, copied, set_up })
    }

    async fn copy(&mut self, kind: Kind, place: &Place<'a>) -> Result<Copied, Fault> {
        if let (Kind::Postgres, Some(databases)) = (kind, self.databases.as_mut()) {
            return Ok(Copied::Postgres(databases.create("raw", Some("product")).await?));
        }
        let to = self.directory.join("raw");
        std::fs::create_dir_all(&to)?;
        // The log has been folded into the file when the instance ended.
        std::fs::copy(place.directory.join(FILE), to.join(FILE))?;
        Ok(Copied::Sqlite(to.join(FILE)))
    }
}

impl Copied {
    /// The rows that each of these finds.
    pub(crate) async fn rows<const N: usize>(&self, queries: [&str; N]) -> Result<[Vec<Row>; N], Fault> {
        let (connection, client);
        let source = match self {
            Self::Sqlite(path) => {
                connection = open_sqlite(path)?;
                Source::Sqlite(&connection)
            }
            Self::Postgres(url) => {
                client = databases::client(url).await?;
                Source::Postgres(&client)
            }
        };
        let mut all = [const { Vec::new() }; N];
        for (rows, query) in all.iter_mut().zip(queries) {
            *rows = source.rows(query).await.map_err(|fault| format!("{query}: {fault}"))?;
        }
        Ok(all)
    }
}

/// A connection that several yardsticks use, one after the other.
pub(crate) fn shared(path: &Path) -> Result<Arc<Mutex<Connection>>, Fault> {
    Ok(Arc::new(Mutex::new(open_sqlite(path)?)))
}
