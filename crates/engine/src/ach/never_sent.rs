//! Transfers that provably never reached their provider, so that a corrected configuration may take them elsewhere.
//!
//! The timeline is the proof: a line before every further send, and one for every send that never left or was never begun. Where
//! there are as many of the second as there were sends, no request was ever on its way.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::{Value, json};
use tollgate_domain::{ServiceReference, transaction::Status};

use super::{
    MAX_ROUNDS,
    send_lines::{NOT_REACHED, NOT_SENT_YET, SENDING_AGAIN, not_sent_yet},
    update::TransferUpdate,
};
use crate::{
    engine::Engine,
    ports::{Entry, StoreError, Transfer},
    provider_account::AccountCheck,
};

impl Engine {
    /// The transfer, at the account that is configured now if it never reached the one it was begun at; `None` if it changed
    /// meanwhile.
    pub(super) async fn follow_correction(
        &self,
        transfer: Transfer,
        check: &AccountCheck,
    ) -> Result<Option<Transfer>, StoreError> {
        let order = &transfer.order;
        let is_open = transfer.state.status == Status::Pending && transfer.state.provider_reference.is_none();
        if !is_open || check.is_unchanged() {
            return Ok(Some(transfer));
        }
        let reference = ServiceReference::Ach(order.id);
        let lines = self.store.timeline(order.environment, reference).await?;
        if !proves_never_sent(&lines, &order.provider) {
            return Ok(Some(transfer));
        }
        let detail = json!({ "account": check.configured().describe(), "reason": "it never reached the account before" });
        // A send that another node has begun since is a later revision.
        let (configured, from) = (check.configured(), Some(transfer.revision));
        for entry in self.entries(vec![(self.clock.now(), "account", detail)], None)? {
            if !self.store.set_account(order.environment, reference, configured, from, &entry).await? {
                return Ok(None);
            }
        }
        self.store.transfer(order.environment, order.id).await
    }

    /// Writes down that whoever made a transfer did not send it, so that it can follow a correction. Returns it as it is then.
    pub(super) async fn record_not_sent(self: &Arc<Self>, transfer: Transfer, request_id: &str) -> Transfer {
        let known = (transfer.clone(), request_id.to_owned());
        let write = move |engine: Arc<Self>| {
            let (transfer, request) = known.clone();
            async move { engine.note_not_sent(transfer, &request).await }
        };
        let recorded = self.record(transfer.order.id.to_string(), write).await;
        recorded.unwrap_or(transfer)
    }

    async fn note_not_sent(&self, transfer: Transfer, request: &str) -> Result<Transfer, StoreError> {
        let (detail, transaction) = (not_sent_yet(&transfer), transfer.transaction);
        let mut seen = transfer;
        for _ in 0..MAX_ROUNDS {
            if seen.state.status != Status::Pending {
                return Ok(seen);
            }
            let (environment, id) = (seen.order.environment, seen.order.id);
            let mut update = TransferUpdate::of(self, seen, Some(request));
            update.line(NOT_SENT_YET, detail.clone());
            if let Some(noted) = update.commit().await? {
                return Ok(noted);
            }
            let again = self.store.transfer(environment, id).await?;
            let again = again.filter(|again| again.transaction == transaction);
            seen = again.ok_or_else(|| StoreError::Broken("transfer not found".to_owned()))?;
        }
        Err(StoreError::Unavailable("too many concurrent changes to this transfer".to_owned()))
    }
}

fn proves_never_sent(lines: &[Entry], provider: &str) -> bool {
    let details = |kinds: &'static [&str]| {
        let of_kind = lines.iter().filter(move |line| kinds.contains(&line.kind.as_str()));
        let details = of_kind.filter_map(|line| serde_json::from_str::<Value>(&line.detail).ok());
        details.filter(|detail| detail.get("provider").and_then(Value::as_str) == Some(provider))
    };
    // What the store took in without saying so stands there twice, and counts once.
    let mut counted = BTreeSet::new();
    let is_first = |detail: &Value| {
        let revision = detail.get("revision").and_then(Value::as_u64);
        revision.is_none_or(|revision| counted.insert(revision))
    };
    let never_left = details(&[NOT_REACHED, NOT_SENT_YET]).filter(is_first).count();
    never_left == details(&[SENDING_AGAIN]).count().saturating_add(1)
}

#[cfg(test)]
mod tests {
    use tollgate_domain::{Timestamp, id::EntryId};

    use super::*;

    fn proves(lines: &[(&str, Option<u64>)]) -> bool {
        let entry = |(kind, revision): &(&str, Option<u64>)| Entry {
            id: EntryId::from_bytes([0; 16]),
            at: Timestamp::from_unix_millis(0),
            kind: (*kind).to_owned(),
            request: None,
            detail: match revision {
                Some(revision) => json!({ "provider": "bank", "revision": revision }).to_string(),
                None => json!({ "provider": "bank" }).to_string(),
            },
        };
        proves_never_sent(&lines.iter().map(entry).collect::<Vec<_>>(), "bank")
    }

    #[test]
    fn only_as_many_ends_as_sends_prove_that_nothing_left() {
        let (again, not_reached) = ((SENDING_AGAIN, None), |revision| (NOT_REACHED, Some(revision)));
        let not_sent = (NOT_SENT_YET, Some(0));
        for (lines, expected) in [
            (vec![], false),
            (vec![not_reached(0)], true),
            (vec![not_sent], true),
            (vec![not_sent, again], false),
            (vec![not_sent, again, not_reached(2)], true),
            (vec![not_reached(0), again, not_reached(2), again], false),
            // One send that was written down twice, and one of which nothing is known.
            (vec![not_reached(0), again, not_reached(0)], false),
            (vec![not_sent, not_sent, again], false),
            // Lines of earlier versions name no revision.
            (vec![(NOT_REACHED, None), again, (NOT_REACHED, None)], true),
            (vec![(NOT_REACHED, None), again], false),
        ] {
            assert_eq!(proves(&lines), expected, "{lines:?}");
        }
        assert!(!proves_never_sent(&[], "another"));
    }
}
