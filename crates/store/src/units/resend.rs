//! Events that are sent once more.

use tollgate_domain::{Timestamp, event::EventKind, id::EnvironmentId};
use tollgate_engine::ports::{Resend, ResendWhich, Resent};

use super::out_events;
use crate::{
    prelude::*,
    rows::{
        delivery::{Again, RESENT, Span, in_order, resent_row, to_all_that_want},
        endpoint::{Target, kinds_wanted, read_target},
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
            s.query(&S::DIALECT.locked(sql), values![environment], read_target).await?
        }
        Some(id) => {
            let sql = "SELECT disabled FROM event_endpoints WHERE environment_id = $1 AND id = $2";
            let sql = S::DIALECT.locked(sql);
            match s.query_opt(&sql, values![environment, id], |cells| cells.text_or_none()).await? {
                None => return Ok(Effect::Nothing(Resent::Missing)),
                Some(Some(_)) => return Ok(Effect::Nothing(Resent::Disabled)),
                Some(None) => vec![Target { id: id.to_bytes(), filter: None }],
            }
        }
    };
    let mut again = match resend.which {
        ResendWhich::Event(id) => match out_events::find(s, environment, id).await? {
            None => return Ok(Effect::Nothing(Resent::Missing)),
            Some(event) => to_all_that_want(&[(id.to_bytes(), event.kind)], &targets),
        },
        ResendWhich::Between { from, until, parked_only, after } => match Span::new(from, until, after) {
            None => Vec::new(),
            Some(span) if parked_only => parked(s, environment, span, &targets, limit).await?,
            Some(span) => to_all_that_want(&events(s, environment, span, &targets, limit).await?, &targets),
        },
    };
    let resent = in_order(&mut again, limit);
    if again.is_empty() {
        return Ok(Effect::Nothing(resent));
    }
    s.insert(&RESENT, again.iter().map(|again| resent_row(environment, again, now)).collect()).await?;
    Ok(Effect::Written(resent))
}

macro_rules! of_kind {
    ($index:literal) => {
        concat!(
            "SELECT e.id FROM out_events e",
            $index,
            " WHERE e.environment_id = $1 AND e.kind = $2 AND e.id BETWEEN $3 AND $4 AND e.at BETWEEN $5 AND $6
             ORDER BY e.id LIMIT $7"
        )
    };
}

pub(crate) const OF_KIND: &str = of_kind!(" INDEXED BY out_events_by_kind");

/// The first events of a span that somebody wants. Kind by kind, so that what nobody wants is not read.
async fn events<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    span: Span,
    targets: &[Target],
    limit: u32,
) -> Result<Vec<([u8; 16], EventKind)>, Fault> {
    let mut events = Vec::new();
    for kind in kinds_wanted(targets) {
        let (ids, at) = (span.ids, span.at);
        let values = values![environment, kind.as_str(), ids.0, ids.1, at.0, at.1, limit];
        let sql = S::DIALECT.pick(OF_KIND, of_kind!(""));
        events.extend(s.query(sql, values, |cells| Ok((cells.id()?, kind))).await?);
    }
    Ok(events)
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
