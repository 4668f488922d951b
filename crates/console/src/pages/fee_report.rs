//! What card fees with a kind came to in a month.

use askama::Template;
use axum::response::Response;
use tollgate_domain::{Currency, statement::Month};
use tollgate_engine::{Audited, FeeReportKey, FeeReportRow, fee_report_csv};

use crate::{
    layout::{
        format::{amount, count},
        frame::Frame,
        page::{self, Page, PageError},
    },
    request::signed_in::SignedIn,
};

type Rows = std::collections::BTreeMap<FeeReportKey, FeeReportRow>;

struct RowView {
    kind: &'static str,
    provider: String,
    brand: String,
    funding: String,
    place: String,
    currency: String,
    payments: String,
    principal: String,
    fee: String,
    refunded_fee: String,
    cost: String,
    cap: String,
}

impl RowView {
    fn of(key: &FeeReportKey, row: &FeeReportRow) -> Self {
        let money = |sum: u128| shown(sum, key.currency);
        let or_unknown = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
        Self {
            kind: key.kind.label(),
            provider: key.provider.clone(),
            brand: or_unknown(&key.brand),
            funding: or_unknown(&key.funding),
            place: or_unknown(&key.place),
            currency: key.currency.to_string(),
            payments: count(row.payments),
            principal: money(row.principal),
            fee: money(row.fee),
            refunded_fee: money(row.refunded_fee),
            cost: row.cost.map_or_else(|| "not recorded".to_owned(), money),
            cap: row.cap.map_or_else(|| "as configured".to_owned(), money),
        }
    }
}

/// A sum of a month is wider than any amount; one that no month reaches is shown as the largest.
fn shown(sum: u128, currency: Currency) -> String {
    amount(i128::try_from(sum).unwrap_or(i128::MAX), currency)
}

#[derive(Template)]
#[template(path = "fee_report.html")]
struct FeeReportPage {
    frame: Frame,
    month: String,
    previous: String,
    next: Option<String>,
    rows: Vec<RowView>,
}

pub(crate) async fn show(signed_in: SignedIn) -> Page {
    let frame = signed_in.frame("Card fee report", "fee-report").await?;
    let (month, rows) = read(&signed_in).await?;
    let now = Month::of(signed_in.console.engine.clock().now());
    page::render(&FeeReportPage {
        frame,
        month: month.to_string(),
        previous: month.previous().to_string(),
        next: (month < now).then(|| month.next().to_string()),
        rows: rows.iter().map(|(key, row)| RowView::of(key, row)).collect(),
    })
}

pub(crate) async fn export(signed_in: SignedIn) -> Result<Response, PageError> {
    let (month, rows) = read(&signed_in).await?;
    let exported = Audited::new("fee_report.export", month).in_environment(signed_in.environment()?);
    signed_in.console.engine.record_repeatable(&signed_in.origin(), exported).await?;
    let name = format!("card-fees-{month}.csv");
    Ok(page::file(&name, "text/csv; charset=utf-8", fee_report_csv(month, &rows)))
}

async fn read(signed_in: &SignedIn) -> Result<(Month, Rows), PageError> {
    let engine = &signed_in.console.engine;
    let month = signed_in.month()?;
    let rows = engine.fee_report(signed_in.environment()?, month).await?;
    rows.map(|rows| (month, rows)).ok_or(PageError::Missing)
}
