//! `tollgate statement`: what an organization earned in a month.

use clap::Args;
use serde_json::Value;

use super::{
    fields::Fields,
    http::{query, segment},
    money::digits,
    output::{Style, print, printable},
    session::Session,
    table::Table,
};
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct Statement {
    /// The month in UTC, such as 2026-11; default: the current one.
    #[arg(long, value_name = "MONTH")]
    month: Option<String>,
    /// The organization; default: the environment's.
    #[arg(long, value_name = "ID")]
    organization: Option<String>,
    /// Print CSV.
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

pub(crate) async fn run(session: Session, asked: Statement) -> Result<(), Failure> {
    let organization = match asked.organization {
        Some(organization) => organization,
        None => session.client.get(&session.path("").await?).await?.text("organizationId").to_owned(),
    };
    let path = format!("/admin/v1/organizations/{}/statement", segment(&organization));
    let query = query(&[("month", asked.month)]);
    let missing = |failure: Failure| {
        failure.if_missing(|| {
            format!("organization {organization} not found; see `tollgate organizations list`")
        })
    };
    if asked.csv {
        return print(&session.client.get_text(&format!("{path}.csv{query}")).await.map_err(missing)?);
    }
    let statement = session.client.get(&format!("{path}{query}")).await.map_err(missing)?;
    session.output.show(&statement, |style| readable(&statement, style))
}

fn readable(statement: &Value, style: Style) -> String {
    let head = format!("{}, {} (UTC)", statement.text("organizationName"), statement.text("month"));
    let mut text = format!("{}\n", style.strong(&head));
    if !statement.flag("complete") {
        text.push_str("Earlier card payments are still being posted; some may be missing here.\n");
    }
    for environment in statement.list("environments") {
        let [application, name, id] = ["applicationName", "environmentName", "environmentId"]
            .map(|name| printable(environment.text(name)));
        text.extend(["\n", &application, " / ", &name, "  ", &style.dim(&id), "\n"]);
        let mut table = Table::new(&[
            "PROVIDER",
            "METHOD",
            "CURRENCY",
            ">PAYMENTS",
            ">PRINCIPAL",
            ">REFUNDS",
            ">REFUNDED",
            ">LOST",
            ">PLATFORM FEES",
            ">ORGANIZATION FEES",
        ])
        .leaving_out(&["REFUNDS", "PAYMENTS", "METHOD", "LOST"]);
        for row in environment.list("rows") {
            table.row(line(row, &row.word("provider"), &row.word("paymentMethod")).map(Into::into));
        }
        for total in environment.list("totals") {
            table.row(line(total, "TOTAL", "").map(Into::into));
        }
        text.push_str(&table.draw(style, ""));
    }
    if statement.list("environments").is_empty() {
        text.push_str("Nothing was posted in this month.\n");
    }
    text
}

fn line(row: &Value, provider: &str, method: &str) -> [String; 10] {
    let currency = row.text("currency");
    let amount = |name: &str| digits(row.text(name), currency);
    [
        provider.to_owned(),
        method.to_owned(),
        currency.to_owned(),
        row.text("/payments/count").to_owned(),
        amount("/payments/principalMinor"),
        row.text("/refunds/count").to_owned(),
        amount("/refunds/principalMinor"),
        amount("/disputesLost/principalMinor"),
        amount("platformFeesMinor"),
        amount("organizationFeesMinor"),
    ]
}
