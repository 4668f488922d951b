//! Somebody who asks PostgreSQL directly, through none of our code and none of the links: when does it take writes again?

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio_postgres::Client;
use tollgate_bench::Fault;

use crate::cluster;
use crate::record::Record;

const INTERVAL: Duration = Duration::from_millis(20);
/// A server that says nothing, and a commit that nobody confirms.
const LIMIT: Duration = Duration::from_secs(1);

/// Asks until dropped.
pub(crate) struct Probe {
    written: Arc<Mutex<Vec<u64>>>,
    _tasks: JoinSet<()>,
}

impl Probe {
    /// One task for each server, so that none waits for another.
    pub(crate) fn start(servers: impl Iterator<Item = SocketAddr>, record: &Arc<Record>) -> Self {
        let written = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = JoinSet::new();
        for server in servers {
            let (written, record) = (Arc::clone(&written), Arc::clone(record));
            tasks.spawn(async move {
                let mut client = None;
                loop {
                    match tokio::time::timeout(LIMIT, write(server, &mut client)).await {
                        Ok(Ok(true)) => {
                            let now = record.now();
                            written.lock().unwrap_or_else(PoisonError::into_inner).push(now);
                        }
                        Ok(Ok(false)) => {}
                        _ => client = None,
                    }
                    tokio::time::sleep(INTERVAL).await;
                }
            });
        }
        Self { written, _tasks: tasks }
    }

    /// When a write was committed, by any server.
    pub(crate) fn writes(&self) -> Vec<u64> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner).clone();
        written.sort_unstable();
        written
    }
}

/// Commits something, where the server is one that takes writes.
async fn write(server: SocketAddr, client: &mut Option<Client>) -> Result<bool, Fault> {
    let client = match client {
        Some(client) => client,
        none => none.insert(cluster::connect(server).await?),
    };
    let row = client.query_one("SELECT NOT pg_is_in_recovery()", &[]).await?;
    if !row.try_get::<_, bool>(0)? {
        return Ok(false);
    }
    // A transaction of its own in the log, without a table.
    client.query_one("SELECT pg_logical_emit_message(true, 'drill', '')::text", &[]).await?;
    Ok(true)
}
