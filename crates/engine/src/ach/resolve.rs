//! Looking after transfers: unknown outcomes are asked for, and what no webhook told is noticed.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use tollgate_domain::{
    ServiceReference,
    approval::Approval,
    id::{EnvironmentId, TransferId},
    transaction::{Failure, Status},
};

use super::{
    AchProvider,
    send_lines::SENDING_AGAIN,
    update::{REFUSED, TransferUpdate},
};
use crate::{
    engine::Engine,
    failpoint::failpoint,
    ports::{CallError, CallLog, StoreError, Transfer, TransientError},
    provider_account::AccountCheck,
    timeline,
};

/// How long a transfer waits for the key of its bank details before it fails.
const LOST_KEY_TIMEOUT: Duration = Duration::from_hours(1);

impl Engine {
    /// One look at one transfer. Where somebody else changes it meanwhile, that was the better look.
    pub(crate) async fn resolve_transfer(
        &self,
        environment: EnvironmentId,
        id: TransferId,
    ) -> Result<(), StoreError> {
        let Some(transfer) = self.store.transfer(environment, id).await? else { return Ok(()) };
        if transfer.progress.approval.as_ref().is_some_and(Approval::is_open) {
            return self.announce_approval(transfer, None).await.map(drop);
        }
        let view = self.view(environment);
        let order = &transfer.order;
        let found =
            view.as_deref().map(|view| self.provider_of_transfer(view, &order.provider, &order.adapter));
        let Some(Ok(provider)) = found else {
            let reason = format!("the provider {} is not fully configured", order.provider);
            let mut update = TransferUpdate::of(self, transfer, None);
            update.try_again(&TransientError { reason, retry_after: None });
            update.commit().await?;
            return Ok(());
        };
        let check = self.check_account(environment, order.account.as_ref(), provider.provider);
        let Some(transfer) = self.follow_correction(transfer, &check).await? else { return Ok(()) };
        let check = self.check_account(environment, transfer.order.account.as_ref(), provider.provider);
        if check.is_unreachable() {
            return self.hold_transfer(transfer, &check, &[]).await;
        }
        if transfer.progress.cancel_requested_at.is_some() {
            return self.resolve_cancel(&provider, transfer, &check).await;
        }
        match transfer.state.provider_reference.clone() {
            Some(object) => self.read_transfer(&provider, transfer, &object).await,
            None if transfer.state.status == Status::Pending => {
                self.ask_again(&provider, transfer, &check).await
            }
            None => Ok(()),
        }
    }

    async fn hold_transfer(
        &self,
        transfer: Transfer,
        check: &AccountCheck,
        logs: &[CallLog],
    ) -> Result<(), StoreError> {
        let mut update = TransferUpdate::of(self, transfer, None);
        update.record_calls(logs);
        update.wait_for_account(check);
        update.commit().await?;
        Ok(())
    }

    /// Nobody knows whether the provider took it: asked by our key first, and sent again under the same key where it
    /// did not.
    async fn ask_again(
        &self,
        provider: &AchProvider<'_>,
        transfer: Transfer,
        check: &AccountCheck,
    ) -> Result<(), StoreError> {
        let asked = provider.adapter.find(provider.provider, &transfer.order).await;
        let is_not_there = matches!(asked.outcome, Ok(None));
        if is_not_there && !check.is_same(|| provider.adapter.can_access_account(provider.provider)).await {
            return self.hold_transfer(transfer, check, &asked.logs).await;
        }
        let sealed = transfer.progress.sealed_account.as_deref();
        let account = self.open_account(&transfer.order, sealed).await?;
        match (asked.outcome, account) {
            (Ok(None), Some(account)) => {
                // From here on no other node sends it, and withdrawing or canceling it takes this into account.
                let seen = Instant::now();
                let mut update = TransferUpdate::of(self, transfer, None);
                update.renew_lease();
                update.line(SENDING_AGAIN, json!({ "provider": &*provider.provider.name }));
                let Some(transfer) = update.commit().await? else { return Ok(()) };
                let Some(transfer) = self.may_send(transfer, Some(seen)).await? else { return Ok(()) };
                failpoint!("resolver.before_send");
                let mut call = self.send_transfer(provider, &transfer, &account).await;
                failpoint!("resolver.after_send");
                call.logs.splice(0..0, asked.logs);
                self.record_sending(transfer, &call, None).await?;
            }
            (outcome, _) => {
                // The bank details are deleted when the provider refuses a transfer, so that it is never sent again.
                let refusal = match transfer.progress.sealed_account {
                    None if matches!(outcome, Ok(None)) => Some(self.refusal(&transfer).await?),
                    _ => None,
                };
                // A node that still has the key puts it back within minutes; after that it is gone for good, and so is
                // every way to send this transfer.
                let given_up_at = transfer.sendable_since().saturating_add(LOST_KEY_TIMEOUT);
                let is_lost = self.has_passed(given_up_at);
                let mut update = TransferUpdate::of(self, transfer, None);
                update.record_calls(&asked.logs);
                match (outcome, refusal) {
                    (Ok(Some(report)), _) => update.apply_report(&report, "resolver"),
                    (Ok(None), Some(failure)) if self.may_conclude() => update.reject(failure),
                    (Ok(None), Some(_)) => update.try_again(&TransientError {
                        reason: "the provider has not accepted it, which counts once this server's clock agrees with the \
                                 database's"
                            .to_owned(),
                        retry_after: None,
                    }),
                    (Ok(None), None) if is_lost => update.give_up_unless_found(&Failure {
                        code: "bank_details_lost".to_owned(),
                        message: "The provider never received this transfer, and its bank details were lost with the \
                                  database's memory before it could be sent again. Make it again."
                            .to_owned(),
                    }),
                    (Ok(None), None) => update.try_again(&TransientError {
                        reason:
                            "the provider never accepted it, and its bank details cannot be decrypted at the moment"
                                .to_owned(),
                        retry_after: None,
                    }),
                    (Err(CallError::Rejected(rejection)), _) => update.try_again(&TransientError {
                        reason: format!(
                            "the provider does not list transfers: {}",
                            rejection.failure.message
                        ),
                        retry_after: None,
                    }),
                    (Err(CallError::Unsent(transient) | CallError::Unknown(transient)), _) => {
                        update.try_again(&transient);
                    }
                }
                update.commit().await?;
            }
        }
        Ok(())
    }

    /// Why the provider refused a transfer, in its own words.
    async fn refusal(&self, transfer: &Transfer) -> Result<Failure, StoreError> {
        let reference = ServiceReference::Ach(transfer.order.id);
        let lines = self.store.timeline(transfer.order.environment, reference).await?;
        Ok(timeline::latest_failure(&lines, REFUSED).unwrap_or_else(|| Failure {
            code: "provider_funds".to_owned(),
            message: "The provider's funding account had insufficient funds.".to_owned(),
        }))
    }

    async fn read_transfer(
        &self,
        provider: &AchProvider<'_>,
        transfer: Transfer,
        object: &str,
    ) -> Result<(), StoreError> {
        let call = provider.adapter.read(provider.provider, object).await;
        let mut update = TransferUpdate::of(self, transfer, None);
        match call.outcome {
            Ok(report) => {
                update.apply_report(&report, "resolver");
                // A look that tells nothing new is not worth a line.
                if update.is_notable() {
                    update.record_calls(&call.logs);
                }
            }
            Err(error) => {
                update.record_calls(&call.logs);
                update.try_again(&match error {
                    CallError::Unsent(transient) | CallError::Unknown(transient) => transient,
                    CallError::Rejected(rejection) => TransientError {
                        reason: format!("the provider does not return it: {}", rejection.failure.message),
                        retry_after: None,
                    },
                });
            }
        }
        update.commit().await?;
        Ok(())
    }
}
