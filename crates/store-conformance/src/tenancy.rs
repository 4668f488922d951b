//! What belongs to one environment is not there for any other.

use tollgate_domain::{Currency, card::DiscrepancyKind, ledger::Cause, search::amount_term};
use tollgate_engine::ports::{
    Changed, ConfigPut, DeliveryQuery, DeliveryState, Endpoint, EndpointAdded, EndpointChanged,
    EndpointEffect, Inserted, Moved, PaymentFilter, ProviderEventState, Received, Resend, ResendWhich,
    Resent, Reserved, Resolution, Revoked, Rotated, TransactionFilter,
};

use super::{
    ALL, Nodes, at, minor,
    outbox_samples::{SUCCEEDED, attempted},
    put,
    samples::{PROVIDER, card, preparing, settled},
    transfer_samples::ach,
    wallet::books_balance,
};

pub async fn keys_are_of_one_environment(nodes: &Nodes) {
    let (mine, theirs) = (nodes.environment().await.id, nodes.environment().await.id);
    let key = nodes.key(theirs).await;
    assert!(nodes.keys(mine).await.is_empty());
    assert_eq!(nodes.two.key(mine, key.id).await.unwrap(), None);
    assert_eq!(nodes.one.revoke_key(mine, key.id, at(1)).await.unwrap(), Revoked::Missing);
    let replacement = nodes.new_key(mine);
    let answer = nodes.one.rotate_key(mine, key.id, &replacement, at(1)).await.unwrap();
    assert_eq!(answer, Rotated::Missing);
    assert!(nodes.keys(mine).await.is_empty(), "and the replacement was not stored");
    // A replacement for one environment cannot be slipped into another.
    assert!(nodes.one.rotate_key(theirs, key.id, &replacement, at(1)).await.is_err());
    assert_eq!(nodes.keys(theirs).await, [key]);
}

pub async fn configurations_are_of_one_environment(nodes: &Nodes) {
    let (mine, theirs) = (nodes.environment().await.id, nodes.environment().await.id);
    let change = nodes.new_change(0, "theirs");
    put(nodes.one.put_config(theirs, &change).await.unwrap());
    assert_eq!(nodes.two.config(mine).await.unwrap().unwrap().document, None);
    assert_eq!(nodes.two.config_version(mine, 1).await.unwrap(), None);
    assert!(nodes.two.config_history(mine, None, ALL).await.unwrap().is_empty());
    let stale = nodes.two.put_config(mine, &nodes.new_change(1, "mine")).await.unwrap();
    assert_eq!(stale, ConfigPut::Stale { current: 0 }, "versions count within an environment");
}

pub async fn wallets_are_of_one_environment(nodes: &Nodes) {
    let (mine, theirs) = (nodes.environment().await.id, nodes.environment().await.id);
    nodes.fund(theirs, 100, "r").await;
    assert_eq!(
        nodes.two.balances(mine, Currency::USD).await.unwrap(),
        Some(tollgate_domain::ledger::Balances::default())
    );
    assert!(nodes.two.wallet_currencies(mine).await.unwrap().is_empty());
    assert!(nodes.two.ledger(mine, Currency::USD, None, ALL).await.unwrap().is_empty());
    // The same reference is free in another environment.
    let movement = nodes.new_movement(Cause::Fund, 7, "r");
    let answer = nodes.two.move_funds(mine, &movement).await.unwrap();
    assert!(
        matches!(answer, Moved::Done(applied) if !applied.replayed && applied.balances.available == minor(7))
    );
    assert_eq!(nodes.one.balances(theirs, Currency::USD).await.unwrap().unwrap().available, minor(100));
}

pub async fn wallets_are_of_one_currency(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 100, "r").await;
    let euro = Currency::parse("EUR").unwrap();
    let mut movement = nodes.new_movement(Cause::Withdraw, 1, "r");
    movement.currency = euro;
    let answer = nodes.two.move_funds(environment, &movement).await.unwrap();
    assert_eq!(answer, Moved::Insufficient { available: minor(0) });
    let mut movement = nodes.new_movement(Cause::Fund, 3, "r");
    movement.currency = euro;
    nodes.two.move_funds(environment, &movement).await.unwrap();
    assert_eq!(nodes.one.wallet_currencies(environment).await.unwrap(), [euro, Currency::USD]);
    assert_eq!(nodes.one.balances(environment, euro).await.unwrap().unwrap().available, minor(3));
    assert_eq!(nodes.one.balances(environment, Currency::USD).await.unwrap().unwrap().available, minor(100));
    assert_eq!(nodes.one.ledger(environment, euro, None, ALL).await.unwrap().len(), 2);
}

pub async fn payments_are_of_one_environment(nodes: &Nodes) {
    let (mine, theirs) = (nodes.environment().await.id, nodes.environment().await.id);
    let order = nodes.new_order(theirs);
    let id = nodes.payment_with(&order, &preparing()).await;
    nodes.change(theirs, id, &nodes.full_change(0, "evt_1")).await;
    let before = nodes.read(theirs, id).await;

    assert_eq!(nodes.two.payment(mine, id).await.unwrap(), None);
    assert_eq!(nodes.two.payment_of_object(mine, PROVIDER, "pi_0").await.unwrap(), None);
    assert!(nodes.two.payments(mine, PaymentFilter::default(), None, ALL).await.unwrap().is_empty());
    assert_eq!(nodes.two.transaction(mine, card(id)).await.unwrap(), None);
    let all = TransactionFilter::default();
    assert!(nodes.two.transactions(mine, &all, None, ALL).await.unwrap().is_empty());
    assert!(nodes.two.timeline(mine, card(id)).await.unwrap().is_empty());
    for from in [0, 1] {
        let answer = nodes.two.change_payment(mine, id, &nodes.full_change(from, "evt_1")).await.unwrap();
        assert_eq!(answer, Changed::Missing);
    }
    assert!(nodes.two.timeline(mine, card(id)).await.unwrap().is_empty());

    // All the same names are free in another environment, and stand for something else there.
    let mut twin = nodes.new_order(mine);
    (twin.id, twin.description) = (id, Some("mine".to_owned()));
    assert_eq!(nodes.one.insert_payment(mine, &twin, &preparing(), &[], &[]).await.unwrap(), Inserted::Done);
    let mut change = nodes.full_change(0, "evt_1");
    change.transaction.as_mut().unwrap().0 = before.transaction.as_ref().unwrap().id;
    let changed = nodes.change(mine, id, &change).await;
    assert_eq!(changed.order, twin);
    assert_eq!(nodes.two.payment_of_object(mine, PROVIDER, "pi_0").await.unwrap(), Some(id));
    assert_eq!(nodes.two.timeline(mine, card(id)).await.unwrap(), change.entries);
    let transaction = nodes.two.transaction(mine, card(id)).await.unwrap().unwrap();
    assert_eq!((transaction.environment, transaction.description.as_deref()), (mine, Some("mine")));
    assert_eq!(nodes.read(theirs, id).await, before);
    assert_eq!(nodes.two.timeline(theirs, card(id)).await.unwrap().len(), 2);
    assert_eq!(nodes.two.transactions(theirs, &all, None, ALL).await.unwrap().len(), 1);
}

pub async fn events_are_of_one_environment(nodes: &Nodes) {
    let (mine, theirs) = (nodes.environment().await.id, nodes.environment().await.id);
    nodes.one.receive_provider_event(theirs, &nodes.new_event("evt_1"), at(1)).await.unwrap();
    let before = nodes.two.provider_events(theirs, None, None, ALL).await.unwrap();
    assert!(nodes.two.provider_events(mine, None, None, ALL).await.unwrap().is_empty());
    // Nor does a change of my payment settle their event, or my own event of that name.
    let id = nodes.payment(mine).await;
    nodes.change(mine, id, &nodes.full_change(0, "evt_1")).await;
    assert_eq!(nodes.two.provider_events(theirs, None, None, ALL).await.unwrap(), before);
    let received = nodes.two.receive_provider_event(mine, &nodes.new_event("evt_2"), at(1)).await.unwrap();
    assert_eq!(received, Received::New);
    for event in ["evt_2", "evt_3"] {
        let settled = settled(event, ProviderEventState::Applied);
        assert!(nodes.two.settle_provider_event(mine, &settled).await.unwrap());
    }
    assert_eq!(nodes.two.provider_events(mine, None, None, ALL).await.unwrap().len(), 3);
    assert_eq!(nodes.two.provider_events(theirs, None, None, ALL).await.unwrap(), before);
}

pub async fn exceptions_are_of_one_environment(nodes: &Nodes) {
    let (mine, theirs) = (nodes.environment().await.id, nodes.environment().await.id);
    let id = nodes.payment(theirs).await;
    let mut change = nodes.change_to(0, preparing());
    change.exceptions = vec![nodes.new_exception(DiscrepancyKind::Amount, "1")];
    nodes.change(theirs, id, &change).await;
    let exception = change.exceptions[0].id;
    assert!(nodes.two.exceptions(mine, false, None, ALL).await.unwrap().is_empty());
    assert!(nodes.two.exceptions(mine, true, None, ALL).await.unwrap().is_empty());
    assert!(nodes.two.exceptions_of(mine, card(id)).await.unwrap().is_empty());
    let resolution = Resolution { at: at(9), actor: "me".to_owned(), note: String::new() };
    assert!(!nodes.two.resolve_exception(mine, exception, &resolution).await.unwrap());
    assert_eq!(nodes.two.exceptions(theirs, true, None, ALL).await.unwrap().len(), 1);
}

pub async fn transfers_are_of_one_environment(nodes: &Nodes) {
    let (mine, theirs) = (nodes.environment().await.id, nodes.environment().await.id);
    nodes.fund(theirs, 5_000, "f").await;
    nodes.one.receive_provider_event(theirs, &nodes.new_event("evt_1"), at(1)).await.unwrap();
    let new = nodes.new_transfer(theirs);
    let id = nodes.reserve(&new).await;
    let mut change = nodes.full_transfer_change(0, "evt_1", &new.order.fee);
    change.event = None;
    let before = nodes.change_transfer(&new, &change).await;
    let object = before.state.provider_reference.clone().unwrap();

    assert_eq!(nodes.two.transfer(mine, id).await.unwrap(), None);
    assert_eq!(nodes.two.transfer_of_object(mine, PROVIDER, &object).await.unwrap(), None);
    let found = nodes.two.transfer_of_object(theirs, PROVIDER, &object).await.unwrap();
    assert_eq!(found.as_ref(), Some(&before));
    assert!(nodes.two.waiting_transfers(mine, None, ALL).await.unwrap().is_empty());
    assert_eq!(nodes.two.transaction(mine, ach(id)).await.unwrap(), None);
    for from in [0, 1] {
        let change = nodes.full_transfer_change(from, "evt_1", &new.order.fee);
        assert_eq!(nodes.two.change_transfer(mine, id, &change).await.unwrap(), Changed::Missing);
    }
    // Nor is their money there for mine.
    let mut twin = nodes.new_transfer(mine);
    (twin.order.id, twin.transaction, twin.posting) = (id, new.transaction, new.posting);
    let refused = Reserved::Insufficient { available: minor(0) };
    assert_eq!(nodes.two.reserve_transfer(mine, &twin).await.unwrap(), refused);
    // All the same names are free in another environment, and stand for something else there.
    nodes.fund(mine, 2_000, "f").await;
    assert_eq!(nodes.two.reserve_transfer(mine, &twin).await.unwrap(), Reserved::Created);
    let mut change = nodes.full_transfer_change(0, "evt_1", &twin.order.fee);
    change.posting.as_mut().unwrap().id = nodes.new_posting_id();
    let changed = nodes.change_transfer(&twin, &change).await;
    assert_eq!((changed.order, changed.revision), (twin.order, 1));
    let found = nodes.two.transfer_of_object(mine, PROVIDER, &object).await.unwrap();
    assert_eq!(found.map(|transfer| (transfer.order.environment, transfer.order.id)), Some((mine, id)));
    assert_eq!(nodes.read_transfer(&new).await, before);
    let events =
        nodes.two.provider_events(theirs, Some(ProviderEventState::Waiting), None, ALL).await.unwrap();
    assert_eq!(events.len(), 1, "my change has not settled their event");
    assert_eq!(books_balance(nodes, mine, Currency::USD).await, 2_000);
    assert_eq!(books_balance(nodes, theirs, Currency::USD).await, 5_000);
    nodes.audit_is_clean().await;
}

pub async fn the_outbox_is_of_one_environment(nodes: &Nodes) {
    let (mine, theirs) = (nodes.environment().await.id, nodes.environment().await.id);
    let endpoint = nodes.endpoint(theirs, &["*"]).await;
    let event = nodes.append_event(theirs, SUCCEEDED).await;
    nodes.park(theirs, endpoint.id, event.id).await;
    let before = nodes.all_deliveries(theirs).await;

    assert!(nodes.two.endpoints(mine).await.unwrap().is_empty());
    assert_eq!(nodes.two.endpoint(mine, endpoint.id).await.unwrap(), None);
    let changed = nodes.two.change_endpoint(mine, &endpoint).await.unwrap();
    assert_eq!(changed, EndpointChanged::Missing);
    assert!(!nodes.two.remove_endpoint(mine, endpoint.id).await.unwrap());
    assert!(nodes.all_events(mine).await.is_empty());
    assert_eq!(nodes.two.find_event(mine, event.id).await.unwrap(), None);
    for query in [
        DeliveryQuery::default(),
        DeliveryQuery { endpoint: Some(endpoint.id), ..DeliveryQuery::default() },
        DeliveryQuery { event: Some(event.id), ..DeliveryQuery::default() },
    ] {
        assert!(nodes.two.deliveries(mine, query, None, ALL).await.unwrap().is_empty());
    }
    let delivered = attempted(DeliveryState::Delivered, None, EndpointEffect::Answers);
    assert!(!nodes.two.settle_delivery(mine, endpoint.id, event.id, &delivered).await.unwrap());
    // Neither their endpoint nor their event can be named, not even with one of mine.
    let own = nodes.endpoint(mine, &["*"]).await;
    let own_event = nodes.append_event(mine, SUCCEEDED).await;
    for (endpoint, event) in [(Some(endpoint.id), own_event.id), (Some(own.id), event.id), (None, event.id)] {
        let wish = Resend { endpoint, which: ResendWhich::Event(event) };
        assert_eq!(nodes.two.resend(mine, wish, at(9), 9).await.unwrap(), Resent::Missing);
    }
    let span = ResendWhich::Between { from: at(0), until: at(99_999), parked_only: false, after: None };
    let resent = nodes.two.resend(mine, Resend { endpoint: None, which: span }, at(9), 9).await.unwrap();
    assert_eq!(resent, Resent::Done { deliveries: 1, next_after: None });
    // The same id is free in another environment, and stands for something else there.
    let twin = Endpoint { url: "https://mine.example".to_owned(), ..endpoint.clone() };
    assert_eq!(nodes.two.add_endpoint(mine, &twin, 9).await.unwrap(), EndpointAdded::Done);
    let off = Endpoint { disabled: Some("no".to_owned()), ..twin };
    assert_eq!(nodes.two.change_endpoint(mine, &off).await.unwrap(), EndpointChanged::Done);
    assert!(nodes.two.remove_endpoint(mine, endpoint.id).await.unwrap());
    assert_eq!(nodes.read_endpoint(theirs, endpoint.id).await, endpoint);
    assert_eq!(nodes.all_deliveries(theirs).await, before);
}

pub async fn records_are_of_one_environment(nodes: &Nodes) {
    let (mine, theirs) = (nodes.environment().await.id, nodes.environment().await.id);
    let event = nodes.append_event(theirs, SUCCEEDED).await;
    nodes.one.index_events(9).await.unwrap();
    let term = amount_term(minor(10_000));
    assert!(nodes.two.find_payments(mine, &term, None, ALL).await.unwrap().is_empty());
    assert!(nodes.two.activity(mine, at(0), at(99_999)).await.unwrap().is_empty());
    assert!(nodes.two.past_payments(mine, None, ALL).await.unwrap().is_empty());
    let found = nodes.two.find_payments(theirs, &term, None, ALL).await.unwrap();
    assert_eq!(found.iter().map(|found| found.reference).collect::<Vec<_>>(), event.reference.as_slice());
    assert_eq!(nodes.two.activity(theirs, at(0), at(99_999)).await.unwrap().len(), 1);
    assert_eq!(nodes.two.past_payments(theirs, None, ALL).await.unwrap().len(), 1);
}
