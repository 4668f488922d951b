//! `GET /admin/v1/environments/<id>/provider-events`: what providers sent, and its outcome.

use tollgate_domain::Timestamp;
use tollgate_engine::ports::{ProviderEvent, ProviderEventCursor, ProviderEventState, StoredProviderEvent};
use tracing::info;

use crate::{json::timestamp::rfc3339, prelude::*};

responses! {
    EventResponse as ProviderEvent {
        provider: String,
        event_id: String,
        r#type: String,
        state: words::ProviderEventState,
        note: String,
        tries: u32,
        next_try_at: Option<Moment>,
        request_id: String,
        received_at: Moment,
    }
}

pub(crate) async fn list(operator: Operator) -> Done<ListResponse<EventResponse>> {
    let environment = operator.known_environment()?;
    let mut query = operator.query();
    let rule = "must be one of: waiting, applied, ignored, parked";
    let state = query.value_as("state", rule, ProviderEventState::parse);
    let before = query.value_as("before", "must be an RFC 3339 timestamp or a cursor", place);
    let limit = query.limit();
    query.finish()?;
    let engine = &operator.app.engine;
    let events = engine.provider_events(environment, state, before.as_ref(), limit.to_read()).await?;
    respond::ok(&ListResponse::slice(events, limit, |it| event(&it), |it| cursor(&it.event)))
}

responses! {
    RetriedResponse as ProviderEventRetried {
        retried: bool,
    }
}

/// A parked event waits again, and is applied or says why not.
pub(crate) async fn retry(operator: Operator) -> Done<RetriedResponse> {
    let environment = operator.known_environment()?;
    let (provider, event): (String, String) = (operator.path("provider")?, operator.path("event")?);
    let engine = &operator.app.engine;
    engine.retry_provider_event(environment, &provider, &event, &operator.origin).await?;
    let (actor, request_id) = (&operator.origin.actor, &operator.origin.request);
    info!(request_id, actor, provider, event, "provider event queued for retry");
    respond::ok(&RetriedResponse { retried: true })
}

/// Several events can arrive within one moment: the cursor says which was the last one shown.
fn cursor(event: &ProviderEvent) -> String {
    format!("{},{},{}", rfc3339(event.received_at), event.provider, event.id)
}

/// The place a cursor or a moment means.
fn place(text: &str) -> Option<ProviderEventCursor> {
    let (moment, event) = match text.split_once(',') {
        None => (text, None),
        Some((moment, name)) => {
            let (provider, id) = name.split_once(',')?;
            (moment, Some((provider.to_owned(), id.to_owned())))
        }
    };
    let moment: jiff::Timestamp = moment.parse().ok()?;
    Some(ProviderEventCursor { received_at: Timestamp::from_unix_millis(moment.as_millisecond()), event })
}

fn event(stored: &StoredProviderEvent) -> EventResponse {
    EventResponse {
        provider: stored.event.provider.clone(),
        event_id: stored.event.id.clone(),
        r#type: stored.event.kind.clone(),
        state: stored.state.as_str().into(),
        note: stored.note.clone(),
        tries: stored.tries,
        next_try_at: stored.due.map(Moment),
        request_id: stored.event.request.clone(),
        received_at: Moment(stored.event.received_at),
    }
}
