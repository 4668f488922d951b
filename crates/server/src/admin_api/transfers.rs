//! Transfers for operators: one with its whole timeline, and those that wait.

use tollgate_configuration::Configuration;
use tollgate_domain::{
    ServiceReference,
    ach::TransferOrder,
    id::{EnvironmentId, TransferId},
};
use tollgate_engine::{CorrectedAccount, ports::Transfer};

use crate::{
    admin_api::{
        exceptions::ExceptionResponse,
        timeline,
        wallets::{self, PostingResponse},
    },
    client_api::{confirm::ConfirmResponse, transfers as client_transfers},
    prelude::*,
    response::{
        transaction::TransactionResponse,
        transfer::{TransferDetail, TransferProgressResponse},
    },
};

responses! {
    TransferSummary as TransferSummary {
        /// The same as the transaction's, where a card payment has its own.
        status: words::TransactionStatus,
        transaction: TransactionResponse,
        transfer: TransferDetail,
        #[serde(flatten)]
        progress: TransferProgressResponse,
    }

    TransferRead as TransferWithTimeline {
        service_reference: String,
        #[serde(flatten)]
        summary: TransferSummary,
        exceptions: Vec<ExceptionResponse>,
        timeline: Vec<timeline::LineResponse>,
        /// What it did to the wallet, oldest first.
        postings: Vec<PostingResponse>,
    }

    /// Corrected accounts, whole.
    RevealedResponse as RevealedCorrections {
        service_reference: String,
        corrections: Vec<CorrectedAccountResponse>,
    }

    CorrectedAccountResponse as CorrectedAccount {
        account_number: String,
        routing_number: Option<String>,
        /// What was wrong, in the provider's word.
        change_code: Option<String>,
    }
}

impl CorrectedAccountResponse {
    fn of(account: &CorrectedAccount) -> Self {
        Self {
            account_number: account.account_number.expose().to_owned(),
            routing_number: account.routing_number.clone(),
            change_code: account.change_code.clone(),
        }
    }
}

fn summary(transfer: &Transfer) -> TransferSummary {
    TransferSummary {
        status: transfer.state.status.as_str().into(),
        transaction: TransactionResponse::of_transfer(transfer),
        transfer: TransferDetail::of(transfer),
        progress: TransferProgressResponse::of(transfer),
    }
}

/// `GET /admin/v1/environments/<id>/transfers/waiting`.
pub(crate) async fn waiting(operator: Operator) -> Done<ListResponse<TransferSummary>> {
    let environment = operator.known_environment()?;
    let mut query = operator.query();
    let (before, limit) = (query.value("before"), query.limit());
    query.finish()?;
    operator.record_list("payment.list", environment).await?;
    let transfers = operator.app.engine.waiting_transfers(environment, before, limit.to_read()).await?;
    respond::ok(&ListResponse::slice(transfers, limit, |it| summary(&it), |it| it.transaction))
}

/// The account numbers that receiving banks asked to be used from now on; who was shown them is recorded.
pub(crate) async fn reveal_corrected_account(operator: Operator) -> Done<RevealedResponse> {
    let environment = operator.known_environment()?;
    let ServiceReference::Ach(id) = operator.path("reference")? else { return Err(not_found_here()) };
    let revealed = operator.app.engine.reveal_corrected_accounts(environment, id, &operator.origin).await?;
    respond::ok(&RevealedResponse {
        service_reference: id.to_string(),
        corrections: revealed.iter().map(CorrectedAccountResponse::of).collect(),
    })
}

/// `POST /admin/v1/environments/<id>/transactions/<reference>/cancel`: an operator cancels a transfer.
pub(crate) async fn cancel(operator: Operator) -> DoneOnce<ConfirmResponse> {
    let environment = operator.known_environment()?;
    let reference: ServiceReference = operator.path("reference")?;
    let engine = Arc::clone(&operator.app.engine);
    let view =
        engine.directory().snapshot().environment(environment).map(Arc::clone).ok_or_else(not_found_here)?;
    let origin = operator.origin.clone();
    let canceling = async move {
        Box::pin(engine.cancel_transfer(&view, reference, Some(&origin), &origin.request)).await
    };
    client_transfers::canceled(&run_to_completion(&operator.app.engine, canceling).await??)
}

/// One transfer with its whole timeline.
pub(crate) async fn read<L>(operator: &Operator, environment: EnvironmentId, id: TransferId) -> OneOf<L> {
    let engine = &operator.app.engine;
    let read = engine.transfer_with_timeline(environment, id).await?;
    operator.record_view("payment.view", environment, id).await?;
    let configuration = engine.decided_by(environment, read.transfer.order.config_version).await?;
    let history = history(&read.transfer.order, configuration.as_deref());
    respond::ok(&TransferRead {
        service_reference: id.to_string(),
        exceptions: read.exceptions.iter().map(ExceptionResponse::of).collect(),
        timeline: timeline::lines(&history, &read.timeline)?,
        postings: wallets::postings(&read.postings).into_iter().rev().collect(),
        summary: summary(&read.transfer),
    })
    .map(Answer::one_of)
}

fn history<'a>(
    order: &'a TransferOrder,
    configuration: Option<&'a Configuration>,
) -> timeline::PaymentHistory<'a> {
    timeline::PaymentHistory::of_transfer(order, configuration)
}
