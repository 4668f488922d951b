//! What waits, and what for.

use askama::Template;
use tollgate_domain::{
    Timestamp,
    id::{PaymentId, TransactionId},
};
use tollgate_engine::ports::PaymentFilter;

use crate::{
    layout::{
        format::{ago, minor, second},
        frame::Frame,
        page::{self, Page},
    },
    request::signed_in::SignedIn,
};

const SLICE: u32 = 50;

struct Row {
    reference: String,
    link: String,
    since: String,
    status: &'static str,
    total: String,
    reason: String,
    looks: u32,
    next: String,
}

#[derive(Template)]
#[template(path = "waiting.html")]
struct WaitingPage {
    frame: Frame,
    transfers: Vec<Row>,
    payments: Vec<Row>,
    more_transfers: Option<String>,
    more_payments: Option<String>,
}

pub(crate) async fn list(signed_in: SignedIn) -> Page {
    let environment = signed_in.environment()?;
    let frame = signed_in.frame("Waiting", "waiting").await?;
    signed_in.record_list("payment.list", environment).await?;
    let engine = &signed_in.console.engine;
    let now = engine.clock().now();
    let next = |due: Option<Timestamp>| due.map_or_else(|| "–".to_owned(), second);
    let before = signed_in.query("transfers").and_then(|text| text.parse::<TransactionId>().ok());
    let transfers = engine.waiting_transfers(environment, before, SLICE).await?;
    let before = signed_in.query("payments").and_then(|text| text.parse::<PaymentId>().ok());
    let filter = PaymentFilter { preparation: None, waiting: true };
    let payments = engine.payments(environment, filter, before, SLICE).await?;
    let is_full = |count: usize| u32::try_from(count).is_ok_and(|count| count == SLICE);
    let more_transfers = transfers.last().filter(|_| is_full(transfers.len()));
    let more_payments = payments.last().filter(|_| is_full(payments.len()));
    page::render(&WaitingPage {
        more_transfers: more_transfers.map(|last| format!("?transfers={}", last.transaction)),
        more_payments: more_payments.map(|last| format!("?payments={}", last.order.id)),
        transfers: transfers
            .iter()
            .map(|transfer| Row {
                reference: transfer.order.id.to_string(),
                link: format!("{}/payments/{}", frame.base, transfer.order.id),
                since: ago(transfer.order.created_at, now),
                status: transfer.state.status.as_str(),
                total: minor(transfer.order.fee.total_debit, transfer.order.currency),
                reason: transfer.progress.waiting.clone().unwrap_or_default(),
                looks: transfer.progress.tries,
                next: next(transfer.progress.due),
            })
            .collect(),
        payments: payments
            .iter()
            .map(|payment| Row {
                reference: payment.order.id.to_string(),
                link: format!("{}/payments/{}", frame.base, payment.order.id),
                since: ago(payment.order.created_at, now),
                status: payment
                    .transaction
                    .as_ref()
                    .map_or(payment.progress.preparation.as_str(), |it| it.state.status.as_str()),
                total: minor(payment.order.fee.total_debit, payment.order.currency),
                reason: payment.progress.waiting.clone().unwrap_or_default(),
                looks: payment.progress.tries,
                next: next(payment.progress.due),
            })
            .collect(),
        frame,
    })
}
