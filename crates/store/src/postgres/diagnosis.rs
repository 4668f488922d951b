//! What a database server says of itself.

use tollgate_domain::Timestamp;
use tollgate_engine::ports::{Diagnosis, Durability};

use super::session::PostgresSession;
use crate::{
    prelude::*,
    units::diagnosis::{backlog, schema_version},
};

/// The settings are those of this very connection, which commits like every other of the pool.
const SETTINGS: &str =
    "SELECT current_setting('server_version'), current_setting('server_version_num')::bigint,
    current_setting('fsync')::boolean, current_setting('synchronous_commit'),
    current_setting('full_page_writes')::boolean, current_setting('synchronous_standby_names'),
    pg_is_in_recovery()";

/// A node says by its connections' name where it is reached. The server keeps the first 63 bytes.
const NODES: &str = "SELECT DISTINCT substr(application_name, 10) FROM pg_stat_activity
    WHERE datname = current_database() AND starts_with(application_name, 'tollgate http')";

pub(super) async fn diagnose(s: &mut PostgresSession, now: Timestamp) -> Result<Diagnosis, Fault> {
    let (backlog, schema_version) = (backlog(s, now).await?, schema_version(s).await?);
    let node_urls = s.query(NODES, &[], |cells| cells.text()).await?;
    let (software, durability) = s
        .query_one(SETTINGS, &[], |cells| {
            let software = format!("PostgreSQL {}", cells.text()?);
            let durability = Durability::Server {
                version_number: cells.count("version number")?,
                fsync: cells.flag()?,
                synchronous_commit: cells.text()?,
                full_page_writes: cells.flag()?,
                synchronous_standbys: cells.text()?,
                in_recovery: cells.flag()?,
            };
            Ok((software, durability))
        })
        .await?;
    Ok(Diagnosis { software, schema_version, durability, backlog, node_urls })
}
