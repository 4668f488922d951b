//! Changes of the configuration that wait for somebody else: kept until then, and put in force with the decision.

use tollgate_domain::{
    approval::{Approval, ApprovalState},
    id::{ApprovalId, EnvironmentId},
};
use tollgate_engine::ports::{ApprovalQuery, ConfigChange, ConfigProposal, ProposalDecided, Proposed};

use super::{ALL, Nodes, audit_log::new_entry, transfer_samples::voted};

impl Nodes {
    pub fn proposal(&self, environment: EnvironmentId, change: ConfigChange) -> ConfigProposal {
        let (created_at, random) = self.next();
        let id = ApprovalId::new(created_at, random);
        let approval = Approval { id, state: ApprovalState::Required, ..voted("configuration") };
        ConfigProposal { environment, approval, change, version: None }
    }

    async fn propose(&self, environment: EnvironmentId, from_version: u64, document: &str) -> ConfigProposal {
        let proposal = self.proposal(environment, self.new_change(from_version, document));
        assert_eq!(
            self.one.propose_config(&proposal, self.new_event_id(), ALL).await.unwrap(),
            Proposed::Done
        );
        proposal
    }

    async fn decide(&self, proposal: &ConfigProposal, state: ApprovalState) -> ProposalDecided {
        let decided = Approval { state, ..proposal.approval.clone() };
        let now = self.next().0;
        self.one.decide_config_proposal(proposal.environment, &decided, "Grace", now, &[]).await.unwrap()
    }

    async fn proposals_in(
        &self,
        environment: EnvironmentId,
        state: Option<ApprovalState>,
    ) -> Vec<ApprovalId> {
        let query = ApprovalQuery { state, before: None, limit: ALL };
        let found = self.two.config_proposals(environment, query).await.unwrap();
        found.iter().map(|it| it.approval.id).collect()
    }
}

pub async fn a_proposal_is_put_in_force_with_its_decision(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let proposal = nodes.propose(environment, 0, r#"{"a":1}"#).await;
    assert_eq!(
        nodes.one.propose_config(&proposal, nodes.new_event_id(), ALL).await.unwrap(),
        Proposed::Done,
        "once"
    );
    let found = nodes.two.config_proposal(environment, proposal.approval.id).await.unwrap().unwrap();
    assert_eq!(found, proposal);
    assert_eq!(nodes.two.config(environment).await.unwrap().unwrap().version, 0);
    assert_eq!(nodes.attention(environment, ALL).await.open_approvals, 1);

    let ProposalDecided::InForce { version, .. } = nodes.decide(&proposal, ApprovalState::Approved).await
    else {
        panic!("not in force")
    };
    let stored = nodes.two.config(environment).await.unwrap().unwrap();
    assert_eq!((version, stored.version, stored.document.as_deref()), (1, 1, Some(r#"{"a":1}"#)));
    assert_eq!(nodes.two.config_history(environment, None, 1).await.unwrap()[0].actor, "Grace");
    let found = nodes.two.config_proposal(environment, proposal.approval.id).await.unwrap().unwrap();
    assert_eq!((found.version, found.change.document.as_str()), (Some(1), ""));
    assert_eq!(found.approval.state, ApprovalState::Approved);
    assert_eq!(nodes.decide(&proposal, ApprovalState::Denied).await, ProposalDecided::NotOpen);
    assert_eq!(nodes.attention(environment, ALL).await.open_approvals, 0);
}

pub async fn a_proposal_that_is_denied_or_late_changes_nothing(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let (denied, late) =
        (nodes.propose(environment, 0, "{}").await, nodes.propose(environment, 0, "{}").await);
    let waiting = nodes.proposals_in(environment, Some(ApprovalState::Required)).await;
    assert_eq!(waiting, [late.approval.id, denied.approval.id], "newest first");
    assert_eq!(nodes.decide(&denied, ApprovalState::Denied).await, ProposalDecided::Dropped);
    nodes.one.put_config(environment, &nodes.new_change(0, "{}")).await.unwrap();
    let audited = nodes.one.audited(vec![new_entry("approval.approve", "apr")]);
    let approved = Approval { state: ApprovalState::Approved, ..late.approval.clone() };
    let now = nodes.next().0;
    let decided = audited.decide_config_proposal(environment, &approved, "Grace", now, &[]).await.unwrap();
    assert_eq!(decided, ProposalDecided::Stale { current: 1 });
    nodes.chain_is_whole(0).await;
    assert_eq!(nodes.proposals_in(environment, Some(ApprovalState::Required)).await, [late.approval.id]);
    assert_eq!(nodes.decide(&late, ApprovalState::Canceled).await, ProposalDecided::Dropped);
    assert_eq!(nodes.proposals_in(environment, Some(ApprovalState::Canceled)).await, [late.approval.id]);
    assert_eq!(nodes.proposals_in(environment, None).await.len(), 2);
    assert_eq!(nodes.two.config(environment).await.unwrap().unwrap().version, 1);
}

pub async fn proposals_are_bounded_and_of_one_environment(nodes: &Nodes) {
    let (environment, elsewhere) = (nodes.environment().await.id, nodes.environment().await.id);
    let first = nodes.propose(environment, 0, "{}").await;
    let second = nodes.proposal(environment, nodes.new_change(0, "{}"));
    assert_eq!(nodes.one.propose_config(&second, nodes.new_event_id(), 1).await.unwrap(), Proposed::TooMany);
    let other = nodes.proposal(elsewhere, nodes.new_change(0, "{}"));
    assert_eq!(nodes.one.propose_config(&other, nodes.new_event_id(), 1).await.unwrap(), Proposed::Done);
    assert_eq!(nodes.two.config_proposal(elsewhere, first.approval.id).await.unwrap(), None);
    let stolen = ConfigProposal { environment: elsewhere, ..first.clone() };
    assert_eq!(nodes.decide(&stolen, ApprovalState::Approved).await, ProposalDecided::NotOpen);
    assert_eq!(nodes.proposals_in(elsewhere, None).await, [other.approval.id]);
    let nowhere = EnvironmentId::from_bytes([9; 16]);
    let lost = nodes.proposal(nowhere, nodes.new_change(0, "{}"));
    assert_eq!(
        nodes.one.propose_config(&lost, nodes.new_event_id(), 1).await.unwrap(),
        Proposed::EnvironmentMissing
    );
}
