//! `tollgate payments`: one payment's whole story, and what an operator can do about it.

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use tollgate_vault::random_bytes;

use super::{
    confirm::Confirm,
    fields::Fields,
    http::segment,
    money::{currency, major, to_minor},
    output::Paint,
    payment_detail,
    payment_lists::{self, ExportArgs, List},
    refund_question::RefundQuestion,
    session::Session,
    table::{Cell, Table},
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
    /// Export transactions as CSV, with customers, fee layers and decimals.
    Export(ExportArgs),
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
    /// Write a note on a payment's timeline.
    Note {
        /// The payment reference, pay_… or ach_….
        reference: String,
        /// The note, in one line. No card numbers.
        text: String,
    },
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

pub(crate) async fn run(session: Session, payments: Payments) -> Result<(), Failure> {
    match payments.action {
        Action::List(wanted) => payment_lists::list(&session, wanted).await,
        Action::Show { reference } => {
            let payment_detail = read(&session, &reference).await?;
            session.output.show(&payment_detail, |style| payment_detail::render(&payment_detail, style))
        }
        Action::Export(wanted) => payment_lists::export(&session, wanted).await,
        Action::Capture(wanted) => capture_payment(&session, wanted).await,
        Action::Void(wanted) => void_payment(&session, wanted).await,
        Action::Cancel { reference, confirm } => {
            confirm.ask(&format!("Cancel {reference}? It would have to be made again."))?;
            change_hold(&session, &reference, "cancel", &json!({})).await
        }
        Action::Refund(refund) => refund_payment(&session, refund).await,
        Action::Note { reference, text } => {
            let path = session.path(&format!("/payments/{}/notes", segment(&reference))).await?;
            let added = session.client.post(&path, &json!({ "text": text })).await.map_err(|failure| {
                failure.if_missing(|| format!("payment {reference} not found; see `tollgate payments list`"))
            })?;
            session.output.show(&added, |_| format!("Noted on {reference}.\n"))
        }
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
    let amount = in_minor(wanted.amount.as_deref(), wanted.minor, currency_of(&payment))?;
    let question = RefundQuestion {
        payment: &payment,
        reference: &wanted.reference,
        amount: amount.as_deref(),
        fee: wanted.fee.as_deref(),
    };
    wanted.confirm.ask(&question.text()?)?;
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
        let approval = refund.field("approval").filter(|it| it.text("state") == "required");
        let waits = approval.map_or("", |_| "It waits for approval; see `tollgate approvals list`.\n");
        format!(
            "{} {}  {}, including {} fee\n{waits}",
            refund.text("refundReference"),
            style.status(refund.text("status")),
            amount("totalRefundMinor"),
            amount("feeMinor")
        )
    })
}

async fn capture_payment(session: &Session, wanted: CaptureArgs) -> Result<(), Failure> {
    let payment = read(session, &wanted.reference).await?;
    let code = currency_of(&payment);
    let amount = in_minor(wanted.amount.as_deref(), wanted.minor, code)?;
    let held = payment.optional_text("/transaction/amountMinor").unwrap_or("0");
    let part = amount.as_deref().unwrap_or(held);
    wanted.confirm.ask(&format!(
        "Capture {} of the {} authorized for {}? It can be done once.",
        major(part, code),
        major(held, code),
        wanted.reference
    ))?;
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
            line = format!("{line}  {total}, including {fee} fee");
        } else if let Some(pending) = transaction.optional_text("pendingAction") {
            line = format!("{line}  {pending} in progress");
        }
        format!("{line}\n")
    })
}

/// A transfer has it in its transaction alone.
fn currency_of(payment: &Value) -> &str {
    payment.optional_text("currency").unwrap_or_else(|| payment.text("/transaction/currency"))
}

/// What `--amount` says, in minor units.
fn in_minor(number: Option<&str>, is_minor: bool, code: &str) -> Result<Option<String>, Failure> {
    match number {
        Some(number) if is_minor => Ok(Some(number.to_owned())),
        Some(number) => to_minor(number, currency(code)?).map(Some),
        None => Ok(None),
    }
}

pub(crate) fn or_new_key(key: Option<String>) -> Result<String, Failure> {
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
