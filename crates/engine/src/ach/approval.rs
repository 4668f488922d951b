//! Transfers that wait for people: announced once they are recorded, decided by a vote, and sent or canceled by it.
//!
//! A vote is a change of the transfer as any other, in one commit with its entry in the audit log. The one that completes an
//! approval makes the transfer due, so that the resolver sends it whatever happens to the node that took the vote.

use std::sync::Arc;

use serde_json::json;
use tollgate_domain::{
    approval::{Approval, ApprovalFacts, ApprovalRule, Vote},
    id::EnvironmentId,
};

use super::{
    MAX_ROUNDS,
    request::{TransferError, TransferRequest},
    update::TransferUpdate,
};
use crate::{
    approvals::{DecideError, audited_decision},
    configure::Origin,
    engine::Engine,
    ports::{BankAccount, StoreError, Transfer},
    snapshot::EnvironmentView,
    timeline,
};

impl Engine {
    /// What a transfer has to wait for, if anything: the configuration's rules that apply to it.
    pub(super) async fn approval_needed(
        &self,
        view: &EnvironmentView,
        request: &TransferRequest,
    ) -> Result<Option<Approval>, TransferError> {
        let rules = &view.configuration.approvals.transfers;
        let payment = request.quote.facts();
        // Before the account's digest, which is slow on purpose.
        if !rules.iter().any(|rule| rule.may_apply(&payment)) {
            return Ok(None);
        }
        let account = if rules.iter().any(ApprovalRule::asks_for_account) {
            Some(self.account_digest(view.environment.id, &request.bank.account).await?)
        } else {
            None
        };
        let first_to_account = match &account {
            Some(account) => !self.store.is_approved_account(view.environment.id, account).await?,
            None => false,
        };
        let facts = ApprovalFacts { first_to_account, ..payment.into() };
        let Some((count, reasons)) = ApprovalRule::required(rules, &facts) else { return Ok(None) };
        Ok(Some(Approval { account, ..self.new_approval(count, reasons, request.key)? }))
    }

    /// By which an account is known that a transfer was approved to. It outlives the account's number, and is slow for that.
    async fn account_digest(
        &self,
        environment: EnvironmentId,
        account: &BankAccount,
    ) -> Result<[u8; 32], StoreError> {
        let (digester, account) = (self.reference_digester.clone(), account.clone());
        let digesting = self.host.compute(move || {
            digester.slow_digest(&[
                b"approved account",
                &environment.to_bytes(),
                account.routing_number.expose().as_bytes(),
                account.account_number.expose().as_bytes(),
            ])
        });
        digesting.await.map_err(|_| StoreError::Unavailable("the service is stopping".to_owned()))
    }

    /// Makes it known that a transfer waits for people. It stays due until then, so that it becomes known in any case.
    pub(super) async fn announce_approval(
        &self,
        transfer: Transfer,
        request: Option<&str>,
    ) -> Result<Transfer, StoreError> {
        let (environment, id) = (transfer.order.environment, transfer.order.id);
        let mut seen = transfer;
        for _ in 0..MAX_ROUNDS {
            let open = seen.progress.approval.as_ref().filter(|approval| approval.is_open());
            let (Some(approval), Some(_)) = (open, seen.progress.due) else { return Ok(seen) };
            let line = timeline::approval_required(approval);
            let mut update = TransferUpdate::of(self, seen, request);
            update.line("approval_required", line);
            update.wait_for_approval();
            if let Some(announced) = update.commit().await? {
                return Ok(announced);
            }
            let again = self.store.transfer(environment, id).await?;
            seen = again.ok_or_else(|| StoreError::Broken("transfer not found".to_owned()))?;
        }
        Err(StoreError::Unavailable("too many concurrent changes to this transfer".to_owned()))
    }

    /// Takes in a person's decision. The one that completes the approval sends the transfer; a denial cancels it.
    pub(crate) async fn decide_transfer(
        self: &Arc<Self>,
        transfer: Transfer,
        vote: Vote,
        origin: &Origin,
    ) -> Result<Transfer, DecideError> {
        let (environment, reference, approves) =
            (transfer.order.environment, transfer.order.id, vote.approves);
        let mut seen = Some(transfer);
        for _ in 0..MAX_ROUNDS {
            let transfer = match seen.take() {
                Some(transfer) => transfer,
                None => self.store.transfer(environment, reference).await?.ok_or(DecideError::Missing)?,
            };
            let Some(mut approval) = transfer.progress.approval.clone() else {
                return Err(DecideError::Missing);
            };
            self.take_vote(environment, &mut approval, vote.clone()).await?;
            let audited = audited_decision(environment, &approval, approves, &reference);
            let mut update = TransferUpdate::of(self, transfer, Some(&origin.request));
            let kind = if approves { "approved" } else { "denied" };
            update.line(kind, json!({ "actor": origin.actor, "state": approval.state.as_str() }));
            update.decide(approval);
            update.audit(origin, audited);
            let Some(decided) = update.commit().await? else { continue };
            let is_approved = decided.progress.approval.as_ref().and_then(Approval::approved_at).is_some();
            if is_approved {
                // It is due in any case: what fails now is tried again.
                let sending = Box::pin(self.resolve_transfer(environment, reference)).await;
                if let Err(error) = sending {
                    tracing::warn!(%error, transfer = %reference, "an approved transfer could not be sent at once");
                }
                return Ok(self
                    .store
                    .transfer(environment, reference)
                    .await
                    .ok()
                    .flatten()
                    .unwrap_or(decided));
            }
            return Ok(decided);
        }
        Err(StoreError::Unavailable("too many concurrent changes to this transfer".to_owned()).into())
    }
}
