//! Tools that change nothing.

use serde_json::{Map, Value, json};

use super::{Arguments, docs};
use crate::{
    cli::{
        fields::Fields,
        http::{query, segment},
        session::Session,
    },
    failure::Failure,
};

const FOUND_MAX: &str = "20";

pub(super) async fn call(session: &Session, tool: &str, arguments: &Arguments) -> Result<String, Failure> {
    let answer = match tool {
        "find_payments" => find_payments(session, arguments).await?,
        "show_payment" => show_payment(session, &arguments.text("reference")?).await?,
        "explain_routing" => explain(session, arguments).await?,
        "quote" => quote(&explain(session, arguments).await?)?,
        "list_requests" => list_requests(session, arguments).await?,
        "doctor" => session.client.get("/admin/v1/doctor").await?,
        "search_docs" => return docs::search(&arguments.text("query")?),
        _ => return Err(Failure::new(format!("there is no tool {tool}"))),
    };
    Ok(answer.to_string())
}

async fn find_payments(session: &Session, arguments: &Arguments) -> Result<Value, Failure> {
    let (search, status) = (arguments.optional("search"), arguments.optional("status"));
    let limit = ("limit", Some(FOUND_MAX.to_owned()));
    let asked = query(&[("search", search.clone()), ("status", status.clone()), limit.clone()]);
    let transactions = session.client.get(&session.path(&format!("/transactions{asked}")).await?).await?;
    // A status is one of transactions; preparations have others.
    let preparations = if status.is_none() {
        let asked = query(&[("search", search), limit]);
        session.client.get(&session.path(&format!("/payments{asked}")).await?).await?
    } else {
        Value::Null
    };
    let has_more =
        [&transactions, &preparations].iter().any(|list| list.optional_text("nextCursor").is_some());
    Ok(json!({
        "transactions": transactions.list("items"),
        "preparations": preparations.list("items"),
        "hasMore": has_more,
    }))
}

pub(super) async fn show_payment(session: &Session, reference: &str) -> Result<Value, Failure> {
    let path = session.path(&format!("/payments/{}", segment(reference))).await?;
    session.client.get(&path).await.map_err(|failure| {
        failure
            .if_missing(|| format!("there is no payment {reference}; find_payments finds it by other words"))
    })
}

async fn explain(session: &Session, arguments: &Arguments) -> Result<Value, Failure> {
    let mut body = Map::new();
    for name in ["amountMinor", "currency"] {
        body.insert(name.to_owned(), arguments.text(name)?.into());
    }
    for name in ["paymentMethod", "flow", "metadata"] {
        if let Some(value) = arguments.0.get(name).filter(|value| !value.is_null()) {
            body.insert(name.to_owned(), value.clone());
        }
    }
    session.client.post(&session.path("/explain").await?, &Value::Object(body)).await
}

fn quote(explained: &Value) -> Result<Value, Failure> {
    let quote = explained.field("quote").filter(|quote| !quote.is_null()).cloned();
    quote.ok_or_else(|| {
        Failure::new(format!("no quote: {}; explain_routing shows every rule", explained.text("unavailable")))
    })
}

async fn list_requests(session: &Session, arguments: &Arguments) -> Result<Value, Failure> {
    let mut asked =
        ["failed", "code", "reference", "requestId"].map(|name| (name, arguments.optional(name))).to_vec();
    asked.push(("limit", Some(FOUND_MAX.to_owned())));
    session.client.get(&session.path(&format!("/requests{}", query(&asked))).await?).await
}
