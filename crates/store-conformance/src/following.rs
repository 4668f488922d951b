//! Whoever keeps the last event they have read, and asks for what comes after it, gets every event once.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use tollgate_domain::{
    event::EventKind,
    id::{EnvironmentId, EventId},
    ledger::TransferStep,
    transaction::Status,
};
use tollgate_engine::ports::{EventQuery, EventsFrom, NewEvent, Store};

use super::{
    ALL, Nodes,
    concurrency::at_once,
    outbox_samples::SUCCEEDED,
    samples::{card, in_status, preparing},
};

const PREPARED: EventKind = EventKind::PaymentPrepared;
const WRITERS: usize = 48;

/// A follower: where it stands, and what it has read.
struct Follower {
    node: Arc<dyn Store>,
    environment: EnvironmentId,
    query: EventQuery,
    read: Vec<EventId>,
}

impl Follower {
    fn new(node: &Arc<dyn Store>, environment: EnvironmentId, kind: Option<EventKind>) -> Self {
        let query = EventQuery { kind, reference: None };
        Self { node: Arc::clone(node), environment, query, read: Vec::new() }
    }

    /// Reads one slice; whether there was anything.
    async fn read_on(&mut self, limit: u32) -> bool {
        let from = self.read.last().map_or(EventsFrom::Oldest, |last| EventsFrom::After(*last));
        let slice = self.node.list_events(self.environment, self.query, from, limit).await.unwrap();
        let slice = slice.expect("what was read stays");
        self.read.extend(slice.iter().map(|event| event.id));
        !slice.is_empty()
    }

    /// Reads until everything was written, and then to the end.
    async fn follow(mut self, is_done: Arc<AtomicBool>) -> Vec<EventId> {
        loop {
            let was_done = is_done.load(Ordering::SeqCst);
            if !self.read_on(7).await && was_done {
                return self.read;
            }
        }
    }
}

pub async fn a_follower_sees_every_event_once(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 1_000_000, "f").await;
    let is_done = Arc::new(AtomicBool::new(false));
    let followers: Vec<_> = [(&nodes.one, None), (&nodes.two, None), (&nodes.two, Some(SUCCEEDED))]
        .into_iter()
        .map(|(node, kind)| tokio::spawn(Follower::new(node, environment, kind).follow(Arc::clone(&is_done))))
        .collect();
    // Every writer has drawn all of its ids before it begins, and so before most others have written anything.
    let written = at_once(nodes, WRITERS, |_, node| {
        let order = nodes.new_order(environment);
        let prepared = [nodes.new_outbox_event(PREPARED)];
        let mut changes = Vec::new();
        for (revision, status) in [Status::Processing, Status::Succeeded].into_iter().enumerate() {
            let mut change = nodes.change_to(u64::try_from(revision).unwrap(), preparing());
            change.transaction = Some((nodes.new_transaction_id(), in_status(status)));
            change.new_events = vec![nodes.new_outbox_event(EventKind::Transaction(status))];
            changes.push(change);
        }
        let transfer = nodes.new_transfer(environment);
        let settled = nodes.transfer_step(0, TransferStep::Settle, &transfer.order.fee);
        async move {
            node.insert_payment(environment, &order, &preparing(), &[], &prepared).await.unwrap();
            node.reserve_transfer(environment, &transfer).await.unwrap();
            let mut ids = vec![prepared[0].id];
            for change in changes {
                node.change_payment(environment, order.id, &change).await.unwrap();
                ids.extend(change.new_events.iter().map(|event| event.id));
            }
            node.change_transfer(environment, transfer.order.id, &settled).await.unwrap();
            ids.extend(settled.pending_event);
            ids.extend(settled.new_events.iter().map(|event| event.id));
            ids
        }
    })
    .await;
    is_done.store(true, Ordering::SeqCst);

    let all = nodes.all_events(environment).await;
    let ids: Vec<EventId> = all.iter().map(|event| event.id).collect();
    let written: BTreeSet<EventId> = written.into_iter().flatten().collect();
    assert!(written.len() >= 4 * WRITERS, "{} events", written.len());
    assert_eq!(ids.iter().copied().collect::<BTreeSet<_>>(), written);
    assert_eq!(ids.len(), written.len());
    let succeeded: Vec<EventId> =
        all.iter().filter(|event| event.kind == SUCCEEDED).map(|event| event.id).collect();
    for (follower, expected) in followers.into_iter().zip([&ids, &ids, &succeeded]) {
        let followed = follower.await.unwrap();
        let missed = expected.iter().filter(|id| !followed.contains(id)).count();
        assert_eq!(missed, 0, "events missed, of {}", expected.len());
        assert_eq!(&followed, expected, "once each, and in the order of a later reading");
    }
    // The newest first is the same order.
    let newest = nodes.one.list_events(environment, EventQuery::default(), EventsFrom::Newest, ALL).await;
    let newest: Vec<EventId> = newest.unwrap().unwrap().iter().rev().map(|event| event.id).collect();
    assert_eq!(newest, ids);
}

/// However early its id was drawn, and also where the clocks of two nodes differ.
pub async fn an_event_that_commits_late_is_behind_all_others(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let early = [nodes.new_outbox_event(PREPARED)];
    let [second, first] = [
        nodes.new_outbox_event(EventKind::Transaction(Status::Processing)),
        nodes.new_outbox_event(PREPARED),
    ];
    let mut follower = Follower::new(&nodes.two, environment, None);
    let late = nodes.append_event(environment, SUCCEEDED).await.id;
    assert!(early[0].id < late);
    assert!(follower.read_on(ALL).await);
    assert_eq!(follower.read, [late]);

    let insert = async |new_events: &[NewEvent]| {
        let order = nodes.new_order(environment);
        nodes.one.insert_payment(environment, &order, &preparing(), &[], new_events).await.unwrap();
        order.id
    };
    insert(&early).await;
    assert!(follower.read_on(ALL).await, "it can still be read after the later one");
    assert_eq!(follower.read, [late, early[0].id]);

    // What follows from something comes after it.
    let id = insert(std::slice::from_ref(&first)).await;
    let mut change = nodes.change_to(0, preparing());
    change.transaction = Some((nodes.new_transaction_id(), in_status(Status::Processing)));
    change.new_events = vec![second.clone()];
    nodes.change(environment, id, &change).await;
    assert!(second.id < first.id);
    assert!(follower.read_on(ALL).await);
    let expected = [late, early[0].id, first.id, second.id];
    assert_eq!(follower.read, expected);
    let all: Vec<EventId> = nodes.all_events(environment).await.iter().map(|event| event.id).collect();
    assert_eq!(all, expected);
    let query = EventQuery { kind: None, reference: Some(card(id)) };
    let of_payment = nodes.one.list_events(environment, query, EventsFrom::Oldest, ALL).await.unwrap();
    let of_payment: Vec<EventId> = of_payment.unwrap().iter().map(|event| event.id).collect();
    assert_eq!(of_payment, [first.id, second.id]);
}
