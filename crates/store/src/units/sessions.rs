//! Sessions that were ended before their time.

use tollgate_domain::Timestamp;

use crate::prelude::*;

pub(crate) async fn end<S: Session>(
    s: &mut S,
    session: &[u8; 16],
    until: Timestamp,
    now: Timestamp,
) -> Result<Effect<()>, Fault> {
    // What has run out by itself need not be remembered.
    s.execute("DELETE FROM ended_sessions WHERE until < $1", values![now]).await?;
    let sql = "INSERT INTO ended_sessions (id, until) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING";
    s.execute(sql, values![*session, until]).await?;
    Ok(Effect::Written(()))
}

pub(crate) async fn is_ended<S: Session>(s: &mut S, session: &[u8; 16]) -> Result<bool, Fault> {
    s.exists("SELECT 1 FROM ended_sessions WHERE id = $1", values![*session]).await
}
