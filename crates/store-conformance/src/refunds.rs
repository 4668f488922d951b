//! Refunds: written with their payment, read with it, and found by their own id.

use tollgate_domain::{
    Minor, Timestamp,
    event::EventKind,
    id::RefundId,
    refund::{FeeRefund, Refund, RefundOrigin, RefundReason, RefundStatus, RefundTerms},
    transaction::{Failure, Status},
};
use tollgate_engine::ports::{Changed, NewEvent, StoreError};

use super::{
    Nodes,
    samples::{LETTERS, in_status, preparing},
};

impl Nodes {
    /// A refund with everything in it, or with next to nothing.
    pub fn new_refund(&self, is_full: bool) -> Refund {
        let (at, random) = self.next();
        let text = |full: &str| is_full.then(|| full.to_owned());
        Refund {
            id: RefundId::new(at, random),
            terms: RefundTerms {
                amount: is_full.then_some(Minor::MAX),
                fee_refund: is_full.then_some(FeeRefund::Full),
                reason: is_full.then_some(RefundReason::Other),
                description: text(LETTERS),
                metadata: "{\"ü\":\"🧾\"}".to_owned(),
            },
            principal: Minor::MAX,
            fee: Minor::ZERO,
            origin: RefundOrigin::Operator,
            status: RefundStatus::Pending,
            provider_reference: text(LETTERS),
            failure: is_full.then(|| Failure { code: "code".to_owned(), message: LETTERS.to_owned() }),
            request: text("req_1"),
            approval: None,
            created_at: at,
            updated_at: at,
        }
    }
}

pub async fn refunds_go_round(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let id = nodes.payment(environment).await;
    let mut change = nodes.change_to(0, preparing());
    change.attempt = Some(nodes.new_attempt(1, 1));
    change.transaction = Some((nodes.new_transaction_id(), in_status(Status::Succeeded)));
    nodes.change(environment, id, &change).await;
    let mut change = nodes.change_to(1, preparing());
    change.attempt = Some(nodes.new_attempt(2, 2));
    change.refunds = vec![nodes.new_refund(true), nodes.new_refund(false)];
    let payment = nodes.change(environment, id, &change).await;
    assert_eq!(payment.refunds, change.refunds);
    assert_eq!(payment.attempts.len(), 2, "each attempt and each refund once");
    let mut refunds = payment.refunds;
    let mut revision = payment.revision;
    for status in RefundStatus::ALL {
        let changed = Refund { status, updated_at: Timestamp::from_unix_millis(9), ..refunds[1].clone() };
        refunds[1] = changed.clone();
        let mut change = nodes.change_to(revision, preparing());
        change.refunds = vec![changed];
        let payment = nodes.change(environment, id, &change).await;
        assert_eq!(payment.refunds, refunds);
        revision = payment.revision;
    }
    for refund in &refunds {
        assert_eq!(nodes.two.payment_of_refund(environment, refund.id).await.unwrap(), Some(id));
        let elsewhere = nodes.environment().await.id;
        assert_eq!(nodes.two.payment_of_refund(elsewhere, refund.id).await.unwrap(), None);
    }
    assert_eq!(nodes.one.payment_of_refund(environment, nodes.new_refund(false).id).await.unwrap(), None);
}

pub async fn the_events_of_refunds_show_them_as_they_were(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let id = nodes.payment(environment).await;
    let mut change = nodes.change_to(0, preparing());
    change.transaction = Some((nodes.new_transaction_id(), in_status(Status::Succeeded)));
    let mut expected = Vec::new();
    for is_full in [true, false] {
        let refund = nodes.new_refund(is_full);
        let told = Some(Box::new(refund.clone()));
        change.new_events.push(NewEvent { refund: told, ..nodes.new_outbox_event(EventKind::RefundPending) });
        expected.push(refund.clone());
        change.refunds.push(refund);
    }
    nodes.change(environment, id, &change).await;
    let events = nodes.all_events(environment).await;
    let told: Vec<Refund> = events.into_iter().filter_map(|event| event.refund).map(|it| *it).collect();
    assert_eq!(told, expected);
}

pub async fn a_refund_belongs_to_one_payment(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let (one, other) = (nodes.payment(environment).await, nodes.payment(environment).await);
    let mut change = nodes.change_to(0, preparing());
    change.refunds = vec![nodes.new_refund(true)];
    assert_eq!(nodes.one.change_payment(environment, one, &change).await.unwrap(), Changed::Done);
    let mut again = nodes.change_to(0, preparing());
    again.refunds.clone_from(&change.refunds);
    let refused = nodes.two.change_payment(environment, other, &again).await;
    assert!(matches!(refused, Err(StoreError::Broken(_))), "{refused:?}");
    let untouched = nodes.read(environment, other).await;
    assert_eq!((untouched.revision, untouched.refunds.len()), (0, 0));
    // In another environment the same id is another refund.
    let elsewhere = nodes.environment().await.id;
    let third = nodes.payment(elsewhere).await;
    let mut change = nodes.change_to(0, preparing());
    change.refunds.clone_from(&again.refunds);
    assert_eq!(nodes.change(elsewhere, third, &change).await.refunds, again.refunds);
}
