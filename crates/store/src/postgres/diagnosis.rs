//! What a database server says of itself, and the postings of one payment.

use deadpool_postgres::ClientWrapper;
use tollgate_domain::{Currency, ServiceReference, Timestamp, id::EnvironmentId};
use tollgate_engine::ports::{Backlog, Diagnosis, Durability, LedgerLine};

use super::{fault::Fault, uuid, wallet::line};
use crate::convert;

/// The settings are those of this very connection, which commits like every other of the pool.
const SETTINGS: &str =
    "SELECT current_setting('server_version'), current_setting('server_version_num')::integer,
    current_setting('fsync')::boolean, current_setting('synchronous_commit'),
    current_setting('full_page_writes')::boolean, pg_is_in_recovery(), current_setting('synchronous_standby_names'),
    (SELECT coalesce(max(version), 0) FROM schema_migrations),
    floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

const DUE: [(&str, &str); 3] = [
    ("card payments", "SELECT due_at FROM card_payments WHERE due_at <= $1 ORDER BY due_at LIMIT $2"),
    ("transfers", "SELECT due_at FROM transfers WHERE due_at <= $1 ORDER BY due_at LIMIT $2"),
    ("provider events", "SELECT due_at FROM provider_events WHERE due_at <= $1 ORDER BY due_at LIMIT $2"),
];

pub(super) async fn diagnose(client: &ClientWrapper, now: Timestamp) -> Result<Diagnosis, Fault> {
    let mut backlog = Vec::with_capacity(DUE.len());
    for (what, sql) in DUE {
        let counted = format!("SELECT count(*), min(due_at) FROM ({sql}) due");
        let statement = client.prepare_cached(&counted).await?;
        let row = client.query_one(&statement, &[&now.unix_millis(), &i64::from(Backlog::MOST)]).await?;
        let oldest: Option<i64> = row.try_get(1)?;
        let due = u32::try_from(row.try_get::<_, i64>(0)?).unwrap_or(Backlog::MOST);
        backlog.push(Backlog { what, due, oldest: oldest.map(Timestamp::from_unix_millis) });
    }
    // Last, so that little time passes between the server's clock and whoever compares it.
    let row = client.query_one(SETTINGS, &[]).await?;
    Ok(Diagnosis {
        software: format!("PostgreSQL {}", row.try_get::<_, &str>(0)?),
        schema_version: u64::try_from(row.try_get::<_, i64>(7)?).unwrap_or_default(),
        clock: Some(Timestamp::from_unix_millis(row.try_get(8)?)),
        durability: Durability::Server {
            version_number: u32::try_from(row.try_get::<_, i32>(1)?).unwrap_or_default(),
            fsync: row.try_get(2)?,
            synchronous_commit: row.try_get(3)?,
            full_page_writes: row.try_get(4)?,
            synchronous_standbys: row.try_get(6)?,
            in_recovery: row.try_get(5)?,
        },
        backlog,
    })
}

pub(super) async fn postings_of(
    client: &ClientWrapper,
    environment: EnvironmentId,
    currency: Currency,
    reference: ServiceReference,
) -> Result<Vec<LedgerLine>, Fault> {
    let statement = client
        .prepare_cached(
            "SELECT p.id, p.cause, p.reference, p.actor, p.at, e.account, e.amount_minor
             FROM ledger_postings p
             JOIN ledger_entries e
                 ON e.environment_id = $1 AND e.currency = $2 AND e.posting_id = p.id
             WHERE p.environment_id = $1 AND p.currency = $2
                 AND p.cause IN ('reserve', 'settle', 'release', 'reverse') AND p.reference = $3",
        )
        .await?;
    let scope = uuid(environment.to_bytes());
    let rows = client.query(&statement, &[&scope, &currency.code(), &reference.to_string()]).await?;
    let mut lines = rows.iter().map(line).collect::<Result<Vec<_>, Fault>>()?;
    convert::newest_first(&mut lines);
    Ok(lines)
}
