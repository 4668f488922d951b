//! Events that are sent once more.

use deadpool_postgres::{ClientWrapper, Transaction};
use tokio_postgres::{Row, types::ToSql};
use tollgate_domain::{Timestamp, event::EventKind, id::EnvironmentId};
use tollgate_engine::ports::{Resend, ResendWhich, Resent};
use uuid::Uuid;

use super::{cells::RowCells, fault::Fault, uuid};
use crate::convert::{
    delivery::{Again, Span, in_order, to_all_that_want},
    endpoint::{Target, kind, kinds_wanted, read_target},
};

/// The endpoints stay as they are until it is done, so that nothing is sent to one that is disabled meanwhile.
pub(super) async fn resend(
    client: &mut ClientWrapper,
    environment: EnvironmentId,
    resend: Resend,
    now: Timestamp,
    limit: u32,
) -> Result<Resent, Fault> {
    let scope = uuid(environment.to_bytes());
    let transaction = client.transaction().await.map_err(Fault::Uncommitted)?;
    let targets = match resend.endpoint {
        None => enabled(&transaction, scope).await?,
        Some(id) => {
            let id = uuid(id.to_bytes());
            let sql = "SELECT disabled IS NOT NULL FROM event_endpoints
                       WHERE environment_id = $1 AND id = $2 FOR SHARE";
            match query(&transaction, sql, &[&scope, &id]).await?.first() {
                None => return Ok(Resent::Missing),
                Some(row) if row.try_get(0)? => return Ok(Resent::Disabled),
                Some(_) => vec![Target { id: id.into_bytes(), filter: None }],
            }
        }
    };
    let mut again = match resend.which {
        ResendWhich::Event(id) => {
            let sql = "SELECT kind FROM out_events WHERE environment_id = $1 AND id = $2";
            match query(&transaction, sql, &[&scope, &uuid(id.to_bytes())]).await?.first() {
                None => return Ok(Resent::Missing),
                Some(row) => to_all_that_want(&[(id.to_bytes(), kind(row.try_get(0)?)?)], &targets),
            }
        }
        ResendWhich::Between { from, until, parked_only, after } => match Span::new(from, until, after) {
            None => Vec::new(),
            Some(span) if parked_only => parked(&transaction, scope, span, &targets, limit).await?,
            Some(span) => {
                to_all_that_want(&events(&transaction, scope, span, &targets, limit).await?, &targets)
            }
        },
    };
    let resent = in_order(&mut again, limit);
    if again.is_empty() {
        return Ok(resent);
    }
    let (events, endpoints): (Vec<Uuid>, Vec<Uuid>) =
        again.iter().map(|(event, endpoint)| (uuid(*event), uuid(*endpoint))).unzip();
    let sql =
        "INSERT INTO event_deliveries (environment_id, endpoint_id, event_id, state, since, due_at, tries)
         SELECT $1, a.endpoint_id, a.event_id, 'waiting', $4, $4, 0
         FROM unnest($2::uuid[], $3::uuid[]) AS a (event_id, endpoint_id)
         ON CONFLICT (environment_id, endpoint_id, event_id) DO UPDATE SET state = excluded.state,
             since = excluded.since, due_at = excluded.due_at, tries = excluded.tries";
    query(&transaction, sql, &[&scope, &events, &endpoints, &now.unix_millis()]).await?;
    transaction.commit().await?;
    Ok(resent)
}

async fn query(
    transaction: &Transaction<'_>,
    sql: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<Vec<Row>, Fault> {
    let statement = transaction.prepare_cached(sql).await.map_err(Fault::Uncommitted)?;
    transaction.query(&statement, values).await.map_err(Fault::Uncommitted)
}

/// Every endpoint that is told.
async fn enabled(transaction: &Transaction<'_>, scope: Uuid) -> Result<Vec<Target>, Fault> {
    let sql = "SELECT id, filter FROM event_endpoints
               WHERE environment_id = $1 AND disabled IS NULL ORDER BY id FOR SHARE";
    let rows = query(transaction, sql, &[&scope]).await?;
    rows.iter().map(|row| read_target(&mut RowCells::new(row, 0))).collect()
}

/// The first events of a span that somebody wants. Kind by kind, so that what nobody wants is not read.
async fn events(
    transaction: &Transaction<'_>,
    scope: Uuid,
    span: Span,
    targets: &[Target],
    limit: u32,
) -> Result<Vec<([u8; 16], EventKind)>, Fault> {
    let kinds: Vec<&str> = kinds_wanted(targets).into_iter().map(EventKind::as_str).collect();
    let sql = "SELECT e.id, wanted.kind FROM unnest($2::text[]) AS wanted (kind) CROSS JOIN LATERAL (
             SELECT e.id FROM out_events e
             WHERE e.environment_id = $1 AND e.kind = wanted.kind AND e.id BETWEEN $3 AND $4
                 AND e.at BETWEEN $5 AND $6
             ORDER BY e.id LIMIT $7) e";
    let values: [&(dyn ToSql + Sync); 7] =
        [&scope, &kinds, &uuid(span.ids.0), &uuid(span.ids.1), &span.at.0, &span.at.1, &i64::from(limit)];
    let rows = query(transaction, sql, &values).await?;
    rows.iter().map(|row| Ok((row.try_get::<_, Uuid>(0)?.into_bytes(), kind(row.try_get(1)?)?))).collect()
}

/// The first deliveries of a span that were given up, to those who want them.
async fn parked(
    transaction: &Transaction<'_>,
    scope: Uuid,
    span: Span,
    targets: &[Target],
    limit: u32,
) -> Result<Vec<Again>, Fault> {
    let mut again = Vec::new();
    for target in targets {
        let kinds: Vec<&str> =
            kinds_wanted(std::slice::from_ref(target)).into_iter().map(EventKind::as_str).collect();
        let sql = "SELECT d.event_id FROM event_deliveries d CROSS JOIN LATERAL (
                 SELECT * FROM out_events e
                 WHERE e.environment_id = d.environment_id AND e.id = d.event_id LIMIT 1) e
             WHERE d.environment_id = $1 AND d.endpoint_id = $2 AND d.state = 'parked'
                 AND d.event_id BETWEEN $3 AND $4 AND e.at BETWEEN $5 AND $6 AND e.kind = ANY ($8)
             ORDER BY d.event_id LIMIT $7";
        let values: [&(dyn ToSql + Sync); 8] = [
            &scope,
            &uuid(target.id),
            &uuid(span.ids.0),
            &uuid(span.ids.1),
            &span.at.0,
            &span.at.1,
            &i64::from(limit),
            &kinds,
        ];
        for row in query(transaction, sql, &values).await? {
            again.push((row.try_get::<_, Uuid>(0)?.into_bytes(), target.id));
        }
    }
    Ok(again)
}
