//! `GET /admin/v1/environments/<id>/transactions`: an environment's transactions, newest first.

use crate::{
    admin_api::{operator::Operator, paging::ListAnswer, payments::of_reading},
    answer::{self, Answer},
    client_api::transactions::filter,
    transaction_answer::TransactionAnswer,
};

pub(crate) async fn list(operator: Operator) -> Answer {
    let (filter, limit) = (filter(&operator.location)?, operator.limit()?);
    let (environment, before) = (operator.known_environment()?, operator.query("before")?);
    let found = operator.app.engine.transactions(environment, &filter, before, limit).await;
    let found = found.map_err(of_reading)?;
    let last = found.last().map(|transaction| transaction.id);
    answer::ok(&ListAnswer::new(found.iter().map(TransactionAnswer::of).collect(), limit, last))
}
