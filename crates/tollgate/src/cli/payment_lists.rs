//! `tollgate payments list` and `export`.

use clap::Args;
use serde_json::{Value, json};

use super::{
    fields::Fields,
    http::query,
    moment::moment,
    money::major,
    output::{Paint, Style, paint_of, print},
    session::Session,
    table::{Cell, Table, more},
};
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only what is found by this text: a reference or its beginning, an amount such as "1044.44 USD", a customer, a word
    /// of the description, a value of the metadata, or an ID of a request, an event, a dispute or of the provider.
    #[arg(long, value_name = "TEXT", conflicts_with = "waiting")]
    search: Option<String>,
    /// Only transactions in this status.
    #[arg(long)]
    status: Option<String>,
    /// Only web_card or ach.
    #[arg(long, conflicts_with_all = ["preparations", "waiting"])]
    method: Option<String>,
    /// Only transactions of this provider.
    #[arg(long, conflicts_with_all = ["preparations", "waiting"])]
    provider: Option<String>,
    #[command(flatten)]
    particular: Particular,
    /// List card preparations instead.
    #[arg(long, conflicts_with_all = ["disputed", "partly_refunded"])]
    preparations: bool,
    /// Only pending payments, with the reason.
    #[arg(long, conflicts_with_all = ["status", "disputed", "partly_refunded"])]
    waiting: bool,
    /// Maximum number of results.
    #[arg(long, default_value_t = 50)]
    limit: u32,
    /// Only results before this one.
    #[arg(long, value_name = "CURSOR", conflicts_with = "waiting")]
    before: Option<String>,
}

/// What few transactions have.
#[derive(Debug, Clone, Copy, Args)]
struct Particular {
    /// Only transactions with a dispute, whatever became of it.
    #[arg(long)]
    disputed: bool,
    /// Only transactions that are paid and were refunded in part.
    #[arg(long)]
    partly_refunded: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Only what is found by this text; see `payments list --search`.
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Only transactions in this status.
    #[arg(long)]
    status: Option<String>,
    /// Only web_card or ach.
    #[arg(long)]
    method: Option<String>,
    /// Only transactions of this provider.
    #[arg(long)]
    provider: Option<String>,
    #[command(flatten)]
    particular: Particular,
    /// Only from this time on, such as 2026-11-15T00:00:00Z.
    #[arg(long, value_name = "MOMENT")]
    from: Option<String>,
    /// Only before this time.
    #[arg(long, value_name = "MOMENT")]
    until: Option<String>,
}

pub(crate) async fn list(session: &Session, list: List) -> Result<(), Failure> {
    if list.waiting {
        waiting(session, list.limit).await
    } else if list.preparations {
        preparations(session, list).await
    } else {
        transactions(session, list).await
    }
}

pub(crate) async fn export(session: &Session, wanted: ExportArgs) -> Result<(), Failure> {
    let query = query(&[
        ("search", wanted.search),
        ("status", wanted.status),
        ("paymentMethod", wanted.method),
        ("provider", wanted.provider),
        ("disputed", wanted.particular.disputed.then(|| "true".to_owned())),
        ("partlyRefunded", wanted.particular.partly_refunded.then(|| "true".to_owned())),
        ("createdFrom", wanted.from),
        ("createdBefore", wanted.until),
    ]);
    print(&session.client.get_text(&session.path(&format!("/payments.csv{query}")).await?).await?)
}

async fn transactions(session: &Session, list: List) -> Result<(), Failure> {
    let is_search = list.search.is_some();
    let query = query(&[
        ("limit", Some(list.limit.to_string())),
        ("search", list.search),
        ("status", list.status),
        ("paymentMethod", list.method),
        ("provider", list.provider),
        ("disputed", list.particular.disputed.then(|| "true".to_owned())),
        ("partlyRefunded", list.particular.partly_refunded.then(|| "true".to_owned())),
        ("before", list.before),
    ]);
    let found = session.client.get(&session.path(&format!("/transactions{query}")).await?).await?;
    let nothing = if is_search {
        "No transactions found; add --preparations to search payments that nobody has paid."
    } else {
        "No transactions."
    };
    session.output.show(&found, |style| {
        let heads = [
            "REFERENCE",
            "=STATUS",
            ">AMOUNT",
            ">TOTAL DEBIT",
            "METHOD",
            "PROVIDER",
            "=CREATED",
            "DESCRIPTION",
        ];
        let mut table =
            Table::new(&heads).leaving_out(&["PROVIDER", "METHOD", "TOTAL DEBIT", "DESCRIPTION", "CREATED"]);
        for transaction in found.list("items") {
            table.row([
                transaction.word("serviceReference").into(),
                status_of(transaction),
                amount(transaction, "amountMinor"),
                amount(transaction, "totalDebitMinor"),
                transaction.word("paymentMethod").into(),
                transaction.word("provider").into(),
                moment(transaction.text("createdAt")).into(),
                Cell::painted(transaction.word("description"), Paint::Dim),
            ]);
        }
        table.draw(style, nothing) + &more(&found, "--before")
    })
}

async fn preparations(session: &Session, list: List) -> Result<(), Failure> {
    let query = query(&[
        ("limit", Some(list.limit.to_string())),
        ("search", list.search),
        ("status", list.status),
        ("before", list.before),
    ]);
    let found = session.client.get(&session.path(&format!("/payments{query}")).await?).await?;
    session.output.show(&found, |style| {
        let heads = ["REFERENCE", "=STATUS", ">TOTAL DEBIT", "FLOW", "PROVIDER", "=EXPIRES", "=TRANSACTION"];
        let mut table = Table::new(&heads).leaving_out(&["FLOW", "PROVIDER", "EXPIRES", "TRANSACTION"]);
        for payment in found.list("items") {
            table.row([
                payment.word("serviceReference").into(),
                Cell::painted(
                    payment.word("/preparation/status"),
                    paint_of(payment.text("/preparation/status")),
                ),
                amount(payment, "totalDebitMinor"),
                payment.word("flow").into(),
                payment.word("provider").into(),
                moment(payment.text("expiresAt")).into(),
                Cell::painted(
                    payment.word("/transaction/status"),
                    paint_of(payment.text("/transaction/status")),
                ),
            ]);
        }
        table.draw(style, "No preparations.") + &more(&found, "--before")
    })
}

async fn waiting(session: &Session, limit: u32) -> Result<(), Failure> {
    let limit = query(&[("limit", Some(limit.to_string()))]);
    let cards = session.client.get(&session.path(&format!("/payments{limit}&waiting=true")).await?).await?;
    let transfers = session.client.get(&session.path(&format!("/transfers/waiting{limit}")).await?).await?;
    let both = json!({ "payments": cards, "transfers": transfers });
    session.output.show(&both, |style| waiting_table(&both, style))
}

fn waiting_table(both: &Value, style: Style) -> String {
    let mut table = Table::new(&["REFERENCE", "=STATUS", ">TOTAL DEBIT", ">LOOKS", "=NEXT CHECK", "REASON"])
        .leaving_out(&["LOOKS", "NEXT CHECK"]);
    let cards = both.list("/payments/items").iter().map(|payment| (payment, payment));
    let transfers = both.list("/transfers/items").iter();
    let transfers = transfers.map(|item| (item, item.field("transaction").unwrap_or(item)));
    for (progress, payment) in cards.chain(transfers) {
        let next = progress.optional_text("nextCheckAt").map_or_else(|| "-".to_owned(), moment);
        table.row([
            payment.word("serviceReference").into(),
            status_of(payment),
            amount(payment, "totalDebitMinor"),
            progress.word("looks").into(),
            next.into(),
            Cell::painted(progress.word("waitingFor"), Paint::Notice),
        ]);
    }
    table.draw(style, "No pending payments.")
}

fn status_of(payment: &Value) -> Cell {
    Cell::painted(payment.word("status"), paint_of(payment.text("status")))
}

fn amount(payment: &Value, field: &str) -> Cell {
    Cell::from(major(payment.text(field), payment.text("currency")))
}
