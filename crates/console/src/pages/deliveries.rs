//! Deliveries: which event reached which endpoint, and sending many again.

use askama::Template;
use axum::response::Response;
use tollgate_domain::id::{EndpointId, EnvironmentId, EventId};
use tollgate_engine::ports::{DeliveryQuery, DeliveryState, EventDelivery, Resend, ResendWhich};

use crate::{
    layout::{
        format::{second, shortened},
        frame::Frame,
        page::{self, Page, PageError},
        review::{Choice, Review},
    },
    pages::payments::{read_end, read_moment},
    request::{signed_in::SignedIn, submitted::Submitted},
};

const SLICE: u32 = 50;

/// A delivery's line.
pub(crate) struct DeliveryRow {
    pub(crate) event: String,
    pub(crate) kind: &'static str,
    pub(crate) reference: String,
    pub(crate) endpoint: String,
    pub(crate) state: &'static str,
    pub(crate) tone: &'static str,
    pub(crate) tries: u32,
    pub(crate) last: String,
    pub(crate) next: String,
}

impl DeliveryRow {
    pub(crate) fn of(delivery: &EventDelivery) -> Self {
        let last = delivery.last.as_ref().map_or_else(
            || "not attempted yet".to_owned(),
            |last| {
                let status = last.status.map_or_else(String::new, |status| format!("HTTP {status}, "));
                format!(
                    "{}: {status}{} ({} ms)",
                    second(last.at),
                    shortened(&last.note, 200),
                    last.took_millis
                )
            },
        );
        Self {
            event: delivery.event.id.to_string(),
            kind: delivery.event.kind.as_str(),
            reference: delivery.event.reference.map_or_else(String::new, |reference| reference.to_string()),
            endpoint: delivery.endpoint.to_string(),
            state: delivery.state.as_str(),
            tone: match delivery.state {
                DeliveryState::Delivered => "good",
                DeliveryState::Parked => "bad",
                DeliveryState::Waiting => "warn",
            },
            tries: delivery.tries,
            last,
            next: delivery.due.map_or_else(String::new, second),
        }
    }
}

#[derive(Template)]
#[template(path = "deliveries.html")]
struct DeliveriesPage {
    frame: Frame,
    states: Vec<(&'static str, bool)>,
    endpoints: Vec<(String, String, bool)>,
    deliveries: Vec<DeliveryRow>,
    next: Option<String>,
}

pub(crate) async fn list(signed_in: SignedIn) -> Page {
    let environment = signed_in.environment()?;
    let frame = signed_in.frame("Deliveries", "events").await?;
    let engine = &signed_in.console.engine;
    let state = signed_in.query("state").and_then(DeliveryState::parse);
    let endpoint = signed_in.query("endpoint").and_then(|text| text.parse::<EndpointId>().ok());
    let query = DeliveryQuery { endpoint, event: None, state };
    let before = signed_in.query("before").and_then(read_place);
    let found = engine.deliveries(environment, query, before, SLICE).await?;
    let is_full = u32::try_from(found.len()).is_ok_and(|count| count == SLICE);
    let rest = signed_in.query_without("before");
    let joint = if rest.is_empty() { "" } else { "&" };
    let endpoints = engine.endpoints(environment).await?;
    page::render(&DeliveriesPage {
        states: DeliveryState::ALL.iter().map(|one| (one.as_str(), state == Some(*one))).collect(),
        endpoints: endpoints
            .into_iter()
            .map(|one| (one.id.to_string(), shortened(&one.url, 60), endpoint == Some(one.id)))
            .collect(),
        next: found
            .last()
            .filter(|_| is_full)
            .map(|last| format!("?{rest}{joint}before={}.{}", last.event.id, last.endpoint)),
        deliveries: found.iter().map(DeliveryRow::of).collect(),
        frame,
    })
}

fn read_place(text: &str) -> Option<(EventId, EndpointId)> {
    let (event, endpoint) = text.split_once('.')?;
    Some((event.parse().ok()?, endpoint.parse().ok()?))
}

pub(crate) async fn resend(form: Submitted) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    let environment = signed_in.environment()?;
    let wanted = || PageError::Refused("Enter both times as 2026-11-15 or 2026-11-15T09:30:00Z.".to_owned());
    let endpoint = match form.field("endpoint") {
        "" => None,
        text => Some(text.parse::<EndpointId>().map_err(|_| PageError::Missing)?),
    };
    let after = match form.field("after") {
        "" => None,
        text => Some(text.parse::<EventId>().map_err(|_| {
            PageError::Refused("Enter the event to continue after as evt_…, or leave it empty.".to_owned())
        })?),
    };
    let which = ResendWhich::Between {
        from: read_moment(form.field("from")).ok_or_else(wanted)?,
        until: read_end(form.field("until")).ok_or_else(wanted)?,
        parked_only: form.is_ticked("parked"),
        after,
    };
    if !form.is_confirmed() {
        let review = review(&form, environment);
        return review.page(signed_in.frame("Resend events", "events").await?);
    }
    let resent =
        signed_in.console.engine.resend(environment, Resend { endpoint, which }, &signed_in.origin()).await?;
    let more = resent.next_after.map_or_else(String::new, |event| {
        format!(" There are more: resend again, continuing after {event}.")
    });
    let said = format!("{} deliveries queued.{more}", resent.deliveries);
    Ok(signed_in.done(&format!("/console/{environment}/deliveries"), &said).await)
}

/// What is sent again, and to whom.
fn review(form: &Submitted, environment: EnvironmentId) -> Review {
    let is_failed_only = form.is_ticked("parked");
    let mut review = Review::of(form, "These events will be delivered again");
    review.facts = vec![
        ("From (UTC)", form.field("from").to_owned()),
        ("To (inclusive)", form.field("until").to_owned()),
        (
            "Which",
            if is_failed_only { "failed deliveries only" } else { "every event, also what was delivered" }
                .to_owned(),
        ),
    ];
    let after = Some(form.field("after")).filter(|after| !after.is_empty());
    review.facts.extend(after.map(|after| ("Continue after", after.to_owned())));
    review.affected = match form.field("endpoint") {
        "" => "Every enabled endpoint that is subscribed".into(),
        endpoint => format!("The endpoint {endpoint}").into(),
    };
    review.permanent =
        "What was delivered cannot be called back. Receivers recognize an event they know by its ID, which \
                        stays the same."
            .into();
    review.choices = vec![Choice::plain("Resend")];
    review.back = ("Back".to_owned(), format!("/console/{environment}/deliveries"));
    review
}
