//! `GET /admin/v1/environments/<id>/transactions`: an environment's transactions, newest first.

use crate::{
    admin_api::{operator::Operator, paging::ListResponse, payments::from_read_error},
    client_api::transactions::filter,
    respond::{self, ApiResult},
    transaction_response::TransactionResponse,
};

pub(crate) async fn list(operator: Operator) -> ApiResult {
    let (filter, limit) = (filter(&operator.location)?, operator.limit()?);
    let (environment, before) = (operator.known_environment()?, operator.query("before")?);
    let found = operator.app.engine.transactions(environment, &filter, before, limit).await;
    let found = found.map_err(from_read_error)?;
    let last = found.last().map(|transaction| transaction.id);
    respond::ok(&ListResponse::new(found.iter().map(TransactionResponse::of).collect(), limit, last))
}
