//! Movements of money into and out of wallets that others have to approve: kept until then, and made with the decision.

use serde_json::json;
use tollgate_domain::{
    Principal,
    approval::{Approval, ApprovalFacts, ApprovalRule, ApprovalState, Vote},
    audit_log::ActorKind,
    id::{EnvironmentId, EventId, PostingId},
    ledger::Movement,
    metadata::Metadata,
    routing::Facts,
};

use crate::{
    approvals::{DecideError, audited_action},
    audit_log::Audited,
    configure::Origin,
    engine::Engine,
    ports::{
        AppliedMovement, FundRequest, FundsDecided, FundsDecision, FundsRequested, MoveOrder, StoreError,
    },
    wallet::{MoveError, applied, audited_movement},
};

/// Movements of one wallet that wait at the same time.
const MAX_OPEN_REQUESTS: u32 = 100;
const MAX_ROUNDS: usize = 16;

/// What became of an operator's order.
#[derive(Debug)]
pub enum MoveOutcome {
    Moved(AppliedMovement),
    /// Others have to approve it, or have denied it.
    Waits {
        request: Box<FundRequest>,
        /// Whether this call only repeats an earlier one.
        replayed: bool,
    },
}

impl Engine {
    /// Posts money into or out of a wallet, once per reference, or keeps the order until others have approved it. What the
    /// service does by itself waits for nobody.
    pub async fn move_or_request(
        &self,
        environment: EnvironmentId,
        order: MoveOrder,
        origin: &Origin,
    ) -> Result<MoveOutcome, MoveError> {
        let Some((count, reasons)) = self.funds_approval_needed(environment, &order, origin)? else {
            return self.move_funds(environment, order, origin).await.map(MoveOutcome::Moved);
        };
        let approval = Approval { makers: origin.people.clone(), ..self.new_approval(count, reasons, None)? };
        let (actor, at) = (origin.actor.clone(), self.clock.now());
        let request = FundRequest { environment, approval, order, actor, at, posting: None };
        let audited = Audited::new("wallet.request", request.approval.id)
            .in_environment(environment)
            .after(described(&request.order));
        let (store, event) = (self.audited(origin, audited), self.new_id(EventId::new)?);
        match store.request_funds(&request, event, MAX_OPEN_REQUESTS).await? {
            FundsRequested::Kept => {
                self.outbox_notify.notify_one();
                Ok(MoveOutcome::Waits { request: Box::new(request), replayed: false })
            }
            FundsRequested::Known(request) => Ok(MoveOutcome::Waits { request, replayed: true }),
            FundsRequested::Moved(applied) => Ok(MoveOutcome::Moved(applied)),
            FundsRequested::ReferenceReused { amount } => Err(MoveError::ReferenceReused { amount }),
            FundsRequested::TooMany => Err(MoveError::TooManyRequests),
            FundsRequested::EnvironmentMissing => Err(MoveError::Missing),
        }
    }

    fn funds_approval_needed(
        &self,
        environment: EnvironmentId,
        order: &MoveOrder,
        origin: &Origin,
    ) -> Result<Option<(u32, Vec<String>)>, MoveError> {
        if origin.kind == ActorKind::System {
            return Ok(None);
        }
        let view = self.view(environment).ok_or(MoveError::Missing)?;
        view.known_rules()?;
        let metadata = Metadata::default();
        let payment = Facts {
            amount: Principal::new(order.amount.get()).ok_or(MoveError::TooMuch)?,
            currency: order.currency,
            flow: None,
            metadata: &metadata,
        };
        let facts = ApprovalFacts { cause: Some(order.cause), ..payment.into() };
        Ok(ApprovalRule::required(&view.configuration.approvals.funds, &facts))
    }

    /// Takes in a person's decision. The one that completes the approval moves the money in the same commit.
    pub(crate) async fn decide_funds(
        &self,
        request: FundRequest,
        vote: Vote,
        origin: &Origin,
    ) -> Result<FundRequest, DecideError> {
        let (environment, id) = (request.environment, request.approval.id);
        let mut seen = Some(request);
        for _ in 0..MAX_ROUNDS {
            let request = match seen.take() {
                Some(request) => request,
                None => self.store.fund_request(environment, id).await?.ok_or(DecideError::Missing)?,
            };
            let mut approval = request.approval.clone();
            self.take_vote(environment, &mut approval, vote.clone()).await?;
            let deciding = Audited::new(audited_action(vote.approves), id).in_environment(environment);
            let mut entries = vec![deciding.after(json!({
                "movement": described(&request.order),
                "requestedBy": request.actor,
                "state": approval.state.as_str(),
                "approvals": approval.approvals(),
                "count": approval.count,
            }))];
            let mut movement = None;
            if approval.state == ApprovalState::Approved {
                let MoveOrder { currency, cause, amount, reference } = request.order.clone();
                let posting = self.new_id(PostingId::new).map_err(MoveError::from)?;
                let actor = format!("{}, approved by {}", request.actor, vote.name);
                let made = Movement { posting, currency, cause, amount, reference, actor, at: vote.at };
                entries.push(audited_movement(environment, &made));
                movement = Some(made);
            }
            let store = self.audited_all(origin, entries);
            let decision = FundsDecision { approval, movement };
            match store.decide_funds(&request, &decision).await? {
                FundsDecided::Done { posting } => {
                    return Ok(FundRequest { approval: decision.approval, posting, ..request });
                }
                FundsDecided::Changed => {}
                FundsDecided::Refused(moved) => {
                    applied(moved)?;
                }
            }
        }
        Err(StoreError::Unavailable("too many concurrent decisions about this movement".to_owned()).into())
    }
}

fn described(order: &MoveOrder) -> serde_json::Value {
    json!({
        "cause": order.cause.as_str(),
        "currency": order.currency.to_string(),
        "amountMinor": order.amount.to_string(),
        "reference": order.reference,
    })
}
