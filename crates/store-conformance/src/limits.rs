//! Limits: what counts toward them, on both nodes at once.

use std::{env, time::Duration};

use tollgate_domain::{
    Minor, PaymentMethod,
    card::{CardOrder, Preparation},
    id::EnvironmentId,
    ledger::TransferStep,
    limit::{Limit, LimitAction, LimitBound, LimitScope, LimitUse},
};
use tollgate_engine::ports::{
    Changed, Inserted, LimitExceeded, NewTransfer, PaymentChange, Progress, Reserved, TransferChange,
};

use super::{
    Nodes, at,
    concurrency::at_once,
    minor,
    samples::{in_status, preparing},
    transfer_samples::{fees, sending},
};

const WINDOW: Duration = Duration::from_hours(24);

/// A limit and one of those it counts for.
fn used(whose: u8, max_count: Option<u64>, max_amount: Option<u64>) -> LimitUse {
    let limit = Limit {
        id: "daily".into(),
        method: PaymentMethod::Ach,
        per: LimitScope::Customer,
        window: WINDOW,
        max_count,
        max_amount: max_amount.and_then(Minor::new),
        action: LimitAction::Refuse,
    };
    LimitUse { limit, subject: [whose; 32], is_reviewed: false }
}

fn exceeded(bound: LimitBound) -> Reserved {
    Reserved::LimitExceeded(LimitExceeded { place: 0, bound })
}

impl Nodes {
    async fn funded(&self) -> EnvironmentId {
        let environment = self.environment().await.id;
        self.fund(environment, 10_000_000, "f").await;
        environment
    }

    /// A transfer without a fee that counts toward these limits.
    fn limited(&self, environment: EnvironmentId, principal: u64, limits: &[LimitUse]) -> NewTransfer {
        let mut new = self.new_transfer_of(environment, fees(principal, 0, 0));
        new.limits = limits.to_vec();
        new
    }

    async fn reserve_limited(&self, new: &NewTransfer) -> Reserved {
        self.two.reserve_transfer(new.order.environment, new).await.unwrap()
    }

    /// Fails a transfer that was reserved: its funds are released, and it counts no more.
    async fn fail(&self, new: &NewTransfer) {
        let step = self.transfer_step(0, TransferStep::Release, &new.order.fee);
        self.change_transfer(new, &TransferChange { counts: Some(false), ..step }).await;
    }

    async fn insert_limited(&self, order: &CardOrder, limits: &[LimitUse]) -> Inserted {
        let progress = preparing();
        let inserting =
            self.two.insert_limited_payment(order.environment, order, &progress, &[], &[], limits);
        inserting.await.unwrap()
    }
}

pub async fn a_limit_is_reached_to_the_last_cent(nodes: &Nodes) {
    let environment = nodes.funded().await;
    let limits = [used(1, None, Some(1_000)), used(2, Some(2), None)];
    for (principal, expected) in [
        (400, Reserved::Created),
        (601, exceeded(LimitBound::Amount(minor(1_000)))),
        (600, Reserved::Created),
        // The second limit comes second, and is reached by now.
        (1, exceeded(LimitBound::Amount(minor(1_000)))),
    ] {
        let new = nodes.limited(environment, principal, &limits);
        assert_eq!(nodes.reserve_limited(&new).await, expected, "{principal}");
        let is_there = nodes.two.transfer(environment, new.order.id).await.unwrap().is_some();
        assert_eq!(is_there, expected == Reserved::Created);
    }
    let third = nodes.limited(environment, 1, &[used(9, Some(5), None), used(2, Some(2), None)]);
    let second_is_full = LimitExceeded { place: 1, bound: LimitBound::Count(2) };
    assert_eq!(nodes.reserve_limited(&third).await, Reserved::LimitExceeded(second_is_full));
    nodes.reserve(&nodes.limited(environment, 5_000, &[])).await;
    nodes.audit_is_clean().await;
}

/// Neither a repetition, nor one that the wallet cannot pay, nor one that is refused by another limit.
pub async fn a_transfer_counts_once(nodes: &Nodes) {
    let environment = nodes.funded().await;
    let limit = [used(1, Some(2), None)];
    let first = nodes.limited(environment, 10, &limit);
    nodes.reserve(&first).await;
    for _ in 0..3 {
        assert!(matches!(nodes.reserve_limited(&first).await, Reserved::Existing(_)));
    }
    let poor = nodes.limited(environment, 20_000_000, &limit);
    assert!(matches!(nodes.reserve_limited(&poor).await, Reserved::Insufficient { .. }));
    let both = nodes.limited(environment, 10, &[limit[0].clone(), used(0xff, None, Some(9))]);
    assert!(matches!(nodes.reserve_limited(&both).await, Reserved::LimitExceeded(_)));
    nodes.reserve(&nodes.limited(environment, 10, &limit)).await;
    let third = nodes.limited(environment, 10, &limit);
    assert_eq!(nodes.reserve_limited(&third).await, exceeded(LimitBound::Count(2)));
}

pub async fn what_fails_is_given_back(nodes: &Nodes) {
    let environment = nodes.funded().await;
    let limit = [used(1, Some(1), Some(100))];
    let first = nodes.limited(environment, 100, &limit);
    nodes.reserve(&first).await;
    nodes.fail(&first).await;
    // A change that is refused gives nothing back a second time.
    let stale = TransferChange { counts: Some(false), ..nodes.transfer_change(0, sending()) };
    let refused = nodes.one.change_transfer(environment, first.order.id, &stale).await.unwrap();
    assert_eq!(refused, Changed::Stale);
    let second = nodes.limited(environment, 100, &limit);
    nodes.reserve(&second).await;
    let third = nodes.limited(environment, 1, &limit);
    assert_eq!(nodes.reserve_limited(&third).await, exceeded(LimitBound::Count(1)));
    // One that was never sent leaves no trace, and its reference may be used again.
    let cancel = nodes.cancel(&second);
    for _ in 0..2 {
        let canceled = nodes.one.cancel_reservation(environment, second.order.id, &cancel).await.unwrap();
        assert_eq!(canceled, Changed::Done);
    }
    let (transaction, posting) = (nodes.new_transaction_id(), nodes.new_posting_id());
    let second = NewTransfer { transaction, posting, ..second };
    nodes.reserve(&second).await;
    assert_eq!(nodes.reserve_limited(&third).await, exceeded(LimitBound::Count(1)));
    // One that failed and succeeds after all counts again, even beyond the limit.
    let change = nodes.transfer_step(1, TransferStep::Release, &first.order.fee);
    let again = TransferChange { counts: Some(true), posting: None, ..change };
    nodes.change_transfer(&first, &again).await;
    nodes.fail(&second).await;
    assert_eq!(nodes.reserve_limited(&third).await, exceeded(LimitBound::Count(1)));
}

pub async fn a_window_slides(nodes: &Nodes) {
    let environment = nodes.funded().await;
    let limit = [used(1, None, Some(100))];
    let reserve_at = async |millis: i64, principal| {
        let mut new = nodes.limited(environment, principal, &limit);
        new.order.created_at = at(millis);
        nodes.reserve_limited(&new).await == Reserved::Created
    };
    let window = i64::try_from(WINDOW.as_millis()).unwrap();
    assert!(reserve_at(0, 60).await);
    assert!(reserve_at(500, 40).await);
    assert!(!reserve_at(window - 1, 1).await, "both are within the window");
    assert!(!reserve_at(window, 61).await, "the second still is");
    assert!(reserve_at(window, 60).await, "the first is not anymore");
    assert!(!reserve_at(window + 499, 1).await);
    assert!(reserve_at(window + 500, 40).await);
    // A shorter window counts less at once.
    let mut shorter = used(1, None, Some(100));
    shorter.limit.window = Duration::from_millis(100);
    let mut new = nodes.limited(environment, 60, &[shorter]);
    new.order.created_at = at(window + 550);
    assert_eq!(nodes.reserve_limited(&new).await, Reserved::Created);
}

pub async fn a_customer_leaves_the_others_alone(nodes: &Nodes) {
    let (mine, yours) = (nodes.funded().await, nodes.funded().await);
    for (environment, whose) in [(mine, 1), (mine, 2), (yours, 1)] {
        let limit = [used(whose, Some(1), None)];
        nodes.reserve(&nodes.limited(environment, 10, &limit)).await;
        let second = nodes.limited(environment, 10, &limit);
        assert_eq!(nodes.reserve_limited(&second).await, exceeded(LimitBound::Count(1)));
    }
}

/// How many ask at once; `TOLLGATE_LIMITED_PAYMENTS` is another number.
fn at_once_count() -> usize {
    env::var("TOLLGATE_LIMITED_PAYMENTS").ok().and_then(|text| text.parse().ok()).unwrap_or(60)
}

/// Not one cent above it, and none refused that there was room for. Those that fail make room for others.
pub async fn many_at_once_never_exceed_a_limit(nodes: &Nodes) {
    let environment = nodes.funded().await;
    let count = at_once_count();
    let fits = u64::try_from(count / 3).unwrap();
    let limit = [used(1, None, Some(fits * 37 + 36)), used(2, Some(1_000_000), None)];
    let mut created = Vec::new();
    for failing in [count / 6, 0] {
        let answers = at_once(nodes, count, |_, node| {
            let new = nodes.limited(environment, 37, &limit);
            async move {
                match node.reserve_transfer(environment, &new).await.unwrap() {
                    Reserved::Created => Some(new),
                    Reserved::LimitExceeded(LimitExceeded { place: 0, .. }) => None,
                    other => panic!("{other:?}"),
                }
            }
        })
        .await;
        created.extend(answers.into_iter().flatten());
        assert_eq!(u64::try_from(created.len()).unwrap(), fits);
        let failed: Vec<NewTransfer> = created.drain(..failing).collect();
        at_once(nodes, failing, |place, node| {
            let new = &failed[place];
            let step = nodes.transfer_step(0, TransferStep::Release, &new.order.fee);
            let (id, change) = (new.order.id, TransferChange { counts: Some(false), ..step });
            async move {
                assert_eq!(node.change_transfer(environment, id, &change).await.unwrap(), Changed::Done);
            }
        })
        .await;
    }
    nodes.audit_is_clean().await;
}

pub async fn card_payments_are_counted(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let first = nodes.new_order(environment);
    let principal = Minor::from(first.fee.principal).get();
    let limit = [used(1, None, Some(principal))];
    for _ in 0..2 {
        assert_eq!(nodes.insert_limited(&first, &limit).await, Inserted::Done, "it is counted once");
    }
    let second = nodes.new_order(environment);
    let full = LimitExceeded { place: 0, bound: LimitBound::Amount(minor(principal)) };
    assert_eq!(nodes.insert_limited(&second, &limit).await, Inserted::LimitExceeded(full));
    assert_eq!(nodes.one.payment(environment, second.id).await.unwrap(), None);
    let expired = Progress { preparation: Preparation::Expired, ..preparing() };
    let change = PaymentChange { counts: Some(false), ..nodes.change_to(0, expired.clone()) };
    for _ in 0..2 {
        assert_eq!(nodes.one.change_payment(environment, first.id, &change).await.unwrap(), Changed::Done);
    }
    assert_eq!(nodes.insert_limited(&second, &limit).await, Inserted::Done);
    assert_eq!(
        nodes.insert_limited(&nodes.new_order(environment), &limit).await,
        Inserted::LimitExceeded(full)
    );
    // The one that expired was paid after all.
    let paid = Some((nodes.new_transaction_id(), in_status(tollgate_domain::transaction::Status::Succeeded)));
    let change = PaymentChange { counts: Some(true), transaction: paid, ..nodes.change_to(1, expired) };
    assert_eq!(nodes.one.change_payment(environment, first.id, &change).await.unwrap(), Changed::Done);
    let expired = Progress { preparation: Preparation::Expired, ..preparing() };
    let change = PaymentChange { counts: Some(false), ..nodes.change_to(0, expired) };
    assert_eq!(nodes.one.change_payment(environment, second.id, &change).await.unwrap(), Changed::Done);
    assert_eq!(
        nodes.insert_limited(&nodes.new_order(environment), &limit).await,
        Inserted::LimitExceeded(full)
    );
}

pub async fn many_cards_at_once_never_exceed_a_limit(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let limits = [used(2, Some(17), None), used(1, Some(20), None)];
    let answers = at_once(nodes, 50, |place, node| {
        let mut order = nodes.new_order(environment);
        // Some meet under one key: only one of them counts.
        order.key = (place % 5 == 0).then_some([7; 32]);
        let limits = if place % 2 == 0 { limits.to_vec() } else { limits.iter().rev().cloned().collect() };
        async move {
            node.insert_limited_payment(environment, &order, &preparing(), &[], &[], &limits).await.unwrap()
        }
    })
    .await;
    let inserted = answers.iter().filter(|answer| **answer == Inserted::Done).count();
    assert_eq!(inserted, 17, "{answers:?}");
}

pub async fn what_has_ended_is_forgotten(nodes: &Nodes) {
    let environment = nodes.funded().await;
    let limit = [used(1, None, Some(100))];
    let (first, second) = (nodes.limited(environment, 60, &limit), nodes.limited(environment, 40, &limit));
    nodes.reserve(&first).await;
    nodes.reserve(&second).await;
    let ends = |new: &NewTransfer| new.order.created_at.saturating_add(WINDOW);
    let before = ends(&first).saturating_sub(Duration::from_millis(1));
    assert_eq!(nodes.two.forget_limit_uses(before, 10).await.unwrap(), 0);
    assert_eq!(nodes.two.forget_limit_uses(ends(&first), 10).await.unwrap(), 1);
    // The other still counts, and what is forgotten gives nothing back twice.
    nodes.fail(&first).await;
    let refused = nodes.limited(environment, 61, &limit);
    assert_eq!(nodes.reserve_limited(&refused).await, exceeded(LimitBound::Amount(minor(100))));
    nodes.reserve(&nodes.limited(environment, 60, &limit)).await;
    let forgotten = nodes.one.forget_limit_uses(ends(&second).saturating_add(WINDOW), 10).await.unwrap();
    assert_eq!(forgotten, 2);
    nodes.reserve(&nodes.limited(environment, 100, &limit)).await;
}
