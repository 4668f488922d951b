//! `tollgate exceptions`: where a provider and our books disagree.

use clap::{Args, Subcommand};
use serde_json::json;

use super::{
    fields::Fields,
    http::{query, segment},
    moment::moment,
    output::Paint,
    session::Session,
    table::{Cell, Table, more},
};
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct Exceptions {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List open exceptions, newest first.
    List {
        /// Include resolved exceptions.
        #[arg(long)]
        all: bool,
        /// Maximum number of results.
        #[arg(long, default_value_t = 50)]
        limit: u32,
        /// Only results before this one.
        #[arg(long, value_name = "ID")]
        before: Option<String>,
    },
    /// Mark an exception as resolved; nothing else changes.
    Resolve {
        /// The exception ID.
        id: String,
        /// A note on what you found or did.
        #[arg(long)]
        note: String,
    },
}

pub(crate) async fn run(session: Session, exceptions: Exceptions) -> Result<(), Failure> {
    let path = session.path("/exceptions").await?;
    match exceptions.action {
        Action::List { all, limit, before } => {
            let open = (!all).then(|| "true".to_owned());
            let query = query(&[("limit", Some(limit.to_string())), ("open", open), ("before", before)]);
            let list = session.client.get(&format!("{path}{query}")).await?;
            session.output.show(&list, |style| {
                let heads = ["ID", "=WHEN", "=PAYMENT", "KIND", "EXPECTED", "FOUND", "SOURCE", "RESOLVED"];
                let mut table =
                    Table::new(&heads).leaving_out(&["SOURCE", "WHEN", "RESOLVED", "EXPECTED", "FOUND"]);
                for exception in list.list("items") {
                    let resolved = exception.optional_text("/resolution/at").map(|at| {
                        let text = |name: &str| exception.text(name).to_owned();
                        format!(
                            "{} by {}: {}",
                            moment(at),
                            text("/resolution/actor"),
                            text("/resolution/note")
                        )
                    });
                    table.row([
                        exception.word("id").into(),
                        moment(exception.text("at")).into(),
                        exception.word("serviceReference").into(),
                        Cell::painted(exception.word("kind"), Paint::Bad),
                        exception.word("expected").into(),
                        exception.word("found").into(),
                        exception.word("source").into(),
                        resolved.unwrap_or_else(|| "-".to_owned()).into(),
                    ]);
                }
                table.draw(style, "No open exceptions.") + &more(&list, "--before")
            })
        }
        Action::Resolve { id, note } => {
            let done = session
                .client
                .post(&format!("{path}/{}/resolve", segment(&id)), &json!({ "note": note }))
                .await;
            let missing = || {
                format!("exception {id} not found in this environment; see `tollgate exceptions list --all`")
            };
            let done = done.map_err(|failure| failure.if_missing(missing))?;
            session.output.show(&done, |_| format!("Resolved {id}."))
        }
    }
}
