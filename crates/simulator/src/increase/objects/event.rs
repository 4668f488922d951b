//! The Event object.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::collection::{Kept, Word, word};

/// Something happened to an object; the object itself has to be fetched.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Event {
    pub(crate) id: String,
    pub(crate) category: String,
    pub(crate) object_id: String,
    pub(crate) created_at: String,
    #[serde(with = "word")]
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
            "associated_object_id": self.object_id,
            "associated_object_type": self.object_type,
            "category": self.category,
            "created_at": self.created_at,
            "id": self.id,
            "type": "event",
        })
    }
}
