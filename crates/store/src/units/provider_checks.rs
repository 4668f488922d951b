//! The last check of each provider, and the accounts that checks have learned of.

use tollgate_domain::id::EnvironmentId;
use tollgate_engine::ports::{ProviderCheck, ProviderCheckRecord};

use crate::prelude::*;

pub(crate) async fn put<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    record: &ProviderCheckRecord,
) -> Result<Effect<bool>, Fault> {
    if !s.exists("SELECT 1 FROM environments WHERE id = $1", values![environment]).await? {
        return Ok(Effect::Nothing(false));
    }
    let sql = "INSERT INTO provider_checks (environment_id, provider, config_version, checked_at, checks)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (environment_id, provider) DO UPDATE SET config_version = excluded.config_version,
             checked_at = excluded.checked_at, checks = excluded.checks
         WHERE provider_checks.checked_at <= excluded.checked_at";
    s.execute(sql, &row![environment, ..record]).await?;
    Ok(Effect::Written(true))
}

pub(crate) async fn list<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
) -> Result<Vec<ProviderCheckRecord>, Fault> {
    let sql = "SELECT provider, config_version, checked_at, checks FROM provider_checks
         WHERE environment_id = $1 ORDER BY provider";
    s.query(sql, values![environment], read).await
}

/// An account's credential never becomes another's, so the first one stays.
pub(crate) async fn put_account<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    credential: &str,
    account: &str,
) -> Result<Effect<bool>, Fault> {
    if !s.exists("SELECT 1 FROM environments WHERE id = $1", values![environment]).await? {
        return Ok(Effect::Nothing(false));
    }
    let sql = "INSERT INTO credential_accounts (environment_id, credential, account) VALUES ($1, $2, $3)
         ON CONFLICT (environment_id, credential) DO NOTHING";
    s.execute(sql, values![environment, credential, account]).await?;
    Ok(Effect::Written(true))
}

pub(crate) async fn account<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    credential: &str,
) -> Result<Option<String>, Fault> {
    let sql = "SELECT account FROM credential_accounts WHERE environment_id = $1 AND credential = $2";
    s.query_opt(sql, values![environment, credential], read).await
}

stored! { ProviderCheckRecord { provider, config_version, at, checks } }

fn write_checks(checks: &[ProviderCheck]) -> String {
    serde_json::to_string(checks).unwrap_or_default()
}

fn read_checks(stored: &str) -> Result<Vec<ProviderCheck>, CorruptRow> {
    serde_json::from_str(stored).map_err(|_| CorruptRow("unreadable checks of a provider"))
}

texts! { Vec<ProviderCheck>: write_checks, read_checks; }
