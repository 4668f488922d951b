//! What callers are told: the events, and one of them with its body and its deliveries.

use askama::Template;
use axum::response::Response;
use tollgate_domain::{
    ServiceReference,
    event::EventKind,
    id::{EndpointId, EventId},
};
use tollgate_engine::ports::{EventQuery, EventsFrom, Resend, ResendWhich};

use crate::{
    deliveries::DeliveryRow,
    format::moment,
    page::{self, Page, PageError},
    submitted::Submitted,
    visitor::{Frame, Visitor, back},
};

const SLICE: u32 = 50;

struct Row {
    id: String,
    kind: &'static str,
    at: String,
    reference: String,
}

#[derive(Template)]
#[template(path = "events.html")]
struct EventsPage {
    frame: Frame,
    kinds: Vec<(&'static str, bool)>,
    reference: String,
    events: Vec<Row>,
    next: Option<String>,
}

#[derive(Template)]
#[template(path = "event.html")]
struct EventPage {
    frame: Frame,
    id: String,
    kind: &'static str,
    at: String,
    reference: String,
    body: String,
    deliveries: Vec<DeliveryRow>,
}

pub(crate) async fn list(visitor: Visitor) -> Page {
    let environment = visitor.environment()?;
    let frame = visitor.frame("Events", "events").await?;
    let kind = visitor.query("type").and_then(EventKind::parse);
    let reference = visitor.query("reference").and_then(|text| text.parse::<ServiceReference>().ok());
    let before = visitor.query("before").and_then(|text| text.parse::<EventId>().ok());
    let from = before.map_or(EventsFrom::Newest, EventsFrom::Before);
    let engine = &visitor.console.engine;
    let events = engine.out_events(environment, EventQuery { kind, reference }, from, SLICE).await?;
    let is_full = u32::try_from(events.len()).is_ok_and(|count| count == SLICE);
    let rest = visitor.query_without("before");
    let joint = if rest.is_empty() { "" } else { "&" };
    page::render(&EventsPage {
        kinds: EventKind::ALL.iter().map(|one| (one.as_str(), kind == Some(*one))).collect(),
        reference: visitor.query_text("reference"),
        next: events.last().filter(|_| is_full).map(|last| format!("?{rest}{joint}before={}", last.id)),
        events: events
            .iter()
            .map(|event| Row {
                id: event.id.to_string(),
                kind: event.kind.as_str(),
                at: moment(event.at),
                reference: event.reference.to_string(),
            })
            .collect(),
        frame,
    })
}

pub(crate) async fn show(visitor: Visitor) -> Page {
    let (environment, id) = (visitor.environment()?, visitor.path::<EventId>("event")?);
    let frame = visitor.frame("Event", "events").await?;
    let read = visitor.console.engine.out_event(environment, id).await?;
    let body = visitor.console.bodies.body(&read.event, &read.subject).map_err(PageError::Broken)?;
    let body: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
    page::render(&EventPage {
        id: id.to_string(),
        kind: read.event.kind.as_str(),
        at: moment(read.event.at),
        reference: read.event.reference.to_string(),
        body: serde_json::to_string_pretty(&body).unwrap_or_default(),
        deliveries: read.deliveries.iter().map(DeliveryRow::of).collect(),
        frame,
    })
}

pub(crate) async fn resend(form: Submitted) -> Result<Response, PageError> {
    let visitor = &form.visitor;
    let (environment, id) = (visitor.environment()?, visitor.path::<EventId>("event")?);
    let endpoint = match form.field("endpoint") {
        "" => None,
        text => Some(text.parse::<EndpointId>().map_err(|_| PageError::Missing)?),
    };
    let resend = Resend { endpoint, which: ResendWhich::Event(id) };
    let resent = visitor.console.engine.resend(environment, resend).await?;
    let said = match resent.deliveries {
        0 => "No enabled endpoint wants this event.".to_owned(),
        1 => "It is sent again.".to_owned(),
        many => format!("It is sent again to {many} endpoints."),
    };
    Ok(back(&format!("/console/{environment}/events/{id}"), &said))
}
