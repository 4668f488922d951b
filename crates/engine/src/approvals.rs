//! What waits for people: transfers, refunds, wallet movements, and changes of the configuration.

use std::{cmp::Reverse, sync::Arc};

use serde_json::json;
use tollgate_domain::{
    approval::{Approval, ApprovalState, Vote, VoteError},
    audit_log::ActorKind,
    id::{ApprovalId, EnvironmentId, KeyId, UserId},
};
use tollgate_vault::RandomnessUnavailable;

use crate::{
    audit_log::Audited,
    configure::{ConfigureError, Origin},
    engine::Engine,
    ports::{ApprovalQuery, ConfigProposal, FundRequest, KeyAction, RefundToApprove, StoreError, Transfer},
    wallet::MoveError,
};

/// What people decide on.
#[derive(Debug, Clone)]
pub enum ApprovalSubject {
    Transfer(Box<Transfer>),
    Refund(Box<RefundToApprove>),
    Funds(Box<FundRequest>),
    Configuration(Box<ConfigProposal>),
}

impl ApprovalSubject {
    /// `None` for a transfer or refund that never had to wait.
    pub fn approval(&self) -> Option<&Approval> {
        match self {
            Self::Transfer(transfer) => transfer.progress.approval.as_ref(),
            Self::Refund(waiting) => waiting.refund.approval.as_ref(),
            Self::Funds(request) => Some(&request.approval),
            Self::Configuration(proposal) => Some(&proposal.approval),
        }
    }
}

/// Why a decision was not taken in.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    /// No such approval in this environment.
    #[error("approval not found")]
    Missing,
    /// Whoever decides is not known by name.
    #[error("an approval is a person's: use a personal token")]
    NotAPerson,
    /// It does not count.
    #[error(transparent)]
    Vote(#[from] VoteError),
    /// The configuration has changed since the change was proposed.
    #[error(
        "it was based on an older configuration than version {current}, the current one, and has been canceled; propose it again"
    )]
    Stale {
        /// The current version.
        current: u64,
    },
    /// A proposed configuration cannot be used.
    #[error(transparent)]
    Configure(#[from] ConfigureError),
    /// A wallet movement cannot be made now.
    #[error(transparent)]
    Move(#[from] MoveError),
    /// The store did not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What the audit log calls a decision.
pub(crate) fn audited_action(approves: bool) -> &'static str {
    if approves { "approval.approve" } else { "approval.deny" }
}

/// What the audit log says of a decision about what is called so.
pub(crate) fn audited_decision(
    environment: EnvironmentId,
    approval: &Approval,
    approves: bool,
    about: &impl ToString,
) -> Audited {
    Audited::new(audited_action(approves), approval.id).in_environment(environment).after(json!({
        "serviceReference": about.to_string(),
        "state": approval.state.as_str(),
        "approvals": approval.approvals(),
        "count": approval.count,
    }))
}

impl Engine {
    pub(crate) fn new_approval(
        &self,
        count: u32,
        reasons: Vec<String>,
        maker: Option<KeyId>,
    ) -> Result<Approval, RandomnessUnavailable> {
        let (id, state) = (self.new_id(ApprovalId::new)?, ApprovalState::Required);
        Ok(Approval {
            id,
            state,
            count,
            reasons,
            maker,
            makers: Vec::new(),
            votes: Vec::new(),
            account: None,
        })
    }

    /// Everybody who may have seen a key when it was issued.
    async fn may_hold(&self, environment: EnvironmentId, key: KeyId) -> Result<Vec<UserId>, StoreError> {
        let changes = self.store.key_changes(environment, key, key).await?;
        let issued = changes.into_iter().filter(|change| change.action == KeyAction::Issued);
        Ok(issued.flat_map(|change| change.people).collect())
    }

    /// Takes a vote into an approval, with everybody who may be behind its makers and each of the votes.
    pub(crate) async fn take_vote(
        &self,
        environment: EnvironmentId,
        approval: &mut Approval,
        vote: Vote,
    ) -> Result<(), DecideError> {
        let mut makers = approval.makers.clone();
        if let Some(key) = approval.maker {
            makers.extend(self.may_hold(environment, key).await?);
        }
        let makers = self.store.people_behind(&makers).await?;
        for earlier in &mut approval.votes {
            earlier.people = self.store.people_behind(&earlier.people).await?;
        }
        Ok(approval.vote(vote, &makers)?)
    }

    /// What waits for people in an environment, or did, newest first.
    pub async fn approvals(
        &self,
        environment: EnvironmentId,
        query: ApprovalQuery,
    ) -> Result<Vec<ApprovalSubject>, StoreError> {
        let transfers = self.store.approvals(environment, query).await?;
        let refunds = self.store.refund_approvals(environment, query).await?;
        let funds = self.store.fund_requests(environment, query).await?;
        let proposals = self.store.config_proposals(environment, query).await?;
        let transfers = transfers.into_iter().map(|it| ApprovalSubject::Transfer(Box::new(it)));
        let refunds = refunds.into_iter().map(|it| ApprovalSubject::Refund(Box::new(it)));
        let funds = funds.into_iter().map(|it| ApprovalSubject::Funds(Box::new(it)));
        let proposals = proposals.into_iter().map(|it| ApprovalSubject::Configuration(Box::new(it)));
        let mut found: Vec<_> = transfers.chain(refunds).chain(funds).chain(proposals).collect();
        found.sort_by_key(|it| Reverse(it.approval().map(|approval| approval.id)));
        found.truncate(usize::try_from(query.limit).unwrap_or(usize::MAX));
        Ok(found)
    }

    /// What an approval is about.
    pub async fn approval(
        &self,
        environment: EnvironmentId,
        id: ApprovalId,
    ) -> Result<Option<ApprovalSubject>, StoreError> {
        if let Some(transfer) = self.store.approval(environment, id).await? {
            return Ok(Some(ApprovalSubject::Transfer(Box::new(transfer))));
        }
        if let Some(refund) = self.store.refund_approval(environment, id).await? {
            return Ok(Some(ApprovalSubject::Refund(Box::new(refund))));
        }
        if let Some(request) = self.store.fund_request(environment, id).await? {
            return Ok(Some(ApprovalSubject::Funds(Box::new(request))));
        }
        let proposal = self.store.config_proposal(environment, id).await?;
        Ok(proposal.map(|it| ApprovalSubject::Configuration(Box::new(it))))
    }

    /// Whether a decision would count, without taking it in.
    pub async fn check_decision(
        &self,
        environment: EnvironmentId,
        approval: &Approval,
        approves: bool,
        origin: &Origin,
    ) -> Result<(), DecideError> {
        let vote = self.vote(approves, origin).await?;
        self.take_vote(environment, &mut approval.clone(), vote).await
    }

    async fn vote(&self, approves: bool, origin: &Origin) -> Result<Vote, DecideError> {
        let ActorKind::User(user) = origin.kind else { return Err(DecideError::NotAPerson) };
        let people = self.store.people_behind(&origin.people).await?;
        Ok(Vote { user, name: origin.actor.clone(), people, approves, at: self.clock.now() })
    }

    /// Takes in a person's decision. The one that completes the approval sends the transfer or refund, moves the funds or puts the
    /// configuration in force; a denial cancels it.
    pub async fn decide_approval(
        self: &Arc<Self>,
        environment: EnvironmentId,
        id: ApprovalId,
        approves: bool,
        origin: &Origin,
    ) -> Result<ApprovalSubject, DecideError> {
        let subject = self.approval(environment, id).await?.ok_or(DecideError::Missing)?;
        let vote = self.vote(approves, origin).await?;
        Ok(match subject {
            ApprovalSubject::Transfer(transfer) => {
                let decided = self.decide_transfer(*transfer, vote, origin).await?;
                ApprovalSubject::Transfer(Box::new(decided))
            }
            ApprovalSubject::Refund(waiting) => {
                let decided =
                    self.decide_refund(environment, waiting.payment, waiting.refund.id, vote, origin).await?;
                ApprovalSubject::Refund(Box::new(decided))
            }
            ApprovalSubject::Funds(request) => {
                let decided = self.decide_funds(*request, vote, origin).await?;
                ApprovalSubject::Funds(Box::new(decided))
            }
            ApprovalSubject::Configuration(proposal) => {
                let decided = self.decide_proposal(*proposal, vote, origin).await?;
                ApprovalSubject::Configuration(Box::new(decided))
            }
        })
    }
}
