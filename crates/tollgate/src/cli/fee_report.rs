//! `tollgate fees report`: what card fees with a kind came to in a month.

use clap::Args;
use serde_json::Value;

use super::{
    fields::Fields,
    http::query,
    money::digits,
    output::{Style, print, printable},
    session::Session,
    table::Table,
};
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// The month in UTC, such as 2026-11; default: the current one.
    #[arg(long, value_name = "MONTH")]
    month: Option<String>,
    /// Print CSV.
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

pub(crate) async fn run(session: Session, asked: Report) -> Result<(), Failure> {
    let path = session.path("/fee-report").await?;
    let query = query(&[("month", asked.month)]);
    if asked.csv {
        return print(&session.client.get_text(&format!("{path}.csv{query}")).await?);
    }
    let report = session.client.get(&format!("{path}{query}")).await?;
    session.output.show(&report, |style| readable(&report, style))
}

fn readable(report: &Value, style: Style) -> String {
    let mut text = format!("{}\n", style.strong(&format!("Card fees, {} (UTC)", report.text("month"))));
    if report.list("rows").is_empty() {
        text.push_str("No card fee with a kind was charged in this month.\n");
        return text;
    }
    let mut table = Table::new(&[
        "KIND",
        "PROVIDER",
        "CARD",
        "FUNDING",
        "PAYER",
        "CURRENCY",
        ">PAYMENTS",
        ">PRINCIPAL",
        ">FEES",
        ">GIVEN BACK",
        ">COST",
        ">ALLOWED",
    ])
    .leaving_out(&["PROVIDER", "PAYMENTS", "PAYER", "COST", "CURRENCY", "FUNDING"]);
    for row in report.list("rows") {
        let currency = row.text("currency");
        let word = |name: &str| match row.text(name) {
            "" => "unknown".to_owned(),
            word => printable(word),
        };
        let amount = |name: &str| digits(row.text(name), currency);
        let or_word = |name: &str, word: &str| match row.text(name) {
            "" => word.to_owned(),
            sum => digits(sum, currency),
        };
        let cells = [
            word("kind"),
            word("provider"),
            word("brand"),
            word("funding"),
            word("place"),
            currency.to_owned(),
            row.text("payments").to_owned(),
            amount("principalMinor"),
            amount("feeMinor"),
            amount("refundedFeeMinor"),
            or_word("costMinor", "not recorded"),
            or_word("capMinor", "as configured"),
        ];
        table.row(cells.map(Into::into));
    }
    text.push_str(&table.draw(style, ""));
    text
}
