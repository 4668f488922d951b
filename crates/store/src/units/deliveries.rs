//! Deliveries as they are listed, claimed and settled.

use tollgate_domain::{
    Timestamp,
    id::{EndpointId, EnvironmentId, EventId},
};
use tollgate_engine::ports::{
    Attempted, ClaimedDelivery, DeliveryQuery, DeliveryState, Endpoint, EndpointEffect, EventDelivery,
};

use super::endpoints;
use crate::{
    prelude::*,
    rows::{
        delivery::{self, Bounds, delivery_columns, newest_first, state_condition},
        endpoint::endpoint_columns,
    },
};

/// Those of one endpoint. SQLite would rather read all of them than look for the rest of a few elsewhere.
pub(crate) fn list_sql(query: DeliveryQuery) -> String {
    let index = match query.state {
        Some(DeliveryState::Waiting | DeliveryState::Parked) => " INDEXED BY event_deliveries_by_state",
        Some(DeliveryState::Delivered) | None => "",
    };
    let event = if query.event.is_some() { "=" } else { "<=" };
    format!(
        concat!(
            "SELECT ",
            delivery_columns!(),
            " FROM event_deliveries d{}
             CROSS JOIN out_events e ON e.environment_id = d.environment_id AND e.id = d.event_id
             WHERE d.environment_id = $1 AND d.endpoint_id = $2 AND d.event_id {} $3
                 AND (d.event_id < $4 OR d.endpoint_id > $5){}
             ORDER BY d.event_id DESC LIMIT $6"
        ),
        index,
        event,
        state_condition(query)
    )
}

/// Those of every endpoint that is asked about, each read by itself, newest first, and so at once in order.
fn list_of_server_sql(query: DeliveryQuery) -> String {
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

pub(crate) async fn list<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    query: DeliveryQuery,
    before: Option<(EventId, EndpointId)>,
    limit: u32,
) -> Result<Vec<EventDelivery>, Fault> {
    let Bounds { events, behind } = Bounds::new(query.event, before);
    if events.0 > events.1 {
        return Ok(Vec::new());
    }
    let mut deliveries = Vec::new();
    if S::DIALECT == Dialect::Postgres {
        let values = values![environment, query.endpoint, events.0, events.1, behind.0, behind.1, limit];
        deliveries = s.query(&list_of_server_sql(query), values, delivery::read).await?;
    } else {
        let asked = if let Some(endpoint) = query.endpoint {
            vec![endpoint]
        } else {
            let sql = "SELECT id FROM event_endpoints WHERE environment_id = $1";
            s.query(sql, values![environment], read).await?
        };
        for endpoint in asked {
            let values = values![environment, endpoint, events.1, behind.0, behind.1, limit];
            deliveries.extend(s.query(&list_sql(query), values, delivery::read).await?);
        }
    }
    newest_first(&mut deliveries, limit);
    Ok(deliveries)
}

/// The endpoint behind another for which something waits, and what has waited longest for it.
pub(crate) const NEXT_WAITED_FOR: &str =
    "SELECT d.environment_id, d.endpoint_id, d.due_at FROM event_deliveries d
     WHERE d.due_at IS NOT NULL AND (d.environment_id, d.endpoint_id) > ($1, $2)
     ORDER BY d.environment_id, d.endpoint_id, d.due_at LIMIT 1";

const READY: &str = concat!(
    "SELECT ",
    endpoint_columns!(),
    " FROM event_endpoints p WHERE p.environment_id = $1 AND p.id = $2 AND p.disabled IS NULL
         AND (p.rests_until IS NULL OR p.rests_until <= $3)"
);

/// An endpoint for which something is due, and since when.
struct Ready {
    due_at: i64,
    environment: EnvironmentId,
    endpoint: Endpoint,
}

/// The endpoints for which something is due and that may be sent to. Looks at one delivery of each endpoint, however many
/// wait for it.
async fn ready<S: Session>(s: &mut S, now: Timestamp, most: usize) -> Result<Vec<Ready>, Fault> {
    let mut ready = Vec::new();
    // Below every id there is.
    let mut last = ([0; 16], [0; 16]);
    while ready.len() < most {
        let next =
            s.query_opt::<([u8; 16], [u8; 16], i64)>(NEXT_WAITED_FOR, values![last.0, last.1], read).await?;
        let Some((scope, id, due_at)) = next else { break };
        if due_at <= now.unix_millis() {
            let endpoint = s.query_opt(READY, values![scope, id, now], read).await?;
            let environment = EnvironmentId::from_bytes(scope);
            ready.extend(endpoint.map(|endpoint| Ready { due_at, environment, endpoint }));
        }
        last = (scope, id);
    }
    Ok(ready)
}

/// Asked before claiming, so that looking for work writes nothing while there is none.
pub(crate) async fn is_any_due<S: Session>(s: &mut S, now: Timestamp) -> Result<bool, Fault> {
    Ok(!ready(s, now, 1).await?.is_empty())
}

pub(crate) const DUE: &str = concat!(
    "SELECT ",
    delivery_columns!(),
    " FROM event_deliveries d
     CROSS JOIN out_events e ON e.environment_id = d.environment_id AND e.id = d.event_id
     WHERE d.environment_id = $1 AND d.endpoint_id = $2 AND d.due_at <= $3
     ORDER BY d.due_at, d.event_id LIMIT $4"
);

pub(crate) async fn claim<S: Session>(
    s: &mut S,
    now: Timestamp,
    until: Timestamp,
    each: u32,
    limit: u32,
) -> Result<Effect<Vec<ClaimedDelivery>>, Fault> {
    s.claim_deliveries(now, until, each, limit).await
}

/// On SQLite.
pub(crate) async fn claim_in_steps<S: Session>(
    s: &mut S,
    now: Timestamp,
    until: Timestamp,
    each: u32,
    limit: u32,
) -> Result<Effect<Vec<ClaimedDelivery>>, Fault> {
    let mut ready = ready(s, now, usize::MAX).await?;
    ready.sort_by_key(|ready| (ready.due_at, ready.environment, ready.endpoint.id));
    let mut claimed = Vec::new();
    for Ready { environment, endpoint, .. } in ready {
        let taken = u32::try_from(claimed.len()).unwrap_or(u32::MAX);
        let count = each.min(limit.saturating_sub(taken));
        if count == 0 {
            break;
        }
        for mut delivery in
            s.query(DUE, values![environment, endpoint.id, now, count], delivery::read).await?
        {
            delivery.due = Some(until);
            delivery.tries = delivery.tries.saturating_add(1);
            let sql = "UPDATE event_deliveries SET due_at = $4, tries = $5
                 WHERE environment_id = $1 AND endpoint_id = $2 AND event_id = $3";
            s.execute(sql, values![environment, endpoint.id, delivery.event.id, until, delivery.tries])
                .await?;
            claimed.push(ClaimedDelivery { environment, delivery, endpoint: endpoint.clone() });
        }
    }
    Ok(Effect::written_if(!claimed.is_empty(), claimed))
}

macro_rules! settle {
    () => {
        "UPDATE event_deliveries SET state = $4, due_at = $5, last_at = $6, last_status = $7, last_took = $8,
             last_note = $9
         WHERE environment_id = $1 AND endpoint_id = $2 AND event_id = $3 AND state = 'waiting'"
    };
}

macro_rules! forget {
    () => {
        "UPDATE event_endpoints SET failures = 0, rests_until = NULL
         WHERE environment_id = $1 AND id = $2 AND (failures > 0 OR rests_until IS NOT NULL)"
    };
}

fn settled(
    environment: EnvironmentId,
    endpoint: EndpointId,
    event: EventId,
    attempted: &Attempted,
) -> Vec<Value<'_>> {
    let (due, last) = (rows::delivery::due(attempted), &attempted.last);
    let state = attempted.state.as_str();
    row![environment, endpoint, event, state, due, last.at, last.status, last.took_millis, &last.note]
}

/// After an endpoint has answered. Nearly always there is nothing to forget, and then its row is left alone. PostgreSQL
/// is spared two round trips of each delivery, which is what the rate of deliveries depends on.
pub(crate) async fn settle_answered<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    endpoint: EndpointId,
    event: EventId,
    attempted: &Attempted,
) -> Result<Effect<bool>, Fault> {
    let values = settled(environment, endpoint, event, attempted);
    if S::DIALECT == Dialect::Postgres {
        let sql = concat!(
            "WITH settled AS (",
            settle!(),
            " RETURNING 1), forgotten AS (",
            forget!(),
            " AND EXISTS (SELECT 1 FROM settled)) SELECT EXISTS (SELECT 1 FROM settled)"
        );
        return s.query_one(sql, &values, read).await.map(Effect::Written);
    }
    if s.execute(settle!(), &values).await? == 0 {
        return Ok(Effect::Nothing(false));
    }
    s.execute(forget!(), values![environment, endpoint]).await?;
    Ok(Effect::Written(true))
}

/// After an endpoint has failed. It is locked before the delivery, as by whoever disables it.
pub(crate) async fn settle_failed<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    endpoint: EndpointId,
    event: EventId,
    attempted: &Attempted,
) -> Result<Effect<bool>, Fault> {
    let lock = S::DIALECT.locked("SELECT 1 FROM event_endpoints WHERE environment_id = $1 AND id = $2");
    let is_there = s.exists(&lock, values![environment, endpoint]).await?;
    let values = settled(environment, endpoint, event, attempted);
    if !is_there || s.execute(settle!(), &values).await? == 0 {
        return Ok(Effect::Nothing(false));
    }
    let (rests_until, disabled) = match &attempted.endpoint {
        EndpointEffect::Answers => return Err(Fault::Misuse("an endpoint that answers has not failed")),
        EndpointEffect::Rests(until) => (Some(*until), None),
        EndpointEffect::Disabled(reason) => (None, Some(reason)),
    };
    let sql = "UPDATE event_endpoints SET rests_until = coalesce($3, rests_until), disabled = coalesce(disabled, $4),
             failures = CASE WHEN failures < 4294967295 THEN failures + 1 ELSE failures END
         WHERE environment_id = $1 AND id = $2";
    s.execute(sql, values![environment, endpoint, rests_until, disabled]).await?;
    if disabled.is_some() {
        endpoints::park_waiting(s, environment, endpoint).await?;
    }
    Ok(Effect::Written(true))
}
