//! Providers' events.

use std::cmp::Reverse;

use rand::RngExt as _;
use tollgate_domain::id::EnvironmentId;
use tollgate_engine::ports::{
    Changed, ProviderEvent, ProviderEventCursor, ProviderEventState, Received, StoredProviderEvent,
};

use super::{
    ALL, Nodes, at,
    concurrency::at_once,
    random,
    samples::{LETTERS, PROVIDER, preparing, settled},
    transfer_samples::{ach, sending},
};

impl Nodes {
    async fn event(&self, environment: EnvironmentId, id: &str) -> StoredProviderEvent {
        let events = self.two.provider_events(environment, None, None, ALL).await.unwrap();
        events.into_iter().find(|stored| stored.event.id == id).expect("the event is there")
    }
}

pub async fn an_event_is_received_once(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let event = ProviderEvent {
        kind: LETTERS.to_owned(),
        notice: format!("{{\"about\":{:?}}}", LETTERS.repeat(500)),
        request: LETTERS.to_owned(),
        ..nodes.new_event(LETTERS)
    };
    assert_eq!(nodes.one.receive_provider_event(environment, &event, at(1)).await.unwrap(), Received::New);
    let stored = StoredProviderEvent {
        environment,
        event: event.clone(),
        state: ProviderEventState::Waiting,
        due: Some(at(1)),
        tries: 0,
        note: String::new(),
    };
    let again = ProviderEvent { notice: "{\"other\":1}".to_owned(), ..nodes.new_event(LETTERS) };
    for node in [&nodes.one, &nodes.two] {
        assert_eq!(node.receive_provider_event(environment, &again, at(900)).await.unwrap(), Received::Known);
    }
    assert_eq!(nodes.event(environment, LETTERS).await, stored, "the first one stays as it came");
    // Known also once it is done with.
    assert!(
        nodes
            .one
            .settle_provider_event(environment, &settled(LETTERS, ProviderEventState::Applied))
            .await
            .unwrap()
    );
    assert_eq!(
        nodes.two.receive_provider_event(environment, &again, at(900)).await.unwrap(),
        Received::Known
    );
    assert_eq!(nodes.event(environment, LETTERS).await.state, ProviderEventState::Applied);
    // Names are exact, and a provider's own.
    for (provider, id) in [("stripe-main", "evt"), ("stripe-main", "EVT"), ("square", "evt")] {
        let event = ProviderEvent { provider: provider.to_owned(), ..nodes.new_event(id) };
        assert_eq!(
            nodes.one.receive_provider_event(environment, &event, at(1)).await.unwrap(),
            Received::New
        );
    }
    let nowhere = EnvironmentId::from_bytes([9; 16]);
    assert!(nodes.one.receive_provider_event(nowhere, &event, at(1)).await.is_err());
    assert!(nodes.two.provider_events(nowhere, None, None, ALL).await.unwrap().is_empty());
}

pub async fn one_of_many_deliveries_is_new(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let answers = at_once(nodes, 24, |_, node| {
        let event = nodes.new_event("evt_1");
        async move { node.receive_provider_event(environment, &event, at(1)).await.unwrap() }
    })
    .await;
    let new = answers.iter().filter(|answer| **answer == Received::New).count();
    assert_eq!(new, 1, "{answers:?}");
    assert_eq!(nodes.two.provider_events(environment, None, None, ALL).await.unwrap().len(), 1);
}

/// As those that need no answer of the provider.
pub async fn an_event_is_stored_settled(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    for state in ProviderEventState::ALL {
        let mut new = settled(state.as_str(), state);
        (new.due, new.event.notice) = (Some(at(77)), format!("{{\"about\":{LETTERS:?}}}"));
        assert!(nodes.one.settle_provider_event(environment, &new).await.unwrap());
        let is_applied = state == ProviderEventState::Applied;
        let notice = if is_applied { String::new() } else { new.event.notice.clone() };
        let stored = StoredProviderEvent {
            environment,
            event: ProviderEvent { notice, ..new.event.clone() },
            state,
            due: new.due.filter(|_| state == ProviderEventState::Waiting),
            tries: 0,
            note: new.note.clone(),
        };
        assert_eq!(nodes.event(environment, state.as_str()).await, stored);
        let again = nodes.two.receive_provider_event(environment, &new.event, at(900)).await.unwrap();
        assert_eq!(again, Received::Known);
        let is_waiting = state == ProviderEventState::Waiting;
        assert_eq!(nodes.two.settle_provider_event(environment, &new).await.unwrap(), is_waiting);
        assert_eq!(nodes.event(environment, state.as_str()).await, stored);
    }
    let nowhere = EnvironmentId::from_bytes([9; 16]);
    let new = settled("evt_1", ProviderEventState::Applied);
    assert!(!nodes.one.settle_provider_event(nowhere, &new).await.unwrap());
    // With the change it leads to, on either side.
    let payment = nodes.payment(environment).await;
    let mut change = nodes.change_to(0, preparing());
    change.event = Some(settled("evt_2", ProviderEventState::Applied));
    nodes.change(environment, payment, &change).await;
    assert_eq!(nodes.event(environment, "evt_2").await.state, ProviderEventState::Applied);
    nodes.fund(environment, 5_000, "f").await;
    let new = nodes.new_transfer(environment);
    nodes.reserve(&new).await;
    let mut change = nodes.transfer_change(0, sending());
    change.event = Some(settled("evt_3", ProviderEventState::Applied));
    nodes.change_transfer(&new, &change).await;
    let stored = nodes.event(environment, "evt_3").await;
    let expected = settled("evt_3", ProviderEventState::Applied);
    let event = ProviderEvent { notice: String::new(), ..expected.event.clone() };
    assert_eq!((stored.event, stored.state, stored.due), (event, ProviderEventState::Applied, None));
    // The same event again, about what is there now.
    let mut again = nodes.transfer_change(1, sending());
    again.event = Some(expected);
    again.entries = vec![nodes.new_entry("again")];
    let lines = nodes.two.timeline(environment, ach(new.order.id)).await.unwrap();
    let changed = nodes.two.change_transfer(environment, new.order.id, &again).await.unwrap();
    assert_eq!((changed, nodes.read_transfer(&new).await.revision), (Changed::Done, 1));
    assert_eq!(nodes.two.timeline(environment, ach(new.order.id)).await.unwrap(), lines);
}

pub async fn a_settled_event_stays(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    for (id, state) in [
        ("evt_1", ProviderEventState::Applied),
        ("evt_2", ProviderEventState::Ignored),
        ("evt_3", ProviderEventState::Parked),
    ] {
        nodes.one.receive_provider_event(environment, &nodes.new_event(id), at(1)).await.unwrap();
        // It may wait on, as often as it likes.
        let mut waits = settled(id, ProviderEventState::Waiting);
        (waits.due, waits.note) = (Some(at(77)), "the payment is not there yet".to_owned());
        for _ in 0..2 {
            assert!(nodes.one.settle_provider_event(environment, &waits).await.unwrap());
        }
        let stored = nodes.event(environment, id).await;
        assert_eq!(
            (stored.state, stored.due, stored.note),
            (ProviderEventState::Waiting, waits.due, waits.note.clone())
        );
        // A due moment means nothing for what is done with.
        let mut done = settled(id, state);
        done.due = Some(at(88));
        assert!(nodes.two.settle_provider_event(environment, &done).await.unwrap());
        let stored = nodes.event(environment, id).await;
        assert_eq!((stored.state, stored.due, stored.note.as_str()), (state, None, LETTERS));

        for late in ProviderEventState::ALL {
            let mut late = settled(id, late);
            (late.due, late.note) = (Some(at(99)), "late".to_owned());
            assert!(!nodes.one.settle_provider_event(environment, &late).await.unwrap());
            // Nor does a change of a payment move it: what it led to was done before.
            let payment = nodes.payment(environment).await;
            let mut change = nodes.change_to(0, preparing());
            change.event = Some(late);
            let changed = nodes.one.change_payment(environment, payment, &change).await.unwrap();
            assert_eq!((changed, nodes.read(environment, payment).await.revision), (Changed::Done, 0));
        }
        assert_eq!(nodes.event(environment, id).await, stored);
        assert!(nodes.one.claim_provider_events(at(1_000), at(2_000), ALL).await.unwrap().is_empty());
    }
}

pub async fn only_a_parked_event_is_retried(nodes: &Nodes) {
    let (environment, other) = (nodes.environment().await.id, nodes.environment().await.id);
    let retry = async |scope, provider: &str, id: &str| {
        nodes.two.retry_stored_provider_event(scope, provider, id, at(50)).await.unwrap()
    };
    for state in ProviderEventState::ALL {
        let id = format!("evt_{}", state.as_str());
        nodes.one.receive_provider_event(environment, &nodes.new_event(&id), at(1)).await.unwrap();
        nodes.one.claim_provider_events(at(2), at(1_000), ALL).await.unwrap();
        if state != ProviderEventState::Waiting {
            nodes.one.settle_provider_event(environment, &settled(&id, state)).await.unwrap();
        }
        let before = nodes.event(environment, &id).await;
        let provider = before.event.provider.clone();
        for (scope, provider, id) in [
            (other, provider.as_str(), id.as_str()),
            (environment, "nobody", &id),
            (environment, &provider, "evt"),
        ] {
            assert!(!retry(scope, provider, id).await);
        }
        assert_eq!(retry(environment, &provider, &id).await, state == ProviderEventState::Parked);
        let after = nodes.event(environment, &id).await;
        if state == ProviderEventState::Parked {
            assert_eq!((after.state, after.due, after.tries), (ProviderEventState::Waiting, Some(at(50)), 0));
            assert_eq!(after.note, before.note, "why it was parked is still known");
            assert!(!retry(environment, &provider, &id).await, "it waits already");
        } else {
            assert_eq!(after, before);
        }
    }
}

/// Providers' names may hold anything.
pub async fn what_no_database_holds_is_not_there(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    for (provider, id) in [(PROVIDER, "\0"), (PROVIDER, "evt_\u{0}1"), ("\0", "evt_1")] {
        assert_eq!(nodes.two.payment_of_object(environment, provider, id).await.unwrap(), None);
        assert_eq!(nodes.two.transfer_of_object(environment, provider, id).await.unwrap(), None);
        assert!(!nodes.two.retry_stored_provider_event(environment, provider, id, at(1)).await.unwrap());
        let place =
            ProviderEventCursor { received_at: at(1), event: Some((provider.to_owned(), id.to_owned())) };
        assert!(nodes.two.provider_events(environment, None, Some(&place), ALL).await.unwrap().is_empty());
    }
}

pub async fn a_change_may_leave_its_event_waiting(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let payment = nodes.payment(environment).await;
    nodes.one.receive_provider_event(environment, &nodes.new_event("evt_1"), at(1)).await.unwrap();
    let mut change = nodes.change_to(0, preparing());
    let mut waits = settled("evt_1", ProviderEventState::Waiting);
    waits.due = Some(at(50));
    change.event = Some(waits);
    nodes.change(environment, payment, &change).await;
    let stored = nodes.event(environment, "evt_1").await;
    assert_eq!((stored.state, stored.due, stored.tries), (ProviderEventState::Waiting, Some(at(50)), 0));
}

/// Random events under every filter, in pages, against the plainest model there is.
pub async fn events_are_listed_newest_first(nodes: &Nodes) {
    let (seed, mut random) = random();
    let (environment, other) = (nodes.environment().await.id, nodes.environment().await.id);
    let mut model: Vec<StoredProviderEvent> = Vec::new();
    for place in 0..50 {
        let id = format!("evt_{place}");
        let mut event = nodes.new_event(&id);
        // Several arrive within one moment.
        event.received_at = at(place / 4);
        let scope = if place % 9 == 8 { other } else { environment };
        nodes.one.receive_provider_event(scope, &event, at(5)).await.unwrap();
        let state = ProviderEventState::ALL[random.random_range(0..4)];
        if state != ProviderEventState::Waiting {
            assert!(nodes.one.settle_provider_event(scope, &settled(&id, state)).await.unwrap());
        }
        if state == ProviderEventState::Applied {
            event.notice.clear();
        }
        if scope == environment {
            let due = (state == ProviderEventState::Waiting).then(|| at(5));
            let note = if due.is_none() { LETTERS.to_owned() } else { String::new() };
            model.push(StoredProviderEvent { environment, event, state, due, tries: 0, note });
        }
    }
    model.sort_by_key(|stored| (Reverse(stored.event.received_at), stored.event.id.clone()));
    for state in ProviderEventState::ALL.into_iter().map(Some).chain([None]) {
        let expected: Vec<_> =
            model.iter().filter(|stored| state.is_none_or(|state| stored.state == state)).cloned().collect();
        let mut listed: Vec<StoredProviderEvent> = Vec::new();
        loop {
            let limit = random.random_range(1..=9);
            let before = listed.last().map(|stored| ProviderEventCursor {
                received_at: stored.event.received_at,
                event: Some((stored.event.provider.clone(), stored.event.id.clone())),
            });
            let page = nodes.two.provider_events(environment, state, before.as_ref(), limit).await.unwrap();
            assert!(page.len() <= usize::try_from(limit).unwrap());
            if page.is_empty() {
                break;
            }
            listed.extend(page);
        }
        assert_eq!(listed, expected, "seed {seed}, {state:?}");
        assert!(nodes.two.provider_events(environment, state, None, 0).await.unwrap().is_empty());
        let moment = ProviderEventCursor { received_at: at(6), event: None };
        let earlier = nodes.two.provider_events(environment, state, Some(&moment), ALL).await.unwrap();
        let expected: Vec<_> =
            expected.into_iter().filter(|stored| stored.event.received_at < at(6)).collect();
        assert_eq!(earlier, expected, "seed {seed}, {state:?}");
    }
}
