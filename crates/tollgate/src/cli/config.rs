//! `tollgate config`: the history of an environment's configuration, and the way back.

use clap::{Args, Subcommand};
use serde_json::Value;

use super::{
    apply::{self, Mode},
    fields::Fields,
    http::query,
    moment::moment,
    session::Session,
    table::{Table, more},
};
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct Config {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List versions with author and time, newest first.
    History {
        /// Maximum number of results.
        #[arg(long, default_value_t = 20)]
        limit: u32,
        /// Only versions before this one.
        #[arg(long, value_name = "VERSION")]
        before: Option<u64>,
    },
    /// Restore an earlier version, keeping the current secrets.
    Rollback {
        /// The version to restore.
        version: u64,
        #[command(flatten)]
        mode: Mode,
    },
}

pub(crate) async fn run(session: Session, config: Config) -> Result<(), Failure> {
    match config.action {
        Action::History { limit, before } => history(&session, limit, before).await,
        Action::Rollback { version, mode } => rollback(&session, version, mode).await,
    }
}

async fn history(session: &Session, limit: u32, before: Option<u64>) -> Result<(), Failure> {
    let query = query(&[("limit", Some(limit.to_string())), ("before", before.map(|it| it.to_string()))]);
    let list = session.client.get(&session.path(&format!("/config/versions{query}")).await?).await?;
    session.output.show(&list, |style| {
        let mut table = Table::new(&[">VERSION", "=CHANGED", "BY", "=REQUEST"]).leaving_out(&["REQUEST"]);
        for line in list.list("items") {
            let row = [
                line.word("version"),
                moment(line.text("changedAt")),
                line.word("changedBy"),
                line.word("requestId"),
            ];
            table.row(row.map(Into::into));
        }
        table.draw(style, "The configuration has no history yet.") + &more(&list, "--before")
    })
}

async fn rollback(session: &Session, version: u64, mode: Mode) -> Result<(), Failure> {
    let path = session.path("/config").await?;
    let missing = || format!("version {version} not found; `tollgate config history` lists all versions");
    let old = session.client.get(&format!("{path}/versions/{version}")).await;
    let mut old = old.map_err(|failure| failure.if_missing(missing))?;
    let current = session.client.get(&path).await?;
    keep_secrets(&mut old, &current);
    let name = format!("version {version}");
    apply::replace(session, &old, &name, mode).await
}

/// The history shows secrets masked, and one that was replaced since is gone for a reason: what is in force stays.
fn keep_secrets(old: &mut Value, current: &Value) {
    let Some(providers) = old.get_mut("providers").and_then(Value::as_object_mut) else { return };
    for (name, provider) in providers {
        let Some(credentials) = provider.get_mut("credentials").and_then(Value::as_object_mut) else {
            continue;
        };
        for (field, value) in credentials {
            let kept = current.get("providers").and_then(|all| all.get(name));
            let kept = kept.and_then(|provider| provider.get("credentials")).and_then(|all| all.get(field));
            let is_mask = value.as_str().is_some_and(tollgate_vault::Secret::is_masked_form);
            if let (true, Some(kept)) = (is_mask, kept) {
                *value = kept.clone();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_rollback_keeps_the_secrets_in_force_and_nothing_else() {
        let mut old = json!({"providers": {
            "a": {"credentials": {"secretKey": "********old1", "publishableKey": "pk_old"}},
            "gone": {"credentials": {"secretKey": "********old2"}},
        }});
        let current = json!({"providers": {"a": {"credentials": {"secretKey": "********new1", "publishableKey": "pk_new"}}}});
        keep_secrets(&mut old, &current);
        assert_eq!(
            old["providers"]["a"]["credentials"],
            json!({"secretKey": "********new1", "publishableKey": "pk_old"})
        );
        assert_eq!(old["providers"]["gone"]["credentials"], json!({"secretKey": "********old2"}));
    }
}
