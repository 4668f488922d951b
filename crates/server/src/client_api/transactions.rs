//! `GET /client/v1/transactions` and `GET /client/v1/transactions/<reference>`.

use tollgate_domain::{PaymentMethod, transaction::Status};
use tollgate_engine::ports::TransactionFilter;

use crate::{
    answer::{self, Answer},
    client_api::{
        caller::Backend,
        payments::{no_such_payment, of_reading},
    },
    error::ApiError,
    list::ListAnswer,
    location::Location,
    transaction_answer::TransactionAnswer,
};

pub(crate) async fn read(Backend(caller): Backend) -> Answer {
    let reference = caller.location.path("reference").map_err(|_| no_such_payment())?;
    let transaction = caller.app.engine.transaction(caller.view.environment.id, reference).await;
    answer::ok(&TransactionAnswer::of(&transaction.map_err(of_reading)?))
}

pub(crate) async fn list(Backend(caller): Backend) -> Answer {
    let (filter, limit) = (filter(&caller.location)?, caller.location.limit()?);
    let before = caller.location.query("before")?;
    let environment = caller.view.environment.id;
    let found = caller.app.engine.transactions(environment, &filter, before, limit).await;
    let found = found.map_err(of_reading)?;
    let last = found.last().map(|transaction| transaction.id);
    answer::ok(&ListAnswer::new(found.iter().map(TransactionAnswer::of).collect(), limit, last))
}

/// What to list, as the query says it.
pub(crate) fn filter(location: &Location) -> Result<TransactionFilter, ApiError> {
    Ok(TransactionFilter {
        status: location.query_as(
            "status",
            "must be one of: pending, processing, succeeded, failed, canceled, refunded",
            Status::parse,
        )?,
        method: location.query_as("paymentMethod", "must be one of: web_card, ach", PaymentMethod::parse)?,
        provider: location.query("provider")?,
        created_from: location.moment("createdFrom")?,
        created_before: location.moment("createdBefore")?,
    })
}
