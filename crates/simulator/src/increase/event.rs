//! `/events`.

use serde_json::Value;

use super::call::Call;
use super::error::IncreaseError;
use super::list;
use super::state::{Event, IncreaseState};

const KNOWN: [&str; 4] = ["category.in", "associated_object_id", "order_by.direction", "order_by.field"];

pub(super) fn retrieve(state: &mut IncreaseState, call: &Call) -> Result<Value, IncreaseError> {
    state.events.get(&call.id).map(Event::json).ok_or_else(|| IncreaseError::not_found("Event", &call.id))
}

pub(super) fn list(state: &mut IncreaseState, call: &Call) -> Result<Value, IncreaseError> {
    let oldest_first = match call.query("order_by.direction") {
        None | Some("ascending") => true,
        Some("descending") => false,
        Some(_) => {
            return Err(IncreaseError::invalid("order_by.direction", "must be ascending or descending"));
        }
    };
    list::page(&state.events, call, &KNOWN, oldest_first, |event| {
        let fits = call.query_has("category.in", &event.category)
            && call.query_is("associated_object_id", Some(&event.object_id));
        fits.then(|| (event.id.clone(), event.created_at.clone(), event.json()))
    })
}
