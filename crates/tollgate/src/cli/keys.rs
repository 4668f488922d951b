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
        #[command(flatten)]
        limits: Limits,
    },
    /// Issue a replacement key with the same name and limits, unless others are given; the old one stays valid for a grace
    /// period.
    Rotate {
        /// The key ID (not the key itself).
        key_id: String,
        /// How long the old key stays valid.
        #[arg(long, value_name = "SECONDS", default_value_t = 86_400)]
        grace_seconds: u64,
        #[command(flatten)]
        limits: Limits,
    },
    /// Revoke a key immediately.
    Revoke {
        /// The key ID (not the key itself).
        key_id: String,
        #[command(flatten)]
        confirm: Confirm,
    },
}

/// What a key is called and limited to.
#[derive(Debug, Args)]
struct Limits {
    /// What the key is called, such as the system that uses it.
    #[arg(long)]
    name: Option<String>,
    /// The only endpoint it may call, such as "POST /client/v1/payments"; may be repeated.
    #[arg(long = "endpoint", value_name = "METHOD PATH")]
    endpoints: Vec<String>,
    /// The only IP address or range it may be used from, such as 10.0.0.0/8; may be repeated.
    #[arg(long = "ip-range", value_name = "ADDRESS")]
    ip_ranges: Vec<String>,
    /// When it expires, such as 2027-06-30T00:00:00Z.
    #[arg(long, value_name = "TIME")]
    expires: Option<String>,
}

impl Limits {
    /// Adds what was given to a request.
    fn add_to(self, mut body: Value) -> Value {
        let list = |list: Vec<String>| Some(list).filter(|list| !list.is_empty()).map(|list| json!(list));
        let given = [
            ("name", self.name.map(|name| json!(name))),
            ("allowedEndpoints", list(self.endpoints)),
            ("allowedIpRanges", list(self.ip_ranges)),
            ("expiresAt", self.expires.map(|moment| json!(moment))),
        ];
        if let Some(body) = body.as_object_mut() {
            body.extend(given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        }
        body
    }
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
        Action::Issue { kind, limits } => {
            let kind = match kind {
                Kind::Secret => "secret",
                Kind::Publishable => "publishable",
            };
            let made = session.client.post(&path, &limits.add_to(json!({ "kind": kind }))).await?;
            shown_once(&session, &made, "")
        }
        Action::Rotate { key_id, grace_seconds, limits } => {
            let body = limits.add_to(json!({ "graceSeconds": grace_seconds }));
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
        let columns = [
            "ID",
            "NAME",
            "KIND",
            "=STATUS",
            "=ENDS IN",
            "LIMITED TO",
            "=LAST USED",
            "=EXPIRES",
            "=CREATED",
            "REPLACED BY",
        ];
        let mut table = Table::new(&columns).leaving_out(&[
            "REPLACED BY",
            "CREATED",
            "LIMITED TO",
            "EXPIRES",
            "LAST USED",
        ]);
        for key in list.list("items") {
            let when = |field: &str| key.optional_text(field).map_or_else(|| "-".to_owned(), moment);
            table.row([
                key.word("id").into(),
                key.word("name").into(),
                key.word("kind").into(),
                Cell::painted(key.word("status"), paint_of(key.text("status"))),
                format!("…{}", key.text("lastFour")).into(),
                limits_of(key).into(),
                when("lastUsedAt").into(),
                when("expiresAt").into(),
                moment(key.text("createdAt")).into(),
                Cell::painted(key.word("replacedBy"), Paint::Dim),
            ]);
        }
        table.draw(style, "No keys yet; issue one with `tollgate keys issue`.") + &more(list, "--after")
    })
}

/// Endpoints and addresses, as a list has room for them.
fn limits_of(key: &Value) -> String {
    let lists = ["allowedEndpoints", "allowedIpRanges"].map(|field| key.joined(field));
    let limits: Vec<_> = lists.into_iter().filter(|list| !list.is_empty()).collect();
    if limits.is_empty() { "-".to_owned() } else { limits.join(", ") }
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
