//! Changes of the configuration that wait for somebody else.

use async_trait::async_trait;
use tollgate_domain::{
    Timestamp,
    approval::Approval,
    id::{ApprovalId, EnvironmentId, EventId},
};

use super::{ApprovalQuery, ConfigChange, DirectoryVersion, NewCircuitEvent, StoreError};

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

/// The part of the store that keeps changes of the configuration until they are approved.
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
}
