//! What became of sending a transfer, written down and answered.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use tokio::time::Instant;
use tollgate_domain::{ach::AchProviderReport, id::PostingId, ledger::TransferStep, transaction::Status};

use super::{
    AchProvider, MAX_ROUNDS,
    request::{TransferCreated, TransferError},
    send_lines::NOT_REACHED,
    update::TransferUpdate,
};
use crate::{
    engine::Engine,
    ports::{
        BankAccount, Call, CallError, Changed, Rejection, RejectionKind, ReservationCancel, StoreError,
        Transfer, TransferPosting, TransientError,
    },
    record::RECORD_TIMEOUT,
    timeline,
};

/// Longer than a provider works on any request: a conflict after that is not about one of ours still under way.
pub(super) const IN_PROGRESS_MAX: Duration = Duration::from_mins(10);

impl Engine {
    /// Makes sure that no other node sends a transfer or decides that it is not to be sent: `seen` is the beginning of the commit that
    /// said so last, if there was one. A send that begins within a quarter of a lease of it has ended when the lease does,
    /// and long enough before for the provider to have carried it out: a node that is to decide that it was never sent waits for
    /// a lease and then asks the provider. `None` if another node has changed it, or the store is too slow.
    pub(super) async fn may_send(
        &self,
        transfer: Transfer,
        seen: Option<Instant>,
    ) -> Result<Option<Transfer>, StoreError> {
        let (mut transfer, mut seen) = (transfer, seen);
        for _ in 0..MAX_ROUNDS {
            if transfer.progress.cancel_requested_at.is_some() {
                return Ok(None);
            }
            if seen.is_some_and(|seen| seen.elapsed() <= self.options.resolver.lease / 4) {
                return Ok(Some(transfer));
            }
            seen = Some(Instant::now());
            let mut update = TransferUpdate::of(self, transfer, None);
            update.renew_lease();
            let Some(renewed) = update.commit().await? else { return Ok(None) };
            transfer = renewed;
        }
        Ok(None)
    }

    /// Sends a transfer. A provider that has no money for it, or whose state does not allow it, may still have taken an
    /// earlier request under the same key: such a refusal counts once the provider, asked by that key, has nothing.
    pub(super) async fn send_transfer(
        &self,
        provider: &AchProvider<'_>,
        transfer: &Transfer,
        account: &BankAccount,
    ) -> Call<AchProviderReport> {
        let order = &transfer.order;
        let Call { outcome, mut logs } = provider.adapter.send(provider.provider, order, account).await;
        let rejection = match outcome {
            Err(CallError::Rejected(rejection))
                if matches!(rejection.kind, RejectionKind::Funds | RejectionKind::State) =>
            {
                rejection
            }
            outcome => return Call { outcome, logs },
        };
        let is_old = self.has_passed(transfer.sendable_since().saturating_add(IN_PROGRESS_MAX));
        let found = provider.adapter.find(provider.provider, order).await;
        logs.extend(found.logs);
        let outcome = match found.outcome {
            Ok(Some(report)) => Ok(report),
            Ok(None) if rejection.kind == RejectionKind::Funds || is_old => {
                Err(CallError::Rejected(Rejection { kind: RejectionKind::Invalid, ..rejection }))
            }
            Ok(None) | Err(_) => Err(CallError::Rejected(rejection)),
        };
        Call { outcome, logs }
    }

    /// Answers a transfer that was sent for the first time. From here on the answer is about the transfer: a store that
    /// fails now leaves it as it was reserved, and what was learned is written down later.
    pub(super) async fn answer_sending(
        self: &Arc<Self>,
        transfer: Transfer,
        call: Call<AchProviderReport>,
        request_id: &str,
    ) -> Result<TransferCreated, TransferError> {
        if let Err(CallError::Rejected(rejection)) = &call.outcome
            && matches!(rejection.kind, RejectionKind::Credentials | RejectionKind::Missing)
        {
            match self.cancel_reservation(&transfer, &call, request_id).await {
                Ok(Changed::Done | Changed::Missing) => {
                    let provider = transfer.order.provider;
                    return Err(TransferError::NotConfigured { provider, missing: Vec::new() });
                }
                // Whether the reservation still stands is not known; a repetition finds out.
                Err(error @ StoreError::Unknown(_)) => return Err(error.into()),
                // It was shown to somebody, or cannot be taken back now: it stays, and waits for better credentials.
                Ok(Changed::Stale) | Err(_) => {}
            }
        }
        let call = Arc::new(call);
        let known = (transfer.clone(), Arc::clone(&call), request_id.to_owned());
        let write = move |engine: Arc<Self>| {
            let (transfer, call, request) = known.clone();
            async move { engine.record_sending(transfer, &call, Some(&request)).await }
        };
        let recorded = self.record(transfer.order.id.to_string(), write).await;
        TransferCreated { transfer: recorded.unwrap_or(transfer), replayed: false }.unless_rejected()
    }

    /// Takes the reservation back of a transfer that the provider did not even look at: nothing is recorded against the
    /// caller's key.
    pub(super) async fn cancel_reservation(
        &self,
        transfer: &Transfer,
        call: &Call<AchProviderReport>,
        request_id: &str,
    ) -> Result<Changed, StoreError> {
        let order = &transfer.order;
        let at = self.clock.now();
        self.note_calls(order.environment, &order.provider, Some(order.id.to_bytes()), &call.logs);
        let mut lines = timeline::calls(&call.logs, &order.provider, at);
        lines.push((at, "not_sent", json!({ "provider": order.provider })));
        let cancel = ReservationCancel {
            transaction: transfer.transaction,
            currency: order.currency,
            posting: TransferPosting {
                id: self.new_id(PostingId::new)?,
                cause: TransferStep::Release.cause(),
                entries: TransferStep::Release.entries(&order.fee),
            },
            at,
            entries: self.entries(lines, Some(request_id))?,
        };
        let canceling = || self.store.cancel_reservation(order.environment, order.id, &cancel);
        self.retry_until_known(Instant::now() + RECORD_TIMEOUT, canceling).await
    }

    /// Writes down what became of sending; a transfer that a webhook or the resolver moved meanwhile is decided afresh.
    pub(super) async fn record_sending(
        &self,
        transfer: Transfer,
        call: &Call<AchProviderReport>,
        request: Option<&str>,
    ) -> Result<Transfer, StoreError> {
        let (environment, id, transaction) =
            (transfer.order.environment, transfer.order.id, transfer.transaction);
        // By which one send that is written down twice is told from two.
        let (provider, revision) = (transfer.order.provider.clone(), transfer.revision);
        let mut seen = transfer;
        for _ in 0..MAX_ROUNDS {
            let is_pending = seen.state.status == Status::Pending;
            let mut update = TransferUpdate::of(self, seen, request);
            update.record_calls(&call.logs);
            match &call.outcome {
                Ok(report) => update.apply_report(report, "transfer"),
                Err(CallError::Rejected(rejection)) if is_pending && decides(rejection) => {
                    update.reject(rejection.failure.clone());
                }
                Err(CallError::Rejected(rejection))
                    if is_pending && rejection.kind == RejectionKind::Funds =>
                {
                    update.reject_unless_found(&rejection.failure);
                }
                Err(CallError::Rejected(rejection)) if is_pending => update.try_again(&TransientError {
                    reason: format!("the provider did not accept it: {}", rejection.failure.message),
                    retry_after: None,
                }),
                Err(CallError::Unsent(transient)) if is_pending => {
                    let reason = &transient.reason;
                    let line = json!({ "provider": provider, "revision": revision, "reason": reason });
                    update.line(NOT_REACHED, line);
                    update.try_again(transient);
                }
                Err(CallError::Unknown(transient)) if is_pending => update.unanswered(transient),
                Err(_) => {}
            }
            if let Some(recorded) = update.commit().await? {
                return Ok(recorded);
            }
            let again = self.store.transfer(environment, id).await?;
            let again = again.filter(|again| again.transaction == transaction);
            seen = again.ok_or_else(|| StoreError::Broken("transfer not found".to_owned()))?;
        }
        Err(StoreError::Unavailable("too many concurrent changes to this transfer".to_owned()))
    }
}

/// Whether a refusal is the provider's decision about the transfer. That we are not let in, or that our own account is not
/// found there, says nothing about it.
fn decides(rejection: &Rejection) -> bool {
    match rejection.kind {
        RejectionKind::Declined | RejectionKind::Invalid | RejectionKind::Surcharge => true,
        RejectionKind::Credentials | RejectionKind::Missing | RejectionKind::State | RejectionKind::Funds => {
            false
        }
    }
}
