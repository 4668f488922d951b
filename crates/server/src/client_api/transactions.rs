//! `GET /client/v1/transactions`, `GET /client/v1/transactions/<reference>` and `GET /client/v1/wallet`.

use tollgate_domain::{PaymentMethod, ServiceReference, id::EnvironmentId, transaction::Status};
use tollgate_engine::{Engine, ReadError, ports::TransactionFilter};

use crate::{
    admin_api::wallets::{self, WalletResponse},
    client_api::payments::{from_read_error, no_such_payment},
    prelude::*,
    request::location::QueryReader,
    response::{transaction::TransactionResponse, transfer::TransferDetail},
};

responses! {
    /// A transaction that is read back.
    TransactionReadResponse as TransactionRead {
        #[serde(flatten)]
        transaction: TransactionResponse,
        /// What a bank transfer has beyond its transaction; left out for card payments.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        transfer: Option<TransferDetail>,
    }
}

pub(crate) async fn read(Backend(caller): Backend) -> Done<TransactionReadResponse> {
    let reference = caller.location.path("reference").map_err(|_| no_such_payment())?;
    let (engine, environment) = (&caller.app.engine, caller.view.environment.id);
    if let ServiceReference::Ach(id) = reference {
        let transfer = engine.transfer(environment, id).await.map_err(from_read_error)?;
        return respond::ok(&TransactionReadResponse {
            transaction: TransactionResponse::of_transfer(&transfer),
            transfer: Some(TransferDetail::of(&transfer)),
        });
    }
    let transaction = match engine.transaction(environment, reference).await {
        Err(ReadError::Missing) => return Err(missing(engine, environment, reference).await),
        read => read.map_err(from_read_error)?,
    };
    respond::ok(&TransactionReadResponse {
        transaction: TransactionResponse::of(&transaction),
        transfer: None,
    })
}

/// A payment that has not been paid is told from one that does not exist.
async fn missing(engine: &Engine, environment: EnvironmentId, reference: ServiceReference) -> ApiError {
    let ServiceReference::Card(id) = reference else { return no_such_payment() };
    match engine.payment(environment, id).await {
        Ok(_) => ApiError::new(
            ErrorCode::NotPaidYet,
            format!(
                "This payment has not been paid yet, so it has no transaction; read it at /client/v1/payments/{id}."
            ),
        ),
        Err(error) => from_read_error(error),
    }
}

pub(crate) async fn list(Backend(caller): Backend) -> Done<ListResponse<TransactionResponse>> {
    let mut query = caller.location.query();
    let (filter, before, limit) = (filter(&mut query), query.value("before"), query.limit());
    query.finish()?;
    let environment = caller.view.environment.id;
    let transactions = caller.app.engine.transactions(environment, &filter, before, limit.to_read()).await;
    let transactions = transactions.map_err(from_read_error)?;
    respond::ok(&ListResponse::slice(transactions, limit, |it| TransactionResponse::of(&it), |it| it.id))
}

/// What to list, as the query says it.
pub(crate) fn filter(query: &mut QueryReader<'_>) -> TransactionFilter {
    TransactionFilter {
        status: query.value_as(
            "status",
            "must be one of: pending, processing, authorized, succeeded, failed, canceled, refunded",
            Status::parse,
        ),
        method: query.value_as("paymentMethod", "must be one of: web_card, ach", PaymentMethod::parse),
        provider: query.value("provider"),
        is_partly_refunded: query.value("partlyRefunded").unwrap_or(false),
        is_disputed: query.value("disputed").unwrap_or(false),
        created_from: query.moment("createdFrom"),
        created_before: query.moment("createdBefore"),
    }
}

pub(crate) async fn wallets(Backend(caller): Backend) -> Done<ListResponse<WalletResponse>> {
    let held = caller.app.engine.wallets(caller.view.environment.id).await?;
    let items = held.iter().map(|(currency, balances)| wallets::answer(*currency, balances)).collect();
    respond::ok(&ListResponse::whole(items))
}
