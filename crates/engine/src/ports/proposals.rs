//! What operators ask for that waits for somebody else: changes of the configuration, and wallet movements.

use async_trait::async_trait;
use tollgate_domain::{
    Timestamp,
    approval::Approval,
    id::{ApprovalId, EnvironmentId, EventId},
};

use super::{
    ApprovalQuery, ConfigChange, DirectoryVersion, FundRequest, FundsDecided, FundsDecision, FundsRequested,
    NewCircuitEvent, StoreError,
};

/// A change of the configuration that somebody else has to approve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProposal {
    pub environment: EnvironmentId,
    pub approval: Approval,
    /// What is put in force. Its document is empty once that is decided.
    pub change: ConfigChange,
    /// The version that it became.
    pub version: Option<u64>,
}

/// The outcome of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proposed {
    /// It waits (also when this very proposal was made before).
    Done,
    /// As many wait as may.
    TooMany,
    /// No such environment.
    EnvironmentMissing,
}

/// The outcome of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProposalDecided {
    /// The change is in force.
    InForce {
        version: u64,
        /// The directory's version that holds it.
        directory: DirectoryVersion,
    },
    /// It never will be.
    Dropped,
    /// Another version is in force than the one the change was made from; nothing was decided.
    Stale {
        /// The current version.
        current: u64,
    },
    /// It does not wait for a decision (anymore).
    NotOpen,
}

/// The part of the store that keeps changes of the configuration and wallet movements until they are approved.
#[async_trait]
pub trait ProposalStore: Send + Sync + 'static {
    /// Keeps a change until it is decided, together with the event that says so, unless `most` wait already.
    async fn propose_config(
        &self,
        proposal: &ConfigProposal,
        event: EventId,
        most: u32,
    ) -> Result<Proposed, StoreError>;

    /// The proposals of an environment, newest first.
    async fn config_proposals(
        &self,
        environment: EnvironmentId,
        query: ApprovalQuery,
    ) -> Result<Vec<ConfigProposal>, StoreError>;

    async fn config_proposal(
        &self,
        environment: EnvironmentId,
        id: ApprovalId,
    ) -> Result<Option<ConfigProposal>, StoreError>;

    /// Ends an open proposal as its approval says now. One that is approved is put in force by that, as `actor`, and reports
    /// these `circuits`.
    async fn decide_config_proposal(
        &self,
        environment: EnvironmentId,
        approval: &Approval,
        actor: &str,
        at: Timestamp,
        circuits: &[NewCircuitEvent],
    ) -> Result<ProposalDecided, StoreError>;

    /// Keeps a movement until it is decided, together with the event that says so, unless its reference was used before or `most` of
    /// its wallet wait already.
    async fn request_funds(
        &self,
        request: &FundRequest,
        event: EventId,
        most: u32,
    ) -> Result<FundsRequested, StoreError>;

    /// The movements of an environment that waited, newest first.
    async fn fund_requests(
        &self,
        environment: EnvironmentId,
        query: ApprovalQuery,
    ) -> Result<Vec<FundRequest>, StoreError>;

    async fn fund_request(
        &self,
        environment: EnvironmentId,
        id: ApprovalId,
    ) -> Result<Option<FundRequest>, StoreError>;

    /// Records what people have decided, if the request is still as it was seen, and makes the movement, where there is one: both
    /// or neither.
    async fn decide_funds(
        &self,
        seen: &FundRequest,
        decision: &FundsDecision,
    ) -> Result<FundsDecided, StoreError>;
}
