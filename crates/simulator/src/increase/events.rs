//! `/events`.

use super::prelude::*;

/// Something happened to an object; the object itself has to be fetched.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Event {
    pub(crate) id: String,
    pub(crate) category: String,
    pub(crate) object_id: String,
    pub(crate) created_at: String,
    #[serde(deserialize_with = "archive::word")]
    pub(crate) object_type: Word,
}

impl Kept for Event {
    fn label(&self) -> Option<&str> {
        Some(&self.object_id)
    }
}

impl Event {
    pub(crate) fn json(&self) -> Value {
        json!({
            "associated_object_id": self.object_id, "associated_object_type": self.object_type,
            "category": self.category, "created_at": self.created_at, "id": self.id, "type": "event",
        })
    }
}

const KNOWN: &str = "category.in associated_object_id order_by.direction order_by.field";

pub(super) fn retrieve(state: &mut State, call: &Call) -> Answer {
    let event = state.events.get(&call.id).map(Event::json);
    event.ok_or_else(|| Error::not_found("Event", &call.id))
}

pub(super) fn list(state: &mut State, call: &Call) -> Answer {
    let oldest_first = match call.query.get("order_by.direction") {
        None | Some("ascending") => true,
        Some("descending") => false,
        Some(_) => {
            return Err(Error::invalid("order_by.direction", "must be ascending or descending"));
        }
    };
    let known = Known { parameters: KNOWN, label: Some("associated_object_id") };
    list::page(&state.events, call, known, oldest_first, |event| {
        let fits = call.query.has("category.in", &event.category)
            && call.query.is("associated_object_id", Some(&event.object_id));
        fits.then(|| (event.id.clone(), event.created_at.clone(), event.json()))
    })
}
