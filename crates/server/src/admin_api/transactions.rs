//! `GET /admin/v1/environments/<id>/transactions`: an environment's transactions, newest first.

use tollgate_domain::id::TransactionId;
use tollgate_engine::{Audited, FoundPayment, PaymentSearch, ports::TransactionFilter};

use crate::{client_api::transactions::filter, prelude::*, response::transaction::TransactionResponse};

/// `GET …/payments.csv`: the same as a table for a spreadsheet, with those that nobody has paid if `search` finds them.
pub(crate) async fn export(operator: Operator) -> ApiResult {
    let mut query = operator.query();
    let (filter, text) = (filter(&mut query), query.value::<String>("search"));
    query.finish()?;
    let environment = operator.known_environment()?;
    let search = search(filter, text.unwrap_or_default());
    let exported = Audited::new("payments.export", environment).in_environment(environment);
    operator.app.engine.record_repeatable(&operator.origin, exported).await?;
    let csv = operator.app.engine.export_payments(environment, &search).await?;
    Ok(respond::file("text/csv; charset=utf-8", csv))
}

fn search(filter: TransactionFilter, text: String) -> PaymentSearch {
    PaymentSearch {
        text,
        status: filter.status,
        preparation: None,
        method: filter.method,
        provider: filter.provider,
        is_partly_refunded: filter.is_partly_refunded,
        is_disputed: filter.is_disputed,
        created_from: filter.created_from,
        created_before: filter.created_before,
    }
}

pub(crate) async fn list(operator: Operator) -> Done<ListResponse<TransactionResponse>> {
    let mut query = operator.query();
    let (filter, before, limit) = (filter(&mut query), query.value::<TransactionId>("before"), query.limit());
    let text = query.value::<String>("search");
    query.finish()?;
    let environment = operator.known_environment()?;
    operator.record_list("payment.list", environment).await?;
    if let Some(text) = text {
        let before = before.map(TransactionId::to_bytes);
        let engine = &operator.app.engine;
        let search = search(filter, text);
        let (payments, next) = engine.search_payments(environment, &search, before, limit.to_show()).await?;
        let paid = payments.iter().filter_map(|payment| match payment {
            FoundPayment::Transaction(transaction) => Some(TransactionResponse::of(transaction)),
            FoundPayment::Preparation(_) => None,
        });
        let next = next.map(|place| TransactionId::from_bytes(place).to_string());
        return respond::ok(&ListResponse::part(paid.collect(), next));
    }
    let transactions =
        operator.app.engine.transactions(environment, &filter, before, limit.to_read()).await?;
    respond::ok(&ListResponse::slice(transactions, limit, |it| TransactionResponse::of(&it), |it| it.id))
}
