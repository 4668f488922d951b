//! Deliveries as they are taken, fairly between endpoints.
//!
//! First the endpoints are found for which something is due, by looking at one delivery of each, however many wait for it;
//! then some of each are taken. A statement each, instead of one or more for every endpoint and delivery: the rate of
//! deliveries depends on these round trips.

use tollgate_domain::{Timestamp, id::EnvironmentId};
use tollgate_engine::ports::{ClaimedDelivery, Endpoint};

use super::statements::pairs;
use crate::{
    prelude::*,
    rows::{
        delivery::{self, delivery_columns},
        endpoint::endpoint_columns,
    },
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

/// An event that is written while its endpoint is disabled or removed may not know of it: such deliveries are parked and
/// removed here, like those before.
const TIDY: &str = "WITH gone AS (
         SELECT g.environment_id, g.id, p.id AS known, p.disabled
         FROM unnest($1::uuid[], $2::uuid[]) AS g (environment_id, id)
         LEFT JOIN event_endpoints p ON p.environment_id = g.environment_id AND p.id = g.id),
     parked AS (
         UPDATE event_deliveries d SET state = 'parked', due_at = NULL FROM gone
         WHERE d.environment_id = gone.environment_id AND d.endpoint_id = gone.id AND d.state = 'waiting'
             AND gone.disabled IS NOT NULL)
     DELETE FROM event_deliveries d USING gone
     WHERE d.environment_id = gone.environment_id AND d.endpoint_id = gone.id AND gone.known IS NULL";

pub(super) async fn claim<S: Session>(
    s: &mut S,
    now: Timestamp,
    until: Timestamp,
    each: u32,
    limit: u32,
) -> Result<Effect<Vec<ClaimedDelivery>>, Fault> {
    let waited_for = s
        .query(WAITED_FOR, values![now, limit], |cells| {
            let (key, is_gone): ((EnvironmentId, [u8; 16]), bool) = cells.get()?;
            let endpoint: Option<Endpoint> = if is_gone { None } else { cells.get()? };
            Ok((key, endpoint))
        })
        .await?;
    if waited_for.is_empty() {
        return Ok(Effect::Nothing(Vec::new()));
    }
    let gone: Vec<_> = waited_for.iter().filter(|(_, endpoint)| endpoint.is_none()).collect();
    if !gone.is_empty() {
        s.execute(TIDY, &pairs(gone.iter().map(|(key, _)| *key))).await?;
    }
    let ready: Vec<(EnvironmentId, Endpoint)> = waited_for
        .into_iter()
        .filter_map(|((environment, _), endpoint)| Some((environment, endpoint?)))
        .collect();
    let [scopes, ids] = pairs(ready.iter().map(|(environment, endpoint)| (*environment, endpoint.id)));
    let values = [now.into(), until.into(), scopes, ids, each.into(), limit.into()];
    let claimed = s
        .query(TAKE, &values, |cells| {
            let place: usize = cells.count("place of an endpoint")?;
            let endpoint = place.checked_sub(1).and_then(|place| ready.get(place));
            let (environment, endpoint) = endpoint.ok_or(CorruptRow("delivery that was not asked for"))?;
            let delivery = delivery::read(cells)?;
            Ok(ClaimedDelivery { environment: *environment, delivery, endpoint: endpoint.clone() })
        })
        .await?;
    Ok(Effect::Written(claimed))
}
