//! `tollgate approvals`: transfers and changes of the configuration that wait for people, and what they decide.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{
    fields::Fields,
    http::{query, segment},
    moment::moment,
    money::major,
    output::{Paint, Style, printable},
    session::Session,
    table::{Cell, Table, more},
};
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct Approvals {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List transfers and changes of the configuration that wait for approval, newest first.
    List {
        /// Include decided ones.
        #[arg(long)]
        all: bool,
        /// Maximum number of results.
        #[arg(long, default_value_t = 50)]
        limit: u32,
        /// Only results before this one.
        #[arg(long, value_name = "ID")]
        before: Option<String>,
    },
    /// Show what an approval is about; for a change of the configuration, what it would change.
    Show {
        /// The approval ID.
        id: String,
    },
    /// Approve a transfer or a change; the last approval it needs sends it or puts it in force.
    Approve {
        /// The approval ID.
        id: String,
    },
    /// Deny a transfer or a change: it is canceled, and a transfer's funds are available again.
    Deny {
        /// The approval ID.
        id: String,
    },
}

pub(crate) async fn run(session: Session, approvals: Approvals) -> Result<(), Failure> {
    let path = session.path("/approvals").await?;
    match approvals.action {
        Action::List { all, limit, before } => {
            let state = (!all).then(|| "required".to_owned());
            let query = query(&[("limit", Some(limit.to_string())), ("state", state), ("before", before)]);
            let list = session.client.get(&format!("{path}{query}")).await?;
            session.output.show(&list, |style| {
                let mut table =
                    Table::new(&["ID", "WHEN", "WHAT", "AMOUNT", "TO", "STATE", "APPROVALS", "REASONS"]);
                for approval in list.list("items") {
                    let given = approval.list("votes").iter().filter(|vote| vote["approves"] == json!(true));
                    let reasons: Vec<_> =
                        approval.list("reasons").iter().filter_map(|reason| reason.as_str()).collect();
                    let state = approval.word("state");
                    let paint = if state == "required" { Paint::Notice } else { Paint::Plain };
                    let (what, amount, to) = subject(approval);
                    table.row([
                        approval.word("id").into(),
                        moment(approval.text("createdAt")).into(),
                        what.into(),
                        amount.into(),
                        to.into(),
                        Cell::painted(state, paint),
                        format!("{} of {}", given.count(), approval.number("count")).into(),
                        reasons.join(", ").into(),
                    ]);
                }
                table.draw(style, "Nothing waits for approval.") + &more(&list, "--before")
            })
        }
        Action::Show { id } => {
            let shown = session.client.get(&format!("{path}/{}", segment(&id))).await;
            let shown = shown.map_err(|failure| failure.if_missing(|| missing(&id)))?;
            session.output.show(&shown, |style| show(&shown, style))
        }
        Action::Approve { id } => decide(&session, &path, &id, "approve").await,
        Action::Deny { id } => decide(&session, &path, &id, "deny").await,
    }
}

fn missing(id: &str) -> String {
    format!("approval {id} not found in this environment; see `tollgate approvals list --all`")
}

/// What is to be approved, how much it is, and for whom.
fn subject(approval: &Value) -> (String, String, String) {
    if let Some(transfer) = approval.field("transfer").filter(|it| it.is_object()) {
        let to = format!(
            "{}, {}, ····{}",
            transfer.text("accountName"),
            transfer.text("bankName"),
            transfer.text("accountLastFour")
        );
        let amount = major(transfer.text("amountMinor"), transfer.text("currency"));
        return (transfer.text("serviceReference").to_owned(), amount, to);
    }
    let by = approval.field("configuration").map_or("", |it| it.text("proposedBy"));
    (format!("configuration, by {}", printable(by)), "–".to_owned(), "–".to_owned())
}

fn show(approval: &Value, style: Style) -> String {
    let (what, amount, to) = subject(approval);
    let mut lines = vec![format!("{}  {}  {what}", approval.text("id"), approval.text("state"))];
    if amount != "–" {
        lines.push(format!("{amount} to {to}"));
    }
    lines.extend(approval.list("votes").iter().map(|vote| {
        let what = if vote["approves"] == json!(true) { "Approved" } else { "Denied" };
        format!("{what} by {}, {}", printable(vote.text("name")), moment(vote.text("at")))
    }));
    let proposal = approval.field("configuration").and_then(|it| it.field("proposal"));
    let Some(proposal) = proposal.filter(|it| it.is_object()) else { return lines.join("\n") };
    lines.extend(proposal.list("changes").iter().flat_map(|change| change_lines(change, style)));
    if let Some(effect) = proposal.field("effect") {
        lines.push(format!(
            "Of the last {} payments, {} would go elsewhere, {} would have no route, {} would have a different fee.",
            effect.number("examined"),
            effect.number("rerouted"),
            effect.number("refused"),
            effect.number("repriced")
        ));
    }
    lines.join("\n")
}

fn change_lines(change: &Value, style: Style) -> Vec<String> {
    let path = change.text("path");
    let value =
        |name: &str| change.field(name).filter(|it| !it.is_null()).map(|it| printable(&it.to_string()));
    match change.text("kind") {
        "secret" => vec![style.paint(Paint::Notice, &format!("~ {path}: a different secret"))],
        "reordered" => {
            let order = value("after").unwrap_or_default();
            vec![style.paint(Paint::Notice, &format!("~ {path}: order {order}"))]
        }
        _ => {
            let before = value("before").map(|it| style.paint(Paint::Bad, &format!("- {path}: {it}")));
            let after = value("after").map(|it| style.paint(Paint::Good, &format!("+ {path}: {it}")));
            before.into_iter().chain(after).collect()
        }
    }
}

async fn decide(session: &Session, path: &str, id: &str, what: &str) -> Result<(), Failure> {
    let done = session.client.post(&format!("{path}/{}/{what}", segment(id)), &json!({})).await;
    let done = done.map_err(|failure| failure.if_missing(|| missing(id)))?;
    session.output.show(&done, |_| {
        let Some(transfer) = done.field("transfer").filter(|it| it.is_object()) else {
            let version = done.field("configuration").map_or(0, |it| it.number("version"));
            return match done.text("state") {
                "approved" => format!("Approved; in force as version {version}."),
                _ => "Denied; the configuration stays as it is.".to_owned(),
            };
        };
        let reference = transfer.text("serviceReference");
        match done.text("state") {
            "approved" => {
                format!(
                    "Approved; {reference} is being sent. See it with `tollgate payments show {reference}`."
                )
            }
            "denied" => format!("Denied; {reference} is canceled and its funds are available again."),
            _ => format!("Approved by you; {reference} waits for more people."),
        }
    })
}
