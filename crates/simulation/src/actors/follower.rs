//! A program that reads the list of events as it grows, from where it stopped.

use std::{sync::Arc, time::Duration};

use http::Method;
use serde_json::Value;
use tokio::time::sleep;

use crate::{book::Told, node::Cluster};

const LIMIT: usize = 200;

/// Reads on for ever.
pub(crate) async fn run(cluster: Arc<Cluster>) {
    loop {
        read_on(&cluster).await;
        let pause = if !cluster.world.is_busy() { 3_600_000 } else { cluster.world.draw(100..2_500) };
        sleep(Duration::from_millis(pause)).await;
    }
}

/// Reads everything behind the last event it knows.
pub(crate) async fn read_on(cluster: &Cluster) {
    loop {
        let (environment, last) = {
            let book = cluster.world.book();
            (book.environment.clone(), book.followed.last().map(|told| told.id.clone()))
        };
        // Before the first event there is nothing to be behind of: the list from its end, turned round.
        let page = match &last {
            Some(last) => format!("after={last}&limit={LIMIT}"),
            None => format!("limit={LIMIT}"),
        };
        let path = format!("/admin/v1/environments/{environment}/events?{page}");
        let Ok(answer) = cluster.operate(Method::GET, &path, None).await else { return };
        if answer.status != 200 {
            return;
        }
        let mut told = listed(&answer.body);
        if last.is_none() {
            told.reverse();
        }
        let count = told.len();
        cluster.world.book().followed.extend(told);
        if count < LIMIT || last.is_none() {
            return;
        }
    }
}

/// The events of an answer, in its order.
pub(crate) fn listed(body: &Value) -> Vec<Told> {
    let items = body.pointer("/data/items").and_then(Value::as_array);
    let text = |item: &Value, name: &str| item[name].as_str().unwrap_or_default().to_owned();
    let told = items.into_iter().flatten().map(|item| Told {
        id: text(item, "id"),
        kind: text(item, "type"),
        reference: text(item, "serviceReference"),
    });
    told.collect()
}
