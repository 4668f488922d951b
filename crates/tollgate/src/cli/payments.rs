//! `tollgate payments`: what was paid, what waits, and one payment's whole story.

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use tollgate_vault::random_bytes;

use super::{
    confirm::Confirm,
    fields::Fields,
    http::{query, segment},
    moment::moment,
    money::{currency, major, to_minor},
    output::{Paint, Style, paint_of},
    payment_detail,
    session::Session,
    table::{Cell, Table, more},
};
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct Payments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List transactions, newest first.
    List(List),
    /// Show one payment with its full timeline.
    Show {
        /// The payment reference, pay_… or ach_….
        reference: String,
    },
    /// Capture an authorized card payment, in whole or in part.
    Capture(CaptureArgs),
    /// Void an authorized card payment: what is held is released.
    Void(VoidArgs),
    /// Cancel a bank transfer, if the provider still can.
    Cancel {
        /// The transfer reference, ach_….
        reference: String,
        #[command(flatten)]
        confirm: Confirm,
    },
    /// Refund a card payment, in whole or in part.
    Refund(RefundArgs),
    /// Show the account number that the receiving bank asked to be used from now on. Who was shown it is recorded.
    RevealCorrectedAccount {
        /// The transfer reference, ach_….
        reference: String,
        #[command(flatten)]
        confirm: Confirm,
    },
    /// Continue an unresolved payment at the provider account configured now. Only safe once the original account is
    /// known not to have it.
    UseConfiguredAccount {
        /// The payment reference, pay_… or ach_….
        reference: String,
        #[command(flatten)]
        confirm: Confirm,
    },
}

#[derive(Debug, Args)]
struct CaptureArgs {
    /// The payment reference, pay_….
    reference: String,
    /// The principal to capture, such as 5.00; the rest is released. Default: all that was authorized.
    #[arg(long)]
    amount: Option<String>,
    /// --amount is in minor units.
    #[arg(long, requires = "amount")]
    minor: bool,
    /// The idempotency key; repeating it captures nothing more. Default: generated.
    #[arg(long)]
    key: Option<String>,
    #[command(flatten)]
    confirm: Confirm,
}

#[derive(Debug, Args)]
struct VoidArgs {
    /// The payment reference, pay_….
    reference: String,
    /// The idempotency key; repeating it changes nothing. Default: generated.
    #[arg(long)]
    key: Option<String>,
    #[command(flatten)]
    confirm: Confirm,
}

#[derive(Debug, Args)]
struct RefundArgs {
    /// The payment reference, pay_….
    reference: String,
    /// The principal to refund, such as 5.00. Default: everything that is left.
    #[arg(long)]
    amount: Option<String>,
    /// --amount is in minor units.
    #[arg(long, requires = "amount")]
    minor: bool,
    /// How much of the service fee goes back: proportional, full or none. Default: as the environment is configured.
    #[arg(long, value_name = "RULE")]
    fee: Option<String>,
    /// duplicate, fraudulent, requested_by_customer or other.
    #[arg(long)]
    reason: Option<String>,
    /// The idempotency key; repeating it refunds nothing more. Default: generated.
    #[arg(long)]
    key: Option<String>,
    #[command(flatten)]
    confirm: Confirm,
}

#[derive(Debug, Args)]
struct List {
    /// Only transactions in this status.
    #[arg(long)]
    status: Option<String>,
    /// Only web_card or ach.
    #[arg(long, conflicts_with_all = ["preparations", "waiting"])]
    method: Option<String>,
    /// Only transactions of this provider.
    #[arg(long, conflicts_with_all = ["preparations", "waiting"])]
    provider: Option<String>,
    /// List card preparations instead.
    #[arg(long)]
    preparations: bool,
    /// Only pending payments, with the reason.
    #[arg(long, conflicts_with = "status")]
    waiting: bool,
    /// Maximum number of results.
    #[arg(long, default_value_t = 50)]
    limit: u32,
    /// Only results before this one.
    #[arg(long, value_name = "CURSOR", conflicts_with = "waiting")]
    before: Option<String>,
}

pub(crate) async fn run(session: Session, payments: Payments) -> Result<(), Failure> {
    match payments.action {
        Action::List(list) if list.waiting => waiting(&session, list.limit).await,
        Action::List(list) if list.preparations => preparations(&session, list).await,
        Action::List(list) => transactions(&session, list).await,
        Action::Show { reference } => {
            let payment_detail = read(&session, &reference).await?;
            session.output.show(&payment_detail, |style| payment_detail::render(&payment_detail, style))
        }
        Action::Capture(wanted) => capture_payment(&session, wanted).await,
        Action::Void(wanted) => void_payment(&session, wanted).await,
        Action::Cancel { reference, confirm } => {
            confirm.ask(&format!("Cancel {reference}? It would have to be made again."))?;
            change_hold(&session, &reference, "cancel", &json!({})).await
        }
        Action::Refund(refund) => refund_payment(&session, refund).await,
        Action::RevealCorrectedAccount { reference, confirm } => reveal(&session, &reference, confirm).await,
        Action::UseConfiguredAccount { reference, confirm } => {
            confirm.ask(&format!(
                "Continue {reference} at the account configured now? If the original account has it, it is paid twice."
            ))?;
            let path =
                session.path(&format!("/payments/{}/use-configured-account", segment(&reference))).await?;
            let decided = session.client.post(&path, &json!({})).await?;
            session
                .output
                .show(&decided, |_| format!("{reference} continues at the account configured now.\n"))
        }
    }
}

async fn refund_payment(session: &Session, wanted: RefundArgs) -> Result<(), Failure> {
    let payment = read(session, &wanted.reference).await?;
    let code = payment.text("currency");
    let amount = in_minor(wanted.amount.as_deref(), wanted.minor, code)?;
    let shown = amount.as_deref().map_or_else(|| "everything that is left".to_owned(), |it| major(it, code));
    wanted.confirm.ask(&format!("Refund {shown} of {}? It cannot be taken back.", wanted.reference))?;
    let body = json!({
        "idempotencyKey": or_new_key(wanted.key)?,
        "amountMinor": amount,
        "feeRefund": wanted.fee,
        "reason": wanted.reason,
    });
    let path = session.path(&format!("/transactions/{}/refunds", segment(&wanted.reference))).await?;
    let made = session.client.post(&path, &body).await?;
    session.output.show(&made, |style| {
        let refund = made.field("refund").unwrap_or(&Value::Null);
        let amount = |field| major(refund.text(field), refund.text("currency"));
        format!(
            "{} {}  {}, {} of it fee\n",
            refund.text("refundReference"),
            style.status(refund.text("status")),
            amount("totalRefundMinor"),
            amount("feeMinor")
        )
    })
}

async fn capture_payment(session: &Session, wanted: CaptureArgs) -> Result<(), Failure> {
    let payment = read(session, &wanted.reference).await?;
    let code = payment.text("currency");
    let amount = in_minor(wanted.amount.as_deref(), wanted.minor, code)?;
    let shown = amount.as_deref().map_or_else(|| "all".to_owned(), |it| major(it, code));
    wanted.confirm.ask(&format!("Capture {shown} of {}? It can be done once.", wanted.reference))?;
    let body = json!({ "idempotencyKey": or_new_key(wanted.key)?, "amountMinor": amount });
    change_hold(session, &wanted.reference, "capture", &body).await
}

async fn void_payment(session: &Session, wanted: VoidArgs) -> Result<(), Failure> {
    wanted.confirm.ask(&format!("Void {}? The customer would have to pay again.", wanted.reference))?;
    let body = json!({ "idempotencyKey": or_new_key(wanted.key)? });
    change_hold(session, &wanted.reference, "void", &body).await
}

async fn change_hold(session: &Session, reference: &str, action: &str, body: &Value) -> Result<(), Failure> {
    let path = session.path(&format!("/transactions/{}/{action}", segment(reference))).await?;
    let made = session.client.post(&path, body).await?;
    session.output.show(&made, |style| {
        let transaction = made.field("transaction").unwrap_or(&Value::Null);
        let amount = |field| major(transaction.text(field), transaction.text("currency"));
        let mut line = format!("{reference} {}", style.status(transaction.text("status")));
        if transaction.text("status") == "succeeded" {
            let (total, fee) = (amount("totalDebitMinor"), amount("feeMinor"));
            line = format!("{line}  {total}, {fee} of it fee");
        } else if let Some(pending) = transaction.optional_text("pendingAction") {
            line = format!("{line}  {pending} in progress");
        }
        format!("{line}\n")
    })
}

/// What `--amount` says, in minor units.
fn in_minor(number: Option<&str>, is_minor: bool, code: &str) -> Result<Option<String>, Failure> {
    match number {
        Some(number) if is_minor => Ok(Some(number.to_owned())),
        Some(number) => to_minor(number, currency(code)?).map(Some),
        None => Ok(None),
    }
}

fn or_new_key(key: Option<String>) -> Result<String, Failure> {
    if let Some(key) = key {
        return Ok(key);
    }
    let random: [u8; 16] = random_bytes()?;
    Ok(format!("cli-{:032x}", u128::from_be_bytes(random)))
}

async fn reveal(session: &Session, reference: &str, confirm: Confirm) -> Result<(), Failure> {
    confirm
        .ask(&format!("Show the corrected account number of {reference}? That you saw it is recorded."))?;
    let path = session.path(&format!("/payments/{}/reveal-corrected-account", segment(reference))).await?;
    let revealed = session.client.post(&path, &json!({})).await.map_err(|failure| {
        failure.if_missing(|| {
            format!(
                "no bank has asked for another account number for {reference}; see `tollgate payments show {reference}`"
            )
        })
    })?;
    session.output.show(&revealed, |style| {
        let mut table = Table::new(&["ACCOUNT NUMBER", "ROUTING NUMBER", "CHANGE"]);
        for correction in revealed.list("corrections") {
            table.row([
                correction.word("accountNumber").into(),
                correction.word("routingNumber").into(),
                Cell::painted(correction.word("changeCode"), Paint::Dim),
            ]);
        }
        table.draw(style, "No corrected account numbers.")
    })
}

/// Everything an operator sees of a payment.
pub(crate) async fn read(session: &Session, reference: &str) -> Result<Value, Failure> {
    let path = session.path(&format!("/payments/{}", segment(reference))).await?;
    let environment = session.environment().await?;
    session.client.get(&path).await.map_err(|failure| {
        failure.if_missing(|| {
            format!(
                "payment {reference} not found in environment {environment}; see `tollgate payments list`, or choose \
                 another environment with --environment"
            )
        })
    })
}

async fn transactions(session: &Session, list: List) -> Result<(), Failure> {
    let query = query(&[
        ("limit", Some(list.limit.to_string())),
        ("status", list.status),
        ("paymentMethod", list.method),
        ("provider", list.provider),
        ("before", list.before),
    ]);
    let found = session.client.get(&session.path(&format!("/transactions{query}")).await?).await?;
    session.output.show(&found, |style| {
        let heads = [
            "REFERENCE",
            "STATUS",
            ">AMOUNT",
            ">TOTAL DEBIT",
            "METHOD",
            "PROVIDER",
            "CREATED",
            "DESCRIPTION",
        ];
        let mut table = Table::new(&heads);
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
        table.draw(style, "No transactions.") + &more(&found, "--before")
    })
}

async fn preparations(session: &Session, list: List) -> Result<(), Failure> {
    let query =
        query(&[("limit", Some(list.limit.to_string())), ("status", list.status), ("before", list.before)]);
    let found = session.client.get(&session.path(&format!("/payments{query}")).await?).await?;
    session.output.show(&found, |style| {
        let heads = ["REFERENCE", "STATUS", ">TOTAL DEBIT", "FLOW", "PROVIDER", "EXPIRES", "TRANSACTION"];
        let mut table = Table::new(&heads);
        for payment in found.list("items") {
            table.row([
                payment.word("serviceReference").into(),
                status_of(payment),
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
    let mut table = Table::new(&["REFERENCE", "STATUS", ">TOTAL DEBIT", ">LOOKS", "NEXT CHECK", "REASON"]);
    let cards = both.list("/payments/items").iter().map(|payment| (payment, payment));
    let transfers = both.list("/transfers/items").iter();
    let transfers = transfers.map(|item| (item, item.field("transaction").unwrap_or(item)));
    for (progress, payment) in cards.chain(transfers) {
        let next = progress.optional_text("nextLookAt").map_or_else(|| "-".to_owned(), moment);
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
