//! `/v1/events`.

use serde_json::Value;

use super::call::Call;
use super::error::StripeError;
use super::list;
use super::objects::Event;
use super::state::StripeState;

pub(super) fn retrieve(state: &mut StripeState, call: &Call) -> Result<Value, StripeError> {
    call.params.allow(&["expand[#]"])?;
    let event = state.events.get(&call.id).filter(|event| event.account == call.context.account);
    event.map(|event| event.json()).ok_or_else(|| StripeError::not_found("event", &call.id, "id"))
}

pub(super) fn list(state: &mut StripeState, call: &Call) -> Result<Value, StripeError> {
    call.params.allow(&list::with(&["type", "types[#]", "created", "created[*]", "delivery_success"]))?;
    let (kind, kinds) = (call.params.text("type"), call.params.list("types"));
    list::page(&state.events, &call.params, "/v1/events", Event::json, |event| {
        kind.is_none_or(|kind| fits(kind, &event.kind))
            && (kinds.is_empty() || kinds.iter().any(|kind| fits(kind, &event.kind)))
            && list::created_fits(&call.params, event.created)
            && event.account == call.context.account
    })
}

/// `charge.*` stands for every event of charges.
fn fits(wanted: &str, kind: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(start) => kind.starts_with(start),
        None => wanted == kind,
    }
}
