//! Customer tokens that were issued under a key.

use tollgate_domain::id::EnvironmentId;
use tollgate_engine::ports::KeyedToken;

use crate::prelude::*;

/// Keeps a token, unless its key has one: returns the one that is kept.
pub(crate) async fn keep<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    new: &KeyedToken,
) -> Result<Effect<Option<KeyedToken>>, Fault> {
    if !s.exists("SELECT 1 FROM environments WHERE id = $1", values![environment]).await? {
        return Ok(Effect::Nothing(None));
    }
    let sql = "INSERT INTO customer_tokens (environment_id, key_digest, fingerprints, token, expires_at, created_at)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";
    let values =
        values![environment, &new.key, &new.fingerprints, &new.token, new.expires_at, new.created_at];
    s.execute(sql, values).await?;
    let sql = "SELECT fingerprints, token, expires_at, created_at FROM customer_tokens
         WHERE environment_id = $1 AND key_digest = $2";
    let read = |cells: &mut Cells<'_>| {
        Ok(KeyedToken {
            key: new.key,
            fingerprints: cells.text()?,
            token: cells.text()?,
            expires_at: cells.moment_or_none()?,
            created_at: cells.moment()?,
        })
    };
    let kept = s.query_opt(sql, values![environment, &new.key], read).await?;
    Ok(Effect::Written(kept))
}
