//! Transfers that provably never reached their provider, so that a corrected configuration may take them elsewhere.
//!
//! The timeline is the proof: a line before every further send, and one for every send that never left. Where there are as
//! many of the second as there were sends, no request was ever on its way.

use serde_json::{Value, json};
use tollgate_domain::{ServiceReference, transaction::Status};

use crate::{
    engine::Engine,
    ports::{Entry, StoreError, Transfer},
    provider_account::AccountCheck,
};

/// Before a transfer is sent once more.
pub(super) const SENDING_AGAIN: &str = "sending_again";
/// A send ended before anything left.
pub(super) const NOT_REACHED: &str = "provider_not_reached";

impl Engine {
    /// The transfer at the account that is configured now, if it never reached the one it was begun at; `None` otherwise.
    pub(super) async fn follow_correction(
        &self,
        transfer: &Transfer,
        check: &AccountCheck,
    ) -> Result<Option<Transfer>, StoreError> {
        let order = &transfer.order;
        let is_open = transfer.state.status == Status::Pending && transfer.state.provider_reference.is_none();
        if !is_open || check.is_unchanged() {
            return Ok(None);
        }
        let reference = ServiceReference::Ach(order.id);
        let lines = self.store.timeline(order.environment, reference).await?;
        if !proves_never_sent(&lines, &order.provider) {
            return Ok(None);
        }
        let detail = json!({ "account": check.configured().describe(), "reason": "it never reached the account before" });
        for entry in self.entries(vec![(self.clock.now(), "account", detail)], None)? {
            self.store.set_account(order.environment, reference, check.configured(), &entry).await?;
        }
        self.store.transfer(order.environment, order.id).await
    }
}

fn proves_never_sent(lines: &[Entry], provider: &str) -> bool {
    let count = |kind: &str| {
        let is_of_provider = |line: &&Entry| {
            let detail: Value = serde_json::from_str(&line.detail).unwrap_or_default();
            detail.get("provider").and_then(Value::as_str) == Some(provider)
        };
        lines.iter().filter(|line| line.kind == kind).filter(is_of_provider).count()
    };
    count(NOT_REACHED) == count(SENDING_AGAIN).saturating_add(1)
}
