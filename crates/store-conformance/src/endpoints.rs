//! The endpoints of an environment.

use tollgate_domain::{
    event::EventKind,
    id::{EndpointId, EnvironmentId},
};
use tollgate_engine::ports::{
    DeliveryState, Endpoint, EndpointAdded, EndpointChanged, EndpointEffect, EventDelivery,
};

use super::{
    Nodes, at,
    concurrency::at_once,
    outbox_samples::{SUCCEEDED, attempted},
    samples::LETTERS,
};

pub async fn an_endpoint_goes_round(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    assert!(nodes.two.endpoints(environment).await.unwrap().is_empty());
    let (plain, full) = (nodes.new_endpoint(&["*"]), nodes.new_full_endpoint());
    for endpoint in [&full, &plain] {
        let added = nodes.one.add_endpoint(environment, endpoint, 2).await.unwrap();
        assert_eq!(added, EndpointAdded::Done);
        assert_eq!(nodes.read_endpoint(environment, endpoint.id).await, *endpoint);
    }
    assert_eq!(nodes.two.endpoints(environment).await.unwrap(), [plain.clone(), full], "by id");
    // Once more is done already, and changes nothing.
    let other = Endpoint { url: "https://other.example".to_owned(), ..plain.clone() };
    assert_eq!(nodes.two.add_endpoint(environment, &other, 2).await.unwrap(), EndpointAdded::Done);
    assert_eq!(nodes.read_endpoint(environment, plain.id).await, plain);

    let third = nodes.new_endpoint(&["*"]);
    assert_eq!(nodes.one.add_endpoint(environment, &third, 2).await.unwrap(), EndpointAdded::TooMany);
    assert_eq!(nodes.two.endpoint(environment, third.id).await.unwrap(), None);
    assert_eq!(nodes.one.add_endpoint(environment, &third, 3).await.unwrap(), EndpointAdded::Done);
    let nowhere = EnvironmentId::from_bytes([9; 16]);
    let missing = nodes.one.add_endpoint(nowhere, &third, 3).await.unwrap();
    assert_eq!(missing, EndpointAdded::EnvironmentMissing);
}

pub async fn a_change_takes_its_revision(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let created = nodes.endpoint(environment, &["*"]).await;
    let full = nodes.new_full_endpoint();
    let wanted = Endpoint {
        id: created.id,
        revision: 0,
        updated_at: at(77),
        // What an operator does not change.
        created_at: at(78),
        failures: 7,
        rests_until: Some(at(79)),
        ..full.clone()
    };
    assert_eq!(nodes.one.change_endpoint(environment, &wanted).await.unwrap(), EndpointChanged::Done);
    let expected = Endpoint {
        revision: 1,
        created_at: created.created_at,
        failures: 0,
        rests_until: None,
        ..wanted.clone()
    };
    assert_eq!(nodes.read_endpoint(environment, created.id).await, expected);
    // The very same once more is done already; anything else is out of date.
    assert_eq!(nodes.two.change_endpoint(environment, &wanted).await.unwrap(), EndpointChanged::Done);
    for (url, revision) in [("https://other.example", 0), (wanted.url.as_str(), 2)] {
        let stale = Endpoint { url: url.to_owned(), revision, ..wanted.clone() };
        assert_eq!(nodes.two.change_endpoint(environment, &stale).await.unwrap(), EndpointChanged::Stale);
    }
    assert_eq!(nodes.read_endpoint(environment, created.id).await, expected);
    let missing = nodes.new_endpoint(&["*"]);
    assert_eq!(nodes.one.change_endpoint(environment, &missing).await.unwrap(), EndpointChanged::Missing);
}

/// What an operator's change means for what waits, and for what is held against the endpoint.
pub async fn what_waits_is_parked_with_its_endpoint(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let (endpoint, other) =
        (nodes.endpoint(environment, &["*"]).await, nodes.endpoint(environment, &["*"]).await);
    let (one, two) =
        (nodes.append_event(environment, SUCCEEDED).await, nodes.append_event(environment, SUCCEEDED).await);
    let rests = attempted(DeliveryState::Waiting, Some(at(9_000)), EndpointEffect::Rests(at(8_000)));
    nodes.settle(environment, endpoint.id, one.id, &rests).await;
    let delivered = attempted(DeliveryState::Delivered, None, EndpointEffect::Rests(at(8_001)));
    nodes.settle(environment, endpoint.id, two.id, &delivered).await;
    let state = |delivery: EventDelivery| (delivery.state, delivery.due);

    // Enabled as it was: what is held against it stays.
    let seen = nodes.read_endpoint(environment, endpoint.id).await;
    assert_eq!((seen.failures, seen.rests_until, seen.revision), (2, Some(at(8_001)), 0));
    nodes.one.change_endpoint(environment, &seen).await.unwrap();
    let seen = nodes.read_endpoint(environment, endpoint.id).await;
    assert_eq!((seen.failures, seen.rests_until, seen.revision), (2, Some(at(8_001)), 1));
    assert_eq!(
        state(nodes.delivery(environment, endpoint.id, one.id).await),
        (DeliveryState::Waiting, Some(at(9_000)))
    );

    let disabled = Endpoint { disabled: Some(LETTERS.to_owned()), ..seen };
    nodes.one.change_endpoint(environment, &disabled).await.unwrap();
    assert_eq!(state(nodes.delivery(environment, endpoint.id, one.id).await), (DeliveryState::Parked, None));
    assert_eq!(
        state(nodes.delivery(environment, endpoint.id, two.id).await),
        (DeliveryState::Delivered, None)
    );
    assert_eq!(nodes.delivery(environment, other.id, one.id).await.state, DeliveryState::Waiting);
    let seen = nodes.read_endpoint(environment, endpoint.id).await;
    assert_eq!((seen.failures, seen.rests_until), (2, Some(at(8_001))));

    let enabled = Endpoint { disabled: None, ..seen };
    nodes.one.change_endpoint(environment, &enabled).await.unwrap();
    let seen = nodes.read_endpoint(environment, endpoint.id).await;
    assert_eq!((seen.disabled, seen.failures, seen.rests_until), (None, 0, None));
    assert_eq!(nodes.delivery(environment, endpoint.id, one.id).await.state, DeliveryState::Parked);
}

pub async fn removal_takes_the_deliveries(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let (endpoint, other) =
        (nodes.endpoint(environment, &["*"]).await, nodes.endpoint(environment, &["*"]).await);
    let event = nodes.append_event(environment, SUCCEEDED).await;
    assert!(nodes.one.remove_endpoint(environment, endpoint.id).await.unwrap());
    assert!(!nodes.two.remove_endpoint(environment, endpoint.id).await.unwrap());
    assert_eq!(nodes.two.endpoint(environment, endpoint.id).await.unwrap(), None);
    let left = nodes.all_deliveries(environment).await;
    assert_eq!(left.iter().map(|delivery| delivery.endpoint).collect::<Vec<_>>(), [other.id]);
    assert_eq!(nodes.all_events(environment).await, std::slice::from_ref(&event), "the event stays");
    let late = attempted(DeliveryState::Delivered, None, EndpointEffect::Answers);
    assert!(!nodes.one.settle_delivery(environment, endpoint.id, event.id, &late).await.unwrap());
    assert!(!nodes.two.remove_endpoint(environment, EndpointId::from_bytes([1; 16])).await.unwrap());
    nodes.append_event(environment, EventKind::PaymentPrepared).await;
    assert_eq!(nodes.all_deliveries(environment).await.len(), 2);
}

pub async fn there_are_never_too_many(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let answers = at_once(nodes, 20, |_, node| {
        let endpoint = nodes.new_endpoint(&["*"]);
        async move { node.add_endpoint(environment, &endpoint, 5).await.unwrap() }
    })
    .await;
    assert_eq!(answers.iter().filter(|added| **added == EndpointAdded::Done).count(), 5, "{answers:?}");
    assert_eq!(nodes.two.endpoints(environment).await.unwrap().len(), 5);
}

pub async fn one_of_many_changes_wins(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let endpoint = nodes.endpoint(environment, &["*"]).await;
    let answers = at_once(nodes, 20, |place, node| {
        let wanted = Endpoint { description: Some(place.to_string()), ..endpoint.clone() };
        async move { node.change_endpoint(environment, &wanted).await.unwrap() }
    })
    .await;
    assert_eq!(answers.iter().filter(|changed| **changed == EndpointChanged::Done).count(), 1, "{answers:?}");
    assert_eq!(nodes.read_endpoint(environment, endpoint.id).await.revision, 1);
}
