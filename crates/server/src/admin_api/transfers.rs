//! Transfers for operators: one with its whole timeline, and those that wait.

use serde::Serialize;
use tollgate_configuration::Configuration;
use tollgate_domain::{
    ach::TransferOrder,
    id::{EnvironmentId, TransferId},
};
use tollgate_engine::ports::Transfer;
use utoipa::ToSchema;

use crate::{
    admin_api::{
        exceptions::ExceptionAnswer,
        operator::Operator,
        paging::ListAnswer,
        payments::of_reading,
        timeline,
        wallets::{self, PostingAnswer},
    },
    answer::{self, Answer},
    transaction_answer::TransactionAnswer,
    transfer_answer::{TransferDetail, TransferProgressAnswer},
};

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TransferSummary {
    transaction: TransactionAnswer,
    transfer: TransferDetail,
    #[serde(flatten)]
    progress: TransferProgressAnswer,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TransferWithTimeline)]
pub(crate) struct TransferRead {
    service_reference: String,
    #[serde(flatten)]
    summary: TransferSummary,
    exceptions: Vec<ExceptionAnswer>,
    timeline: Vec<timeline::LineAnswer>,
    /// What it did to the wallet, oldest first.
    postings: Vec<PostingAnswer>,
}

fn summary(transfer: &Transfer) -> TransferSummary {
    TransferSummary {
        transaction: TransactionAnswer::of_transfer(transfer),
        transfer: TransferDetail::of(transfer),
        progress: TransferProgressAnswer::of(transfer),
    }
}

/// `GET /admin/v1/environments/<id>/transfers/waiting`.
pub(crate) async fn waiting(operator: Operator) -> Answer {
    let (environment, limit) = (operator.known_environment()?, operator.limit()?);
    let before = operator.query("before")?;
    let found = operator.app.engine.waiting_transfers(environment, before, limit).await;
    let found = found.map_err(of_reading)?;
    let last = found.last().map(|transfer| transfer.transaction);
    answer::ok(&ListAnswer::new(found.iter().map(summary).collect(), limit, last))
}

/// One transfer with its whole timeline.
pub(crate) async fn read(operator: &Operator, environment: EnvironmentId, id: TransferId) -> Answer {
    let engine = &operator.app.engine;
    let read = engine.transfer_with_timeline(environment, id).await.map_err(of_reading)?;
    let version = read.transfer.order.config_version;
    let configuration = engine.config_version(environment, version).await.ok().map(|it| it.configuration);
    let story = story(&read.transfer.order, configuration.as_ref());
    answer::ok(&TransferRead {
        service_reference: id.to_string(),
        exceptions: read.exceptions.iter().map(ExceptionAnswer::of).collect(),
        timeline: timeline::lines(&story, &read.timeline)?,
        postings: wallets::postings(&read.postings).into_iter().rev().collect(),
        summary: summary(&read.transfer),
    })
}

fn story<'a>(order: &'a TransferOrder, configuration: Option<&'a Configuration>) -> timeline::Story<'a> {
    timeline::Story::of_transfer(order, configuration)
}
