//! `tollgate status`: how an environment stands, on one screen.

use clap::Args;
use serde_json::{Value, json};

use super::{
    fields::Fields,
    money::major,
    output::{Style, paint_of, printable},
    session::Session,
    table::{Cell, Table},
};
use crate::failure::Failure;

/// Payments that are shown.
const LATEST: u32 = 5;

#[derive(Debug, Args)]
pub(crate) struct Status {}

pub(crate) async fn run(session: Session, _: Status) -> Result<(), Failure> {
    let environment = session.environment().await?;
    let doctor = session.client.get("/admin/v1/doctor").await?;
    let providers = session.client.get(&session.path("/providers").await?).await?;
    let wallets = session.client.get(&session.path("/wallets").await?).await?;
    let latest = session.client.get(&session.path(&format!("/transactions?limit={LATEST}")).await?).await?;
    let is_about = |check: &&Value| {
        let of = check.optional_text("environmentId");
        check.text("verdict") != "ok" && of.is_none_or(|of| of == environment)
    };
    let attention: Vec<_> = doctor.list("checks").iter().filter(is_about).cloned().collect();
    let status = json!({
        "url": session.client.url,
        "version": doctor.text("version"),
        "environmentId": environment,
        "needsAttention": attention,
        "providers": providers.list("items"),
        "wallets": wallets.list("items"),
        "latest": latest.list("items"),
    });
    session.output.show(&status, |style| render(&status, style))
}

fn render(status: &Value, style: Style) -> String {
    let mut text = format!(
        "{} {} at {}\nEnvironment {}\n\n{}\n",
        style.strong("Tollgate"),
        status.text("version"),
        status.text("url"),
        status.text("environmentId"),
        style.strong("Needs attention")
    );
    let attention = status.list("needsAttention");
    if attention.is_empty() {
        text.push_str("All clear.\n");
    }
    for check in attention {
        let verdict = check.text("verdict");
        let shown = style.paint(paint_of(verdict), &format!("{verdict:<8}"));
        text.extend([format!("{shown} {}\n", printable(check.text("finding")))]);
    }
    let mut providers = Table::new(&["PROVIDER", "=STATE", "METHOD", "ADAPTER"]);
    for provider in status.list("providers") {
        let state = provider.word("state");
        providers.row([
            provider.word("name").into(),
            Cell::painted(&state, paint_of(&state)),
            provider.word("paymentMethod").into(),
            provider.word("adapter").into(),
        ]);
    }
    let mut wallets = Table::new(&["WALLET", ">AVAILABLE", ">RESERVED"]);
    for wallet in status.list("wallets") {
        let amount = |field| major(wallet.text(field), wallet.text("currency"));
        wallets.row([
            wallet.word("currency").into(),
            amount("availableMinor").into(),
            amount("reservedMinor").into(),
        ]);
    }
    let mut latest =
        Table::new(&["LATEST", "=STATUS", ">TOTAL DEBIT", "PROVIDER"]).leaving_out(&["PROVIDER"]);
    for payment in status.list("latest") {
        latest.row([
            payment.word("serviceReference").into(),
            Cell::painted(payment.word("status"), paint_of(payment.text("status"))),
            major(payment.text("totalDebitMinor"), payment.text("currency")).into(),
            payment.word("provider").into(),
        ]);
    }
    for (table, nothing) in [
        (&providers, "No providers configured."),
        (&wallets, "No wallets."),
        (&latest, "No transactions yet."),
    ] {
        text.push('\n');
        text.push_str(&table.draw(style, nothing));
    }
    text
}
