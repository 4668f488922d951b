//! Events about the end of the audit log, for endpoints that name them.

use tollgate_domain::{Timestamp, event::EventKind, id::EnvironmentId};
use tollgate_engine::ports::NewAuditHeadEvent;

use super::{
    circuit_events::LAST,
    out_events::{Notice, notify},
};
use crate::{
    prelude::*,
    rows::out_event::{AUDIT_LOG, NO_REFERENCE, in_filter, read, write_audit_head},
};

const KIND: EventKind = EventKind::AuditLogHead;
/// Any number that nothing else locks: nodes write these events one after the other.
const LOCK: i64 = 0x6175_6469_745f_6865;

/// The environments with an enabled endpoint that names this event.
pub(crate) async fn subscribers<S: Session>(s: &mut S) -> Result<Vec<EnvironmentId>, Fault> {
    let sql = S::DIALECT.pick(
        "SELECT DISTINCT environment_id FROM event_endpoints WHERE disabled IS NULL AND instr(filter, $1) > 0",
        "SELECT DISTINCT environment_id FROM event_endpoints WHERE disabled IS NULL AND strpos(filter, $1) > 0",
    );
    s.query(sql, values![in_filter(KIND)], |cells| cells.id()).await
}

pub(crate) async fn append<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    event: &NewAuditHeadEvent,
    unless_since: Timestamp,
) -> Result<Effect<bool>, Fault> {
    if S::DIALECT == Dialect::Postgres {
        s.exists("SELECT 1 FROM pg_advisory_xact_lock($1)", values![LOCK]).await?;
    }
    let [sqlite, postgres] = LAST;
    let values = values![environment, AUDIT_LOG, NO_REFERENCE];
    let last = s.query_opt(S::DIALECT.pick(sqlite, postgres), values, read).await?;
    if last.is_some_and(|last| last.at >= unless_since) {
        return Ok(Effect::Nothing(false));
    }
    let (about, state) = ((AUDIT_LOG, NO_REFERENCE), write_audit_head(event.head));
    notify(s, Notice { environment, id: event.id, kind: KIND, about, at: event.at, state }).await?;
    Ok(Effect::Written(true))
}
