//! `GET /client/v1/transactions` and `GET /client/v1/transactions/<reference>`.

use serde::Serialize;
use tollgate_domain::{PaymentMethod, ServiceReference, transaction::Status};
use tollgate_engine::ports::TransactionFilter;
use utoipa::ToSchema;

use crate::{
    client_api::{
        caller::Backend,
        payments::{from_read_error, no_such_payment},
    },
    request::location::Location,
    response::{
        error::ApiError,
        list::ListResponse,
        respond::{self, ApiResult},
        transaction::TransactionResponse,
        transfer::TransferDetail,
    },
};

/// A transaction that is read back.
#[derive(Serialize, ToSchema)]
#[schema(as = TransactionRead)]
pub(crate) struct TransactionReadResponse {
    #[serde(flatten)]
    transaction: TransactionResponse,
    /// What a bank transfer has beyond its transaction; left out for card payments.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    transfer: Option<TransferDetail>,
}

pub(crate) async fn read(Backend(caller): Backend) -> ApiResult {
    let reference = caller.location.path("reference").map_err(|_| no_such_payment())?;
    let (engine, environment) = (&caller.app.engine, caller.view.environment.id);
    if let ServiceReference::Ach(id) = reference {
        let transfer = engine.transfer(environment, id).await.map_err(from_read_error)?;
        return respond::ok(&TransactionReadResponse {
            transaction: TransactionResponse::of_transfer(&transfer),
            transfer: Some(TransferDetail::of(&transfer)),
        });
    }
    let transaction = engine.transaction(environment, reference).await.map_err(from_read_error)?;
    respond::ok(&TransactionReadResponse {
        transaction: TransactionResponse::of(&transaction),
        transfer: None,
    })
}

pub(crate) async fn list(Backend(caller): Backend) -> ApiResult {
    let (filter, limit) = (filter(&caller.location)?, caller.location.limit()?);
    let before = caller.location.query("before")?;
    let environment = caller.view.environment.id;
    let found = caller.app.engine.transactions(environment, &filter, before, limit).await;
    let found = found.map_err(from_read_error)?;
    let last = found.last().map(|transaction| transaction.id);
    respond::ok(&ListResponse::new(found.iter().map(TransactionResponse::of).collect(), limit, last))
}

/// What to list, as the query says it.
pub(crate) fn filter(location: &Location) -> Result<TransactionFilter, ApiError> {
    Ok(TransactionFilter {
        status: location.query_as(
            "status",
            "must be one of: pending, processing, authorized, succeeded, failed, canceled, refunded",
            Status::parse,
        )?,
        method: location.query_as("paymentMethod", "must be one of: web_card, ach", PaymentMethod::parse)?,
        provider: location.query("provider")?,
        created_from: location.moment("createdFrom")?,
        created_before: location.moment("createdBefore")?,
    })
}
