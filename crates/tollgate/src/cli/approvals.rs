//! `tollgate approvals`: transfers, refunds, wallet movements and changes of the configuration that wait for people, and what they decide.

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
    /// List transfers, refunds, wallet movements and configuration changes that wait for approval, newest first.
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
    /// Approve what waits; the last approval it needs sends it, moves the funds or puts it in force.
    Approve {
        /// The approval ID.
        id: String,
    },
    /// Deny what waits: it is canceled, and a transfer's funds are available again.
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
    } else if let Some(refund) = approval.field("refund").filter(|it| it.is_object()) {
        let amount = major(refund.text("totalRefundMinor"), refund.text("currency"));
        format!("a refund of {amount}, by {}", refund.text("origin"))
    } else if let Some(funds) = approval.field("funds").filter(|it| it.is_object()) {
        let amount = major(funds.text("amountMinor"), funds.text("currency"));
        let verb = if funds.text("cause") == "fund" { "fund the wallet with" } else { "withdraw" };
        format!("{verb} {amount}, by {}", funds.text("requestedBy"))
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
    let of = |kind: &str, name: &str| {
        let about = approval.field(kind).filter(|it| it.is_object())?;
        Some(printable(about.text(name)))
    };
    lines.extend(of("transfer", "serviceReference").map(|reference| format!("Transfer: {reference}")));
    lines.extend(of("refund", "serviceReference").map(|reference| format!("Refund of: {reference}")));
    lines.extend(of("refund", "refundReference").map(|reference| format!("Refund: {reference}")));
    lines.extend(of("funds", "reference").map(|reference| format!("Reference: {reference}")));
    if approval.text("kind") != "configuration" {
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
    session.output.show(&done, |_| decided(&done))
}

fn decided(done: &Value) -> String {
    let reference = |kind: &str| done.field(kind).map_or("", |it| it.text("serviceReference"));
    let (what, sent, canceled) = match done.text("kind") {
        "transfer" => {
            let reference = reference("transfer");
            let sent =
                format!("the transfer is being sent. See it with\n`tollgate payments show {reference}`.");
            ("transfer", sent, "the transfer is canceled and its funds are available again.")
        }
        "refund" => {
            let reference = reference("refund");
            let sent =
                format!("the refund is being sent. See it with\n`tollgate payments show {reference}`.");
            ("refund", sent, "the refund is canceled and can be made again.")
        }
        "funds" => ("movement", "the funds have moved.".to_owned(), "no funds moved."),
        _ => {
            let version = done.field("configuration").map_or(0, |it| it.number("version"));
            ("change", format!("in force as version {version}."), "the configuration stays as it is.")
        }
    };
    match (done.text("state"), done.number("count").saturating_sub(given(done))) {
        ("approved", _) => format!("Approved; {sent}"),
        ("denied", _) => format!("Denied; {canceled}"),
        (_, 1) => format!("Approved by you; the {what} waits for 1 more person."),
        (_, missing) => format!("Approved by you; the {what} waits for {missing} more people."),
    }
}
