//! What operators ask for that waits for somebody else.

use async_trait::async_trait;
use tollgate_domain::{
    Timestamp,
    approval::Approval,
    id::{ApprovalId, EnvironmentId, EventId},
};
use tollgate_engine::ports::{
    ApprovalQuery, ConfigProposal, FundRequest, FundsDecided, FundsDecision, FundsRequested, NewCircuitEvent,
    ProposalDecided, ProposalStore, Proposed, StoreError,
};

use super::{SqlStore, port};
use crate::{
    session::{Driver, run},
    units::{funds, proposals},
};

port! {
    impl ProposalStore {
        Write proposals::propose => propose_config(
            proposal: &ConfigProposal, event: EventId, most: u32
        ) -> Proposed;
        Read proposals::list => config_proposals(
            environment: EnvironmentId, query: ApprovalQuery
        ) -> Vec<ConfigProposal>;
        Read proposals::find => config_proposal(
            environment: EnvironmentId, id: ApprovalId
        ) -> Option<ConfigProposal>;
        Write proposals::decide => decide_config_proposal(
            environment: EnvironmentId, approval: &Approval, actor: &str, at: Timestamp, circuits: &[NewCircuitEvent]
        ) -> ProposalDecided;
        Write funds::request => request_funds(
            request: &FundRequest, event: EventId, most: u32
        ) -> FundsRequested;
        Read funds::list => fund_requests(environment: EnvironmentId, query: ApprovalQuery) -> Vec<FundRequest>;
        Read funds::find => fund_request(environment: EnvironmentId, id: ApprovalId) -> Option<FundRequest>;
        Write funds::decide => decide_funds(seen: &FundRequest, decision: &FundsDecision) -> FundsDecided;
    } and {}
}
