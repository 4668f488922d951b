//! Answering a key that was used before: with the transfer it made, whatever has changed since.

use serde_json::json;
use tokio::time::Instant;
use tollgate_domain::{
    id::{EnvironmentId, TransferId},
    transaction::Status,
};

use super::{
    MAX_ROUNDS,
    request::{TransferCreated, TransferError, TransferRequest},
    update::TransferUpdate,
};
use crate::{
    engine::Engine,
    ports::{StoreError, Transfer},
};

/// A request that may repeat an earlier one.
pub(super) struct ReplayRequest<'a> {
    pub(super) environment: EnvironmentId,
    pub(super) id: TransferId,
    pub(super) request: &'a TransferRequest,
    pub(super) request_id: &'a str,
    pub(super) deadline: Instant,
}

impl Engine {
    /// The transfer this key has made; where it has made none, why it makes none now.
    pub(super) async fn replay_or(
        &self,
        repetition: &ReplayRequest<'_>,
        otherwise: TransferError,
    ) -> Result<TransferCreated, TransferError> {
        match self.store.transfer(repetition.environment, repetition.id).await? {
            Some(known) => self.replay(repetition, known).await?.ok_or(otherwise),
            None => Err(otherwise),
        }
    }

    /// The answer to a key that was used for `known`; `None` if that was taken back meanwhile.
    pub(super) async fn replay(
        &self,
        repetition: &ReplayRequest<'_>,
        known: Transfer,
    ) -> Result<Option<TransferCreated>, TransferError> {
        let ReplayRequest { environment, request, .. } = *repetition;
        let differing = self.differences(environment, &known, request);
        if !differing.is_empty() {
            self.count_key_conflict(environment, &repetition.id.to_bytes())?;
            return Err(TransferError::KeyReused(differing));
        }
        let Some(known) = self.keep(repetition, known).await? else { return Ok(None) };
        TransferCreated { transfer: known, replayed: true }.unless_rejected().map(Some)
    }

    /// Makes sure that a transfer stays which is about to be shown: as long as nothing has changed since its
    /// reservation, that may still be taken back.
    async fn keep(
        &self,
        repetition: &ReplayRequest<'_>,
        known: Transfer,
    ) -> Result<Option<Transfer>, StoreError> {
        let mut known = known;
        for _ in 0..MAX_ROUNDS {
            if known.revision > 0 || known.state.status != Status::Pending {
                return Ok(Some(known));
            }
            let mut update = TransferUpdate::of(self, known, Some(repetition.request_id));
            update.line("replayed", json!({}));
            if let Some(kept) = update.commit_by(repetition.deadline).await? {
                return Ok(Some(kept));
            }
            match self.store.transfer(repetition.environment, repetition.id).await? {
                Some(again) => known = again,
                None => return Ok(None),
            }
        }
        Err(StoreError::Unavailable("too many concurrent changes to this transfer".to_owned()))
    }
}
