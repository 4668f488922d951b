//! The one way a payment changes.

use tollgate_domain::{
    PaymentMethod, ServiceReference,
    card::{Attempt, AttemptState, Preparation},
    id::{EnvironmentId, PaymentId},
    transaction::{Status, Transaction},
};
use tollgate_engine::ports::{
    CardPayment, CardTransaction, Changed, Entry, PaymentChange, Progress, ProviderEventState,
    StoredException, StoredProviderEvent, TransactionFilter,
};

use super::{
    ALL, Nodes, at,
    concurrency::at_once,
    samples::{LETTERS, PROVIDER, card, full_state, in_status, preparing},
};

/// All that a change of this payment can reach.
#[derive(Debug, PartialEq)]
struct Everything {
    payment: Option<CardPayment>,
    timeline: Vec<Entry>,
    transactions: Vec<Transaction>,
    exceptions: Vec<StoredException>,
    events: Vec<StoredProviderEvent>,
    objects: Vec<Option<PaymentId>>,
}

impl Everything {
    async fn read(nodes: &Nodes, environment: EnvironmentId, id: PaymentId, objects: &[String]) -> Self {
        let mut owners = Vec::new();
        for object in objects {
            owners.push(nodes.two.payment_of_object(environment, PROVIDER, object).await.unwrap());
        }
        Self {
            payment: nodes.two.payment(environment, id).await.unwrap(),
            timeline: nodes.two.timeline(environment, card(id)).await.unwrap(),
            transactions: nodes
                .two
                .transactions(environment, &TransactionFilter::default(), None, ALL)
                .await
                .unwrap(),
            exceptions: nodes.two.exceptions(environment, false, None, ALL).await.unwrap(),
            events: nodes.two.provider_events(environment, None, None, ALL).await.unwrap(),
            objects: owners,
        }
    }
}

pub async fn a_change_is_made_whole(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let order = nodes.new_full_order(environment);
    let id = nodes.payment_with(&order, &preparing()).await;
    nodes.one.receive_provider_event(environment, &nodes.new_event("evt_1"), at(1)).await.unwrap();
    let change = nodes.full_change(0, "evt_1");
    nodes.change(environment, id, &change).await;

    let stored = Everything::read(nodes, environment, id, &change.objects).await;
    let payment = stored.payment.unwrap();
    let (transaction, state) = change.transaction.clone().unwrap();
    assert_eq!((payment.revision, &payment.progress), (1, &change.progress));
    assert_eq!(
        payment.transaction,
        Some(CardTransaction { id: transaction, state, created_at: change.began_at, updated_at: change.at })
    );
    assert_eq!(payment.attempts, [change.attempt.clone().unwrap()]);
    assert_eq!(stored.timeline, change.entries);
    assert_eq!(stored.transactions.len(), 1);
    let mut found: Vec<_> = stored.exceptions.iter().map(|stored| stored.exception.clone()).collect();
    found.reverse();
    assert_eq!(found, change.exceptions);
    assert!(stored.exceptions.iter().all(|stored| stored.reference == card(id) && stored.resolved.is_none()));
    assert_eq!(stored.objects, [Some(id), Some(id)]);
    let event = &stored.events[0];
    assert_eq!((event.state, event.due, event.note.as_str()), (ProviderEventState::Applied, None, LETTERS));
}

/// A change that is refused, for whatever reason, leaves nothing at all behind.
pub async fn a_refused_change_leaves_nothing(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let id = nodes.payment(environment).await;
    nodes.one.receive_provider_event(environment, &nodes.new_event("evt_1"), at(1)).await.unwrap();
    let mut settled = nodes.change_to(0, preparing());
    settled.attempt = Some(nodes.new_attempt(9, 9));
    nodes.change(environment, id, &settled).await;

    let objects = nodes.full_change(0, "evt_1").objects;
    let before = Everything::read(nodes, environment, id, &objects).await;
    for from in [0, 2, u64::MAX] {
        let change = PaymentChange { objects: objects.clone(), ..nodes.full_change(from, "evt_1") };
        let changed = nodes.one.change_payment(environment, id, &change).await.unwrap();
        assert_eq!(changed, Changed::Stale, "made from {from}");
        let mut short = nodes.change_to(from, Progress { confirmed: true, ..preparing() });
        (short.objects, short.entries) = (objects.clone(), vec![nodes.new_entry("late")]);
        let changed = nodes.one.change_payment(environment, id, &short).await.unwrap();
        assert_eq!(changed, Changed::Stale, "made from {from}");
    }
    // What cannot be stored fails as a whole: this card was tried under another number.
    let mut broken = PaymentChange { objects: objects.clone(), ..nodes.full_change(1, "evt_1") };
    broken.attempt = Some(nodes.new_attempt(1, 9));
    assert!(nodes.one.change_payment(environment, id, &broken).await.is_err());
    assert_eq!(Everything::read(nodes, environment, id, &objects).await, before);

    let nobody = nodes.new_payment_id();
    let change = nodes.full_change(0, "evt_1");
    assert_eq!(nodes.one.change_payment(environment, nobody, &change).await.unwrap(), Changed::Missing);
    assert_eq!(Everything::read(nodes, environment, id, &objects).await, before);
    assert!(nodes.two.timeline(environment, card(nobody)).await.unwrap().is_empty());
    assert!(nodes.two.exceptions_of(environment, card(nobody)).await.unwrap().is_empty());
}

pub async fn a_repeated_change_is_made_once(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let id = nodes.payment(environment).await;
    nodes.one.receive_provider_event(environment, &nodes.new_event("evt_1"), at(1)).await.unwrap();
    let first = nodes.full_change(0, "evt_1");
    nodes.change(environment, id, &first).await;
    let before = Everything::read(nodes, environment, id, &first.objects).await;
    for node in [&nodes.one, &nodes.two] {
        assert_eq!(node.change_payment(environment, id, &first).await.unwrap(), Changed::Done);
    }
    assert_eq!(Everything::read(nodes, environment, id, &first.objects).await, before);
    // Once something has changed since, it is out of date like any other, unless its event shows that it was made.
    nodes.change(environment, id, &nodes.change_to(1, preparing())).await;
    let before = Everything::read(nodes, environment, id, &first.objects).await;
    assert_eq!(nodes.two.change_payment(environment, id, &first).await.unwrap(), Changed::Done);
    let silent = PaymentChange { event: None, ..first.clone() };
    assert_eq!(nodes.two.change_payment(environment, id, &silent).await.unwrap(), Changed::Stale);
    assert_eq!(Everything::read(nodes, environment, id, &first.objects).await, before);
}

pub async fn a_claim_does_not_disturb_a_change(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let id = nodes.payment_with(&nodes.new_order(environment), &super::samples::due(at(1))).await;
    let change = nodes.change_to(0, super::samples::due(at(50)));
    assert_eq!(nodes.two.claim_payments(at(2), at(9), 5).await.unwrap(), [(environment, id)]);
    let payment = nodes.change(environment, id, &change).await;
    assert_eq!((payment.revision, payment.progress), (1, change.progress.clone()));
    // And a repetition is known again although the payment was claimed since.
    assert_eq!(nodes.two.claim_payments(at(60), at(70), 5).await.unwrap(), [(environment, id)]);
    assert_eq!(nodes.one.change_payment(environment, id, &change).await.unwrap(), Changed::Done);
    assert_eq!(nodes.read(environment, id).await.progress.due, Some(at(70)));
}

pub async fn a_transaction_is_recorded_once(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let order = nodes.new_full_order(environment);
    let id = nodes.payment_with(&order, &preparing()).await;
    assert_eq!(nodes.two.transaction(environment, card(id)).await.unwrap(), None);

    let mut change = nodes.change_to(0, preparing());
    let (first, pending) = (nodes.new_transaction_id(), in_status(Status::Pending));
    change.transaction = Some((first, pending.clone()));
    nodes.change(environment, id, &change).await;
    let mut expected = Transaction {
        environment,
        id: first,
        revision: 1,
        reference: card(id),
        provider: order.provider,
        channel: order.channel,
        currency: order.currency,
        fee: order.fee,
        description: order.description,
        metadata: order.metadata,
        state: pending,
        created_at: change.began_at,
        updated_at: change.at,
    };
    let stored = nodes.two.transaction(environment, card(id)).await.unwrap();
    assert_eq!(stored.as_ref(), Some(&expected));

    for (from, state) in [(1, full_state()), (2, in_status(Status::Succeeded))] {
        let mut change = nodes.change_to(from, preparing());
        change.transaction = Some((nodes.new_transaction_id(), state.clone()));
        nodes.change(environment, id, &change).await;
        (expected.state, expected.updated_at, expected.revision) = (state, change.at, from + 1);
        let stored = nodes.two.transaction(environment, card(id)).await.unwrap();
        assert_eq!(stored.as_ref(), Some(&expected), "its id and moment of recording stay");
    }
    // A change without one leaves all of it but the revision as it is.
    let payment = nodes.change(environment, id, &nodes.change_to(3, preparing())).await;
    assert_eq!(payment.transaction.unwrap().updated_at, expected.updated_at);
    expected.revision = payment.revision;
    assert_eq!(nodes.two.transaction(environment, card(id)).await.unwrap(), Some(expected.clone()));
    let listed = nodes.two.transactions(environment, &TransactionFilter::default(), None, ALL).await.unwrap();
    assert_eq!(listed, [expected]);
    let transfer = ServiceReference::from_bytes(PaymentMethod::Ach, id.to_bytes());
    assert_eq!(nodes.two.transaction(environment, transfer).await.unwrap(), None);
    // An id belongs to one transaction.
    let other = nodes.payment(environment).await;
    let mut thief = nodes.change_to(0, preparing());
    thief.transaction = Some((first, in_status(Status::Pending)));
    assert!(nodes.one.change_payment(environment, other, &thief).await.is_err());
    assert_eq!(nodes.read(environment, other).await.revision, 0);
}

pub async fn attempts_are_replaced_by_number(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let (id, other) = (nodes.payment(environment).await, nodes.payment(environment).await);
    let mut expected: Vec<Attempt> = Vec::new();
    for (from, number, token) in [(0, 2, 2), (1, 1, 1), (2, 3, 3), (3, 2, 2), (4, 1, 7)] {
        let mut change = nodes.change_to(from, preparing());
        let mut attempt = nodes.new_attempt(number, token);
        if from == 3 {
            (attempt.sealed_source, attempt.state) = (None, AttemptState::Declined);
        }
        change.attempt = Some(attempt.clone());
        let payment = nodes.change(environment, id, &change).await;
        expected.retain(|before| before.number != number);
        expected.push(attempt);
        expected.sort_by_key(|attempt| attempt.number);
        assert_eq!(payment.attempts, expected);
    }
    assert!(nodes.read(environment, other).await.attempts.is_empty());
    // The same card may be tried for another payment.
    let mut change = nodes.change_to(0, preparing());
    change.attempt = Some(nodes.new_attempt(1, 3));
    assert_eq!(nodes.change(environment, other, &change).await.attempts.len(), 1);
}

pub async fn one_of_many_changes_wins(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let id = nodes.payment(environment).await;
    for from in 0..3 {
        let answers = at_once(nodes, 50, |place, node| {
            // Of their own: a change that repeats an applied event is done already.
            let mut change = nodes.full_change(from, &format!("evt_{from}_{place}"));
            change.progress.waiting = Some(place.to_string());
            change.attempt = None;
            change.exceptions[0].found = format!("{from}-{place}");
            if place % 3 == 0 {
                change = PaymentChange { entries: change.entries, ..nodes.change_to(from, change.progress) };
            }
            async move { node.change_payment(environment, id, &change).await.unwrap() }
        })
        .await;
        let done = answers.iter().filter(|answer| **answer == Changed::Done).count();
        let stale = answers.iter().filter(|answer| **answer == Changed::Stale).count();
        assert_eq!((done, stale), (1, 49), "{answers:?}");
        let revision = usize::try_from(from).unwrap() + 1;
        assert_eq!(nodes.read(environment, id).await.revision, from + 1);
        assert_eq!(nodes.two.timeline(environment, card(id)).await.unwrap().len(), 2 * revision);
    }
    let transactions =
        nodes.two.transactions(environment, &TransactionFilter::default(), None, ALL).await.unwrap();
    assert!(transactions.len() <= 1, "{transactions:?}");
}

pub async fn one_change_at_once_is_made_once(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let id = nodes.payment(environment).await;
    let change = nodes.full_change(0, "evt_none");
    let answers = at_once(nodes, 20, |_, node| {
        let change = change.clone();
        async move { node.change_payment(environment, id, &change).await.unwrap() }
    })
    .await;
    assert!(answers.iter().all(|answer| *answer == Changed::Done), "{answers:?}");
    assert_eq!(nodes.read(environment, id).await.revision, 1);
    assert_eq!(nodes.two.timeline(environment, card(id)).await.unwrap().len(), 2);

    let order = nodes.new_order(environment);
    let entries = [nodes.new_entry("request")];
    at_once(nodes, 20, |_, node| {
        let (order, entries) = (order.clone(), entries.clone());
        async move { node.insert_payment(environment, &order, &preparing(), &entries, &[]).await.unwrap() }
    })
    .await;
    assert_eq!(nodes.two.timeline(environment, card(order.id)).await.unwrap(), entries);
}

/// Whoever reads never meets half a change: revision, transaction and attempt tell the same.
pub async fn a_payment_is_read_at_one_moment(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let id = nodes.payment(environment).await;
    let reading = nodes.clone();
    let reader = tokio::spawn(async move {
        loop {
            let payment = reading.read(environment, id).await;
            let revision = payment.revision;
            let told = payment.transaction.and_then(|transaction| transaction.state.provider_reference);
            assert_eq!(told, (revision > 0).then(|| revision.to_string()), "half a change was read");
            assert_eq!(payment.attempts.len(), usize::try_from(revision).unwrap());
            if revision == 30 {
                return;
            }
        }
    });
    for from in 0..30_u64 {
        let mut change = nodes.change_to(from, preparing());
        let mut state = in_status(Status::Processing);
        state.provider_reference = Some((from + 1).to_string());
        change.transaction = Some((nodes.new_transaction_id(), state));
        let number = u8::try_from(from + 1).unwrap();
        change.attempt = Some(nodes.new_attempt(u32::from(number), number));
        change.progress.preparation = Preparation::Prepared;
        assert_eq!(nodes.one.change_payment(environment, id, &change).await.unwrap(), Changed::Done);
    }
    reader.await.unwrap();
}
