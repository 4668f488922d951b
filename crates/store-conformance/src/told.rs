//! What happened is told, once, and nothing else is.

use tollgate_domain::{
    Minor, Timestamp,
    approval::{Approval, ApprovalState, Proposal, ProposalNotice},
    audit_log::AuditHead,
    circuit::CircuitNotice,
    event::EventKind,
    id::{EnvironmentId, EventId, PaymentId},
    ledger::TransferStep,
    transaction::{Status, TransactionState},
};
use tollgate_engine::ports::{
    Changed, ConfigChange, Event, EventQuery, EventsFrom, Inserted, NewAuditHeadEvent, NewCircuitEvent,
    NewEvent, ProposalDecided, Proposed, Resend, ResendWhich, Resent, Reserved,
};

use super::{
    ALL, Nodes, at,
    concurrency::at_once,
    outbox_samples::{FAILED, SUCCEEDED},
    samples::{LETTERS, card, full_state, in_status, preparing},
    transfer_samples::{ach, fees, sending},
};

fn ids(events: &[Event]) -> Vec<EventId> {
    events.iter().map(|event| event.id).collect()
}

pub async fn a_unit_is_told_with_it(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 5_000, "f").await;
    let mut expected = Vec::new();

    let order = nodes.new_order(environment);
    let prepared = nodes.new_outbox_event(EventKind::PaymentPrepared);
    let entries = [nodes.new_entry("request")];
    nodes
        .one
        .insert_payment(environment, &order, &preparing(), &entries, std::slice::from_ref(&prepared))
        .await
        .unwrap();
    let (reference, circuit) = (Some(card(order.id)), None);
    let NewEvent { id, kind, revision, refund } = prepared;
    expected.push(Event {
        id,
        kind,
        reference,
        at: order.created_at,
        revision,
        state: None,
        refund,
        circuit,
        proposal: None,
        audit_head: None,
    });

    // Of all a change tells, only what is about the transaction shows it.
    let mut change = nodes.change_to(0, preparing());
    change.transaction = Some((nodes.new_transaction_id(), full_state()));
    change.new_events =
        vec![nodes.new_outbox_event(EventKind::PaymentPrepared), nodes.new_outbox_event(FAILED)];
    nodes.change(environment, order.id, &change).await;
    for (event, state) in change.new_events.iter().zip([None, Some(full_state())]) {
        let NewEvent { id, kind, revision, refund } = event.clone();
        expected.push(Event {
            id,
            kind,
            reference,
            at: change.at,
            revision,
            state,
            refund,
            circuit: None,
            proposal: None,
            audit_head: None,
        });
    }

    let new = nodes.new_transfer(environment);
    nodes.reserve(&new).await;
    let reference = Some(ach(new.order.id));
    assert_eq!(
        nodes.all_events(environment).await,
        expected,
        "a reservation is not told: it may be taken back"
    );
    let mut full = nodes.full_transfer_change(0, "evt_1", &new.order.fee);
    full.new_events.push(nodes.new_outbox_event(EventKind::NotificationOfChange));
    for change in [full, nodes.transfer_change(1, sending())] {
        nodes.change_transfer(&new, &change).await;
        if let Some(id) = change.pending_event {
            let (kind, state) = (EventKind::Transaction(Status::Pending), Some(TransactionState::pending()));
            expected.push(Event {
                id,
                kind,
                reference,
                at: change.at,
                revision: 0,
                state,
                refund: None,
                circuit: None,
                proposal: None,
                audit_head: None,
            });
        }
        for NewEvent { id, kind, revision, refund } in change.new_events {
            let (at, state) = (change.at, change.state.clone());
            let bare = Event {
                id,
                kind,
                reference,
                at,
                revision,
                state,
                refund,
                circuit: None,
                proposal: None,
                audit_head: None,
            };
            expected.push(bare);
        }
    }
    // What was announced before, by a release that did so with the reservation, is not announced again.
    let mut again = nodes.transfer_change(2, sending());
    again.pending_event = Some(nodes.new_event_id());
    nodes.change_transfer(&new, &again).await;
    assert_eq!(expected.len(), 6, "what changes no status is not told");
    assert_eq!(nodes.all_events(environment).await, expected);
    for event in &expected {
        assert_eq!(nodes.two.find_event(environment, event.id).await.unwrap().as_ref(), Some(event));
    }
    assert_eq!(nodes.two.find_event(environment, nodes.new_event_id()).await.unwrap(), None);
}

pub async fn what_did_not_happen_is_not_told(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.endpoint(environment, &["*"]).await;
    nodes.fund(environment, 1_500, "f").await;
    let nowhere = EnvironmentId::from_bytes([9; 16]);
    let prepared = || [nodes.new_outbox_event(EventKind::PaymentPrepared)];

    let mut order = nodes.new_order(nowhere);
    let missing = nodes.one.insert_payment(nowhere, &order, &preparing(), &[], &prepared()).await.unwrap();
    assert_eq!(missing, Inserted::EnvironmentMissing);
    order.environment = environment;
    let event = prepared();
    for _ in 0..2 {
        nodes.one.insert_payment(environment, &order, &preparing(), &[], &event).await.unwrap();
        nodes.two.insert_payment(environment, &order, &preparing(), &[], &prepared()).await.unwrap();
    }
    let mut expected = vec![event[0].id];

    let change = nodes.full_change(0, "evt_1");
    for node in [&nodes.one, &nodes.two] {
        let changed = node.change_payment(environment, order.id, &change).await.unwrap();
        assert_eq!(changed, Changed::Done, "made once, answered twice");
    }
    expected.extend(change.new_events.iter().map(|event| event.id));
    for from in [0, 2] {
        let stale = nodes.full_change(from, "evt_2");
        assert_eq!(nodes.one.change_payment(environment, order.id, &stale).await.unwrap(), Changed::Stale);
    }
    let unknown = PaymentId::from_bytes([8; 16]);
    let missing = nodes.one.change_payment(environment, unknown, &nodes.full_change(0, "evt_2")).await;
    assert_eq!(missing.unwrap(), Changed::Missing);

    let new = nodes.new_transfer(environment);
    nodes.reserve(&new).await;
    let existing = nodes.two.reserve_transfer(environment, &new).await.unwrap();
    assert!(matches!(existing, Reserved::Existing(_)));
    let poor = nodes.new_transfer(environment);
    let refused = nodes.one.reserve_transfer(environment, &poor).await.unwrap();
    assert_eq!(refused, Reserved::Insufficient { available: Minor::new(465).unwrap() });
    let stale = nodes.transfer_step(1, TransferStep::Settle, &new.order.fee);
    let changed = nodes.one.change_transfer(environment, new.order.id, &stale).await.unwrap();
    assert_eq!(changed, Changed::Stale);
    // The books refuse it, and so nothing is told of it either.
    let too_much = nodes.transfer_step(0, TransferStep::Settle, &fees(9_000, 0, 0));
    assert!(nodes.one.change_transfer(environment, new.order.id, &too_much).await.is_err());
    let settled = nodes.transfer_step(0, TransferStep::Settle, &new.order.fee);
    for node in [&nodes.one, &nodes.two] {
        let changed = node.change_transfer(environment, new.order.id, &settled).await.unwrap();
        assert_eq!(changed, Changed::Done);
    }
    expected.extend([settled.pending_event.unwrap(), settled.new_events[0].id]);

    assert_eq!(ids(&nodes.all_events(environment).await), expected);
    assert_eq!(nodes.all_deliveries(environment).await.len(), expected.len());
    assert!(nodes.all_events(nowhere).await.is_empty());
    nodes.audit_is_clean().await;
}

/// A unit that tells of a transaction without having one is a defect of whoever asks, and is not done by half.
pub async fn a_transaction_is_not_told_of_without_one(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 5_000, "f").await;
    let order = nodes.new_order(environment);
    let new_events = [nodes.new_outbox_event(SUCCEEDED)];
    assert!(nodes.one.insert_payment(environment, &order, &preparing(), &[], &new_events).await.is_err());
    assert_eq!(nodes.two.payment(environment, order.id).await.unwrap(), None);

    let id = nodes.payment(environment).await;
    let mut change = nodes.change_to(0, preparing());
    change.new_events = new_events.to_vec();
    assert!(nodes.one.change_payment(environment, id, &change).await.is_err());
    assert_eq!(nodes.read(environment, id).await.revision, 0);

    let new = nodes.new_transfer(environment);
    nodes.reserve(&new).await;
    let mut change = nodes.transfer_change(0, sending());
    change.new_events = new_events.to_vec();
    assert!(nodes.one.change_transfer(environment, new.order.id, &change).await.is_err());
    assert_eq!(nodes.read_transfer(&new).await.revision, 0);
    assert_eq!(ids(&nodes.all_events(environment).await), []);
}

pub async fn one_of_many_changes_is_told(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.endpoint(environment, &["*"]).await;
    nodes.fund(environment, 50_000, "f").await;
    let id = nodes.payment(environment).await;
    let new = nodes.new_transfer(environment);
    nodes.reserve(&new).await;
    let (card_change, step) =
        (nodes.full_change(0, "evt_1"), nodes.transfer_step(0, TransferStep::Settle, &new.order.fee));
    at_once(nodes, 24, |place, node| {
        // Some ask for the very same, some for another.
        let mut change = card_change.clone();
        let mut step = step.clone();
        let transfer = new.clone();
        if place % 3 == 0 {
            change = nodes.full_change(0, "evt_1");
            step = nodes.transfer_step(0, TransferStep::Settle, &new.order.fee);
        }
        async move {
            node.change_payment(environment, id, &change).await.unwrap();
            node.change_transfer(environment, transfer.order.id, &step).await.unwrap();
            node.reserve_transfer(environment, &transfer).await.unwrap();
        }
    })
    .await;
    let told = nodes.all_events(environment).await;
    let of = |kind: EventKind, reference| {
        told.iter().filter(|event| event.kind == kind && event.reference == Some(reference)).count()
    };
    assert_eq!(of(EventKind::PaymentPrepared, card(id)), 1);
    assert_eq!(of(FAILED, card(id)), 1);
    assert_eq!(of(EventKind::Transaction(Status::Pending), ach(new.order.id)), 1);
    assert_eq!(of(SUCCEEDED, ach(new.order.id)), 1);
    assert_eq!(told.len(), 4);
    assert_eq!(nodes.all_deliveries(environment).await.len(), 4);
}

pub async fn a_circuit_is_told_of_once(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let other = nodes.environment().await.id;
    let endpoint = nodes.endpoint(environment, &["provider.circuit_opened"]).await;
    let new = |provider: &str, is_open| {
        let (at, random) = nodes.next();
        let notice = CircuitNotice {
            provider: provider.to_owned(),
            is_open,
            since: at,
            is_forced: !is_open,
            reason: is_open.then(|| LETTERS.to_owned()),
        };
        NewCircuitEvent { id: EventId::new(at, random), at, notice }
    };
    let (opened, again) = (new("a", true), new("a", true));
    assert_eq!(nodes.one.last_circuit_event(environment, "a").await.unwrap(), None);
    // Both nodes tell of the same outage at once.
    let (one, two) = tokio::join!(
        nodes.one.append_circuit_event(environment, &opened, None),
        nodes.two.append_circuit_event(environment, &again, None)
    );
    assert_ne!(one.unwrap(), two.unwrap(), "one of the two is first");
    let first = nodes.two.last_circuit_event(environment, "a").await.unwrap().unwrap();
    let told = if first.id == opened.id { &opened } else { &again };
    assert!(nodes.one.append_circuit_event(environment, told, None).await.unwrap(), "the same, asked again");
    let expected = Event {
        id: told.id,
        kind: EventKind::CircuitOpened,
        reference: None,
        at: told.at,
        revision: 0,
        state: None,
        refund: None,
        circuit: Some(Box::new(told.notice.clone())),
        proposal: None,
        audit_head: None,
    };
    assert_eq!(first, expected);
    let closed = new("a", false);
    assert!(nodes.one.append_circuit_event(environment, &closed, Some(first.id)).await.unwrap());
    assert!(nodes.two.append_circuit_event(environment, &new("b", true), None).await.unwrap());
    let last = nodes.two.last_circuit_event(environment, "a").await.unwrap().unwrap();
    assert_eq!((last.kind, last.circuit), (EventKind::CircuitClosed, Some(Box::new(closed.notice))));
    assert_eq!(nodes.two.last_circuit_event(other, "a").await.unwrap(), None);
    let kinds: Vec<_> = nodes.all_events(environment).await.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [EventKind::CircuitOpened, EventKind::CircuitClosed, EventKind::CircuitOpened]);
    let sent = nodes.all_deliveries(environment).await;
    assert_eq!(sent.len(), 2, "only what the endpoint wants");
    assert!(sent.iter().all(|delivery| delivery.endpoint == endpoint.id));
    nodes.one.index_events(9).await.unwrap();
    assert!(nodes.one.activity(environment, at(-3_600_000), at(1_000_000_000)).await.unwrap().is_empty());
}

pub async fn a_forced_circuit_is_told_of_with_the_change(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.endpoint(environment, &["*"]).await;
    let forced = |is_open: bool, at, random| {
        let (provider, reason) = ("a".to_owned(), is_open.then(|| LETTERS.to_owned()));
        let notice = CircuitNotice { provider, is_open, since: at, is_forced: true, reason };
        vec![NewCircuitEvent { id: EventId::new(at, random), at, notice }]
    };
    let change = |from, is_open, at: Option<Timestamp>| {
        let (now, random) = nodes.next();
        let circuits = forced(is_open, at.unwrap_or(now), random);
        ConfigChange { circuits, ..nodes.new_change(from, "{}") }
    };
    let opened = change(0, true, None);
    for _ in 0..2 {
        nodes.one.put_config(environment, &opened).await.unwrap();
    }
    nodes.two.put_config(environment, &change(0, false, None)).await.unwrap();
    nodes.two.put_config(environment, &change(1, true, None)).await.unwrap();
    let told = nodes.all_events(environment).await;
    assert_eq!(
        ids(&told),
        [opened.circuits[0].id],
        "neither a repetition, nor what is stale, nor what is known"
    );
    assert_eq!(told[0].circuit.as_deref(), Some(&opened.circuits[0].notice));
    // The clock of the node that closes it is behind.
    let closed = change(2, false, Some(at(1)));
    let proposal = nodes.proposal(environment, ConfigChange { circuits: Vec::new(), ..closed.clone() });
    nodes.one.propose_config(&proposal, nodes.new_event_id(), ALL).await.unwrap();
    let approved = Approval { state: ApprovalState::Approved, ..proposal.approval };
    let deciding =
        nodes.two.decide_config_proposal(environment, &approved, "Grace", closed.at, &closed.circuits);
    assert!(matches!(deciding.await.unwrap(), ProposalDecided::InForce { version: 3, .. }));
    let last = nodes.one.last_circuit_event(environment, "a").await.unwrap().unwrap();
    assert_eq!((last.kind, last.at > told[0].at), (EventKind::CircuitClosed, true));
    let kinds: Vec<_> = nodes.all_events(environment).await.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [EventKind::CircuitOpened, EventKind::ApprovalRequired, EventKind::CircuitClosed]);
    assert_eq!(nodes.all_deliveries(environment).await.len(), 3);
}

pub async fn a_proposal_is_told_of_once(nodes: &Nodes) {
    let (environment, nowhere) = (nodes.environment().await.id, EnvironmentId::from_bytes([9; 16]));
    let wanting = nodes.endpoint(environment, &["approval.required"]).await;
    nodes.endpoint(environment, &["transaction.pending"]).await;
    let change = ConfigChange { actor: LETTERS.to_owned(), ..nodes.new_change(7, "{}") };
    let proposal = nodes.proposal(environment, change);
    let event = nodes.new_event_id();
    for event in [event, nodes.new_event_id()] {
        let proposed = nodes.one.propose_config(&proposal, event, 1).await.unwrap();
        assert_eq!(proposed, Proposed::Done);
    }
    for (environment, outcome) in [(environment, Proposed::TooMany), (nowhere, Proposed::EnvironmentMissing)]
    {
        let other = nodes.proposal(environment, nodes.new_change(7, "{}"));
        assert_eq!(nodes.one.propose_config(&other, nodes.new_event_id(), 1).await.unwrap(), outcome);
    }
    let approval = proposal.approval.id;
    let what = Proposal::Configuration { from_version: 7 };
    let notice = ProposalNotice { approval, proposed_by: LETTERS.to_owned(), what };
    let expected = Event {
        id: event,
        kind: EventKind::ApprovalRequired,
        reference: None,
        at: proposal.change.at,
        revision: 0,
        state: None,
        refund: None,
        circuit: None,
        proposal: Some(Box::new(notice)),
        audit_head: None,
    };
    assert_eq!(nodes.two.find_event(environment, event).await.unwrap().as_ref(), Some(&expected));
    assert_eq!(nodes.all_events(environment).await, [expected]);
    let sent = nodes.all_deliveries(environment).await;
    let sent: Vec<_> = sent.iter().map(|delivery| (delivery.event.id, delivery.endpoint)).collect();
    assert_eq!(sent, [(event, wanting.id)]);
    nodes.one.index_events(9).await.unwrap();
    assert!(nodes.one.activity(environment, at(-3_600_000), at(1_000_000_000)).await.unwrap().is_empty());
}

pub async fn the_audit_log_head_is_sent_to_endpoints_that_name_it(nodes: &Nodes) {
    let (environment, other) = (nodes.environment().await.id, nodes.environment().await.id);
    for (environment, kinds) in [(environment, "*"), (other, "*"), (other, "transaction.failed")] {
        nodes.endpoint(environment, &[kinds]).await;
    }
    assert!(!nodes.one.audit_head_subscribers().await.unwrap().contains(&environment));
    let endpoint = nodes.endpoint(environment, &["transaction.failed", "audit_log.head"]).await;
    let subscribed = nodes.two.audit_head_subscribers().await.unwrap();
    assert_eq!((subscribed.contains(&environment), subscribed.contains(&other)), (true, false));
    let new = || {
        let (at, random) = nodes.next();
        let head = AuditHead { entries: u64::MAX, hash: [0xab; 32] };
        NewAuditHeadEvent { id: EventId::new(at, random), at, head }
    };
    // Both nodes report at once, and again too early.
    let (first, second) = (new(), new());
    let since = first.at;
    let (one, two) = tokio::join!(
        nodes.one.append_audit_head_event(environment, &first, since),
        nodes.two.append_audit_head_event(environment, &second, since)
    );
    assert_ne!(one.unwrap(), two.unwrap(), "one of the two is first");
    assert!(!nodes.one.append_audit_head_event(environment, &new(), since).await.unwrap());
    let later = new();
    assert!(nodes.one.append_audit_head_event(environment, &later, later.at).await.unwrap());
    let events = nodes.all_events(environment).await;
    assert_eq!(events.len(), 2);
    let expected = Event {
        id: later.id,
        kind: EventKind::AuditLogHead,
        reference: None,
        at: later.at,
        revision: 0,
        state: None,
        refund: None,
        circuit: None,
        proposal: None,
        audit_head: Some(later.head),
    };
    assert!(events.contains(&expected), "{events:?}");
    let sent = nodes.all_deliveries(environment).await;
    assert_eq!(sent.len(), 2);
    assert!(sent.iter().all(|delivery| delivery.endpoint == endpoint.id), "not among all");
    let which = ResendWhich::Event(later.id);
    let resent =
        nodes.one.resend(environment, Resend { endpoint: None, which }, later.at, ALL).await.unwrap();
    assert!(matches!(resent, Resent::Done { deliveries: 1, .. }), "{resent:?}");
    assert!(nodes.all_events(other).await.is_empty());
}

pub async fn events_are_listed_in_slices(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let mut all = Vec::new();
    for place in 0..12_u8 {
        let kind = [SUCCEEDED, EventKind::PaymentPrepared, FAILED][usize::from(place % 3)];
        all.push(nodes.append_event(environment, kind).await);
    }
    // One payment that is told of three times, among the others.
    let id = nodes.payment(environment).await;
    for (from, status) in [Status::Processing, Status::Failed, Status::Succeeded].into_iter().enumerate() {
        let mut change = nodes.change_to(u64::try_from(from).unwrap(), preparing());
        change.transaction = Some((nodes.new_transaction_id(), in_status(status)));
        change.new_events = vec![nodes.new_outbox_event(EventKind::Transaction(status))];
        nodes.change(environment, id, &change).await;
        all.push(nodes.two.find_event(environment, change.new_events[0].id).await.unwrap().unwrap());
    }
    let cursors = [all[0].id, all[7].id, all[14].id];
    let place = |id: EventId| all.iter().position(|event| event.id == id);
    for kind in [None, Some(SUCCEEDED), Some(FAILED), Some(EventKind::Transaction(Status::Refunded))] {
        for reference in [None, Some(card(id)), all[3].reference] {
            let query = EventQuery { kind, reference };
            let fits = |event: &&Event| {
                kind.is_none_or(|kind| event.kind == kind)
                    && reference.is_none_or(|reference| event.reference == Some(reference))
            };
            let froms = [EventsFrom::Newest, EventsFrom::Oldest];
            let around = cursors.iter().flat_map(|id| [EventsFrom::Before(*id), EventsFrom::After(*id)]);
            for from in froms.into_iter().chain(around) {
                let within = |event: &&Event| match from {
                    EventsFrom::Newest | EventsFrom::Oldest => true,
                    EventsFrom::Before(id) => place(event.id) < place(id),
                    EventsFrom::After(id) => place(event.id) > place(id),
                };
                let mut expected: Vec<EventId> =
                    all.iter().filter(fits).filter(within).map(|event| event.id).collect();
                if matches!(from, EventsFrom::Newest | EventsFrom::Before(_)) {
                    expected.reverse();
                }
                for limit in [0, 2, ALL] {
                    let found =
                        nodes.two.list_events(environment, query, from, limit).await.unwrap().unwrap();
                    let most = expected.len().min(usize::try_from(limit).unwrap());
                    assert_eq!(ids(&found), expected[..most], "{query:?} {from:?} {limit}");
                }
            }
        }
    }
    // A place that is not there is not mistaken for the end.
    let elsewhere = nodes.environment().await.id;
    let foreign = nodes.append_event(elsewhere, SUCCEEDED).await.id;
    for unknown in
        [nodes.new_event_id(), EventId::from_bytes([0; 16]), EventId::from_bytes([0xff; 16]), foreign]
    {
        for from in [EventsFrom::Before(unknown), EventsFrom::After(unknown)] {
            let found = nodes.two.list_events(environment, EventQuery::default(), from, ALL).await.unwrap();
            assert_eq!(found, None, "{from:?}");
        }
    }
}
