//! Captures and voids: written with their payment, read with it, and found by their own id; what was captured is counted.

use tollgate_domain::{
    Principal, ServiceReference, Timestamp,
    event::EventKind,
    fee::FeeSnapshot,
    hold::{CaptureMode, Hold, HoldAction, HoldActionKind, HoldActionStatus},
    id::HoldActionId,
    transaction::{Failure, Status, TransactionState},
};
use tollgate_engine::ports::{Changed, StoreError};

use super::{
    ALL, Nodes, at,
    samples::{LETTERS, in_status, preparing},
};

impl Nodes {
    /// A capture with everything in it, or a void with next to nothing.
    pub fn new_hold_action(&self, is_full: bool) -> HoldAction {
        let (at, random) = self.next();
        HoldAction {
            id: HoldActionId::new(at, random),
            kind: if is_full { HoldActionKind::Capture } else { HoldActionKind::Void },
            asked: if is_full { Principal::new(1_000_000_000_000_000_000) } else { None },
            status: HoldActionStatus::Pending,
            failure: is_full.then(|| Failure { code: "code".to_owned(), message: LETTERS.to_owned() }),
            request: LETTERS.to_owned(),
            created_at: at,
            updated_at: at,
        }
    }
}

pub async fn captures_and_voids_go_round(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let id = nodes.payment(environment).await;
    let mut change = nodes.change_to(0, preparing());
    change.transaction = Some((nodes.new_transaction_id(), in_status(Status::Authorized)));
    change.hold_actions = vec![nodes.new_hold_action(true), nodes.new_hold_action(false)];
    change.refunds = vec![nodes.new_refund(true), nodes.new_refund(false)];
    change.attempt = Some(nodes.new_attempt(1, 1));
    let payment = nodes.change(environment, id, &change).await;
    assert_eq!((&payment.hold_actions, &payment.refunds), (&change.hold_actions, &change.refunds));
    assert_eq!(payment.attempts.len(), 1, "each of them once");
    let (mut actions, mut revision) = (payment.hold_actions, payment.revision);
    for status in HoldActionStatus::ALL {
        let changed = HoldAction { status, updated_at: Timestamp::from_unix_millis(9), ..actions[1].clone() };
        actions[1] = changed.clone();
        let mut change = nodes.change_to(revision, preparing());
        change.hold_actions = vec![changed];
        let payment = nodes.change(environment, id, &change).await;
        assert_eq!(payment.hold_actions, actions);
        revision = payment.revision;
    }
    let elsewhere = nodes.environment().await.id;
    for action in &actions {
        assert_eq!(nodes.two.payment_of_hold_action(environment, action.id).await.unwrap(), Some(id));
        assert_eq!(nodes.two.payment_of_hold_action(elsewhere, action.id).await.unwrap(), None);
    }
}

pub async fn a_capture_belongs_to_one_payment(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let (one, other) = (nodes.payment(environment).await, nodes.payment(environment).await);
    let mut change = nodes.change_to(0, preparing());
    change.hold_actions = vec![nodes.new_hold_action(true)];
    assert_eq!(nodes.one.change_payment(environment, one, &change).await.unwrap(), Changed::Done);
    let mut again = nodes.change_to(0, preparing());
    again.hold_actions.clone_from(&change.hold_actions);
    let refused = nodes.two.change_payment(environment, other, &again).await;
    assert!(matches!(refused, Err(StoreError::Broken(_))), "{refused:?}");
    assert_eq!(nodes.read(environment, other).await.hold_actions, []);
}

/// What was authorized is found and counted as such, and what was captured as such.
pub async fn what_was_captured_is_counted(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let order =
        tollgate_domain::card::CardOrder { capture: CaptureMode::Manual, ..nodes.new_order(environment) };
    let id = nodes.payment_with(&order, &preparing()).await;
    let state = |status, captured: Option<FeeSnapshot>| TransactionState {
        hold: Some(Hold { captured, ..Hold::default() }),
        ..in_status(status)
    };
    let part = order.fee.on(Principal::new(400).unwrap());
    for (revision, (status, captured)) in
        (0..).zip([(Status::Authorized, None), (Status::Succeeded, Some(part))])
    {
        let mut change = nodes.change_to(revision, preparing());
        change.transaction = Some((nodes.new_transaction_id(), state(status, captured)));
        change.new_events = vec![nodes.new_outbox_event(EventKind::Transaction(status))];
        let payment = nodes.change(environment, id, &change).await;
        assert_eq!(payment.amounts(), captured.unwrap_or(order.fee));
        let listed = nodes.two.transaction(environment, ServiceReference::Card(id)).await.unwrap().unwrap();
        assert_eq!((listed.fee, listed.state), (order.fee, state(status, captured)));
    }
    while nodes.one.index_events(9).await.unwrap() > 0 {}
    let counted = nodes.two.activity(environment, at(-1), at(9)).await.unwrap();
    let principal = |kind| {
        let line = counted.iter().find(|line| line.kind == EventKind::Transaction(kind)).unwrap();
        line.principal_minor
    };
    assert_eq!((principal(Status::Authorized), principal(Status::Succeeded)), (10_000, 400));
    for amount in [order.fee.total_debit, part.total_debit] {
        let term = tollgate_domain::search::amount_term(amount);
        assert_eq!(nodes.two.find_payments(environment, &term, None, ALL).await.unwrap().len(), 1);
    }
}
