//! Discrepancies with providers: shown until somebody is done with them.

use askama::Template;
use axum::response::Response;
use tollgate_domain::id::ExceptionId;
use tollgate_engine::ports::StoredException;

use crate::{
    layout::{
        format::second,
        frame::Frame,
        page::{self, Page, PageError},
    },
    request::{signed_in::SignedIn, submitted::Submitted},
};

const SLICE: u32 = 50;

/// One of them.
pub(crate) struct Exception {
    pub(crate) id: String,
    pub(crate) kind: &'static str,
    pub(crate) reference: String,
    pub(crate) link: String,
    pub(crate) expected: String,
    pub(crate) found: String,
    pub(crate) source: String,
    pub(crate) at: String,
    pub(crate) is_open: bool,
    pub(crate) resolution: Option<String>,
}

impl Exception {
    pub(crate) fn of(stored: &StoredException, base: &str) -> Self {
        let exception = &stored.exception;
        Self {
            id: exception.id.to_string(),
            kind: exception.kind.as_str(),
            reference: stored.reference.to_string(),
            link: format!("{base}/payments/{}", stored.reference),
            expected: exception.expected.clone(),
            found: exception.found.clone(),
            source: exception.source.clone(),
            at: second(exception.at),
            is_open: stored.resolved.is_none(),
            resolution: stored
                .resolved
                .as_ref()
                .map(|done| format!("{} was done with it at {}: {}", done.actor, second(done.at), done.note)),
        }
    }
}

#[derive(Template)]
#[template(path = "exceptions.html")]
struct ExceptionsPage {
    frame: Frame,
    exceptions: Vec<Exception>,
    shows_all: bool,
    next: Option<String>,
}

pub(crate) async fn list(signed_in: SignedIn) -> Page {
    let environment = signed_in.environment()?;
    let frame = signed_in.frame("Exceptions", "exceptions").await?;
    let shows_all = signed_in.query("all").is_some();
    let before = signed_in.query("before").and_then(|text| text.parse::<ExceptionId>().ok());
    let found = signed_in.console.engine.exceptions(environment, !shows_all, before, SLICE).await?;
    let is_full = u32::try_from(found.len()).is_ok_and(|count| count == SLICE);
    let next = found.last().filter(|_| is_full).map(|last| {
        let rest = signed_in.query_without("before");
        let joint = if rest.is_empty() { "" } else { "&" };
        format!("?{rest}{joint}before={}", last.exception.id)
    });
    page::render(&ExceptionsPage {
        exceptions: found.iter().map(|one| Exception::of(one, &frame.base)).collect(),
        shows_all,
        next,
        frame,
    })
}

pub(crate) async fn resolve(form: Submitted) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    let environment = signed_in.environment()?;
    let id: ExceptionId = form.field("exception").parse().map_err(|_| PageError::Missing)?;
    let note: String = form.field("note").chars().take(500).collect();
    if note.is_empty() {
        return Err(PageError::Refused("Enter a note on what you found.".to_owned()));
    }
    signed_in.console.engine.resolve_exception(environment, id, note, &signed_in.origin()).await?;
    Ok(signed_in.back(&format!("/console/{environment}/exceptions"), "Exception resolved."))
}
