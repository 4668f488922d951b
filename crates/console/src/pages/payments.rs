//! Payments in a list: searched, filtered, added up, exported.

use std::time::Duration;

use askama::Template;
use axum::response::{IntoResponse as _, Redirect};
use data_encoding::HEXLOWER;
use tollgate_domain::{
    PaymentMethod, Timestamp,
    card::Preparation,
    id::{EnvironmentId, PaymentId, RequestId, TransactionId},
    transaction::Status,
};
use tollgate_engine::{
    Audited, FoundPayment, PaymentSearch,
    ports::{SearchCursor, TransactionFilter},
};

use crate::{
    layout::{
        frame::Frame,
        page::{self, Page, PageError},
    },
    pages::{payment_rows::Row, payment_totals},
    request::signed_in::SignedIn,
};

const SLICE: u32 = 50;
/// More than these are not added up for a page.
const ADDED_UP_MAX: u32 = 5_000;

/// The words of `status` that are no status of a transaction.
const PARTLY_REFUNDED: &str = "partly_refunded";
const DISPUTED: &str = "disputed";

/// What can be picked by how payments stand: the word in the address, and the words on the page.
const STATUSES: [(&str, &str); 12] = [
    ("", "All"),
    ("succeeded", "Succeeded"),
    ("authorized", "Authorized"),
    ("pending", "Pending"),
    ("processing", "Processing"),
    ("failed", "Failed"),
    ("canceled", "Canceled"),
    ("refunded", "Refunded"),
    (PARTLY_REFUNDED, "Partly refunded"),
    (DISPUTED, "Disputed"),
    ("prepared", "Not paid yet"),
    ("expired", "Expired"),
];

const METHODS: [(&str, &str); 3] = [("", "Any method"), ("web_card", "Card"), ("ach", "Bank transfer")];

/// A filter that is on or off with a click.
struct Chip {
    title: &'static str,
    link: String,
    is_chosen: bool,
}

impl Chip {
    fn all(signed_in: &SignedIn, field: &str, values: &[(&str, &'static str)]) -> Vec<Self> {
        let chosen = signed_in.query(field).unwrap_or_default();
        let chip = |&(value, title): &(&str, &'static str)| Self {
            title,
            link: signed_in.link_with(field, value),
            is_chosen: value == chosen,
        };
        values.iter().map(chip).collect()
    }
}

#[derive(Template)]
#[template(path = "payments.html")]
struct PaymentsPage {
    frame: Frame,
    text: String,
    /// The status in the address, which a search keeps.
    status: String,
    method: String,
    statuses: Vec<Chip>,
    methods: Vec<Chip>,
    providers: Vec<(String, bool)>,
    from: String,
    until: String,
    /// What all that is filtered comes to, a sentence each.
    totals: Vec<String>,
    /// Whether there is anything that could be left out for a better result.
    is_filtered: bool,
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
    is_partly_refunded: bool,
    is_disputed: bool,
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
        let status = signed_in.query("status");
        Self {
            text: signed_in.query_text("q"),
            status: status.and_then(Status::parse),
            preparation: status.and_then(Preparation::parse),
            is_partly_refunded: status == Some(PARTLY_REFUNDED),
            is_disputed: status == Some(DISPUTED),
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
            is_partly_refunded: self.is_partly_refunded,
            is_disputed: self.is_disputed,
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
    let (found, next) = find(&signed_in, environment, &search).await?;
    if found.is_empty() && search.text.parse::<RequestId>().is_ok() {
        let to = format!("{}/requests?q={}", frame.base, search.text);
        return Ok(Redirect::to(&to).into_response());
    }
    let totals = totals(&signed_in, environment, &search, &found, next.is_none()).await?;
    let view = signed_in.view(environment)?;
    page::render(&PaymentsPage {
        status: signed_in.query_text("status"),
        method: signed_in.query_text("method"),
        statuses: Chip::all(&signed_in, "status", &STATUSES),
        methods: Chip::all(&signed_in, "method", &METHODS),
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
        totals,
        is_filtered: ["q", "status", "method", "provider", "from", "until"]
            .into_iter()
            .any(|field| signed_in.query(field).is_some()),
        rows: Row::all(&signed_in, environment, &found, &frame.base).await?,
        next: next.map(|next| signed_in.link_with("before", &next)),
        export: format!("{}/payments.csv?{}", frame.base, signed_in.query_without("before")),
        text: search.text,
        errors: search.errors,
        frame,
    })
}

/// What all payments that pass the filters come to. Of a search only what is on the page is known.
async fn totals(
    signed_in: &SignedIn,
    environment: EnvironmentId,
    search: &PaymentQuery,
    found: &[FoundPayment],
    is_last: bool,
) -> Result<Vec<String>, PageError> {
    let is_first = signed_in.query("before").is_none();
    if !search.text.is_empty() || search.preparation.is_some() {
        let is_whole = is_first && is_last && !found.is_empty();
        return Ok(if is_whole { payment_totals::of_found(found) } else { Vec::new() });
    }
    if !is_first {
        return Ok(Vec::new());
    }
    let filter = TransactionFilter::from(&search.search());
    let totals = signed_in.console.engine.transaction_totals(environment, &filter, ADDED_UP_MAX).await?;
    Ok(match totals {
        Some(totals) => payment_totals::sentences(&totals),
        None => vec![payment_totals::too_many(ADDED_UP_MAX)],
    })
}

/// A slice, and where to go on.
async fn find(
    signed_in: &SignedIn,
    environment: EnvironmentId,
    search: &PaymentQuery,
) -> Result<(Vec<FoundPayment>, Option<String>), PageError> {
    let engine = &signed_in.console.engine;
    let before = signed_in.query("before");
    let full = usize::try_from(SLICE).unwrap_or(usize::MAX);
    if !search.text.is_empty() {
        let before = before.and_then(read_place);
        let (found, next) = engine.search_payments(environment, &search.search(), before, full).await?;
        return Ok((found, next.map(|place| HEXLOWER.encode(&place))));
    }
    if search.preparation.is_some() {
        let before = before.and_then(|text| text.parse::<PaymentId>().ok());
        let (found, next) = engine.unpaid_payments(environment, &search.search(), before, full).await?;
        return Ok((found, next.map(|id| id.to_string())));
    }
    let before = before.and_then(|text| text.parse::<TransactionId>().ok());
    let found =
        engine.transactions(environment, &TransactionFilter::from(&search.search()), before, SLICE).await?;
    let last = found.last().map(|transaction| transaction.id.to_string()).filter(|_| found.len() == full);
    Ok((found.into_iter().map(|it| FoundPayment::Transaction(Box::new(it))).collect(), last))
}

pub(crate) fn read_place(text: &str) -> Option<SearchCursor> {
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
