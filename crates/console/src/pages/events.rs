//! Events for callers: the events, and one of them with its body and its deliveries.

use askama::Template;
use axum::response::Response;
use tollgate_domain::{
    ServiceReference,
    event::EventKind,
    id::{EndpointId, EventId},
};
use tollgate_engine::ports::{EventQuery, EventsFrom, Resend, ResendWhich};

use crate::{
    layout::{
        format::moment,
        frame::Frame,
        page::{self, Page, PageError},
    },
    pages::deliveries::DeliveryRow,
    request::{signed_in::SignedIn, submitted::Submitted},
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

pub(crate) async fn list(signed_in: SignedIn) -> Page {
    let environment = signed_in.environment()?;
    let frame = signed_in.frame("Events", "events").await?;
    let kind = signed_in.query("type").and_then(EventKind::parse);
    let reference = signed_in.query("reference").and_then(|text| text.parse::<ServiceReference>().ok());
    let before = signed_in.query("before").and_then(|text| text.parse::<EventId>().ok());
    let from = before.map_or(EventsFrom::Newest, EventsFrom::Before);
    signed_in.record_list("event.list", environment).await?;
    let engine = &signed_in.console.engine;
    let events = engine.list_events(environment, EventQuery { kind, reference }, from, SLICE).await?;
    let is_full = u32::try_from(events.len()).is_ok_and(|count| count == SLICE);
    let rest = signed_in.query_without("before");
    let joint = if rest.is_empty() { "" } else { "&" };
    page::render(&EventsPage {
        kinds: EventKind::ALL.iter().map(|one| (one.as_str(), kind == Some(*one))).collect(),
        reference: signed_in.query_text("reference"),
        next: events.last().filter(|_| is_full).map(|last| format!("?{rest}{joint}before={}", last.id)),
        events: events
            .iter()
            .map(|event| Row {
                id: event.id.to_string(),
                kind: event.kind.as_str(),
                at: moment(event.at),
                reference: event.reference.map_or_else(String::new, |reference| reference.to_string()),
            })
            .collect(),
        frame,
    })
}

pub(crate) async fn show(signed_in: SignedIn) -> Page {
    let (environment, id) = (signed_in.environment()?, signed_in.path::<EventId>("event")?);
    let frame = signed_in.frame("Event", "events").await?;
    let read = signed_in.console.engine.find_event(environment, id).await?;
    signed_in.record_view("event.view", environment, id).await?;
    let body = signed_in.console.bodies.body(&read.event, &read.subject).map_err(PageError::Broken)?;
    let body: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
    page::render(&EventPage {
        id: id.to_string(),
        kind: read.event.kind.as_str(),
        at: moment(read.event.at),
        reference: read.event.reference.map_or_else(String::new, |reference| reference.to_string()),
        body: serde_json::to_string_pretty(&body).unwrap_or_default(),
        deliveries: read.deliveries.iter().map(DeliveryRow::of).collect(),
        frame,
    })
}

pub(crate) async fn resend(form: Submitted) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    let (environment, id) = (signed_in.environment()?, signed_in.path::<EventId>("event")?);
    let endpoint = match form.field("endpoint") {
        "" => None,
        text => Some(text.parse::<EndpointId>().map_err(|_| PageError::Missing)?),
    };
    let resend = Resend { endpoint, which: ResendWhich::Event(id) };
    let resent = signed_in.console.engine.resend(environment, resend, &signed_in.origin()).await?;
    let said = match resent.deliveries {
        0 => "No enabled endpoint is subscribed to this event.".to_owned(),
        1 => "Resent to 1 endpoint.".to_owned(),
        many => format!("Resent to {many} endpoints."),
    };
    Ok(signed_in.back(&format!("/console/{environment}/events/{id}"), &said))
}
