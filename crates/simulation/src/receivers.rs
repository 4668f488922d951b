//! The endpoints events are delivered to: slow, failing, and forgetful of what they have answered.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use tokio::time::sleep;
use tollgate_engine::ports::{Courier, DeliveryError, OutboundRequest, OutboundResponse};

use crate::{life::Life, plants::Plant};

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
        drop(book);
        self.0.note(format_args!("delivers {id} to {}", outbound.url));
        if let Some(before) = before.filter(|before| *before != outbound.body) {
            let [before, now] =
                [before, outbound.body.clone()].map(|body| String::from_utf8_lossy(&body).into_owned());
            world
                .violate("an event reads the same however often", format_args!("{id}: {before}, then {now}"));
        }
    }
}
