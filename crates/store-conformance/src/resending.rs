//! Events that an operator has sent once more.

use tollgate_domain::{
    Timestamp,
    card::CardOrder,
    event::EventKind,
    id::{EndpointId, EnvironmentId, EventId},
};
use tollgate_engine::ports::{
    DeliveryState, Endpoint, EndpointEffect, EventDelivery, Resend, ResendWhich, Resent,
};

use super::{
    Nodes, at,
    outbox_samples::{FAILED, SUCCEEDED, attempted},
    samples::preparing,
};

const fn done(deliveries: u32) -> Resent {
    Resent::Done { deliveries, next_after: None }
}

/// With more behind this event.
fn begun(deliveries: u32, last: EventId) -> Resent {
    Resent::Done { deliveries, next_after: Some(last) }
}

const NOTHING: Resent = done(0);

fn one(endpoint: Option<EndpointId>, event: EventId) -> Resend {
    Resend { endpoint, which: ResendWhich::Event(event) }
}

fn span(endpoint: Option<EndpointId>, from: Timestamp, until: Timestamp, parked_only: bool) -> Resend {
    Resend { endpoint, which: ResendWhich::Between { from, until, parked_only, after: None } }
}

/// The rest of a span that was begun.
fn rest(begun: Resend, behind: EventId) -> Resend {
    let ResendWhich::Between { from, until, parked_only, .. } = begun.which else { return begun };
    Resend { which: ResendWhich::Between { from, until, parked_only, after: Some(behind) }, ..begun }
}

fn after(moment: Timestamp) -> Timestamp {
    Timestamp::from_unix_millis(moment.unix_millis() + 1)
}

/// The deliveries that wait, newest event first.
async fn waiting(nodes: &Nodes, environment: EnvironmentId) -> Vec<(EventId, EndpointId)> {
    let all = nodes.all_deliveries(environment).await;
    let waits = all.into_iter().filter(|delivery| delivery.state == DeliveryState::Waiting);
    waits.map(|delivery| (delivery.event.id, delivery.endpoint)).collect()
}

pub async fn one_event_is_sent_again(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let never_sent = nodes.append_event(environment, SUCCEEDED).await;
    let (all, some) = (
        nodes.endpoint(environment, &["*"]).await,
        nodes.endpoint(environment, &["transaction.failed"]).await,
    );
    let event = nodes.append_event(environment, SUCCEEDED).await;
    nodes.one.claim_deliveries(at(2_000), at(3_000), 9, 9).await.unwrap();
    let delivered = attempted(DeliveryState::Delivered, None, EndpointEffect::Answers);
    nodes.settle(environment, all.id, event.id, &delivered).await;

    // To whoever wants it, from the beginning; its result last is still known.
    let resent = nodes.one.resend(environment, one(None, event.id), at(4_000), 9).await.unwrap();
    assert_eq!(resent, done(1));
    let expected = EventDelivery {
        endpoint: all.id,
        state: DeliveryState::Waiting,
        since: at(4_000),
        due: Some(at(4_000)),
        tries: 0,
        last: Some(delivered.last),
        event: event.clone(),
    };
    assert_eq!(nodes.all_deliveries(environment).await, std::slice::from_ref(&expected));
    // To one by name, whatever it usually wants; also what was never on its way.
    let resent = nodes.two.resend(environment, one(Some(some.id), event.id), at(4_001), 9).await.unwrap();
    assert_eq!(resent, done(1));
    assert_eq!(nodes.all_deliveries(environment).await.len(), 2);
    let resent = nodes.two.resend(environment, one(None, never_sent.id), at(4_002), 9).await.unwrap();
    assert_eq!(resent, done(1));
    let made = nodes.delivery(environment, all.id, never_sent.id).await;
    assert_eq!((made.since, made.due, made.tries, made.last), (at(4_002), Some(at(4_002)), 0, None));
    // And what waits begins again.
    nodes.one.claim_deliveries(at(5_000), at(6_000), 9, 9).await.unwrap();
    nodes.one.resend(environment, one(Some(all.id), event.id), at(4_000), 9).await.unwrap();
    assert_eq!(nodes.delivery(environment, all.id, event.id).await, expected);

    let resent = nodes.one.resend(environment, one(None, event.id), at(4_000), 0).await.unwrap();
    assert_eq!(resent, NOTHING);
}

pub async fn a_span_is_sent_again(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let mut events = Vec::new();
    for kind in [SUCCEEDED, FAILED, EventKind::PaymentPrepared, SUCCEEDED, FAILED] {
        events.push(nodes.append_event(environment, kind).await);
    }
    let (all, failed) = (
        nodes.endpoint(environment, &["*"]).await.id,
        nodes.endpoint(environment, &["transaction.failed"]).await.id,
    );
    let (first, last) = (events[0].at, after(events[4].at));
    let ids: Vec<EventId> = events.iter().map(|event| event.id).collect();

    // Without its end, and with its beginning.
    let resent = nodes.one.resend(environment, span(None, first, events[1].at, false), at(9), 99).await;
    assert_eq!(resent.unwrap(), done(1));
    let resent = nodes.one.resend(environment, span(None, last, at(99_999), false), at(9), 99).await;
    assert_eq!(resent.unwrap(), NOTHING);
    let backwards = nodes.one.resend(environment, span(None, last, first, false), at(9), 99).await;
    assert_eq!(backwards.unwrap(), NOTHING);
    assert_eq!(waiting(nodes, environment).await, [(ids[0], all)]);

    // No more than allowed, in the order of the events; the rest begins behind the last of them.
    let everything = span(None, first, last, false);
    let resent = nodes.two.resend(environment, everything, at(9), 3).await.unwrap();
    assert_eq!(resent, begun(3, ids[1]));
    assert_eq!(waiting(nodes, environment).await, [(ids[1], all), (ids[1], failed), (ids[0], all)]);
    let resent = nodes.two.resend(environment, rest(everything, ids[1]), at(9), 99).await;
    assert_eq!(resent.unwrap(), done(4));
    assert_eq!(waiting(nodes, environment).await.len(), 7);
    // An event goes to all who want it, or has its turn later.
    let resent = nodes.two.resend(environment, everything, at(9), 2).await.unwrap();
    assert_eq!(resent, begun(1, ids[0]));
    let resent = nodes.two.resend(environment, rest(everything, ids[0]), at(9), 1).await.unwrap();
    assert_eq!(resent, begun(2, ids[1]));

    // To one by name, all there is.
    let resent = nodes.one.resend(environment, span(Some(failed), first, last, false), at(9), 99).await;
    assert_eq!(resent.unwrap(), done(5));
    assert_eq!(waiting(nodes, environment).await.len(), 10);
}

/// Thousands of events of one moment are sent again in slices, each exactly once.
pub async fn a_moment_of_many_events_is_sent_again_in_slices(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let moment = at(77);
    let mut ids = Vec::new();
    for _ in 0..7 {
        let order = CardOrder { created_at: moment, ..nodes.new_order(environment) };
        let new_events = [nodes.new_outbox_event(EventKind::PaymentPrepared)];
        nodes.one.insert_payment(environment, &order, &preparing(), &[], &new_events).await.unwrap();
        ids.push(new_events[0].id);
    }
    let endpoint = nodes.endpoint(environment, &["*"]).await.id;
    let everything = span(None, moment, after(moment), false);
    let mut wish = everything;
    let mut sent = Vec::new();
    loop {
        let resent = nodes.one.resend(environment, wish, at(9), 2).await.unwrap();
        let Resent::Done { deliveries, next_after } = resent else { panic!("{resent:?}") };
        sent.push(deliveries);
        let Some(next) = next_after else { break };
        wish = rest(everything, next);
        assert!(sent.len() < 9, "it never ends");
    }
    assert_eq!(sent, [2, 2, 2, 1]);
    ids.reverse();
    let expected: Vec<_> = ids.into_iter().map(|id| (id, endpoint)).collect();
    assert_eq!(waiting(nodes, environment).await, expected);
}

pub async fn what_was_parked_is_sent_again(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let (all, failed, other) = (
        nodes.endpoint(environment, &["*"]).await,
        nodes.endpoint(environment, &["transaction.failed"]).await,
        nodes.endpoint(environment, &["*"]).await,
    );
    let mut events = Vec::new();
    for kind in [FAILED, FAILED, SUCCEEDED, FAILED] {
        events.push(nodes.append_event(environment, kind).await);
    }
    let delivered = attempted(DeliveryState::Delivered, None, EndpointEffect::Answers);
    for event in &events {
        nodes.park(environment, all.id, event.id).await;
        nodes.settle(environment, other.id, event.id, &delivered).await;
        if event.kind == FAILED {
            nodes.park(environment, failed.id, event.id).await;
        }
    }
    assert!(waiting(nodes, environment).await.is_empty());
    // One of them was also sent what it usually does not want, in vain.
    let unwanted = one(Some(failed.id), events[2].id);
    nodes.one.resend(environment, unwanted, at(9), 9).await.unwrap();
    nodes.park(environment, failed.id, events[2].id).await;

    let (first, last) = (events[0].at, after(events[3].at));
    let everything = span(None, first, last, true);
    let resent = nodes.one.resend(environment, everything, at(9), 4).await.unwrap();
    assert_eq!(resent, begun(4, events[1].id));
    let resent = nodes.one.resend(environment, everything, at(9), 99).await;
    assert_eq!(resent.unwrap(), done(3), "what waits already is not parked");
    let left: Vec<_> = nodes
        .all_deliveries(environment)
        .await
        .into_iter()
        .filter(|delivery| delivery.state == DeliveryState::Parked)
        .map(|delivery| (delivery.event.id, delivery.endpoint))
        .collect();
    assert_eq!(left, [(events[2].id, failed.id)]);
    let named = span(Some(failed.id), first, last, true);
    let resent = nodes.two.resend(environment, named, at(9), 99).await.unwrap();
    assert_eq!(resent, done(1), "by name, whatever it usually wants");
    let resent = nodes.two.resend(environment, span(None, first, last, true), at(9), 99).await.unwrap();
    assert_eq!(resent, NOTHING);
}

pub async fn nothing_is_sent_where_nobody_is(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let event = nodes.append_event(environment, SUCCEEDED).await;
    let disabled = Endpoint { disabled: Some("no".to_owned()), ..nodes.new_endpoint(&["*"]) };
    nodes.one.add_endpoint(environment, &disabled, 9).await.unwrap();
    let (nobody, nothing) = (nodes.new_endpoint(&["*"]).id, nodes.new_event_id());
    for parked_only in [false, true] {
        let wish = |endpoint| span(endpoint, at(0), at(99_999), parked_only);
        let resent = nodes.one.resend(environment, wish(Some(nobody)), at(9), 9).await.unwrap();
        assert_eq!(resent, Resent::Missing);
        let resent = nodes.one.resend(environment, wish(Some(disabled.id)), at(9), 9).await.unwrap();
        assert_eq!(resent, Resent::Disabled);
        assert_eq!(nodes.one.resend(environment, wish(None), at(9), 9).await.unwrap(), NOTHING);
    }
    for (wish, expected) in [
        (one(Some(nobody), event.id), Resent::Missing),
        (one(Some(disabled.id), event.id), Resent::Disabled),
        (one(None, nothing), Resent::Missing),
        (one(None, event.id), NOTHING),
    ] {
        assert_eq!(nodes.two.resend(environment, wish, at(9), 9).await.unwrap(), expected);
    }
    assert!(nodes.all_deliveries(environment).await.is_empty());
}
