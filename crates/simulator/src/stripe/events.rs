//! `/v1/events`.

use super::prelude::*;

/// An event as it was sent. The text is kept rather than the tree: there are many, and few are read again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Event {
    pub(crate) kind: String,
    pub(crate) created: i64,
    #[serde(with = "archive::text")]
    pub(crate) text: Arc<str>,
    pub(crate) account: Option<String>,
}

impl Kept for Event {}

impl Event {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }
}

pub(super) fn retrieve(state: &mut State, call: &Call) -> Answer {
    call.params.allow(&["expand[#]"])?;
    let event = state.events.get(&call.id).filter(|event| event.account == call.context.account);
    event.map(Event::json).ok_or_else(|| Error::not_found("event", &call.id, "id"))
}

pub(super) fn list(state: &mut State, call: &Call) -> Answer {
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
