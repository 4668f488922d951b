//! Events that are sent once more.

use tollgate_domain::{
    Timestamp,
    event::EventKind,
    id::{EnvironmentId, EventId},
};
use tollgate_engine::ports::{Resend, ResendWhich, Resent};

use super::out_events;
use crate::{
    prelude::*,
    rows::{
        delivery::{Again, RESENT, Span, in_order, resent_row, to_all_that_want},
        endpoint::{Target, kinds_wanted},
    },
};

/// The endpoints stay as they are until it is done, so that nothing is sent to one that is disabled meanwhile.
pub(crate) async fn resend<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    resend: Resend,
    now: Timestamp,
    limit: u32,
) -> Result<Effect<Resent>, Fault> {
    let targets = match resend.endpoint {
        None => {
            let sql = "SELECT id, filter FROM event_endpoints
                 WHERE environment_id = $1 AND disabled IS NULL ORDER BY id";
            s.query(&S::DIALECT.locked(sql), values![environment], read).await?
        }
        Some(id) => {
            let sql = "SELECT disabled FROM event_endpoints WHERE environment_id = $1 AND id = $2";
            let sql = S::DIALECT.locked(sql);
            match s.query_opt(&sql, values![environment, id], read::<Option<String>>).await? {
                None => return Ok(Effect::Nothing(Resent::Missing)),
                Some(Some(_)) => return Ok(Effect::Nothing(Resent::Disabled)),
                Some(None) => vec![Target { id: id.to_bytes(), filter: None }],
            }
        }
    };
    let (mut again, read_up_to) = match resend.which {
        ResendWhich::Event(id) => match out_events::find(s, environment, id).await? {
            None => return Ok(Effect::Nothing(Resent::Missing)),
            Some(event) => (to_all_that_want(&[(id.to_bytes(), event.kind)], &targets), None),
        },
        ResendWhich::Between { from, until, parked_only, after } => match Span::new(from, until, after) {
            None => (Vec::new(), None),
            Some(span) if parked_only => (parked(s, environment, span, &targets, limit).await?, None),
            Some(span) => {
                let (events, read_up_to) = events(s, environment, span, limit).await?;
                (to_all_that_want(&events, &targets), read_up_to)
            }
        },
    };
    let resent = in_order(&mut again, limit, read_up_to);
    if again.is_empty() {
        return Ok(Effect::Nothing(resent));
    }
    s.insert(&RESENT, again.iter().map(|again| resent_row(environment, again, now)).collect()).await?;
    Ok(Effect::Written(resent))
}

/// Events of a span that are read for each delivery that may be made, whether anybody wants them or not.
const READ_FOR_EACH: u32 = 10;

pub(crate) const OF_SPAN: &str = "SELECT e.id, e.kind, e.at FROM out_events e
     WHERE e.environment_id = $1 AND e.id BETWEEN $2 AND $3 ORDER BY e.id LIMIT $4";

/// The first events of a span; and the last that was read, if there may be more behind it.
async fn events<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    span: Span,
    limit: u32,
) -> Result<(Vec<([u8; 16], EventKind)>, Option<EventId>), Fault> {
    let read = |cells: &mut Cells<'_>| {
        Ok((cells.id::<EventId>()?, EventKind::parse(&cells.text()?), cells.number()?))
    };
    let (ids, at, most) = (span.ids, span.at, limit.saturating_mul(READ_FOR_EACH));
    let events = s.query(OF_SPAN, values![environment, ids.0, ids.1, most], read).await?;
    let is_full = u32::try_from(events.len()).is_ok_and(|read| read >= most);
    let last = events.last().map(|(id, ..)| *id).filter(|_| is_full);
    let in_span = events.into_iter().filter(|(.., moment)| (at.0..=at.1).contains(moment));
    // A kind that is not known is one of a later version.
    Ok((in_span.filter_map(|(id, kind, _)| Some((id.to_bytes(), kind?))).collect(), last))
}

pub(crate) fn parked_sql(dialect: Dialect, kinds: &[EventKind]) -> String {
    let from = dialect.pick(
        "event_deliveries d INDEXED BY event_deliveries_by_state
         CROSS JOIN out_events e ON e.environment_id = d.environment_id AND e.id = d.event_id",
        "event_deliveries d CROSS JOIN LATERAL (
             SELECT * FROM out_events e
             WHERE e.environment_id = d.environment_id AND e.id = d.event_id LIMIT 1) e",
    );
    let kinds: Vec<String> = kinds.iter().map(|kind| format!("'{kind}'")).collect();
    format!(
        "SELECT d.event_id FROM {from}
         WHERE d.environment_id = $1 AND d.endpoint_id = $2 AND d.state = 'parked' AND d.state <> 'delivered'
             AND d.event_id BETWEEN $3 AND $4 AND e.at BETWEEN $5 AND $6 AND e.kind IN ({})
         ORDER BY d.event_id LIMIT $7",
        kinds.join(", ")
    )
}

/// The first deliveries of a span that were given up, to those who want them.
async fn parked<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    span: Span,
    targets: &[Target],
    limit: u32,
) -> Result<Vec<Again>, Fault> {
    let mut again = Vec::new();
    for target in targets {
        let sql = parked_sql(S::DIALECT, &kinds_wanted(std::slice::from_ref(target)));
        let (ids, at) = (span.ids, span.at);
        let values = values![environment, target.id, ids.0, ids.1, at.0, at.1, limit];
        again.extend(s.query(&sql, values, |cells| Ok((cells.id()?, target.id))).await?);
    }
    Ok(again)
}
