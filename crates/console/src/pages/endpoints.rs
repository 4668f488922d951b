//! Endpoints: the addresses that are told, and their secrets.

use std::time::Duration;

use askama::Template;
use axum::response::Response;
use tollgate_domain::{
    event::{EventFilter, EventKind},
    id::{EndpointId, EnvironmentId},
    people::{Permission, Place},
};
use tollgate_engine::{CreatedEndpoint, EndpointChange, NewEndpoint};

use crate::{
    layout::{
        format::second,
        frame::Frame,
        page::{self, Page, PageError},
        review::{Choice, Review},
    },
    request::{signed_in::SignedIn, submitted::Submitted},
};

const MAX_DESCRIPTION_LENGTH: usize = 200;
const GRACE: Duration = Duration::from_hours(24);

struct Row {
    id: String,
    url: String,
    description: String,
    events: String,
    disabled: Option<String>,
    failures: u32,
    rests_until: Option<String>,
    created: String,
}

#[derive(Template)]
#[template(path = "endpoints.html")]
struct EndpointsPage {
    frame: Frame,
    endpoints: Vec<Row>,
    kinds: Vec<&'static str>,
    /// Shown this once: whose, and the secret.
    made: Option<(String, String)>,
    errors: Vec<String>,
    url: String,
    description: String,
}

/// What was typed, where it has to be typed again.
#[derive(Default)]
struct Typed {
    url: String,
    description: String,
    errors: Vec<String>,
}

pub(crate) async fn list(signed_in: SignedIn) -> Page {
    let environment = signed_in.environment()?;
    show(&signed_in, environment, None, Typed::default()).await
}

async fn show(
    signed_in: &SignedIn,
    environment: EnvironmentId,
    made: Option<&CreatedEndpoint>,
    typed: Typed,
) -> Page {
    let mut frame = signed_in.frame("Endpoints", "events").await?;
    if made.is_some() {
        frame.said = Some("The endpoint has a new secret.".to_owned());
        frame.entry = signed_in.audit_entry().await;
    }
    let engine = &signed_in.console.engine;
    let now = engine.clock().now();
    let may_read_log = signed_in.require(Permission::ReadAuditLog, Place::Service).is_ok();
    let endpoints = engine.endpoints(environment).await?;
    page::render(&EndpointsPage {
        endpoints: endpoints
            .into_iter()
            .map(|endpoint| Row {
                id: endpoint.id.to_string(),
                events: endpoint.filter.names().join(", "),
                url: endpoint.url,
                description: endpoint.description.unwrap_or_default(),
                disabled: endpoint.disabled,
                failures: endpoint.failures,
                rests_until: endpoint.rests_until.filter(|until| *until > now).map(second),
                created: second(endpoint.created_at),
            })
            .collect(),
        kinds: EventKind::ALL
            .iter()
            .filter(|kind| kind.is_in_all() || may_read_log)
            .map(|kind| kind.as_str())
            .collect(),
        made: made.map(|made| (made.endpoint.url.clone(), made.secret.expose().to_owned())),
        errors: typed.errors,
        url: typed.url,
        description: typed.description,
        frame,
    })
}

pub(crate) async fn change(form: Submitted) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    let environment = signed_in.environment()?;
    let engine = &signed_in.console.engine;
    let id = || form.field("endpoint").parse::<EndpointId>().map_err(|_| PageError::Missing);
    let page = format!("/console/{environment}/endpoints");
    if ["disable", "rotate", "remove"].contains(&form.field("do")) && !form.is_confirmed() {
        let endpoint = engine.endpoint(environment, id()?).await?;
        return review(&form, environment, &endpoint.url)
            .page(signed_in.frame("Change an endpoint", "events").await?);
    }
    match form.field("do") {
        "add" => add(&form, environment).await,
        "enable" | "disable" => {
            let enabled = form.field("do") == "enable";
            let change = EndpointChange { enabled: Some(enabled), ..EndpointChange::default() };
            engine.change_endpoint(environment, id()?, &change, &signed_in.origin()).await?;
            let said = if enabled { "Endpoint enabled." } else { "Endpoint disabled." };
            Ok(signed_in.done(&page, said).await)
        }
        "rotate" => {
            let made = engine.rotate_endpoint_secret(environment, id()?, GRACE, &signed_in.origin()).await?;
            show(signed_in, environment, Some(&made), Typed::default()).await
        }
        "remove" => {
            engine.remove_endpoint(environment, id()?, &signed_in.origin()).await?;
            Ok(signed_in.done(&page, "Endpoint and its deliveries removed; the events remain.").await)
        }
        _ => Err(PageError::Refused("Unknown action.".to_owned())),
    }
}

/// What becomes of an endpoint's deliveries.
fn review(form: &Submitted, environment: EnvironmentId, url: &str) -> Review {
    let (effect, affected, permanent, choice) = match form.field("do") {
        "disable" => (
            "The endpoint will get no events",
            "Its receiver. Events go on being recorded, and can be resent once it is enabled again.",
            "Nothing: it can be enabled again.",
            Choice::danger("Disable"),
        ),
        "rotate" => (
            "The endpoint will have a new secret",
            "Its receiver: for 24 hours deliveries are signed with both secrets, then with the new one alone.",
            "The end of the old secret in 24 hours. The new one is shown once.",
            Choice::plain("Rotate the secret"),
        ),
        _ => (
            "The endpoint and its deliveries will be removed",
            "Its receiver: it gets no events from now on, also none that still waited.",
            "The record of its deliveries and its secret. The events remain.",
            Choice::danger("Remove"),
        ),
    };
    let mut review = Review::of(form, effect);
    review.facts = vec![("Endpoint", url.to_owned())];
    review.affected = affected.into();
    review.permanent = permanent.into();
    review.choices = vec![choice];
    review.back = ("Back".to_owned(), format!("/console/{environment}/endpoints"));
    review
}

async fn add(form: &Submitted, environment: EnvironmentId) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    let engine = &signed_in.console.engine;
    let mut typed = Typed {
        url: form.field("url").to_owned(),
        description: form.field("description").to_owned(),
        errors: Vec::new(),
    };
    let names: Vec<&str> = form.all("events").collect();
    let url =
        engine.endpoint_url(&typed.url).map_err(|fault| typed.errors.push(format!("The URL {fault}."))).ok();
    let filter = if names.is_empty() { Ok(EventFilter::All) } else { EventFilter::parse(names) };
    let filter = filter.map_err(|fault| typed.errors.push(format!("The list of events {fault}."))).ok();
    if typed.description.chars().count() > MAX_DESCRIPTION_LENGTH {
        typed.errors.push("The description must be at most 200 characters.".to_owned());
    }
    let (Some(url), Some(filter), true) = (url, filter, typed.errors.is_empty()) else {
        return show(signed_in, environment, None, typed).await;
    };
    if filter.names_audit_log() {
        signed_in.require(Permission::ReadAuditLog, Place::Service)?;
    }
    let description = Some(typed.description).filter(|text| !text.is_empty());
    let new = NewEndpoint { url, filter, description };
    let made = engine.add_endpoint(environment, new, &signed_in.origin()).await?;
    show(signed_in, environment, Some(&made), Typed::default()).await
}
