//! Deliveries, from the event until the endpoint has it or nobody tries anymore.

use std::collections::BTreeSet;

use tollgate_domain::{
    event::EventKind,
    id::{EndpointId, EventId},
};
use tollgate_engine::ports::{
    ClaimedDelivery, DeliveryQuery, DeliveryState, Endpoint, EndpointEffect, EventDelivery, Resend,
    ResendWhich, Resent,
};

use super::{
    ALL, Nodes, at,
    concurrency::at_once,
    outbox_samples::{FAILED, SUCCEEDED, attempted, taken},
    samples::{LETTERS, preparing},
};

pub async fn those_who_want_it_get_it(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let before = nodes.append_event(environment, SUCCEEDED).await;
    let all = nodes.endpoint(environment, &["*"]).await;
    let some = nodes.endpoint(environment, &["payment.prepared", "transaction.failed"]).await;
    let one = nodes.endpoint(environment, &["transaction.succeeded"]).await;
    let disabled = Endpoint { disabled: Some("no".to_owned()), ..nodes.new_endpoint(&["*"]) };
    nodes.one.add_endpoint(environment, &disabled, 9).await.unwrap();
    nodes.endpoint(nodes.environment().await.id, &["*"]).await;

    let mut expected = Vec::new();
    for (kind, wanting) in [
        (SUCCEEDED, vec![all.id, one.id]),
        (FAILED, vec![all.id, some.id]),
        (EventKind::PaymentPrepared, vec![all.id, some.id]),
        (EventKind::ALL[1], vec![all.id]),
    ] {
        let event = nodes.append_event(environment, kind).await;
        expected.splice(
            0..0,
            wanting.into_iter().map(|endpoint| EventDelivery {
                endpoint,
                state: DeliveryState::Waiting,
                since: event.at,
                due: Some(event.at),
                tries: 0,
                last: None,
                event: event.clone(),
            }),
        );
    }
    assert_eq!(nodes.all_deliveries(environment).await, expected);
    assert!(expected.iter().all(|delivery| delivery.event != before));
    // Both of a transfer's first change and of what it tells, too.
    nodes.fund(environment, 5_000, "f").await;
    let new = nodes.new_transfer(environment);
    nodes.reserve(&new).await;
    let change = nodes.full_transfer_change(0, "evt_1", &new.order.fee);
    nodes.change_transfer(&new, &change).await;
    let count = async |event| {
        let query = DeliveryQuery { event: Some(event), ..DeliveryQuery::default() };
        nodes.two.deliveries(environment, query, None, ALL).await.unwrap().len()
    };
    assert_eq!((count(change.pending_event.unwrap()).await, count(change.new_events[0].id).await), (1, 2));
}

pub async fn deliveries_are_listed_newest_first(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let mut endpoints = Vec::new();
    for names in [&["*"][..], &["transaction.failed"], &["transaction.failed", "transaction.succeeded"]] {
        endpoints.push(nodes.endpoint(environment, names).await.id);
    }
    let mut events = Vec::new();
    for place in 0..9_u8 {
        let kind = [FAILED, SUCCEEDED, FAILED][usize::from(place % 3)];
        events.push(nodes.append_event(environment, kind).await.id);
    }
    for (place, delivery) in nodes.all_deliveries(environment).await.iter().enumerate() {
        let state = DeliveryState::ALL[place % 3];
        if state != DeliveryState::Waiting {
            let settled = attempted(state, None, EndpointEffect::Answers);
            nodes.settle(environment, delivery.endpoint, delivery.event.id, &settled).await;
        }
    }
    let all = nodes.all_deliveries(environment).await;
    assert_eq!(all.len(), 6 * 3 + 3 * 2);
    let places: Vec<_> = all.iter().map(|one| (std::cmp::Reverse(one.event.id), one.endpoint)).collect();
    assert!(places.is_sorted());

    let pick = |delivery: &EventDelivery| (delivery.event.id, delivery.endpoint);
    let some_endpoints =
        [None, Some(endpoints[0]), Some(endpoints[2]), Some(EndpointId::from_bytes([1; 16]))];
    let some_events = [None, Some(events[0]), Some(events[4]), Some(EventId::from_bytes([1; 16]))];
    let some_states = [None].into_iter().chain(DeliveryState::ALL.map(Some));
    for (endpoint, event) in some_endpoints.iter().flat_map(|one| some_events.map(|other| (*one, other))) {
        for state in some_states.clone() {
            let query = DeliveryQuery { endpoint, event, state };
            for before in [None, Some(pick(&all[0])), Some(pick(&all[9])), Some(pick(&all[23]))] {
                let expected: Vec<_> = all
                    .iter()
                    .skip(
                        before.map_or(0, |place| all.iter().position(|one| pick(one) == place).unwrap() + 1),
                    )
                    .filter(|one| endpoint.is_none_or(|endpoint| one.endpoint == endpoint))
                    .filter(|one| event.is_none_or(|event| one.event.id == event))
                    .filter(|one| state.is_none_or(|state| one.state == state))
                    .cloned()
                    .collect();
                for limit in [2, ALL] {
                    let found = nodes.two.deliveries(environment, query, before, limit).await.unwrap();
                    let most = expected.len().min(usize::try_from(limit).unwrap());
                    assert_eq!(found, expected[..most], "{query:?} {before:?} {limit}");
                }
            }
        }
    }
}

pub async fn claims_are_fair(nodes: &Nodes) {
    let (one, other) = (nodes.environment().await.id, nodes.environment().await.id);
    assert!(nodes.one.claim_deliveries(at(9_000), at(9_001), 5, 5).await.unwrap().is_empty());
    // Much waits for the first, which is longest due; something for two more.
    let busy = nodes.endpoint(one, &["transaction.succeeded"]).await;
    let mut much = Vec::new();
    for _ in 0..8 {
        much.push(nodes.append_event(one, SUCCEEDED).await);
    }
    let second = nodes.endpoint(other, &["transaction.failed"]).await;
    let third = nodes.endpoint(one, &["transaction.failed"]).await;
    let later = nodes.append_event(other, FAILED).await;
    let last = [nodes.append_event(one, FAILED).await, nodes.append_event(one, FAILED).await];

    let first = much[0].at;
    let just_before = tollgate_domain::Timestamp::from_unix_millis(first.unix_millis() - 1);
    assert!(nodes.one.claim_deliveries(just_before, at(8_000), 5, 5).await.unwrap().is_empty());
    assert!(nodes.one.claim_deliveries(at(7_000), at(8_000), 5, 0).await.unwrap().is_empty());
    assert!(nodes.one.claim_deliveries(at(7_000), at(8_000), 0, 5).await.unwrap().is_empty());
    let claimed = nodes.one.claim_deliveries(at(7_000), at(8_000), 2, 4).await.unwrap();
    let expected =
        [(busy.id, much[0].id), (busy.id, much[1].id), (second.id, later.id), (third.id, last[0].id)];
    assert_eq!(taken(&claimed), expected, "two of each, four in all, who waited longest first");
    let shown = ClaimedDelivery {
        environment: other,
        endpoint: second.clone(),
        delivery: EventDelivery {
            event: later.clone(),
            endpoint: second.id,
            state: DeliveryState::Waiting,
            since: later.at,
            due: Some(at(8_000)),
            tries: 1,
            last: None,
        },
    };
    assert_eq!(claimed[2], shown);
    assert_eq!(nodes.delivery(other, second.id, later.id).await, shown.delivery);

    let claimed = nodes.two.claim_deliveries(at(7_000), at(8_000), 2, 4).await.unwrap();
    let expected = [(busy.id, much[2].id), (busy.id, much[3].id), (third.id, last[1].id)];
    assert_eq!(taken(&claimed), expected, "what was taken is not due");
    let claimed = nodes.two.claim_deliveries(at(7_000), at(8_000), 9, 9).await.unwrap();
    assert_eq!(claimed.len(), 4);
    assert!(nodes.two.claim_deliveries(at(7_999), at(8_500), 9, 9).await.unwrap().is_empty());
    // Whoever took them has vanished.
    let claimed = nodes.two.claim_deliveries(at(8_000), at(8_500), 9, 99).await.unwrap();
    assert_eq!(claimed.len(), 11);
    assert!(claimed.iter().all(|claimed| claimed.delivery.tries == 2));
}

pub async fn who_rests_or_is_disabled_is_left_alone(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let (resting, disabled, well) = (
        nodes.endpoint(environment, &["*"]).await,
        nodes.endpoint(environment, &["*"]).await,
        nodes.endpoint(environment, &["transaction.failed"]).await,
    );
    let first = nodes.append_event(environment, SUCCEEDED).await;
    let rests = attempted(DeliveryState::Waiting, Some(at(100)), EndpointEffect::Rests(at(3_000)));
    nodes.settle(environment, resting.id, first.id, &rests).await;
    let gone = attempted(DeliveryState::Parked, None, EndpointEffect::Disabled(LETTERS.to_owned()));
    nodes.settle(environment, disabled.id, first.id, &gone).await;
    let event = nodes.append_event(environment, FAILED).await;

    let claimed = nodes.one.claim_deliveries(at(2_999), at(5_000), 9, 9).await.unwrap();
    assert_eq!(taken(&claimed), [(well.id, event.id)]);
    assert!(nodes.one.claim_deliveries(at(2_999), at(5_000), 9, 9).await.unwrap().is_empty());
    let claimed = nodes.two.claim_deliveries(at(3_000), at(5_000), 9, 9).await.unwrap();
    let tries: Vec<_> = claimed.iter().map(|one| (one.endpoint.id, one.delivery.event.id)).collect();
    assert_eq!(tries.len(), 2, "the rest is over");
    assert!(tries.contains(&(resting.id, first.id)) && tries.contains(&(resting.id, event.id)));
    assert_eq!(nodes.all_deliveries(environment).await.len(), 2 + 2, "a disabled one gets nothing new");
}

pub async fn many_claimers_share_no_delivery(nodes: &Nodes) {
    let environments = [nodes.environment().await.id, nodes.environment().await.id];
    let mut all = BTreeSet::new();
    for environment in environments {
        for _ in 0..2 {
            nodes.endpoint(environment, &["*"]).await;
        }
        for _ in 0..15 {
            nodes.append_event(environment, SUCCEEDED).await;
        }
        let waiting = nodes.all_deliveries(environment).await;
        all.extend(waiting.into_iter().map(|delivery| (delivery.endpoint, delivery.event.id)));
    }
    assert_eq!(all.len(), 60);
    let answers = at_once(nodes, 16, |_, node| async move {
        let mut claimed = Vec::new();
        // What others hold in the same moment is passed over, so an empty answer does not yet mean that all is taken.
        for _ in 0..25 {
            claimed.extend(node.claim_deliveries(at(9_000), at(10_000), 2, 5).await.unwrap());
        }
        taken(&claimed)
    })
    .await;
    let taken: Vec<_> = answers.into_iter().flatten().collect();
    assert_eq!(taken.len(), 60, "none was taken twice");
    assert_eq!(taken.into_iter().collect::<BTreeSet<_>>(), all, "and all were taken");
    for environment in environments {
        assert!(nodes.all_deliveries(environment).await.iter().all(|delivery| delivery.tries == 1));
    }
}

pub async fn a_settled_delivery_stays(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let endpoint = nodes.endpoint(environment, &["*"]).await.id;
    for state in [DeliveryState::Delivered, DeliveryState::Parked] {
        let event = nodes.append_event(environment, SUCCEEDED).await;
        nodes.one.claim_deliveries(at(4_000), at(5_000), 9, 9).await.unwrap();
        let waits = attempted(DeliveryState::Waiting, Some(at(6_000)), EndpointEffect::Answers);
        nodes.settle(environment, endpoint, event.id, &waits).await;
        let mut expected = EventDelivery {
            endpoint,
            state: DeliveryState::Waiting,
            since: event.at,
            due: Some(at(6_000)),
            tries: 1,
            last: Some(waits.last.clone()),
            event: event.clone(),
        };
        assert_eq!(nodes.delivery(environment, endpoint, event.id).await, expected);
        // A due moment means nothing for what is done with.
        let mut done = attempted(state, Some(at(7_000)), EndpointEffect::Answers);
        (done.last.status, done.last.took_millis) = (None, 0);
        nodes.settle(environment, endpoint, event.id, &done).await;
        (expected.state, expected.due, expected.last) = (state, None, Some(done.last));
        assert_eq!(nodes.delivery(environment, endpoint, event.id).await, expected);
        for late in DeliveryState::ALL {
            let late = attempted(late, Some(at(8_000)), EndpointEffect::Rests(at(9_000)));
            assert!(!nodes.two.settle_delivery(environment, endpoint, event.id, &late).await.unwrap());
        }
        assert_eq!(nodes.delivery(environment, endpoint, event.id).await, expected);
    }
    let seen = nodes.read_endpoint(environment, endpoint).await;
    assert_eq!((seen.failures, seen.rests_until), (0, None), "what comes late says nothing");
    assert!(nodes.one.claim_deliveries(at(90_000), at(90_001), 9, 9).await.unwrap().is_empty());
    let unknown = attempted(DeliveryState::Delivered, None, EndpointEffect::Answers);
    let never = nodes.new_event_id();
    assert!(!nodes.one.settle_delivery(environment, endpoint, never, &unknown).await.unwrap());
}

pub async fn an_attempt_tells_of_its_endpoint(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let (endpoint, other) =
        (nodes.endpoint(environment, &["*"]).await, nodes.endpoint(environment, &["*"]).await);
    let mut events = Vec::new();
    for _ in 0..4 {
        events.push(nodes.append_event(environment, SUCCEEDED).await.id);
    }
    let seen = async || {
        let seen = nodes.read_endpoint(environment, endpoint.id).await;
        (seen.failures, seen.rests_until, seen.disabled, seen.revision)
    };
    for (failures, until) in [(1, 2_000), (2, 2_500)] {
        let rests = attempted(DeliveryState::Waiting, Some(at(3_000)), EndpointEffect::Rests(at(until)));
        nodes.settle(environment, endpoint.id, events[0], &rests).await;
        assert_eq!(seen().await, (failures, Some(at(until)), None, 0));
    }
    let answers = attempted(DeliveryState::Delivered, None, EndpointEffect::Answers);
    nodes.settle(environment, endpoint.id, events[0], &answers).await;
    assert_eq!(seen().await, (0, None, None, 0));

    let gone =
        attempted(DeliveryState::Waiting, Some(at(3_000)), EndpointEffect::Disabled(LETTERS.to_owned()));
    nodes.settle(environment, endpoint.id, events[1], &gone).await;
    assert_eq!(seen().await, (1, None, Some(LETTERS.to_owned()), 0));
    let states = async |endpoint: EndpointId| {
        let query = DeliveryQuery { endpoint: Some(endpoint), ..DeliveryQuery::default() };
        let found = nodes.two.deliveries(environment, query, None, ALL).await.unwrap();
        found.into_iter().map(|delivery| (delivery.state, delivery.due.is_some())).collect::<Vec<_>>()
    };
    let parked = (DeliveryState::Parked, false);
    assert_eq!(states(endpoint.id).await, [parked, parked, parked, (DeliveryState::Delivered, false)]);
    assert_eq!(states(other.id).await, [(DeliveryState::Waiting, true); 4]);
    assert_eq!(nodes.read_endpoint(environment, other.id).await, other);
}

/// Events, claims, attempts of all kinds, an operator who disables, enables and sends again: nobody stands in another's
/// way for good, and in the end everybody has everything.
pub async fn all_at_once_everything_arrives(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let endpoints =
        [nodes.endpoint(environment, &["*"]).await.id, nodes.endpoint(environment, &["*"]).await.id];
    let orders: Vec<_> = (0..40).map(|_| nodes.new_order(environment)).collect();
    let new_events: Vec<_> = (0..40).map(|_| nodes.new_outbox_event(EventKind::PaymentPrepared)).collect();
    at_once(nodes, 8, |place, node| {
        let mine: Vec<_> =
            orders.iter().cloned().zip(new_events.iter().cloned()).skip(place * 20).take(20).collect();
        async move {
            match place {
                0 | 1 => {
                    for (order, event) in mine {
                        node.insert_payment(environment, &order, &preparing(), &[], &[event]).await.unwrap();
                    }
                }
                2 => {
                    for round in 0..12_u8 {
                        let id = endpoints[usize::from(round % 2)];
                        let mut seen = node.endpoint(environment, id).await.unwrap().unwrap();
                        seen.disabled = seen.disabled.is_none().then(|| "for a while".to_owned());
                        node.change_endpoint(environment, &seen).await.unwrap();
                    }
                }
                3 => {
                    let which = ResendWhich::Between {
                        from: at(0),
                        until: at(99_999),
                        parked_only: true,
                        after: None,
                    };
                    for _ in 0..8 {
                        node.resend(environment, Resend { endpoint: None, which }, at(1), 9).await.unwrap();
                    }
                }
                _ => {
                    for round in 0..12_u8 {
                        for claimed in node.claim_deliveries(at(5_000), at(5_000), 3, 5).await.unwrap() {
                            let (state, effect) = match round % 4 {
                                0 => (DeliveryState::Waiting, EndpointEffect::Rests(at(4_000))),
                                1 => (DeliveryState::Waiting, EndpointEffect::Disabled("gone".to_owned())),
                                2 => (DeliveryState::Parked, EndpointEffect::Rests(at(6_000))),
                                _ => (DeliveryState::Delivered, EndpointEffect::Answers),
                            };
                            let attempted = attempted(state, Some(at(4_500)), effect);
                            let (endpoint, event) = (claimed.endpoint.id, claimed.delivery.event.id);
                            node.settle_delivery(environment, endpoint, event, &attempted).await.unwrap();
                        }
                    }
                }
            }
        }
    })
    .await;

    // What was told while an endpoint was disabled is sent by name, and everything is there in the end.
    for id in endpoints {
        let mut seen = nodes.read_endpoint(environment, id).await;
        seen.disabled = None;
        nodes.one.change_endpoint(environment, &seen).await.unwrap();
        let which = ResendWhich::Between { from: at(0), until: at(99_999), parked_only: false, after: None };
        let wish = Resend { endpoint: Some(id), which };
        let resent = nodes.one.resend(environment, wish, at(1), ALL).await.unwrap();
        assert!(matches!(resent, Resent::Done { deliveries: 40, .. }), "{resent:?}");
    }
    let delivered = attempted(DeliveryState::Delivered, None, EndpointEffect::Answers);
    loop {
        let claimed = nodes.two.claim_deliveries(at(9_000), at(10_000), 7, 9).await.unwrap();
        if claimed.is_empty() {
            break;
        }
        for (endpoint, event) in taken(&claimed) {
            nodes.settle(environment, endpoint, event, &delivered).await;
        }
    }
    let all = nodes.all_deliveries(environment).await;
    assert_eq!(all.len(), 80);
    assert!(all.iter().all(|delivery| delivery.state == DeliveryState::Delivered));
}
