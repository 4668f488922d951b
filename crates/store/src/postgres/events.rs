//! Providers' events, from their arrival until they are done with.

use deadpool_postgres::ClientWrapper;
use tokio_postgres::types::ToSql;
use tollgate_domain::{Timestamp, id::EnvironmentId};
use tollgate_engine::ports::{
    ProviderEvent, ProviderEventCursor, ProviderEventState, Received, SettledProviderEvent,
    StoredProviderEvent,
};

use super::{cells::RowCells, fault::Fault, uuid};
use crate::convert::{
    self,
    event::{event_columns, read},
};

pub(super) async fn receive(
    client: &ClientWrapper,
    environment: EnvironmentId,
    event: &ProviderEvent,
    due: Timestamp,
) -> Result<Received, Fault> {
    let statement = client
        .prepare_cached(
            "WITH kept AS (
                 INSERT INTO provider_events (environment_id, provider, id, kind, notice, request, received_at,
                     state, due_at, tries, note)
                 SELECT e.id, $2, $3, $4, $5, $6, $7, 'waiting', $8, 0, '' FROM environments e WHERE e.id = $1
                 ON CONFLICT DO NOTHING RETURNING 1)
             SELECT EXISTS (SELECT 1 FROM kept), EXISTS (SELECT 1 FROM environments WHERE id = $1)",
        )
        .await?;
    let row = client
        .query_one(
            &statement,
            &[
                &uuid(environment.to_bytes()),
                &event.provider,
                &event.id,
                &event.kind,
                &event.notice,
                &event.request,
                &event.received_at.unix_millis(),
                &due.unix_millis(),
            ],
        )
        .await?;
    if row.try_get(0)? {
        return Ok(Received::New);
    }
    if !row.try_get::<_, bool>(1)? {
        return Err(Fault::Misuse("an event was to be stored in an environment that does not exist"));
    }
    Ok(Received::Known)
}

/// What another node is taking, or settling, in this very moment is passed over rather than waited for.
pub(super) async fn claim(
    client: &ClientWrapper,
    now: Timestamp,
    until: Timestamp,
    limit: u32,
) -> Result<Vec<StoredProviderEvent>, Fault> {
    let statement = client
        .prepare_cached(concat!(
            "WITH due AS (
                 SELECT environment_id, provider, id, due_at FROM provider_events WHERE due_at <= $1
                 ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED),
             taken AS (
                 UPDATE provider_events e SET due_at = $2, tries = e.tries + 1 FROM due
                 WHERE e.environment_id = due.environment_id AND e.provider = due.provider AND e.id = due.id
                 RETURNING e.*, due.due_at AS was_due_at)
             SELECT ",
            event_columns!(),
            " FROM taken e ORDER BY e.was_due_at, e.id"
        ))
        .await?;
    let rows =
        client.query(&statement, &[&now.unix_millis(), &until.unix_millis(), &i64::from(limit)]).await?;
    rows.iter().map(|row| read(&mut RowCells::new(row, 0))).collect()
}

pub(super) async fn settle(
    client: &ClientWrapper,
    environment: EnvironmentId,
    settled: &SettledProviderEvent,
) -> Result<bool, Fault> {
    let statement = client
        .prepare_cached(
            "UPDATE provider_events SET state = $4, due_at = $5, note = $6
             WHERE environment_id = $1 AND provider = $2 AND id = $3 AND state = 'waiting'",
        )
        .await?;
    let changed = client
        .execute(
            &statement,
            &[
                &uuid(environment.to_bytes()),
                &settled.provider,
                &settled.id,
                &settled.state.as_str(),
                &convert::event::due(settled),
                &settled.note,
            ],
        )
        .await?;
    Ok(changed == 1)
}

pub(super) async fn retry(
    client: &ClientWrapper,
    environment: EnvironmentId,
    provider: &str,
    id: &str,
    now: Timestamp,
) -> Result<bool, Fault> {
    if convert::is_unstorable(provider) || convert::is_unstorable(id) {
        return Ok(false);
    }
    let statement = client
        .prepare_cached(
            "UPDATE provider_events SET state = 'waiting', due_at = $4, tries = 0
             WHERE environment_id = $1 AND provider = $2 AND id = $3 AND state = 'parked'",
        )
        .await?;
    let values: [&(dyn ToSql + Sync); 4] =
        [&uuid(environment.to_bytes()), &provider, &id, &now.unix_millis()];
    Ok(client.execute(&statement, &values).await? == 1)
}

pub(super) async fn list(
    client: &ClientWrapper,
    environment: EnvironmentId,
    state: Option<ProviderEventState>,
    before: Option<&ProviderEventCursor>,
    limit: u32,
) -> Result<Vec<StoredProviderEvent>, Fault> {
    let Some((last, provider, id)) = convert::event::behind(before) else { return Ok(Vec::new()) };
    // Names are compared byte by byte, as they are where lists of several states are put together.
    let statement = client
        .prepare_cached(concat!(
            "SELECT ",
            event_columns!(),
            " FROM unnest($2::text[]) AS wanted (state) CROSS JOIN LATERAL (
                 SELECT * FROM provider_events
                 WHERE environment_id = $1 AND state = wanted.state AND received_at <= $3
                     AND (received_at < $3 OR (provider COLLATE \"C\", id COLLATE \"C\") > ($5, $6))
                 ORDER BY received_at DESC, provider COLLATE \"C\", id COLLATE \"C\" LIMIT $4) e"
        ))
        .await?;
    let states: Vec<&str> =
        convert::event::states(state).into_iter().map(ProviderEventState::as_str).collect();
    let scope = uuid(environment.to_bytes());
    let rows = client.query(&statement, &[&scope, &states, &last, &i64::from(limit), &provider, &id]).await?;
    let mut events =
        rows.iter().map(|row| read(&mut RowCells::new(row, 0))).collect::<Result<Vec<_>, Fault>>()?;
    convert::event::newest_first(&mut events, limit);
    Ok(events)
}
