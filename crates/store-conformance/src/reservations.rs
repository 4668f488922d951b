//! Reservations that are taken back because their transfer was never sent.

use tollgate_domain::{Currency, id::EnvironmentId, ledger::TransferStep};
use tollgate_engine::ports::{
    Changed, NewTransfer, ReservationCancel, Reserved, TransactionFilter, TransferChange, TransferPosting,
};

use super::{
    ALL, Nodes, at,
    concurrency::at_once,
    minor,
    transfer_samples::{ach, sending},
};

impl Nodes {
    pub(super) fn cancel(&self, new: &NewTransfer) -> ReservationCancel {
        ReservationCancel {
            transaction: new.transaction,
            currency: new.order.currency,
            posting: TransferPosting {
                id: self.new_posting_id(),
                cause: TransferStep::Release.cause(),
                entries: TransferStep::Release.entries(&new.order.fee),
            },
            at: at(9),
            entries: vec![self.new_entry("provider_call"), self.new_entry("not_sent")],
        }
    }

    async fn funds(&self, environment: EnvironmentId) -> (u64, u64) {
        let balances = self.two.balances(environment, Currency::USD).await.unwrap().unwrap();
        (balances.available.get(), balances.reserved.get())
    }
}

pub async fn what_was_not_sent_is_taken_back(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let elsewhere = nodes.environment().await.id;
    nodes.endpoint(environment, &["*"]).await;
    nodes.fund(environment, 5_000, "f").await;
    let new = nodes.new_transfer(environment);
    let (id, reference) = (new.order.id, ach(new.order.id));
    nodes.reserve(&new).await;
    let cancel = nodes.cancel(&new);
    let away = nodes.two.cancel_reservation(elsewhere, id, &cancel).await.unwrap();
    assert_eq!(away, Changed::Done, "there is none to take back elsewhere");
    assert_eq!(nodes.funds(environment).await, (3_965, 1_035), "and none was");

    for node in [&nodes.one, &nodes.two] {
        assert_eq!(node.cancel_reservation(environment, id, &cancel).await.unwrap(), Changed::Done);
        assert_eq!(nodes.funds(environment).await, (5_000, 0));
    }
    assert_eq!(nodes.two.transfer(environment, id).await.unwrap(), None);
    assert_eq!(nodes.two.transaction(environment, reference).await.unwrap(), None);
    assert!(
        nodes
            .two
            .transactions(environment, &TransactionFilter::default(), None, ALL)
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(nodes.two.claim_transfers(at(1_000_000), at(2_000_000), ALL).await.unwrap(), []);
    assert_eq!(nodes.all_events(environment).await, []);
    assert_eq!(nodes.two.timeline(environment, reference).await.unwrap(), cancel.entries);
    assert!(nodes.two.postings_of(environment, Currency::USD, reference).await.unwrap().is_empty());
    let ledger = nodes.two.ledger(environment, Currency::USD, None, ALL).await.unwrap();
    let name = format!("{id} (not sent, {})", cancel.posting.id);
    assert_eq!(ledger.iter().filter(|line| line.reference == name).count(), 4, "{ledger:?}");
    nodes.audit_is_clean().await;

    // The same reference again, as a reservation of its own.
    let mut again = nodes.new_transfer(environment);
    again.order.id = id;
    nodes.reserve(&again).await;
    assert_eq!(nodes.one.cancel_reservation(environment, id, &cancel).await.unwrap(), Changed::Done);
    assert_eq!(nodes.funds(environment).await, (3_965, 1_035), "a late repetition takes nothing back");
    let step = nodes.transfer_step(0, TransferStep::Settle, &again.order.fee);
    assert_eq!(nodes.change_transfer(&again, &step).await.revision, 1);
    assert_eq!(nodes.all_events(environment).await.len(), 2);
    nodes.audit_is_clean().await;
}

pub async fn what_has_changed_is_not_taken_back(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 5_000, "f").await;
    let new = nodes.new_transfer(environment);
    nodes.reserve(&new).await;
    let kept = nodes.change_transfer(&new, &nodes.transfer_change(0, sending())).await;
    let cancel = nodes.cancel(&new);
    let stale = nodes.two.cancel_reservation(environment, new.order.id, &cancel).await.unwrap();
    assert_eq!(stale, Changed::Stale);
    assert_eq!(nodes.read_transfer(&new).await, kept);
    assert_eq!(nodes.funds(environment).await, (3_965, 1_035));
    assert!(nodes.two.timeline(environment, ach(new.order.id)).await.unwrap().is_empty());
    nodes.audit_is_clean().await;
}

/// Whoever wants to keep it and whoever takes it back exclude one another, and the reference can be reserved meanwhile.
pub async fn taking_back_and_changing_exclude_one_another(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 100_000, "f").await;
    for _ in 0..12 {
        let new = nodes.new_transfer(environment);
        let id = nodes.reserve(&new).await;
        let answers = at_once(nodes, 6, |place, node| {
            let (cancel, change) = (nodes.cancel(&new), nodes.transfer_change(0, sending()));
            let mut again = nodes.new_transfer(environment);
            again.order.id = id;
            async move {
                match place % 3 {
                    0 => Some(node.cancel_reservation(environment, id, &cancel).await.unwrap()),
                    1 => {
                        // Nothing to change where it was taken back, or one reserved since.
                        node.change_transfer(environment, id, &change).await.unwrap();
                        None
                    }
                    _ => {
                        let reserved = node.reserve_transfer(environment, &again).await.unwrap();
                        assert!(matches!(reserved, Reserved::Created | Reserved::Existing(_)));
                        None
                    }
                }
            }
        })
        .await;
        let is_left = nodes.two.transfer(environment, id).await.unwrap();
        if answers.contains(&Some(Changed::Stale)) {
            assert_eq!(is_left.unwrap().transaction, new.transaction, "{answers:?}");
        } else {
            assert!(is_left.is_none_or(|left| left.transaction != new.transaction), "{answers:?}");
        }
        nodes.audit_is_clean().await;
    }
    let balances = nodes.two.balances(environment, Currency::USD).await.unwrap().unwrap();
    assert_eq!(balances.available.checked_add(balances.reserved), Some(minor(100_000)));
}

/// Between two looks, the reservation may have been taken back and another made, at another provider and with its fee: what
/// was decided on the first is not done to the second.
pub async fn a_change_is_about_the_reservation_it_was_decided_on(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 5_000, "f").await;
    let first = nodes.new_transfer(environment);
    let id = nodes.reserve(&first).await;
    let kept = |new: &NewTransfer| TransferChange {
        reservation: Some(new.transaction),
        ..nodes.transfer_change(0, sending())
    };
    let stale = kept(&first);
    let canceled = nodes.one.cancel_reservation(environment, id, &nodes.cancel(&first)).await.unwrap();
    assert_eq!(canceled, Changed::Done);
    let mut second = nodes.new_transfer(environment);
    second.order.id = id;
    nodes.reserve(&second).await;
    assert_eq!(nodes.one.change_transfer(environment, id, &stale).await.unwrap(), Changed::Stale);
    let unchanged = nodes.two.transfer(environment, id).await.unwrap().unwrap();
    assert_eq!((unchanged.transaction, unchanged.revision), (second.transaction, 0));
    assert_eq!(nodes.two.change_transfer(environment, id, &kept(&second)).await.unwrap(), Changed::Done);
}
