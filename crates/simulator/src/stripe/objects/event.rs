//! The Event object.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

use serde_json::Value;

use crate::collection::Kept;

/// An event as it was sent. The text is kept rather than the tree: there are many, and few are read again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Event {
    pub(crate) kind: String,
    pub(crate) created: i64,
    pub(crate) text: Arc<str>,
    /// The connected account it happened in.
    pub(crate) account: Option<String>,
}

impl Kept for Event {}

impl Event {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }
}
