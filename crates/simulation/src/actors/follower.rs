//! A program that reads the list of events as it grows, from where it stopped.

use std::{sync::Arc, time::Duration};

use http::Method;
use serde_json::Value;
use tokio::time::sleep;

use crate::{book::Told, node::Cluster};

const LIMIT: usize = 200;
const BEFORE_THE_FIRST: &str = "evt_00000000000000000000000000";

/// Reads on for ever.
pub(crate) async fn run(cluster: Arc<Cluster>) {
    loop {
        read_on(&cluster).await;
        let pause = if cluster.world.is_busy() { cluster.world.draw(100..2_500) } else { 3_600_000 };
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
        let last = last.unwrap_or_else(|| BEFORE_THE_FIRST.to_owned());
        let path = format!("/admin/v1/environments/{environment}/events?after={last}&limit={LIMIT}");
        let Ok(answer) = cluster.operate(Method::GET, &path, None).await else { return };
        if answer.status != 200 {
            return;
        }
        let told = listed(&answer.body);
        let count = told.len();
        cluster.world.book().followed.extend(told);
        if count < LIMIT {
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
