//! `GET /admin/v1/environments/<id>/transactions`: an environment's transactions, newest first.

use crate::{
    admin_api::{operator::Operator, paging::ListResponse},
    client_api::transactions::filter,
    response::{
        respond::{self, ApiResult},
        transaction::TransactionResponse,
    },
};

pub(crate) async fn list(operator: Operator) -> ApiResult {
    let mut query = operator.query();
    let (filter, before, limit) = (filter(&mut query), query.value("before"), query.limit());
    query.finish()?;
    let environment = operator.known_environment()?;
    let found = operator.app.engine.transactions(environment, &filter, before, limit.to_read()).await?;
    respond::ok(&ListResponse::slice(found, limit, |it| TransactionResponse::of(&it), |it| it.id))
}
