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
        "list_transfers" => list_transfers(session, arguments).await?,
        "list_disputes" => {
            let asked =
                query(&[("disputed", Some("true".to_owned())), ("limit", Some(FOUND_MAX.to_owned()))]);
            session.client.get(&session.path(&format!("/transactions{asked}")).await?).await?
        }
        "list_exceptions" => {
            let open = (arguments.optional("all").as_deref() != Some("true")).then(|| "true".to_owned());
            let asked = query(&[("open", open), ("limit", Some(FOUND_MAX.to_owned()))]);
            session.client.get(&session.path(&format!("/exceptions{asked}")).await?).await?
        }
        "explain_configuration" => explain_configuration(session, arguments).await?,
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

async fn list_transfers(session: &Session, arguments: &Arguments) -> Result<Value, Failure> {
    let (search, status) = (arguments.optional("search"), arguments.optional("status"));
    let limit = ("limit", Some(FOUND_MAX.to_owned()));
    if arguments.optional("waiting").as_deref() == Some("true") {
        if search.is_some() || status.is_some() {
            return Err(Failure::new("waiting cannot be combined with search or status"));
        }
        let asked = query(&[limit]);
        return session.client.get(&session.path(&format!("/transfers/waiting{asked}")).await?).await;
    }
    let asked =
        query(&[("paymentMethod", Some("ach".to_owned())), ("search", search), ("status", status), limit]);
    session.client.get(&session.path(&format!("/transactions{asked}")).await?).await
}

async fn explain_configuration(session: &Session, arguments: &Arguments) -> Result<Value, Failure> {
    let path = session.path("/config").await?;
    let configuration = session.client.get(&path).await?;
    let Some(setting) = arguments.optional("setting") else {
        let versions = session.client.get(&format!("{path}/versions?limit=5")).await?;
        let providers = session.client.get(&session.path("/providers").await?).await?;
        return Ok(json!({
            "configuration": configuration,
            "latestVersions": versions.list("items"),
            "providers": providers.list("items"),
        }));
    };
    let value = configuration.pointer(&pointer(&setting));
    let name = setting.rsplit('.').next().unwrap_or(&setting);
    Ok(json!({
        "setting": setting,
        "isSet": value.is_some(),
        "value": value,
        "documentation": docs::search(name).unwrap_or_else(|failure| failure.sentence().to_owned()),
    }))
}

/// Where `fees[0].platform` is in a document.
fn pointer(setting: &str) -> String {
    let parts = setting.split(['.', '[', ']']).filter(|part| !part.is_empty());
    parts.flat_map(|part| ["/".to_owned(), part.replace('~', "~0").replace('/', "~1")]).collect()
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
