//! Keys that seal bank details for a few minutes each.

use tollgate_domain::{Timestamp, id::SealingKeyId};
use tollgate_engine::ports::SealingKey;

use crate::prelude::*;

const INSERT: &str =
    "INSERT INTO sealing_keys (id, sealed, created_at) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING";

pub(crate) async fn put<S: Session>(s: &mut S, keys: &[SealingKey]) -> Result<Effect<()>, Fault> {
    let mut written = 0;
    for key in keys {
        written += s.execute(INSERT, values![key.id, &key.sealed, key.created_at]).await?;
    }
    Ok(Effect::written_if(written > 0, ()))
}

pub(crate) async fn find<S: Session>(s: &mut S, id: SealingKeyId) -> Result<Option<SealingKey>, Fault> {
    let sql = "SELECT id, sealed, created_at FROM sealing_keys WHERE id = $1";
    s.query_opt(sql, values![id], read).await
}

pub(crate) async fn in_use<S: Session>(s: &mut S) -> Result<Vec<SealingKeyId>, Fault> {
    // A sealed text begins with `v1.` and the name of its key.
    let sql = "SELECT DISTINCT substr(sealed_account, 4, 30) FROM transfers WHERE sealed_account IS NOT NULL";
    let names: Vec<String> = s.query(sql, &[], read).await?;
    // Release 0.1.0 sealed under the master key, whose name is no key's id.
    Ok(names.iter().filter_map(|name| name.parse().ok()).collect())
}

pub(crate) async fn destroy<S: Session>(s: &mut S, made_before: Timestamp) -> Result<Effect<u64>, Fault> {
    if unused(s, made_before).await?.0.is_empty() {
        return Ok(Effect::Nothing(0));
    }
    if S::DIALECT == Dialect::Postgres {
        // A deleted row stays in the table's file. So the table is written anew, and nobody adds a key meanwhile.
        s.execute("LOCK TABLE sealing_keys IN ACCESS EXCLUSIVE MODE", &[]).await?;
    }
    let (unused, kept) = unused(s, made_before).await?;
    match S::DIALECT {
        Dialect::Sqlite => {
            for key in &unused {
                s.execute("DELETE FROM sealing_keys WHERE id = $1", values![key.id]).await?;
            }
        }
        Dialect::Postgres => {
            s.execute("TRUNCATE sealing_keys", &[]).await?;
            for key in &kept {
                s.execute(INSERT, values![key.id, &key.sealed, key.created_at]).await?;
            }
        }
    }
    let count = u64::try_from(unused.len()).unwrap_or(u64::MAX);
    Ok(Effect::written_if(count > 0, count))
}

/// The keys that may be destroyed, and the others.
async fn unused<S: Session>(
    s: &mut S,
    made_before: Timestamp,
) -> Result<(Vec<SealingKey>, Vec<SealingKey>), Fault> {
    let all: Vec<SealingKey> = s.query("SELECT id, sealed, created_at FROM sealing_keys", &[], read).await?;
    if all.iter().all(|key| key.created_at >= made_before) {
        return Ok((Vec::new(), all));
    }
    let in_use = in_use(s).await?;
    Ok(all.into_iter().partition(|key| key.created_at < made_before && !in_use.contains(&key.id)))
}

stored! { SealingKey { id, sealed, created_at } }
