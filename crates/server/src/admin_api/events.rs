//! `/admin/v1/environments/<id>/events`: what callers are notified, and telling it again.

use std::str::FromStr;

use serde::Deserialize;
use tollgate_domain::{
    Timestamp,
    event::EventKind,
    id::{EndpointId, EventId},
};
use tollgate_engine::{
    ReadError, ResendError, ResentEvents,
    ports::{Event, EventQuery, EventsFrom, Resend, ResendWhich},
};
use tracing::info;
use utoipa::ToSchema;

use crate::{
    admin_api::deliveries::DeliveryResponse,
    json::text::JsonText,
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

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EventResendRequest)]
pub(crate) struct ResendBody<'a> {
    /// Only there; to every endpoint that wants it where it is left out.
    #[serde(borrow)]
    #[schema(value_type = Option<scalars::EndpointIdInput>)]
    endpoint_id: Raw<'a>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EventRangeResendRequest)]
pub(crate) struct ResendRangeBody<'a> {
    /// Only there; to every endpoint that wants them where it is left out.
    #[serde(borrow)]
    #[schema(value_type = Option<scalars::EndpointIdInput>)]
    endpoint_id: Raw<'a>,
    /// Events of this moment and later.
    #[serde(borrow)]
    #[schema(value_type = scalars::Moment, required)]
    from: Raw<'a>,
    /// Events before this moment, which is later than `from`; up to now where it is left out.
    #[serde(borrow)]
    #[schema(value_type = Option<scalars::Moment>)]
    until: Raw<'a>,
    /// Only deliveries that were given up.
    #[serde(borrow)]
    #[schema(value_type = Option<bool>)]
    parked_only: Raw<'a>,
    /// Where an earlier answer stopped: its `nextAfter`.
    #[serde(borrow)]
    #[schema(value_type = Option<String>)]
    after: Raw<'a>,
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
    let (environment, event) = (operator.known_environment()?, operator.path("event")?);
    let read = operator.app.engine.find_event(environment, event).await?;
    respond::ok(&EventDetail {
        event: EventResponse::of(&read.event),
        body: event_bodies::body(&read.event, &read.subject),
        deliveries: read.deliveries.iter().map(DeliveryResponse::of).collect(),
    })
}

pub(crate) async fn resend(
    operator: Operator,
    body: OptionalBody<ResendBody<'static>>,
) -> Done<ResentResponse> {
    let event = operator.path("event")?;
    let body = body.bytes(&operator.headers).await?;
    let body: ResendBody<'_> = body::parse_object(&body)?;
    let mut errors = FieldErrors::default();
    let endpoint = endpoint(body.endpoint_id, &mut errors);
    let endpoint = fields::complete(errors, Some(endpoint))?;
    send_again(&operator, Resend { endpoint, which: ResendWhich::Event(event) }).await
}

pub(crate) async fn resend_range(
    operator: Operator,
    body: JsonBody<ResendRangeBody<'static>>,
) -> Done<ResentResponse> {
    let body = body.bytes(&operator.headers).await?;
    let resend = read_range(&body, operator.app.engine.clock().now())?;
    send_again(&operator, resend).await
}

async fn send_again(operator: &Operator, resend: Resend) -> Done<ResentResponse> {
    let resent = operator.app.engine.resend(operator.known_environment()?, resend, &operator.origin).await?;
    let (actor, request_id) = (&operator.origin.actor, &operator.origin.request);
    info!(request_id, actor, deliveries = resent.deliveries, "events resent");
    respond::ok(&ResentResponse::from(resent))
}

fn read_range(body: &[u8], now: Timestamp) -> Result<Resend, ApiError> {
    let body: ResendRangeBody<'_> = body::parse_object(body)?;
    let mut errors = FieldErrors::default();
    let endpoint = endpoint(body.endpoint_id, &mut errors);
    let from = match body.from {
        None => errors.add("from", "is required"),
        Some(_) => fields::moment("from", body.from, &mut errors),
    };
    let until = match body.until {
        // Up to now: the moment itself is not included.
        None => Some(Timestamp::from_unix_millis(now.unix_millis().saturating_add(1))),
        Some(_) => fields::moment("until", body.until, &mut errors),
    };
    let parked_only = match body.parked_only.map(JsonText::of) {
        None => Some(false),
        Some(JsonText::Boolean(parked_only)) => Some(parked_only),
        Some(_) => errors.add("parkedOnly", "must be true or false"),
    };
    if let (Some(from), Some(until)) = (from, until)
        && from >= until
    {
        errors.add::<()>("until", "must be later than from");
    }
    let after = identifier("after", body.after, "must be the ID of an event", &mut errors);
    let range = from.zip(until).zip(parked_only);
    let resend = range.map(|((from, until), parked_only)| Resend {
        endpoint,
        which: ResendWhich::Between { from, until, parked_only, after },
    });
    fields::complete(errors, resend)
}

fn endpoint(raw: Raw<'_>, errors: &mut FieldErrors) -> Option<EndpointId> {
    identifier("endpointId", raw, "must be the ID of an event endpoint", errors)
}

/// `None` if it is left out, and where it is faulty.
fn identifier<T: FromStr>(
    field: &'static str,
    raw: Raw<'_>,
    rule: &'static str,
    errors: &mut FieldErrors,
) -> Option<T> {
    let read = match JsonText::of(raw?) {
        JsonText::String(text) => text.parse().ok(),
        _ => None,
    };
    read.or_else(|| errors.add(field, rule))
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
