//! `GET /admin/v1/environments/<id>/provider-events`: what providers sent, and what became of it.

use serde::Serialize;
use tollgate_engine::ports::{EventState, StoredEvent};

use crate::{
    admin_api::{operator::Operator, paging::ListAnswer, payments::of_reading},
    answer::{self, Answer},
    timestamp::rfc3339,
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EventAnswer {
    provider: String,
    event_id: String,
    r#type: String,
    state: &'static str,
    note: String,
    tries: u32,
    next_try_at: Option<String>,
    request_id: String,
    received_at: String,
}

pub(crate) async fn list(operator: Operator) -> Answer {
    let (environment, limit) = (operator.known_environment()?, operator.limit()?);
    let rule = "must be one of: waiting, applied, ignored";
    let state = operator.location.query_as("state", rule, EventState::parse)?;
    let before = operator.location.moment("before")?;
    let found = operator.app.engine.provider_events(environment, state, before, limit).await;
    let found = found.map_err(of_reading)?;
    let last = found.last().map(|stored| rfc3339(stored.event.received_at));
    answer::ok(&ListAnswer::new(found.iter().map(event).collect(), limit, last))
}

fn event(stored: &StoredEvent) -> EventAnswer {
    EventAnswer {
        provider: stored.event.provider.clone(),
        event_id: stored.event.id.clone(),
        r#type: stored.event.kind.clone(),
        state: stored.state.as_str(),
        note: stored.note.clone(),
        tries: stored.tries,
        next_try_at: stored.due.map(rfc3339),
        request_id: stored.event.request.clone(),
        received_at: rfc3339(stored.event.received_at),
    }
}
