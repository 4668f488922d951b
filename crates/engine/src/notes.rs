//! Notes that operators put on payments.

use serde_json::json;
use tollgate_domain::{ServiceReference, id::EnvironmentId};

use crate::{audit_log::Audited, card::ReadError, configure::Origin, engine::Engine, ports::Entry};

/// No note is longer, in characters.
pub const MAX_NOTE_LENGTH: usize = 1_000;

impl Engine {
    /// Puts a note on a payment's timeline. The audit log has who did, and not its words: those are erased with the rest of the
    /// timeline.
    pub async fn add_note(
        &self,
        environment: EnvironmentId,
        reference: ServiceReference,
        text: &str,
        origin: &Origin,
    ) -> Result<Entry, ReadError> {
        let audited = Audited::new("payment.note", reference)
            .in_environment(environment)
            .after(json!({ "characters": text.chars().count() }));
        let line = (self.clock.now(), "note", json!({ "text": text, "actor": origin.actor }));
        let entry = self.entries(vec![line], Some(&origin.request))?.pop().ok_or(ReadError::Missing)?;
        let store = self.audited(origin, audited);
        if store.add_to_timeline(environment, reference, &entry).await? {
            Ok(entry)
        } else {
            Err(ReadError::Missing)
        }
    }
}
