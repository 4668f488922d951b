//! Who changed what. Rows are only ever added, in the unit of the change itself.

use tollgate_domain::id::{EnvironmentId, KeyId};
use tollgate_engine::ports::{ChangeOrigin, KeyAction, KeyChange};

use crate::prelude::*;

/// Beyond this many changes of one page of keys the oldest are enough.
const MOST_CHANGES: u32 = 1_000;

pub(super) async fn add<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    key: KeyId,
    action: KeyAction,
    origin: &ChangeOrigin,
) -> Result<(), Fault> {
    let sql = "INSERT INTO admin_changes (environment_id, subject, id, action, actor, request, at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let ChangeOrigin { id, actor, request, at } = origin;
    let values = values![environment, key.to_string(), *id, word(action), actor, request, *at];
    s.execute(sql, values).await.map(drop)
}

pub(crate) async fn of_keys<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    first: KeyId,
    last: KeyId,
) -> Result<Vec<KeyChange>, Fault> {
    // The texts of ids sort as the ids do.
    let sql = "SELECT subject, action, id, actor, request, at FROM admin_changes
         WHERE environment_id = $1 AND subject >= $2 AND subject <= $3 ORDER BY subject, id LIMIT $4";
    s.query(sql, values![environment, first.to_string(), last.to_string(), MOST_CHANGES], read).await
}

fn word(action: KeyAction) -> String {
    format!("key.{}", action.as_str())
}

fn read(cells: &mut Cells<'_>) -> Result<KeyChange, Fault> {
    Ok(KeyChange {
        key: cells.word("id of a key", |text| text.parse().ok())?,
        action: cells.word("change of a key", |text| KeyAction::parse(text.strip_prefix("key.")?))?,
        origin: ChangeOrigin {
            id: cells.id()?,
            actor: cells.text()?,
            request: cells.text()?,
            at: cells.moment()?,
        },
    })
}
