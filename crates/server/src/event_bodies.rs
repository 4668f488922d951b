//! Events as receivers get them: made of the very answers the API gives.

use serde::Serialize;
use tollgate_engine::ports::{EventBodies, EventSubject, OutEvent};

use crate::{payment_answer, timestamp::rfc3339, transaction_answer::TransactionAnswer};

/// Writes events' bodies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ApiEventBodies;

#[derive(Serialize)]
pub(crate) struct EventBody<T> {
    r#type: &'static str,
    timestamp: String,
    data: T,
}

/// What an event is about, under its own name.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum EventData<P: Serialize> {
    Transaction(Box<TransactionAnswer>),
    Payment(P),
}

/// An event's body.
pub(crate) fn body(event: &OutEvent, subject: &EventSubject) -> EventBody<EventData<impl Serialize>> {
    let data = match subject {
        EventSubject::Transaction(transaction) => {
            EventData::Transaction(Box::new(TransactionAnswer::of(transaction)))
        }
        EventSubject::Payment(payment) => EventData::Payment(payment_answer::read_back(payment)),
    };
    EventBody { r#type: event.kind.as_str(), timestamp: rfc3339(event.at), data }
}

impl EventBodies for ApiEventBodies {
    fn body(&self, event: &OutEvent, subject: &EventSubject) -> Result<Vec<u8>, String> {
        serde_json::to_vec(&body(event, subject)).map_err(|error| error.to_string())
    }
}
