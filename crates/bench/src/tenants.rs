//! Setting a fresh instance up as an operator does: organization, application, environments with keys and configuration.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::Fault;
use crate::call::{Caller, text_at};
use crate::service::Service;

/// How many environments are set up at once.
const AT_ONCE: usize = 16;

/// An environment that can be used.
#[derive(Clone)]
pub struct Tenant {
    pub environment_id: String,
    pub secret_key: String,
}

/// What is wanted: a name, and a configuration.
pub type Wanted = (String, Arc<Value>);

/// Sets up an organization with an application with these environments, which are returned in the same order.
pub async fn set_up(service: &Service, wanted: Vec<Wanted>) -> Result<Vec<Tenant>, Fault> {
    let mut operator = service.operator();
    let organization =
        operator.send("POST", "/admin/v1/organizations", &json!({"name": "Benchmark"})).await?;
    let path = format!("/admin/v1/organizations/{}/applications", text_at(&organization, "/id")?);
    let application = operator.send("POST", &path, &json!({"name": "Benchmark"})).await?;
    let application = text_at(&application, "/id")?;
    in_parallel(wanted, |(name, configuration)| {
        let (mut operator, application) = (service.operator(), application.clone());
        async move { environment(&mut operator, &application, &name, &configuration).await }
    })
    .await
}

async fn environment(
    operator: &mut Caller,
    application: &str,
    name: &str,
    configuration: &Value,
) -> Result<Tenant, Fault> {
    let path = format!("/admin/v1/applications/{application}/environments");
    let environment = operator.send("POST", &path, &json!({"name": name})).await?;
    let environment_id = text_at(&environment, "/id")?;
    let path = format!("/admin/v1/environments/{environment_id}");
    let key = operator.send("POST", &format!("{path}/keys"), &json!({"kind": "secret"})).await?;
    operator.send("PUT", &format!("{path}/config"), configuration).await?;
    Ok(Tenant { environment_id, secret_key: text_at(&key, "/key")? })
}

/// Does something for each, a bounded number at once; the answers are in the order of the questions.
pub async fn in_parallel<T, A, F>(all: Vec<T>, mut ask: impl FnMut(T) -> F) -> Result<Vec<A>, Fault>
where
    A: Send + 'static,
    F: Future<Output = Result<A, Fault>> + Send + 'static,
{
    let mut answers: Vec<(usize, A)> = Vec::with_capacity(all.len());
    let mut tasks = JoinSet::new();
    for (place, one) in all.into_iter().enumerate() {
        if tasks.len() >= AT_ONCE
            && let Some(done) = tasks.join_next().await
        {
            answers.push(done??);
        }
        let asked = ask(one);
        tasks.spawn(async move { Ok::<_, Fault>((place, asked.await?)) });
    }
    while let Some(done) = tasks.join_next().await {
        answers.push(done??);
    }
    answers.sort_by_key(|(place, _)| *place);
    Ok(answers.into_iter().map(|(_, answer)| answer).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn answers_keep_the_order_of_the_questions() {
        let doubled = in_parallel((0..100).collect(), |number: u64| async move {
            tokio::time::sleep(std::time::Duration::from_millis(number % 3)).await;
            Ok(number * 2)
        });
        assert_eq!(doubled.await.unwrap(), (0..100).map(|number| number * 2).collect::<Vec<_>>());
        let failed = in_parallel(vec![1, 2], |_| async { Err::<(), Fault>("no".into()) }).await;
        assert_eq!(failed.unwrap_err().to_string(), "no");
    }
}
