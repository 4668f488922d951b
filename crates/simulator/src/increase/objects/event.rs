//! The Event object.

use serde_json::{Value, json};

/// Something happened to an object; the object itself has to be fetched.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) id: String,
    pub(crate) category: String,
    pub(crate) object_id: String,
    pub(crate) created_at: String,
    pub(crate) object_type: &'static str,
}

impl Event {
    pub(crate) fn json(&self) -> Value {
        json!({
            "associated_object_id": self.object_id,
            "associated_object_type": self.object_type,
            "category": self.category,
            "created_at": self.created_at,
            "id": self.id,
            "type": "event",
        })
    }
}
