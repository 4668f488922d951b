//! `tollgate keys`: the keys callers authenticate with. A key is shown at issue and never again.

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::{
    confirm::Confirm,
    fields::Fields,
    http::{query, segment},
    moment::moment,
    output::{Paint, paint_of},
    session::Session,
    table::{Cell, Table, more},
};
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct Keys {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List keys, including revoked ones.
    List {
        /// Maximum number of results.
        #[arg(long, default_value_t = 50)]
        limit: u32,
        /// Only keys after this one.
        #[arg(long, value_name = "KEY ID")]
        after: Option<String>,
    },
    /// Issue a key; it is shown only once.
    Issue {
        /// The kind of key.
        #[arg(long, value_enum, default_value = "secret")]
        kind: Kind,
    },
    /// Issue a replacement key; the old one stays valid for a grace period.
    Rotate {
        /// The key ID (not the key itself).
        key_id: String,
        /// How long the old key stays valid.
        #[arg(long, value_name = "SECONDS", default_value_t = 86_400)]
        grace_seconds: u64,
    },
    /// Revoke a key immediately.
    Revoke {
        /// The key ID (not the key itself).
        key_id: String,
        #[command(flatten)]
        confirm: Confirm,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    /// For a backend.
    Secret,
    /// For a browser.
    Publishable,
}

pub(crate) async fn run(session: Session, keys: Keys) -> Result<(), Failure> {
    let path = session.path("/keys").await?;
    let one = |key: &str| format!("{path}/{}", segment(key));
    let no_such = |key: &str, failure: Failure| {
        let key = if key.starts_with("key_") { key } else { "of that id" };
        failure.if_missing(|| {
            format!("key {key} not found in this environment; `tollgate keys list` shows key IDs")
        })
    };
    match keys.action {
        Action::List { limit, after } => {
            let query = query(&[("limit", Some(limit.to_string())), ("after", after)]);
            list(&session, &session.client.get(&format!("{path}{query}")).await?)
        }
        Action::Issue { kind } => {
            let kind = match kind {
                Kind::Secret => "secret",
                Kind::Publishable => "publishable",
            };
            let made = session.client.post(&path, &json!({ "kind": kind })).await?;
            shown_once(&session, &made, "")
        }
        Action::Rotate { key_id, grace_seconds } => {
            let body = json!({ "graceSeconds": grace_seconds });
            let made = session.client.post(&format!("{}/rotate", one(&key_id)), &body).await;
            let made = made.map_err(|failure| no_such(&key_id, failure))?;
            shown_once(&session, &made, &format!("{key_id} stays valid for {grace_seconds} more seconds.\n"))
        }
        Action::Revoke { key_id, confirm } => {
            confirm.ask(&format!("Revoke {key_id}? Requests that use it are rejected immediately."))?;
            let revoked = session.client.delete(&one(&key_id)).await;
            let revoked = revoked.map_err(|failure| no_such(&key_id, failure))?;
            session.output.show(&revoked, |_| format!("Revoked {key_id}."))
        }
    }
}

fn list(session: &Session, list: &Value) -> Result<(), Failure> {
    session.output.show(list, |style| {
        let mut table = Table::new(&["ID", "KIND", "STATUS", "ENDS IN", "CREATED", "EXPIRES", "REPLACED BY"]);
        for key in list.list("items") {
            let expires = key.optional_text("expiresAt").map_or_else(|| "-".to_owned(), moment);
            table.row([
                key.word("id").into(),
                key.word("kind").into(),
                Cell::painted(key.word("status"), paint_of(key.text("status"))),
                format!("…{}", key.text("lastFour")).into(),
                moment(key.text("createdAt")).into(),
                expires.into(),
                Cell::painted(key.word("replacedBy"), Paint::Dim),
            ]);
        }
        table.draw(style, "No keys yet; issue one with `tollgate keys issue`.") + &more(list, "--after")
    })
}

fn shown_once(session: &Session, made: &Value, note: &str) -> Result<(), Failure> {
    session.output.show(made, |style| {
        let key = style.strong(made.text("key"));
        format!(
            "{key}\n\n{} ({}). Keep it now: it is not shown again.\n{note}",
            made.text("id"),
            made.text("kind")
        )
    })
}
