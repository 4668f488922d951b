//! Customer tokens that were issued under a key.

use tollgate_domain::id::EnvironmentId;
use tollgate_engine::ports::KeyedToken;

use crate::prelude::*;

record! {
    CUSTOMER_TOKENS, customer_token_columns = "customer_tokens" as c of (environment_id: Id) "ON CONFLICT DO NOTHING";
    KeyedToken {
        key_digest: Bytes = key,
        fingerprints: Text = fingerprints,
        token: Text = token,
        expires_at: Number = expires_at,
        created_at: Number = created_at,
    }
}

/// Keeps a token, unless its key has one: returns the one that is kept.
pub(crate) async fn keep<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    new: &KeyedToken,
) -> Result<Effect<Option<KeyedToken>>, Fault> {
    if !s.exists("SELECT 1 FROM environments WHERE id = $1", values![environment]).await? {
        return Ok(Effect::Nothing(None));
    }
    s.insert(&CUSTOMER_TOKENS, vec![row![environment, ..new]]).await?;
    let sql = concat!(
        "SELECT ",
        customer_token_columns!(),
        " FROM customer_tokens c WHERE environment_id = $1 AND key_digest = $2"
    );
    let kept = s.query_opt(sql, values![environment, &new.key], read).await?;
    Ok(Effect::Written(kept))
}
