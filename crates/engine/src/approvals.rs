//! What waits for people: transfers, and changes of the configuration.

use std::{cmp::Reverse, sync::Arc};

use tollgate_domain::{
    approval::{Approval, Vote, VoteError},
    audit_log::ActorKind,
    id::{ApprovalId, EnvironmentId, UserId},
};

use crate::{
    configure::{ConfigureError, Origin},
    engine::Engine,
    ports::{ApprovalQuery, ConfigProposal, StoreError, Transfer},
};

/// What people decide on.
#[derive(Debug, Clone)]
pub enum ApprovalSubject {
    Transfer(Box<Transfer>),
    Configuration(Box<ConfigProposal>),
}

impl ApprovalSubject {
    /// `None` for a transfer that never had to wait.
    pub fn approval(&self) -> Option<&Approval> {
        match self {
            Self::Transfer(transfer) => transfer.progress.approval.as_ref(),
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
    /// The store did not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What the audit log calls a decision.
pub(crate) fn audited_action(approves: bool) -> &'static str {
    if approves { "approval.approve" } else { "approval.deny" }
}

impl Engine {
    /// Takes a vote into an approval that these people may have made, with everybody who may be behind each of them.
    pub(crate) async fn take_vote(
        &self,
        approval: &mut Approval,
        vote: Vote,
        makers: &[UserId],
    ) -> Result<(), DecideError> {
        let makers: Vec<_> = makers.iter().chain(&approval.makers).copied().collect();
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
        let proposals = self.store.config_proposals(environment, query).await?;
        let transfers = transfers.into_iter().map(|it| ApprovalSubject::Transfer(Box::new(it)));
        let proposals = proposals.into_iter().map(|it| ApprovalSubject::Configuration(Box::new(it)));
        let mut found: Vec<_> = transfers.chain(proposals).collect();
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
        let proposal = self.store.config_proposal(environment, id).await?;
        Ok(proposal.map(|it| ApprovalSubject::Configuration(Box::new(it))))
    }

    /// Takes in a person's decision. The one that completes the approval sends the transfer or puts the configuration in force;
    /// a denial cancels it.
    pub async fn decide_approval(
        self: &Arc<Self>,
        environment: EnvironmentId,
        id: ApprovalId,
        approves: bool,
        origin: &Origin,
    ) -> Result<ApprovalSubject, DecideError> {
        let subject = self.approval(environment, id).await?.ok_or(DecideError::Missing)?;
        let ActorKind::User(user) = origin.kind else { return Err(DecideError::NotAPerson) };
        let people = self.store.people_behind(&origin.people).await?;
        let name = origin.actor.clone();
        let vote = Vote { user, name, people, approves, at: self.clock.now() };
        Ok(match subject {
            ApprovalSubject::Transfer(transfer) => {
                let decided = self.decide_transfer(*transfer, vote, origin).await?;
                ApprovalSubject::Transfer(Box::new(decided))
            }
            ApprovalSubject::Configuration(proposal) => {
                let decided = self.decide_proposal(*proposal, vote, origin).await?;
                ApprovalSubject::Configuration(Box::new(decided))
            }
        })
    }
}
