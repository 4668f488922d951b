//! The last check of each provider, and the accounts that checks have learned of.

use tollgate_domain::id::EnvironmentId;
use tollgate_engine::ports::ProviderCheckRecord;

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
    let checks = serde_json::to_string(&record.checks).unwrap_or_default();
    let version = rows::version(record.config_version);
    s.execute(sql, values![environment, &record.provider, version, record.at, &checks]).await?;
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
    s.query_opt(sql, values![environment, credential], |cells| cells.text()).await
}

fn read(cells: &mut Cells<'_>) -> Result<ProviderCheckRecord, Fault> {
    Ok(ProviderCheckRecord {
        provider: cells.text()?,
        config_version: cells.count("version of a configuration")?,
        at: cells.moment()?,
        checks: serde_json::from_str(&cells.text()?)
            .map_err(|_| Fault::CorruptRow(CorruptRow("unreadable checks of a provider")))?,
    })
}
