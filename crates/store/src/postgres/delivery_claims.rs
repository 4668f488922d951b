//! Deliveries as they are taken, fairly between endpoints.
//!
//! First the endpoints are found for which something is due, by looking at one delivery of each, however many wait for it;
//! then some of each are taken. While there is nothing to do, nothing is written or locked.

use deadpool_postgres::ClientWrapper;
use tokio_postgres::{Row, types::ToSql};
use tollgate_domain::{Timestamp, id::EnvironmentId};
use tollgate_engine::ports::{ClaimedDelivery, Endpoint};
use uuid::Uuid;

use super::{batches, cells::RowCells, fault::Fault, uuid};
use crate::convert::{
    CorruptRow,
    delivery::{delivery_columns, read},
    endpoint::{self, endpoint_columns},
};

/// Goes from one endpoint that is waited for to the next, each at what has waited longest for it. The endpoint may be gone,
/// or disabled, where something happened in the very moment of that.
const WAITED_FOR: &str = concat!(
    "WITH RECURSIVE waited_for AS (
         (SELECT d.environment_id, d.endpoint_id, d.due_at FROM event_deliveries d
          WHERE d.due_at IS NOT NULL ORDER BY d.environment_id, d.endpoint_id, d.due_at LIMIT 1)
         UNION ALL
         SELECT n.environment_id, n.endpoint_id, n.due_at FROM waited_for w CROSS JOIN LATERAL (
             SELECT d.environment_id, d.endpoint_id, d.due_at FROM event_deliveries d
             WHERE d.due_at IS NOT NULL AND (d.environment_id, d.endpoint_id) > (w.environment_id, w.endpoint_id)
             ORDER BY d.environment_id, d.endpoint_id, d.due_at LIMIT 1) n)
     SELECT w.environment_id, w.endpoint_id, p.id IS NULL OR p.disabled IS NOT NULL, ",
    endpoint_columns!(),
    " FROM waited_for w
     LEFT JOIN event_endpoints p ON p.environment_id = w.environment_id AND p.id = w.endpoint_id
     WHERE w.due_at <= $1 AND (p.rests_until IS NULL OR p.rests_until <= $1 OR p.disabled IS NOT NULL)
     ORDER BY w.due_at, w.environment_id, w.endpoint_id LIMIT $2"
);

/// What another node is taking, or settling, in this very moment is passed over rather than waited for. The endpoints are
/// gone through in the order they are given.
const TAKE: &str = concat!(
    "WITH due AS MATERIALIZED (
         SELECT d.environment_id, d.endpoint_id, d.event_id, d.due_at, r.place
         FROM unnest($3::uuid[], $4::uuid[]) WITH ORDINALITY AS r (environment_id, endpoint_id, place)
         CROSS JOIN LATERAL (
             SELECT * FROM event_deliveries d
             WHERE d.environment_id = r.environment_id AND d.endpoint_id = r.endpoint_id AND d.due_at <= $1
             ORDER BY d.due_at, d.event_id LIMIT $5 FOR UPDATE SKIP LOCKED) d
         LIMIT $6),
     taken AS (
         UPDATE event_deliveries d SET due_at = $2, tries = d.tries + 1 FROM due
         WHERE d.environment_id = due.environment_id AND d.endpoint_id = due.endpoint_id AND d.event_id = due.event_id
         RETURNING d.*, due.due_at AS was_due_at, due.place)
     SELECT d.place, ",
    delivery_columns!(),
    " FROM taken d JOIN out_events e ON e.environment_id = d.environment_id AND e.id = d.event_id
     ORDER BY d.place, d.was_due_at, d.event_id"
);

/// All look-ups are by index, also where the server made its plan while next to nothing was waiting.
const BEGIN: &str = "BEGIN; SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off; \
     SET LOCAL enable_bitmapscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; \
     SET LOCAL enable_sort = off";

pub(super) async fn claim(
    client: &ClientWrapper,
    now: Timestamp,
    until: Timestamp,
    each: u32,
    limit: u32,
) -> Result<Vec<ClaimedDelivery>, Fault> {
    let outcome = claim_some(client, now, until, each, limit).await;
    if outcome.is_err() {
        batches::give_up(client).await;
    }
    outcome
}

async fn claim_some(
    client: &ClientWrapper,
    now: Timestamp,
    until: Timestamp,
    each: u32,
    limit: u32,
) -> Result<Vec<ClaimedDelivery>, Fault> {
    let waited_for = client.prepare_cached(WAITED_FOR).await.map_err(Fault::Uncommitted)?;
    let take = client.prepare_cached(TAKE).await.map_err(Fault::Uncommitted)?;
    let (now, until) = (now.unix_millis(), until.unix_millis());
    let (each, limit) = (i64::from(each), i64::from(limit));
    let values: [&(dyn ToSql + Sync); 2] = [&now, &limit];
    // Sent together, and answered one after the other; as below.
    let (begun, rows) = tokio::join!(biased; client.batch_execute(BEGIN), client.query(&waited_for, &values));
    begun.map_err(Fault::Uncommitted)?;
    let (ready, gone) = sorted_out(&rows.map_err(Fault::Uncommitted)?)?;
    if ready.is_empty() && gone.is_empty() {
        client.batch_execute("ROLLBACK").await.map_err(Fault::Uncommitted)?;
        return Ok(Vec::new());
    }
    if !gone.is_empty() {
        tidy(client, &gone).await?;
    }
    let (scopes, ids): (Vec<Uuid>, Vec<Uuid>) = ready
        .iter()
        .map(|(environment, endpoint)| (uuid(environment.to_bytes()), uuid(endpoint.id.to_bytes())))
        .unzip();
    let values: [&(dyn ToSql + Sync); 6] = [&now, &until, &scopes, &ids, &each, &limit];
    let (rows, committed) =
        tokio::join!(biased; client.query(&take, &values), client.batch_execute("COMMIT"));
    let rows = rows?;
    committed?;
    rows.iter()
        .map(|row| {
            let place: i64 = row.try_get(0)?;
            let found = usize::try_from(place).ok().and_then(|place| ready.get(place.checked_sub(1)?));
            let (environment, endpoint) = found.ok_or(CorruptRow("delivery that was not asked for"))?;
            let delivery = read(&mut RowCells::new(row, 1))?;
            Ok(ClaimedDelivery { environment: *environment, delivery, endpoint: endpoint.clone() })
        })
        .collect()
}

type Ready = Vec<(EnvironmentId, Endpoint)>;
type Gone = Vec<(Uuid, Uuid)>;

/// The endpoints to be told, and those that are not to be told, or not there, anymore.
fn sorted_out(rows: &[Row]) -> Result<(Ready, Gone), Fault> {
    let (mut ready, mut gone) = (Vec::new(), Vec::new());
    for row in rows {
        let environment: Uuid = row.try_get(0)?;
        if row.try_get(2)? {
            gone.push((environment, row.try_get(1)?));
        } else {
            let endpoint = endpoint::read(&mut RowCells::new(row, 3))?;
            ready.push((EnvironmentId::from_bytes(environment.into_bytes()), endpoint));
        }
    }
    Ok((ready, gone))
}

/// An event that is written while its endpoint is disabled or removed may not know of it: such deliveries are parked and
/// removed here, like those before.
async fn tidy(client: &ClientWrapper, gone: &[(Uuid, Uuid)]) -> Result<(), Fault> {
    let statement = client
        .prepare_cached(
            "WITH gone AS (
                 SELECT g.environment_id, g.id, p.id AS known, p.disabled
                 FROM unnest($1::uuid[], $2::uuid[]) AS g (environment_id, id)
                 LEFT JOIN event_endpoints p ON p.environment_id = g.environment_id AND p.id = g.id),
             parked AS (
                 UPDATE event_deliveries d SET state = 'parked', due_at = NULL FROM gone
                 WHERE d.environment_id = gone.environment_id AND d.endpoint_id = gone.id AND d.state = 'waiting'
                     AND gone.disabled IS NOT NULL)
             DELETE FROM event_deliveries d USING gone
             WHERE d.environment_id = gone.environment_id AND d.endpoint_id = gone.id AND gone.known IS NULL",
        )
        .await
        .map_err(Fault::Uncommitted)?;
    let (scopes, ids): (Vec<Uuid>, Vec<Uuid>) = gone.iter().copied().unzip();
    client.execute(&statement, &[&scopes, &ids]).await.map_err(Fault::Uncommitted)?;
    Ok(())
}
