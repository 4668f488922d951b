//! Canceling a transfer: recorded first, then asked of the provider, which says whether it still could.
//!
//! A transfer whose outcome is unknown may be on its way to the provider. That it was never sent is certain only once nobody can
//! still be sending it and the provider, asked by our key after that, does not have it; its bank details go at once, so that
//! nobody begins.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use tollgate_domain::{
    ServiceReference, Timestamp,
    ach::{AchProviderReport, AchProviderStatus},
    approval::{Approval, ApprovalState},
    id::TransferId,
    transaction::Status,
};

use super::{
    AchProvider, MAX_ROUNDS,
    sending::IN_PROGRESS_MAX,
    update::{TransferUpdate, UNANSWERED},
};
use crate::{
    audit_log::Audited,
    configure::Origin,
    engine::Engine,
    ports::{CallError, CallLog, StoreError, Transfer, TransientError},
    provider_account::AccountCheck,
    snapshot::EnvironmentView,
};

/// The next look comes after the moment that counts, however times are rounded.
const TICK: Duration = Duration::from_secs(1);

/// A transfer that is canceled or, while that is not known, about to be: its status says which.
#[derive(Debug)]
pub struct TransferCanceled {
    pub transfer: Transfer,
    /// Whether it was asked for before.
    pub replayed: bool,
}

/// Why a transfer was not canceled.
#[derive(Debug, thiserror::Error)]
pub enum CancelError {
    /// No such transfer in this environment.
    #[error("transfer not found")]
    Missing,
    /// It is too late, and why.
    #[error("{0}")]
    NotCancelable(String),
    /// The provider cannot be used.
    #[error("the provider {provider} cannot be used: {}", missing.join(", "))]
    NotConfigured {
        /// Its name in the configuration.
        provider: String,
        /// What is missing.
        missing: Vec<String>,
    },
    /// The configuration no longer leads to the account the transfer was sent from, and why that matters.
    #[error("{0}")]
    OtherAccount(String),
    /// The store did not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What came of asking the provider.
#[derive(Debug)]
enum CancelOutcome {
    /// It could be asked, and this is how the transfer stands after it.
    Answered(AchProviderReport),
    /// It does not have the transfer, or did not when it was asked.
    NotThere { asked_at: Timestamp },
    /// Nobody knows yet.
    Unclear { found: Option<AchProviderReport>, transient: TransientError },
}

impl Engine {
    /// Cancels a transfer if the provider still can. Asking again is safe.
    pub async fn cancel_transfer(
        self: &Arc<Self>,
        view: &EnvironmentView,
        reference: ServiceReference,
        operator: Option<&Origin>,
        request_id: &str,
    ) -> Result<TransferCanceled, CancelError> {
        let id = match reference {
            ServiceReference::Ach(id) => id,
            ServiceReference::Card(id) => {
                let known = self.store.payment(view.environment.id, id).await?;
                let why = "Only bank transfers can be canceled; void or refund a card payment instead.";
                return Err(
                    known.map_or(CancelError::Missing, |_| CancelError::NotCancelable(why.to_owned()))
                );
            }
        };
        for _ in 0..MAX_ROUNDS {
            let transfer = self.cancelable(view, id).await?;
            let is_asked = transfer.progress.cancel_requested_at.is_some();
            if is_asked || transfer.state.status == Status::Canceled {
                return Ok(TransferCanceled { transfer, replayed: true });
            }
            if let Some(approval) = transfer.progress.approval.clone().filter(Approval::is_open) {
                // Certainly never sent: it waits for people.
                let mut update = self.requested_cancel(transfer, operator, request_id);
                update.decide(Approval { state: ApprovalState::Canceled, ..approval });
                let Some(transfer) = update.commit().await? else { continue };
                return Ok(TransferCanceled { transfer, replayed: false });
            }
            let order = &transfer.order;
            let provider =
                self.provider_of_transfer(view, &order.provider, &order.adapter).map_err(|missing| {
                    CancelError::NotConfigured { provider: order.provider.clone(), missing }
                })?;
            let check = self.check_account(view.environment.id, order.account.as_ref(), provider.provider);
            if check.is_unreachable() {
                return Err(CancelError::OtherAccount(check.transient_error().reason));
            }
            let mut update = self.requested_cancel(transfer, operator, request_id);
            update.request_cancel();
            let Some(begun) = update.commit().await? else { continue };
            let (outcome, logs) = self.ask_to_cancel(&provider, &begun, &check).await;
            return Box::pin(self.answer_cancel(begun, outcome, logs, request_id)).await;
        }
        Err(StoreError::Unavailable("too many concurrent changes to this transfer".to_owned()).into())
    }

    fn requested_cancel(
        &self,
        transfer: Transfer,
        operator: Option<&Origin>,
        request_id: &str,
    ) -> TransferUpdate<'_> {
        let (environment, reference) = (transfer.order.environment, ServiceReference::Ach(transfer.order.id));
        let mut update = TransferUpdate::of(self, transfer, Some(request_id));
        update.line("cancel_requested", json!({ "actor": operator.map(|origin| &origin.actor) }));
        if let Some(origin) = operator {
            update.audit(origin, Audited::new("transfer.cancel", reference).in_environment(environment));
        }
        update
    }

    /// The transfer, if it is not too late to ask: what became of it then, the provider says.
    pub async fn cancelable(&self, view: &EnvironmentView, id: TransferId) -> Result<Transfer, CancelError> {
        let transfer = self.store.transfer(view.environment.id, id).await?.ok_or(CancelError::Missing)?;
        let why = match transfer.state.status {
            Status::Pending | Status::Processing | Status::Canceled => return Ok(transfer),
            Status::Failed => "The transfer failed; there is nothing to cancel.",
            Status::Succeeded | Status::Authorized | Status::Refunded => {
                "The transfer has arrived; ask the receiver to send the money back."
            }
        };
        Err(CancelError::NotCancelable(why.to_owned()))
    }

    /// Looks at a transfer that is to be canceled, and asks for it where that may still help.
    pub(super) async fn resolve_cancel(
        &self,
        provider: &AchProvider<'_>,
        transfer: Transfer,
        check: &AccountCheck,
    ) -> Result<(), StoreError> {
        let (outcome, logs) = self.ask_to_cancel(provider, &transfer, check).await;
        self.record_cancel(transfer, &outcome, &logs, None).await.map(drop)
    }

    async fn ask_to_cancel(
        &self,
        provider: &AchProvider<'_>,
        transfer: &Transfer,
        check: &AccountCheck,
    ) -> (CancelOutcome, Vec<CallLog>) {
        let mut logs = Vec::new();
        let unclear = |found, error| CancelOutcome::Unclear { found, transient: transient(error) };
        let (object, found) = if let Some(object) = transfer.state.provider_reference.clone() {
            (object, None)
        } else {
            let asked_at = self.clock.now();
            let asked = provider.adapter.find(provider.provider, &transfer.order).await;
            logs.extend(asked.logs);
            match asked.outcome {
                Ok(Some(report)) => (report.transfer.clone(), Some(report)),
                Ok(None)
                    if check.is_same(|| provider.adapter.can_access_account(provider.provider)).await =>
                {
                    return (CancelOutcome::NotThere { asked_at }, logs);
                }
                Ok(None) => {
                    let transient = check.transient_error();
                    return (CancelOutcome::Unclear { found: None, transient }, logs);
                }
                Err(error) => return (unclear(None, error), logs),
            }
        };
        let asked = provider.adapter.cancel(provider.provider, &object).await;
        logs.extend(asked.logs);
        match asked.outcome {
            Ok(report) => (CancelOutcome::Answered(report), logs),
            Err(error) => (unclear(found, error), logs),
        }
    }

    /// The transfer as it stands after the provider was asked. A store that fails now leaves the outcome in doubt, and what
    /// became of it is written down later.
    async fn answer_cancel(
        self: &Arc<Self>,
        begun: Transfer,
        outcome: CancelOutcome,
        logs: Vec<CallLog>,
        request_id: &str,
    ) -> Result<TransferCanceled, CancelError> {
        let known = (begun.clone(), Arc::new((outcome, logs)), request_id.to_owned());
        let write = move |engine: Arc<Self>| {
            let (begun, told, request) = known.clone();
            async move { engine.record_cancel(begun, &told.0, &told.1, Some(&request)).await }
        };
        let recorded = self.record(format!("cancellation of {}", begun.order.id), write).await;
        let transfer = recorded.unwrap_or(begun);
        if transfer.state.status == Status::Canceled || transfer.progress.cancel_requested_at.is_some() {
            return Ok(TransferCanceled { transfer, replayed: false });
        }
        Err(CancelError::NotCancelable(
            "The provider can no longer cancel this transfer; it goes on. Read the transaction to see where it stands."
                .to_owned(),
        ))
    }

    /// For how long a transfer that the provider does not have may still arrive there. No node begins to send it once it is to be
    /// canceled, and a send that was begun ends with its lease; a request that was not answered may be carried out later.
    async fn in_flight_for(&self, transfer: &Transfer) -> Result<Duration, StoreError> {
        let reference = ServiceReference::Ach(transfer.order.id);
        let lines = self.store.timeline(transfer.order.environment, reference).await?;
        let is_unanswered = lines.iter().any(|line| line.kind == UNANSWERED);
        Ok(if is_unanswered { IN_PROGRESS_MAX } else { self.options.resolver.lease })
    }

    async fn record_cancel(
        &self,
        transfer: Transfer,
        outcome: &CancelOutcome,
        logs: &[CallLog],
        request: Option<&str>,
    ) -> Result<Transfer, StoreError> {
        let (environment, id) = (transfer.order.environment, transfer.order.id);
        let mut seen = transfer;
        for _ in 0..MAX_ROUNDS {
            let requested_at = seen.progress.cancel_requested_at;
            let in_flight = match outcome {
                CancelOutcome::NotThere { .. } => self.in_flight_for(&seen).await?,
                CancelOutcome::Answered(_) | CancelOutcome::Unclear { .. } => Duration::ZERO,
            };
            let is_unsent = seen.state.provider_reference.is_none() && seen.state.status == Status::Pending;
            let mut update = TransferUpdate::of(self, seen, request);
            update.record_calls(logs);
            match (outcome, requested_at) {
                (CancelOutcome::Answered(report), _) => {
                    update.apply_report(report, "cancel");
                    if report.provider_status != AchProviderStatus::Canceled {
                        update.cancel_rejected();
                    }
                }
                (CancelOutcome::NotThere { asked_at }, Some(requested_at)) if is_unsent => {
                    let certain_at = requested_at.saturating_add(in_flight);
                    // It counts when the provider was asked, not when that is written down.
                    if self.may_conclude() && *asked_at >= certain_at {
                        update.cancel_unsent();
                    } else {
                        update.try_again(&TransientError {
                            reason: "canceled as soon as it is certain that the provider never received it"
                                .to_owned(),
                            retry_after: Some(until(self.clock.now(), certain_at.saturating_add(TICK))),
                        });
                    }
                }
                (CancelOutcome::Unclear { found, transient }, Some(_)) => {
                    if let Some(report) = found {
                        update.apply_report(report, "cancel");
                    }
                    update.try_again(transient);
                }
                // What it was about has been decided meanwhile.
                (CancelOutcome::NotThere { .. } | CancelOutcome::Unclear { .. }, _) => {}
            }
            if let Some(recorded) = update.commit().await? {
                return Ok(recorded);
            }
            let again = self.store.transfer(environment, id).await?;
            seen = again.ok_or_else(|| StoreError::Broken("transfer not found".to_owned()))?;
        }
        Err(StoreError::Unavailable("too many concurrent changes to this transfer".to_owned()))
    }
}

fn until(now: Timestamp, then: Timestamp) -> Duration {
    let millis = then.unix_millis().saturating_sub(now.unix_millis());
    Duration::from_millis(u64::try_from(millis).unwrap_or_default())
}

fn transient(error: CallError) -> TransientError {
    match error {
        CallError::Unsent(transient) | CallError::Unknown(transient) => transient,
        CallError::Rejected(rejection) => TransientError {
            reason: format!(
                "to be canceled, but the provider cannot be asked: {}",
                rejection.failure.message
            ),
            retry_after: None,
        },
    }
}
