//! The endpoints events are delivered to: slow, failing, and forgetful of what they have answered.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use serde_json::Value;
use tokio::time::sleep;
use tollgate_engine::ports::{Courier, DeliveryError, OutboundRequest, OutboundResponse};

use crate::{book::Book, life::Life, plants::Plant};

/// A node's way to the endpoints.
pub(crate) struct ModelCourier(pub(crate) Arc<Life>);

/// The address of an endpoint.
pub(crate) fn endpoint_url(index: usize) -> String {
    format!("https://receiver-{index}.example/events")
}

#[async_trait]
impl Courier for ModelCourier {
    async fn send(&self, outbound: OutboundRequest) -> Result<OutboundResponse, DeliveryError> {
        let life = &self.0;
        let world = &life.world;
        life.survives("carry").await;
        let pause = world.draw(1..300);
        sleep(Duration::from_millis(pause)).await;
        let fails = world.strikes(world.profile.endpoints_fail);
        // One that fails may have read the letter all the same.
        let arrives = !fails || world.chance(500);
        if arrives && !(world.is_planted(Plant::DeliveryForgotten) && world.strikes(50)) {
            self.arrive(&outbound);
        }
        if fails && world.chance(300) {
            sleep(Duration::from_secs(15)).await;
            return Err(DeliveryError::Failed("it did not answer in time".to_owned()));
        }
        life.survives("carry").await;
        let status = if fails { *world.pick(&[500, 503, 404, 429]) } else { 200 };
        Ok(OutboundResponse { status, retry_after: None })
    }
}

impl ModelCourier {
    fn arrive(&self, outbound: &OutboundRequest) {
        let world = &self.0.world;
        let header =
            |name: &str| outbound.headers.iter().find(|(known, _)| *known == name).map(|(_, text)| text);
        let id = header("webhook-id").cloned().unwrap_or_default();
        let mut book = world.book();
        let place = (0..book.receivers.len()).find(|index| outbound.url == endpoint_url(*index));
        let Some(receiver) = place.and_then(|place| book.receivers.get_mut(place)) else { return };
        let before = receiver.insert(id.clone(), outbound.body.clone());
        let fault = learn(&mut book, place.unwrap_or_default(), &outbound.body);
        drop(book);
        if let Some((rule, what)) = fault {
            world.violate(rule, format_args!("{id}: {what}"));
        }
        self.0.note(format_args!("delivers {id} to {}", outbound.url));
        if let Some(before) = before.filter(|before| *before != outbound.body) {
            let [before, now] =
                [before, outbound.body.clone()].map(|body| String::from_utf8_lossy(&body).into_owned());
            world
                .violate("an event reads the same however often", format_args!("{id}: {before}, then {now}"));
        }
    }
}

/// A receiver that compares revisions, as the docs say, and never times.
fn learn(book: &mut Book, place: usize, body: &[u8]) -> Option<(&'static str, String)> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let data = body.get("data")?;
    let transaction = data.get("transaction")?;
    let text = |name: &str| transaction[name].as_str().unwrap_or_default().to_owned();
    let (reference, status) = (text("serviceReference"), text("status"));
    let Some(revision) = data["revision"].as_u64().filter(|it| transaction["revision"] == *it) else {
        return Some(("every event has a revision", body.to_string()));
    };
    if text("updatedAt") < text("createdAt") {
        return Some(("times never go back", body.to_string()));
    }
    let known = book.statuses.entry((place, reference)).or_insert_with(|| (revision, status.clone()));
    if known.0 == revision && known.1 != status {
        let what = format!("{} and {status} at revision {revision}", known.1);
        return Some(("a revision has one status", what));
    }
    if revision > known.0 {
        *known = (revision, status);
    }
    None
}
