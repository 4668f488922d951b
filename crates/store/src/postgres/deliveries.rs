//! Deliveries as they are listed and settled.

use deadpool_postgres::ClientWrapper;
use tokio_postgres::types::ToSql;
use tollgate_domain::{
    Timestamp,
    id::{EndpointId, EnvironmentId, EventId},
};
use tollgate_engine::ports::{Attempted, DeliveryQuery, DeliveryState, EndpointEffect, EventDelivery};

use super::{cells::RowCells, fault::Fault, uuid};
use crate::convert::{
    self,
    delivery::{Bounds, delivery_columns, newest_first, read, state_condition},
};

/// Those of each endpoint are read by themselves, newest first, and so are at once in order.
fn list_sql(query: DeliveryQuery) -> String {
    format!(
        concat!(
            "SELECT ",
            delivery_columns!(),
            " FROM event_endpoints p CROSS JOIN LATERAL (
                 SELECT * FROM event_deliveries d
                 WHERE d.environment_id = p.environment_id AND d.endpoint_id = p.id
                     AND d.event_id BETWEEN $3 AND $4 AND (d.event_id < $5 OR d.endpoint_id > $6){}
                 ORDER BY d.event_id DESC LIMIT $7) d
             CROSS JOIN LATERAL (
                 SELECT * FROM out_events e
                 WHERE e.environment_id = d.environment_id AND e.id = d.event_id LIMIT 1) e
             WHERE p.environment_id = $1 AND ($2::uuid IS NULL OR p.id = $2)"
        ),
        state_condition(query)
    )
}

pub(super) async fn list(
    client: &ClientWrapper,
    environment: EnvironmentId,
    query: DeliveryQuery,
    before: Option<(EventId, EndpointId)>,
    limit: u32,
) -> Result<Vec<EventDelivery>, Fault> {
    let Bounds { events, behind } = Bounds::new(query.event, before);
    let statement = client.prepare_cached(&list_sql(query)).await?;
    let rows = client
        .query(
            &statement,
            &[
                &uuid(environment.to_bytes()),
                &query.endpoint.map(|endpoint| uuid(endpoint.to_bytes())),
                &uuid(events.0),
                &uuid(events.1),
                &uuid(behind.0),
                &uuid(behind.1),
                &i64::from(limit),
            ],
        )
        .await?;
    let mut deliveries =
        rows.iter().map(|row| read(&mut RowCells::new(row, 0))).collect::<Result<Vec<_>, Fault>>()?;
    newest_first(&mut deliveries, limit);
    Ok(deliveries)
}

macro_rules! settled {
    ($from:literal) => {
        concat!(
            "settled AS (
                 UPDATE event_deliveries d SET state = $4, due_at = $5, last_at = $6, last_status = $7,
                     last_took = $8, last_note = $9",
            $from,
            " WHERE d.environment_id = $1 AND d.endpoint_id = $2 AND d.event_id = $3 AND d.state = 'waiting'
                 RETURNING d.environment_id, d.endpoint_id, d.event_id)"
        )
    };
}

/// Nearly always there is nothing to forget, and then the endpoint's row is left alone.
const ANSWERS: &str = concat!(
    "WITH ",
    settled!(""),
    ", forgotten AS (
         UPDATE event_endpoints p SET failures = 0, rests_until = NULL FROM settled
         WHERE p.environment_id = settled.environment_id AND p.id = settled.endpoint_id
             AND (p.failures > 0 OR p.rests_until IS NOT NULL))
     SELECT EXISTS (SELECT 1 FROM settled)"
);

/// The endpoint is locked before the delivery, as by whoever disables it.
macro_rules! locked {
    () => {
        "WITH endpoint AS MATERIALIZED (
             SELECT 1 FROM event_endpoints p WHERE p.environment_id = $1 AND p.id = $2 FOR NO KEY UPDATE), "
    };
}

const RESTS: &str = concat!(
    locked!(),
    settled!(" FROM endpoint"),
    ", failed AS (
         UPDATE event_endpoints p SET failures = least(p.failures + 1, 4294967295), rests_until = $10 FROM settled
         WHERE p.environment_id = settled.environment_id AND p.id = settled.endpoint_id)
     SELECT EXISTS (SELECT 1 FROM settled)"
);

const DISABLED: &str = concat!(
    locked!(),
    settled!(" FROM endpoint"),
    ", failed AS (
         UPDATE event_endpoints p
         SET failures = least(p.failures + 1, 4294967295), disabled = coalesce(p.disabled, $10) FROM settled
         WHERE p.environment_id = settled.environment_id AND p.id = settled.endpoint_id),
     parked AS (
         UPDATE event_deliveries d SET state = 'parked', due_at = NULL FROM settled
         WHERE d.environment_id = settled.environment_id AND d.endpoint_id = settled.endpoint_id
             AND d.event_id <> settled.event_id AND d.state = 'waiting')
     SELECT EXISTS (SELECT 1 FROM settled)"
);

pub(super) async fn settle(
    client: &ClientWrapper,
    environment: EnvironmentId,
    endpoint: EndpointId,
    event: EventId,
    attempted: &Attempted,
) -> Result<bool, Fault> {
    let last = &attempted.last;
    let (scope, endpoint, event) =
        (uuid(environment.to_bytes()), uuid(endpoint.to_bytes()), uuid(event.to_bytes()));
    let (mut state, mut due_at) = (attempted.state, convert::delivery::due(attempted));
    let rests_until;
    let (sql, more): (&str, Option<&(dyn ToSql + Sync)>) = match &attempted.endpoint {
        EndpointEffect::Answers => (ANSWERS, None),
        EndpointEffect::Rests(until) => {
            rests_until = Timestamp::unix_millis(*until);
            (RESTS, Some(&rests_until))
        }
        EndpointEffect::Disabled(reason) => {
            // What waits for it is parked, and so is this one.
            if state == DeliveryState::Waiting {
                (state, due_at) = (DeliveryState::Parked, None);
            }
            (DISABLED, Some(reason))
        }
    };
    let (state, last_at) = (state.as_str(), last.at.unix_millis());
    let (status, took) = (last.status.map(i64::from), i64::from(last.took_millis));
    let mut values: Vec<&(dyn ToSql + Sync)> =
        vec![&scope, &endpoint, &event, &state, &due_at, &last_at, &status, &took, &last.note];
    values.extend(more);
    let statement = client.prepare_cached(sql).await?;
    Ok(client.query_one(&statement, &values).await?.try_get(0)?)
}
