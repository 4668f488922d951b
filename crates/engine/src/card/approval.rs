//! Refunds that wait for people: recorded and announced in one commit, decided by a vote, and sent or canceled by it.
//!
//! What waits counts as given back, so that nothing else can be refunded of it. The vote that completes an approval makes the
//! payment due, so that the resolver sends the refund whatever happens to the node that took the vote.

use serde_json::json;
use tollgate_domain::{
    Principal,
    approval::{Approval, ApprovalRule, ApprovalState, Vote},
    id::{EnvironmentId, PaymentId, RefundId},
    refund::{Refund, RefundStatus},
    routing::Facts,
};

use super::{MAX_ROUNDS, refund::RefundRequest, update::PaymentUpdate};
use crate::{
    approvals::{DecideError, audited_decision},
    configure::Origin,
    engine::Engine,
    metadata_text::metadata_pairs,
    ports::{CardPayment, RefundToApprove, StoreError},
    snapshot::EnvironmentView,
};

impl Engine {
    /// What a refund has to wait for, if anything. Its amount is what the payment's refunds give back of the principal with this
    /// one, so that parts of a refund do not stay below what the whole would exceed.
    pub(super) fn refund_approval_needed(
        &self,
        view: &EnvironmentView,
        payment: &CardPayment,
        refund: &Refund,
        request: &RefundRequest,
    ) -> Result<Option<Approval>, StoreError> {
        view.known_rules()?;
        let rules = &view.configuration.approvals.refunds;
        if rules.is_empty() {
            return Ok(None);
        }
        let earlier = payment.refunds.iter().filter(|earlier| earlier.status.counts());
        let given_back =
            earlier.fold(refund.principal.get(), |sum, earlier| sum.saturating_add(earlier.principal.get()));
        let metadata = metadata_pairs(&payment.order.metadata).unwrap_or_default();
        let facts = Facts {
            amount: Principal::new(given_back).unwrap_or(payment.order.fee.principal),
            currency: payment.order.currency,
            flow: Some(payment.order.flow),
            metadata: &metadata,
        };
        let Some((count, reasons)) = ApprovalRule::required(rules, &facts.into()) else { return Ok(None) };
        let makers = request.operator.as_ref().map(|origin| origin.people.clone()).unwrap_or_default();
        Ok(Some(Approval { makers, ..self.new_approval(count, reasons, request.key)? }))
    }

    /// Takes in a person's decision. The one that completes the approval sends the refund; a denial cancels it, and what it was
    /// to give back can be refunded again.
    pub(crate) async fn decide_refund(
        &self,
        environment: EnvironmentId,
        payment: PaymentId,
        id: RefundId,
        vote: Vote,
        origin: &Origin,
    ) -> Result<RefundToApprove, DecideError> {
        for _ in 0..MAX_ROUNDS {
            let waiting = self.refund_to_approve(environment, payment, id).await?;
            let (seen, refund) = waiting.ok_or(DecideError::Missing)?;
            let mut approval = refund.approval.clone().ok_or(DecideError::Missing)?;
            self.take_vote(environment, &mut approval, vote.clone()).await?;
            let state = approval.state;
            let mut update = PaymentUpdate::of(self, seen, Some(&origin.request));
            let kind = if vote.approves { "approved" } else { "denied" };
            let line =
                json!({ "actor": origin.actor, "state": state.as_str(), "refundReference": id.to_string() });
            update.line(kind, line);
            update.audit(origin, audited_decision(environment, &approval, vote.approves, &id));
            let status = match state {
                ApprovalState::Required | ApprovalState::Approved => refund.status,
                ApprovalState::Denied | ApprovalState::Canceled => RefundStatus::Canceled,
            };
            update.refund(Refund { status, approval: Some(approval), updated_at: update.now(), ..refund });
            match state {
                ApprovalState::Approved => update.lease(),
                _ => update.schedule_next_check(),
            }
            let Some(decided) = update.commit().await? else { continue };
            if state == ApprovalState::Approved {
                // It is due in any case: what fails now is tried again.
                if let Err(error) = Box::pin(self.resolve_payment(environment, payment)).await {
                    tracing::warn!(%error, refund = %id, "an approved refund could not be sent at once");
                }
            }
            let now = self.refund_to_approve(environment, payment, id).await.ok().flatten();
            let found = now.or_else(|| {
                let refund = decided.refunds.iter().find(|refund| refund.id == id).cloned();
                refund.map(|refund| (decided, refund))
            });
            let (decided, refund) = found.ok_or(DecideError::Missing)?;
            let (provider, currency) = (decided.order.provider, decided.order.currency);
            return Ok(RefundToApprove { payment, provider, currency, refund });
        }
        Err(StoreError::Unavailable("too many concurrent changes to this payment".to_owned()).into())
    }

    async fn refund_to_approve(
        &self,
        environment: EnvironmentId,
        payment: PaymentId,
        id: RefundId,
    ) -> Result<Option<(CardPayment, Refund)>, StoreError> {
        let payment = self.store.payment(environment, payment).await?;
        Ok(payment.and_then(|payment| {
            let refund = payment.refunds.iter().find(|refund| refund.id == id).cloned();
            refund.map(|refund| (payment, refund))
        }))
    }
}
