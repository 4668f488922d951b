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
    table::more,
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
                let found = list.list("items");
                if found.is_empty() {
                    return "Nothing waits for approval.".to_owned();
                }
                found.iter().map(|it| summary(it, style)).collect::<String>() + &more(&list, "--before")
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

/// What is to be approved.
fn subject(approval: &Value) -> String {
    let text = if let Some(transfer) = approval.field("transfer").filter(|it| it.is_object()) {
        let amount = major(transfer.text("amountMinor"), transfer.text("currency"));
        let (name, bank) = (transfer.text("accountName"), transfer.text("bankName"));
        format!("{amount} to {name}, {bank}, ····{}", transfer.text("accountLastFour"))
    } else {
        let configuration = approval.field("configuration").unwrap_or(&Value::Null);
        let (by, version) = (configuration.text("proposedBy"), configuration.number("fromVersion"));
        format!("a change of configuration version {version}, by {by}")
    };
    printable(&text)
}

fn given(approval: &Value) -> u64 {
    let given = approval.list("votes").iter().filter(|vote| vote["approves"] == json!(true));
    u64::try_from(given.count()).unwrap_or(u64::MAX)
}

/// Two lines: a table of all of it would be wider than most terminals.
fn summary(approval: &Value, style: Style) -> String {
    let state = match approval.text("state") {
        "required" => {
            let votes = format!("{} of {} approvals", given(approval), approval.number("count"));
            style.paint(Paint::Notice, &votes)
        }
        decided => decided.to_owned(),
    };
    let when = moment(approval.text("createdAt"));
    format!("{}  {when}  {state}\n  {}\n", style.strong(approval.text("id")), subject(approval))
}

fn show(approval: &Value, style: Style) -> String {
    let mut lines = vec![summary(approval, style).trim_end().to_owned()];
    if let Some(transfer) = approval.field("transfer").filter(|it| it.is_object()) {
        lines.push(format!("Transfer: {}", transfer.text("serviceReference")));
        lines.push(format!("Reasons: {}", printable(&approval.joined("reasons"))));
    }
    lines.extend(approval.list("votes").iter().map(|vote| {
        let what = if vote["approves"] == json!(true) { "Approved" } else { "Denied" };
        format!("{what} by {}, {}", printable(vote.text("name")), moment(vote.text("at")))
    }));
    let proposal = approval.field("configuration").and_then(|it| it.field("proposal"));
    let Some(proposal) = proposal.filter(|it| it.is_object()) else { return lines.join("\n") };
    lines.extend(proposal.list("changes").iter().flat_map(|change| change_lines(change, style)));
    if let Some(effect) = proposal.field("effect") {
        lines.push(match effect.number("examined") {
            0 => "There are no payments yet that it could be tried on.".to_owned(),
            examined => format!(
                "Effect on the latest {}: {} would go elsewhere,\n\
                 {} would have no route and {} would have a different fee.",
                if examined == 1 { "payment".to_owned() } else { format!("{examined} payments") },
                effect.number("rerouted"),
                effect.number("refused"),
                effect.number("repriced")
            ),
        });
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
                    "Approved; the transfer is being sent. See it with\n`tollgate payments show {reference}`."
                )
            }
            "denied" => "Denied; the transfer is canceled and its funds are available again.".to_owned(),
            _ => match done.number("count").saturating_sub(given(&done)) {
                1 => "Approved by you; the transfer waits for 1 more person.".to_owned(),
                missing => format!("Approved by you; the transfer waits for {missing} more people."),
            },
        }
    })
}
