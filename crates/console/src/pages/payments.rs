//! Payments in a list: searched, filtered, exported.

use std::time::Duration;

use askama::Template;
use axum::response::{IntoResponse as _, Redirect};
use data_encoding::HEXLOWER;
use tollgate_domain::{
    PaymentMethod, Timestamp,
    card::Preparation,
    id::{EnvironmentId, PaymentId, RequestId, TransactionId},
    transaction::{Status, Transaction},
};
use tollgate_engine::{
    Audited, FoundPayment, PaymentSearch,
    ports::{CardPayment, SearchCursor, TransactionFilter},
};

use crate::{
    layout::{
        format::{minor, second, shortened},
        frame::Frame,
        page::{self, Page, PageError},
    },
    request::signed_in::SignedIn,
};

const SLICE: u32 = 50;
/// A payment's line.
pub(crate) struct Row {
    pub(crate) at: String,
    pub(crate) reference: String,
    pub(crate) link: String,
    pub(crate) status: &'static str,
    pub(crate) tone: &'static str,
    pub(crate) amount: String,
    pub(crate) total: String,
    pub(crate) provider: String,
    pub(crate) channel: &'static str,
    pub(crate) description: String,
}

/// How a status looks.
pub(crate) fn tone(status: Status) -> &'static str {
    match status {
        Status::Succeeded => "good",
        Status::Failed => "bad",
        Status::Pending => "warn",
        Status::Processing | Status::Authorized => "cool",
        Status::Canceled | Status::Refunded => "",
    }
}

impl Row {
    pub(crate) fn of_transaction(transaction: &Transaction, base: &str) -> Self {
        let amounts = transaction.state.amounts(&transaction.fee);
        Self {
            at: second(transaction.created_at),
            reference: transaction.reference.to_string(),
            link: format!("{base}/payments/{}", transaction.reference),
            status: transaction.state.status.as_str(),
            tone: tone(transaction.state.status),
            amount: minor(amounts.principal.into(), transaction.currency),
            total: minor(amounts.total_debit, transaction.currency),
            provider: transaction.provider.clone(),
            channel: transaction.channel.as_str(),
            description: shortened(transaction.description.as_deref().unwrap_or_default(), 60),
        }
    }

    pub(crate) fn of_preparation(payment: &CardPayment, base: &str) -> Self {
        let order = &payment.order;
        Self {
            at: second(order.created_at),
            reference: order.id.to_string(),
            link: format!("{base}/payments/{}", order.id),
            status: payment.progress.preparation.as_str(),
            tone: "",
            amount: minor(order.fee.principal.into(), order.currency),
            total: minor(order.fee.total_debit, order.currency),
            provider: order.provider.clone(),
            channel: order.channel.as_str(),
            description: shortened(order.description.as_deref().unwrap_or_default(), 60),
        }
    }

    fn of(found: &FoundPayment, base: &str) -> Self {
        match found {
            FoundPayment::Transaction(transaction) => Self::of_transaction(transaction, base),
            FoundPayment::Preparation(payment) => Self::of_preparation(payment, base),
        }
    }
}

struct Choice {
    value: &'static str,
    title: &'static str,
    is_chosen: bool,
}

#[derive(Template)]
#[template(path = "payments.html")]
struct PaymentsPage {
    frame: Frame,
    text: String,
    statuses: Vec<Choice>,
    methods: Vec<Choice>,
    providers: Vec<(String, bool)>,
    from: String,
    until: String,
    rows: Vec<Row>,
    /// The query of the next slice.
    next: Option<String>,
    export: String,
    errors: Vec<String>,
}

/// What the page is asked for.
struct PaymentQuery {
    text: String,
    status: Option<Status>,
    preparation: Option<Preparation>,
    method: Option<PaymentMethod>,
    provider: Option<String>,
    from: Option<Timestamp>,
    until: Option<Timestamp>,
    errors: Vec<String>,
}

impl PaymentQuery {
    fn of(signed_in: &SignedIn) -> Self {
        let mut errors = Vec::new();
        let mut day = |name: &str, read: fn(&str) -> Option<Timestamp>| {
            let text = signed_in.query(name)?;
            let read = read(text);
            if read.is_none() {
                errors.push(format!("`{text}` is not a date; use the form 2026-11-15."));
            }
            read
        };
        let (from, until) = (day("from", read_moment), day("until", read_end));
        Self {
            text: signed_in.query_text("q"),
            status: signed_in.query("status").and_then(Status::parse),
            preparation: signed_in.query("status").and_then(Preparation::parse),
            method: signed_in.query("method").and_then(PaymentMethod::parse),
            provider: signed_in.query("provider").map(str::to_owned),
            from,
            until,
            errors,
        }
    }

    fn search(&self) -> PaymentSearch {
        PaymentSearch {
            text: self.text.clone(),
            status: self.status,
            preparation: self.preparation,
            method: self.method,
            provider: self.provider.clone(),
            created_from: self.from,
            created_before: self.until,
        }
    }
}

/// A day, which begins at midnight in UTC, or a moment as the API writes it.
pub(crate) fn read_moment(text: &str) -> Option<Timestamp> {
    let moment: jiff::Timestamp = text.parse().or_else(|_| format!("{text}T00:00:00Z").parse()).ok()?;
    Some(Timestamp::from_unix_millis(moment.as_millisecond()))
}

/// The end of a span: of a day, its last moment's end, so that the day is part of the span; a moment as it is.
pub(crate) fn read_end(text: &str) -> Option<Timestamp> {
    let begins = read_moment(text)?;
    let is_day = text.parse::<jiff::Timestamp>().is_err();
    Some(if is_day { begins.saturating_add(Duration::from_hours(24)) } else { begins })
}

pub(crate) async fn list(signed_in: SignedIn) -> Page {
    let environment = signed_in.environment()?;
    let frame = signed_in.frame("Payments", "payments").await?;
    let search = PaymentQuery::of(&signed_in);
    signed_in.record_list("payment.list", environment).await?;
    let (rows, next) = find(&signed_in, environment, &search, &frame.base).await?;
    if rows.is_empty() && search.text.parse::<RequestId>().is_ok() {
        let to = format!("{}/requests?q={}", frame.base, search.text);
        return Ok(Redirect::to(&to).into_response());
    }
    let rest = signed_in.query_without("before");
    let view = signed_in.view(environment)?;
    let status = signed_in.query("status").unwrap_or_default().to_owned();
    let choice = |value: &'static str, title: &'static str, chosen: &str| Choice {
        value,
        title,
        is_chosen: value == chosen,
    };
    let mut statuses = vec![choice("", "Any status", &status)];
    statuses.extend(Status::ALL.iter().map(|one| choice(one.as_str(), one.as_str(), &status)));
    statuses.extend(Preparation::ALL.iter().map(|one| choice(one.as_str(), one.as_str(), &status)));
    let method = search.method.map_or("", PaymentMethod::as_str);
    page::render(&PaymentsPage {
        text: search.text,
        statuses,
        methods: vec![
            choice("", "Any method", method),
            choice("web_card", "Card", method),
            choice("ach", "ACH", method),
        ],
        providers: view
            .configuration
            .providers
            .iter()
            .map(|provider| {
                let name = provider.name.to_string();
                let is_chosen = search.provider.as_deref() == Some(name.as_str());
                (name, is_chosen)
            })
            .collect(),
        from: signed_in.query_text("from"),
        until: signed_in.query_text("until"),
        rows,
        next: next.map(|next| {
            if rest.is_empty() { format!("?before={next}") } else { format!("?{rest}&before={next}") }
        }),
        export: format!("{}/payments.csv?{rest}", frame.base),
        errors: search.errors,
        frame,
    })
}

/// A slice, and where to go on.
async fn find(
    signed_in: &SignedIn,
    environment: EnvironmentId,
    search: &PaymentQuery,
    base: &str,
) -> Result<(Vec<Row>, Option<String>), PageError> {
    let engine = &signed_in.console.engine;
    let before = signed_in.query("before");
    let full = usize::try_from(SLICE).unwrap_or(usize::MAX);
    let rows = |found: &[FoundPayment]| found.iter().map(|one| Row::of(one, base)).collect();
    if !search.text.is_empty() {
        let before = before.and_then(read_place);
        let (found, next) = engine.search_payments(environment, &search.search(), before, full).await?;
        return Ok((rows(&found), next.map(|place| HEXLOWER.encode(&place))));
    }
    if search.preparation.is_some() {
        let before = before.and_then(|text| text.parse::<PaymentId>().ok());
        let (found, next) = engine.unpaid_payments(environment, &search.search(), before, full).await?;
        return Ok((rows(&found), next.map(|id| id.to_string())));
    }
    let before = before.and_then(|text| text.parse::<TransactionId>().ok());
    let found =
        engine.transactions(environment, &TransactionFilter::from(&search.search()), before, SLICE).await?;
    let last = found.last().map(|transaction| transaction.id.to_string()).filter(|_| found.len() == full);
    Ok((found.iter().map(|transaction| Row::of_transaction(transaction, base)).collect(), last))
}

fn read_place(text: &str) -> Option<SearchCursor> {
    HEXLOWER.decode(text.as_bytes()).ok()?.try_into().ok()
}

/// The list's filters as a table for a spreadsheet.
pub(crate) async fn export(signed_in: SignedIn) -> Page {
    let environment = signed_in.environment()?;
    let search = PaymentQuery::of(&signed_in).search();
    let engine = &signed_in.console.engine;
    let exported = Audited::new("payments.export", environment).in_environment(environment);
    engine.record_repeatable(&signed_in.origin(), exported).await?;
    let text = engine.export_payments(environment, &search).await?;
    Ok(page::file("payments.csv", "text/csv; charset=utf-8", text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_moments_are_read() {
        assert_eq!(read_moment("1970-01-02").map(Timestamp::unix_millis), Some(86_400_000));
        assert_eq!(read_moment("1970-01-01T00:00:01.000Z").map(Timestamp::unix_millis), Some(1_000));
        assert_eq!(read_moment("yesterday"), None);
        assert_eq!(read_end("1970-01-02").map(Timestamp::unix_millis), Some(2 * 86_400_000));
        assert_eq!(read_end("1970-01-01T00:00:01.000Z").map(Timestamp::unix_millis), Some(1_000));
        assert_eq!(read_end("yesterday"), None);
    }
}
