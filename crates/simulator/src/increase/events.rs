//! `/events`.

use serde_json::Value;

use super::call::Call;
use super::error::IncreaseError;
use super::list::{self, Known};
use super::state::IncreaseState;

const KNOWN: &str = "category.in associated_object_id order_by.direction order_by.field";

pub(super) fn retrieve(state: &mut IncreaseState, call: &Call) -> Result<Value, IncreaseError> {
    let event = state.events.get(&call.id).map(|event| event.json());
    event.ok_or_else(|| IncreaseError::not_found("Event", &call.id))
}

pub(super) fn list(state: &mut IncreaseState, call: &Call) -> Result<Value, IncreaseError> {
    let oldest_first = match call.query.get("order_by.direction") {
        None | Some("ascending") => true,
        Some("descending") => false,
        Some(_) => {
            return Err(IncreaseError::invalid("order_by.direction", "must be ascending or descending"));
        }
    };
    let known = Known { parameters: KNOWN, label: Some("associated_object_id") };
    list::page(&state.events, call, known, oldest_first, |event| {
        let fits = call.query.has("category.in", &event.category)
            && call.query.is("associated_object_id", Some(&event.object_id));
        fits.then(|| (event.id.clone(), event.created_at.clone(), event.json()))
    })
}
