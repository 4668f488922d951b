//! Transfers that wait for people: found by state and by id, and a vote goes with its entry in the audit log.

use tollgate_domain::{
    Currency,
    approval::{Approval, ApprovalState},
    id::{ApprovalId, EnvironmentId},
    ledger::TransferStep,
};
use tollgate_engine::ports::{ApprovalQuery, Changed, NewTransfer, Transfer, TransferProgress};

use super::{
    ALL, Nodes,
    audit_log::new_entry,
    transfer_samples::{sending, voted},
    wallet::books_balance,
};

fn approval(number: u8, state: ApprovalState, account: Option<[u8; 32]>) -> Approval {
    Approval { id: ApprovalId::from_bytes([number; 16]), state, account, ..voted("rule") }
}

impl Nodes {
    fn waiting_transfer(&self, environment: EnvironmentId, approval: Approval) -> NewTransfer {
        let progress = TransferProgress { approval: Some(approval), ..sending() };
        NewTransfer { progress, ..self.new_transfer(environment) }
    }

    async fn approvals_in(
        &self,
        environment: EnvironmentId,
        state: Option<ApprovalState>,
    ) -> Vec<ApprovalId> {
        let query = ApprovalQuery { state, before: None, limit: ALL };
        let found = self.two.approvals(environment, query).await.unwrap();
        found.iter().filter_map(|it| it.progress.approval.as_ref()).map(|it| it.id).collect()
    }
}

pub async fn approvals_are_found(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 100_000, "f").await;
    let id = |number| ApprovalId::from_bytes([number; 16]);
    let (known, other) = ([7; 32], [8; 32]);
    for (number, state, account) in [
        (1, ApprovalState::Required, None),
        (2, ApprovalState::Approved, Some(known)),
        (3, ApprovalState::Required, Some(other)),
        (4, ApprovalState::Denied, Some(other)),
    ] {
        nodes.reserve(&nodes.waiting_transfer(environment, approval(number, state, account))).await;
    }
    nodes.reserve(&nodes.new_transfer(environment)).await;
    assert_eq!(nodes.approvals_in(environment, None).await, [id(4), id(3), id(2), id(1)]);
    assert_eq!(nodes.approvals_in(environment, Some(ApprovalState::Required)).await, [id(3), id(1)]);
    assert_eq!(nodes.approvals_in(environment, Some(ApprovalState::Denied)).await, [id(4)]);
    assert!(nodes.approvals_in(environment, Some(ApprovalState::Canceled)).await.is_empty());
    let query = ApprovalQuery { state: None, before: Some(id(4)), limit: 2 };
    let page = nodes.two.approvals(environment, query).await.unwrap();
    assert_eq!(page.len(), 2);
    let found: Option<Transfer> = nodes.two.approval(environment, id(3)).await.unwrap();
    let expected = approval(3, ApprovalState::Required, Some(other));
    assert_eq!(found.unwrap().progress.approval, Some(expected), "as it was given");
    assert!(nodes.two.is_approved_account(environment, &known).await.unwrap());
    assert!(!nodes.two.is_approved_account(environment, &other).await.unwrap(), "only what was approved");
    assert_eq!(nodes.attention(environment, ALL).await.open_approvals, 2);

    let elsewhere = nodes.environment().await.id;
    assert!(nodes.approvals_in(elsewhere, None).await.is_empty());
    assert_eq!(nodes.two.approval(elsewhere, id(3)).await.unwrap(), None);
    assert!(!nodes.two.is_approved_account(elsewhere, &known).await.unwrap());
}

pub async fn a_vote_goes_with_its_entry(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 100_000, "f").await;
    let new = nodes.waiting_transfer(environment, approval(1, ApprovalState::Required, None));
    let id = nodes.reserve(&new).await;
    let audited = nodes.one.audited(vec![new_entry("approval.deny", "apr")]);
    let progress = TransferProgress { approval: Some(approval(1, ApprovalState::Denied, None)), ..sending() };
    let mut change = nodes.transfer_step(0, TransferStep::Release, &new.order.fee);
    change.progress = progress;
    assert_eq!(audited.change_transfer(environment, id, &change).await.unwrap(), Changed::Done);
    assert_eq!(audited.change_transfer(environment, id, &change).await.unwrap(), Changed::Done);
    let stale = nodes.transfer_change(0, sending());
    assert_eq!(audited.change_transfer(environment, id, &stale).await.unwrap(), Changed::Stale);
    nodes.chain_is_whole(1).await;
    assert_eq!(nodes.approvals_in(environment, Some(ApprovalState::Denied)).await.len(), 1);
    books_balance(nodes, environment, Currency::USD).await;

    // Whatever else there is to a change goes with it, too.
    let other = nodes.new_transfer(environment);
    let id = nodes.reserve(&other).await;
    let change = nodes.full_transfer_change(0, "evt_audited", &other.order.fee);
    assert_eq!(audited.change_transfer(environment, id, &change).await.unwrap(), Changed::Done);
    nodes.chain_is_whole(2).await;
    for event in &change.new_events {
        assert!(nodes.two.find_event(environment, event.id).await.unwrap().is_some(), "{event:?}");
    }
    assert!(!change.new_events.is_empty());
    books_balance(nodes, environment, Currency::USD).await;
}
