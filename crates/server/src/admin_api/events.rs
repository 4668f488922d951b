//! `/admin/v1/environments/<id>/events`: what callers are notified, and telling it again.

use tollgate_domain::{Timestamp, event::EventKind, id::EventId};
use tollgate_engine::{
    ReadError, ResendError, ResentEvents,
    ports::{Event, EventQuery, EventsFrom, Resend, ResendWhich},
};
use tracing::info;

use crate::{
    admin_api::deliveries::DeliveryResponse,
    prelude::*,
    response::event_bodies::{self, EventBody},
};

const KIND_RULE: &str = "must be one of: payment.prepared, transaction.pending, transaction.processing, \
                         transaction.authorized, transaction.succeeded, transaction.failed, transaction.canceled, transaction.refunded, \
                         refund.pending, refund.succeeded, refund.failed, dispute.opened, dispute.updated, dispute.closed, \
                         transfer.notification_of_change, approval.required, provider.circuit_opened, provider.circuit_closed, \
                         audit_log.head";

responses! {
    EventResponse as Event {
        id: String,
        r#type: words::EventKind,
        /// The payment; null for an event about a provider, the configuration or the audit log.
        service_reference: Option<String>,
        timestamp: Moment,
    }
}

impl EventResponse {
    fn of(event: &Event) -> Self {
        Self {
            id: event.id.to_string(),
            r#type: event.kind.as_str().into(),
            service_reference: event.reference.map(|reference| reference.to_string()),
            timestamp: Moment(event.at),
        }
    }
}

responses! {
    EventDetail<'a> as EventWithDeliveries {
        #[serde(flatten)]
        event: EventResponse,
        /// What receivers get, word for word.
        body: EventBody<'a>,
        deliveries: Vec<DeliveryResponse>,
    }

    ResentResponse as EventsResent {
        /// How many deliveries wait again.
        deliveries: u32,
        has_more: bool,
        /// The last event that is sent again: send it as `after`, with the rest as it was, to go on behind it.
        next_after: Option<String>,
    }
}

impl From<ResentEvents> for ResentResponse {
    fn from(resent: ResentEvents) -> Self {
        Self {
            deliveries: resent.deliveries,
            has_more: resent.next_after.is_some(),
            next_after: resent.next_after.map(|event| event.to_string()),
        }
    }
}

requests! {
    ResendBody as EventResendRequest {
        /// Only there; to every endpoint that wants it where it is left out.
        endpoint_id: Option<scalars::EndpointIdInput>,
    }

    ResendRangeBody as EventRangeResendRequest {
        /// Only there; to every endpoint that wants them where it is left out.
        endpoint_id: Option<scalars::EndpointIdInput>,
        /// Events of this moment and later.
        from: Moment,
        /// Events before this moment, which is later than `from`; up to now where it is left out.
        until: Option<Moment>,
        /// Only deliveries that were given up.
        parked_only: Option<bool>,
        /// Where an earlier answer stopped: its `nextAfter`.
        after: Option<scalars::EventIdText>,
    } => |form| {
        if let (Some(from), Some(until)) = (from, until)
            && from >= until.unwrap_or_else(|| next_moment(form.now))
        {
            form.errors.add::<()>("until", "must be later than from");
        }
    }
}

pub(crate) async fn list(operator: Operator) -> Done<ListResponse<EventResponse>> {
    let environment = operator.known_environment()?;
    let mut query = operator.query();
    let filter = EventQuery {
        kind: query.value_as("type", KIND_RULE, EventKind::parse),
        reference: query.value("reference"),
    };
    let from = match (query.value::<EventId>("before"), query.value::<EventId>("after")) {
        (None, None) => EventsFrom::Newest,
        (Some(before), None) => EventsFrom::Before(before),
        (None, Some(after)) => EventsFrom::after(after),
        (Some(before), Some(_)) => {
            query.fault(
                "after",
                "cannot be combined with `before`: one lists oldest first, the other newest first",
            );
            EventsFrom::Before(before)
        }
    };
    let limit = query.limit();
    query.finish()?;
    operator.record_list("event.list", environment).await?;
    let events = operator.app.engine.list_events(environment, filter, from, limit.to_read()).await;
    let events = events.map_err(|error| match error {
        ReadError::Missing => unknown_cursor(from),
        ReadError::Store(error) => error.into(),
    })?;
    respond::ok(&ListResponse::slice(events, limit, |it| EventResponse::of(&it), |it| it.id))
}

/// A follower that has lost its place must not mistake that for silence.
fn unknown_cursor(from: EventsFrom) -> ApiError {
    let field = if matches!(from, EventsFrom::Before(_)) { "before" } else { "after" };
    let mut errors = FieldErrors::default();
    errors.add::<()>(field, "is not the ID of an event in this environment");
    errors.into_error()
}

pub(crate) async fn read(operator: Operator) -> Done<EventDetail<'static>> {
    let (environment, event): (_, EventId) = (operator.known_environment()?, operator.path("event")?);
    let read = operator.app.engine.find_event(environment, event).await?;
    operator.record_view("event.view", environment, event).await?;
    respond::ok(&EventDetail {
        event: EventResponse::of(&read.event),
        body: event_bodies::body(&read.event, &read.subject),
        deliveries: read.deliveries.iter().map(DeliveryResponse::of).collect(),
    })
}

pub(crate) async fn resend(operator: Operator, body: OptionalBody<ResendBody>) -> Done<ResentResponse> {
    let event = operator.path("event")?;
    let endpoint = body.read(&operator).await?.endpoint_id;
    send_again(&operator, Resend { endpoint, which: ResendWhich::Event(event) }).await
}

pub(crate) async fn resend_range(
    operator: Operator,
    body: JsonBody<ResendRangeBody>,
) -> Done<ResentResponse> {
    let body = body.read(&operator).await?;
    let which = ResendWhich::Between {
        from: body.from,
        until: body.until.unwrap_or_else(|| next_moment(operator.app.engine.clock().now())),
        parked_only: body.parked_only.unwrap_or(false),
        after: body.after,
    };
    send_again(&operator, Resend { endpoint: body.endpoint_id, which }).await
}

async fn send_again(operator: &Operator, resend: Resend) -> Done<ResentResponse> {
    let resent = operator.app.engine.resend(operator.known_environment()?, resend, &operator.origin).await?;
    let (actor, request_id) = (&operator.origin.actor, &operator.origin.request);
    info!(request_id, actor, deliveries = resent.deliveries, "events resent");
    respond::ok(&ResentResponse::from(resent))
}

/// Up to now: the moment itself is not included.
fn next_moment(now: Timestamp) -> Timestamp {
    Timestamp::from_unix_millis(now.unix_millis().saturating_add(1))
}

impl From<ResendError> for ApiError {
    fn from(error: ResendError) -> Self {
        match error {
            ResendError::Missing => not_found_here(),
            ResendError::Disabled => Self::new(
                ErrorCode::EndpointDisabled,
                "The endpoint is disabled; enable it before resending events.",
            ),
            ResendError::Store(error) => error.into(),
        }
    }
}
