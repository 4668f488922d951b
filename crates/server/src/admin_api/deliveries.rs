//! `GET /admin/v1/environments/<id>/deliveries`: which event is on its way to which endpoint, and its result.

use tollgate_domain::id::{EndpointId, EventId};
use tollgate_engine::ports::{DeliveryQuery, DeliveryState, EventDelivery};

use crate::prelude::*;

responses! {
    DeliveryResponse as Delivery {
        event_id: String,
        r#type: words::EventKind,
        /// The payment; null for an event about a provider.
        service_reference: Option<String>,
        endpoint_id: String,
        state: words::DeliveryState,
        /// Since when it has been tried.
        since: Moment,
        tries: u32,
        next_try_at: Option<Moment>,
        last_try: Option<LastTryResponse>,
    }

    LastTryResponse as DeliveryTry {
        at: Moment,
        /// The receiver's status; null where it did not respond.
        status: Option<u16>,
        took_ms: u32,
        note: String,
    }
}

impl DeliveryResponse {
    pub(crate) fn of(delivery: &EventDelivery) -> Self {
        Self {
            event_id: delivery.event.id.to_string(),
            r#type: delivery.event.kind.as_str().into(),
            service_reference: delivery.event.reference.map(|reference| reference.to_string()),
            endpoint_id: delivery.endpoint.to_string(),
            state: delivery.state.as_str().into(),
            since: Moment(delivery.since),
            tries: delivery.tries,
            next_try_at: delivery.due.map(Moment),
            last_try: delivery.last.as_ref().map(|last| LastTryResponse {
                at: Moment(last.at),
                status: last.status,
                took_ms: last.took_millis,
                note: last.note.clone(),
            }),
        }
    }
}

pub(crate) async fn list(operator: Operator) -> Done<ListResponse<DeliveryResponse>> {
    let environment = operator.known_environment()?;
    let mut query = operator.query();
    let rule = "must be one of: waiting, delivered, parked";
    let filter = DeliveryQuery {
        endpoint: query.value("endpointId"),
        event: query.value("eventId"),
        state: query.value_as("state", rule, DeliveryState::parse),
    };
    let before = query.value_as("before", "must be a cursor returned by this list", place);
    let limit = query.limit();
    query.finish()?;
    let deliveries = operator.app.engine.deliveries(environment, filter, before, limit.to_read()).await?;
    let cursor = |it: &EventDelivery| format!("{},{}", it.event.id, it.endpoint);
    respond::ok(&ListResponse::slice(deliveries, limit, |it| DeliveryResponse::of(&it), cursor))
}

/// The place a cursor means: an event, and an endpoint within it.
fn place(text: &str) -> Option<(EventId, EndpointId)> {
    let (event, endpoint) = text.split_once(',')?;
    Some((event.parse().ok()?, endpoint.parse().ok()?))
}
