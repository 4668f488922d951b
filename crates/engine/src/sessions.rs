//! Ending an operator's session on every node.

use tollgate_domain::Timestamp;

use crate::{engine::Engine, ports::StoreError};

impl Engine {
    /// Ends a session that would last until then.
    pub async fn end_session(&self, session: &[u8; 16], until: Timestamp) -> Result<(), StoreError> {
        self.store.end_session(session, until, self.clock.now()).await
    }

    /// Whether a session was ended.
    pub async fn is_session_ended(&self, session: &[u8; 16]) -> Result<bool, StoreError> {
        self.store.is_session_ended(session).await
    }
}
