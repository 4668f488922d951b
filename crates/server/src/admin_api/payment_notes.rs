//! `/admin/v1/environments/<id>/payments/<reference>/notes`: what operators write about a payment.

use tollgate_domain::ServiceReference;
use tollgate_engine::MAX_NOTE_LENGTH;

use crate::prelude::*;

type NoteText = scalars::Line<MAX_NOTE_LENGTH>;

requests! {
    NoteBody as PaymentNoteRequest {
        /// What to remember. No card numbers.
        text: NoteText,
    }
}

responses! {
    NoteResponse as PaymentNote {
        service_reference: String,
        /// What was written.
        text: String,
        actor: String,
        at: Moment,
    }
}

/// Puts a note on the payment's timeline.
pub(crate) async fn add(operator: Operator, body: JsonBody<NoteBody>) -> Created<NoteResponse> {
    let environment = operator.known_environment()?;
    let reference: ServiceReference = operator.path("reference")?;
    let NoteBody { text } = body.read(&operator).await?;
    let added = operator.app.engine.add_note(environment, reference, &text, &operator.origin).await?;
    respond::created(&NoteResponse {
        service_reference: reference.to_string(),
        text,
        actor: operator.origin.actor.clone(),
        at: Moment(added.at),
    })
}
