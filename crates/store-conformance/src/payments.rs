//! Card payments as they are stored, found and listed.

use rand::RngExt as _;
use tollgate_domain::{
    Channel,
    card::{Attempt, AttemptState, CardOrder, Preparation},
    id::{EnvironmentId, PaymentId},
    routing::{RouteOutcome, RouteProgress, Target},
};
use tollgate_engine::ports::{
    CardPayment, Changed, Entry, Inserted, PaymentFilter, PaymentReroute, Progress,
};

use super::{
    ALL, Nodes, at, random,
    samples::{LETTERS, account, card, due, full_card_fee, full_state, preparing},
    switch::attempts_at,
    transfer_samples::ach,
};

pub async fn a_payment_goes_round(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let full = Progress {
        preparation: Preparation::Withdrawn,
        object: Some(LETTERS.to_owned()),
        checkout_url: Some("https://pay.example/ü".to_owned()),
        prepared_at: Some(at(3)),
        confirmed: true,
        due: Some(at(4)),
        follow_up: Some(at(5)),
        tries: u32::MAX,
        waiting: Some(LETTERS.to_owned()),
        card_fee: Some(Box::new(full_card_fee())),
    };
    for (order, progress) in
        [(nodes.new_order(environment), preparing()), (nodes.new_full_order(environment), full)]
    {
        nodes.payment_with(&order, &progress).await;
        let stored = CardPayment {
            revision: 0,
            order,
            progress,
            transaction: None,
            attempts: Vec::new(),
            refunds: Vec::new(),
            disputes: Vec::new(),
            hold_actions: Vec::new(),
        };
        assert_eq!(nodes.read(environment, stored.order.id).await, stored);
    }
    for preparation in Preparation::ALL {
        let order = nodes.new_order(environment);
        let id = nodes.payment_with(&order, &Progress { preparation, ..preparing() }).await;
        assert_eq!(nodes.read(environment, id).await.progress.preparation, preparation);
    }
    assert_eq!(nodes.two.payment(environment, nodes.new_payment_id()).await.unwrap(), None);
}

pub async fn a_changed_payment_goes_round(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let order = nodes.new_full_order(environment);
    let id = nodes.payment_with(&order, &preparing()).await;
    let mut change = nodes.full_change(0, "evt_0");
    for state in AttemptState::ALL {
        change.attempt.as_mut().unwrap().state = state;
        let payment = nodes.change(environment, id, &change).await;
        assert_eq!(payment.revision, change.from_revision + 1);
        assert_eq!((&payment.order, &payment.progress), (&order, &change.progress));
        assert_eq!(payment.transaction.unwrap().state, full_state());
        assert_eq!(payment.attempts, [change.attempt.clone().unwrap()]);
        change = nodes.full_change(payment.revision, &format!("evt_{}", payment.revision));
    }
    // And back to nothing where nothing is known anymore.
    change.progress = preparing();
    change.attempt = Some(Attempt { sealed_source: None, ..nodes.new_attempt(1, 1) });
    let plain = super::samples::in_status(tollgate_domain::transaction::Status::Succeeded);
    change.transaction = Some((nodes.new_transaction_id(), plain.clone()));
    let payment = nodes.change(environment, id, &change).await;
    assert_eq!((payment.progress, payment.transaction.unwrap().state), (preparing(), plain));
    assert_eq!(payment.attempts, [change.attempt.unwrap()]);
}

pub async fn an_operator_ties_a_payment_to_another_account(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let order = nodes.new_full_order(environment);
    let id = nodes.payment_with(&order, &preparing()).await;
    nodes.change(environment, id, &nodes.full_change(0, "evt_1")).await;
    nodes.fund(environment, 5_000, "f").await;
    let new = nodes.new_transfer(environment);
    nodes.reserve(&new).await;
    let another = account(Some("another"));
    let (payment, transfer) = (card(id), ach(new.order.id));
    for reference in [payment, transfer] {
        // A line alone leaves the payment as it is; repeated, it is there once.
        let line = nodes.new_entry("note");
        let revision = nodes.two.transaction(environment, reference).await.unwrap().map(|it| it.revision);
        for _ in 0..2 {
            assert!(nodes.one.add_to_timeline(environment, reference, &line).await.unwrap());
        }
        let lines = nodes.two.timeline(environment, reference).await.unwrap();
        assert_eq!((lines.last(), lines.iter().filter(|it| **it == line).count()), (Some(&line), 1));
        assert_eq!(
            nodes.two.transaction(environment, reference).await.unwrap().map(|it| it.revision),
            revision
        );
        let nowhere = nodes.environment().await.id;
        assert!(!nodes.one.add_to_timeline(nowhere, reference, &line).await.unwrap());
        let entry = nodes.new_entry("account");
        let revision = revision.unwrap();
        for other in [revision + 1, revision.wrapping_sub(1)] {
            let from = Some(other);
            assert!(!nodes.one.set_account(environment, reference, &another, from, &entry).await.unwrap());
        }
        assert_ne!(nodes.two.timeline(environment, reference).await.unwrap().last(), Some(&entry));
        let from = (reference == transfer).then_some(revision);
        assert!(nodes.one.set_account(environment, reference, &another, from, &entry).await.unwrap());
        assert_eq!(nodes.two.timeline(environment, reference).await.unwrap().last(), Some(&entry));
        // Nor is anything of another environment, or unknown, touched.
        let elsewhere = nodes.environment().await.id;
        assert!(!nodes.one.set_account(elsewhere, reference, &another, None, &entry).await.unwrap());
    }
    let read = nodes.read(environment, id).await;
    assert_eq!((read.revision, read.order.account.as_ref()), (2, Some(&another)));
    assert!(read.progress.due.is_some() && read.progress.tries == 0);
    assert!(read.attempts.iter().all(|attempt| attempt.account.as_ref() == Some(&another)));
    let read = nodes.two.transfer(environment, new.order.id).await.unwrap().unwrap();
    assert_eq!((read.revision, read.order.account.as_ref()), (1, Some(&another)));
    assert!(read.progress.due.is_some());
}

pub async fn a_key_belongs_to_one_payment_until_it_is_withdrawn(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let key = nodes.new_key_digest();
    let keyed = |environment| CardOrder { key: Some(key), ..nodes.new_order(environment) };
    let (first, second, third) = (keyed(environment), keyed(environment), keyed(environment));
    nodes.payment_with(&first, &preparing()).await;
    let entries = [nodes.new_entry("request")];
    let taken = nodes.two.insert_payment(environment, &second, &preparing(), &entries, &[]).await.unwrap();
    assert_eq!(taken, Inserted::KeyTaken(first.id));
    assert_eq!(nodes.one.payment(environment, second.id).await.unwrap(), None);
    assert_eq!(nodes.one.timeline(environment, card(second.id)).await.unwrap(), []);
    let again = nodes.two.insert_payment(environment, &first, &preparing(), &[], &[]).await.unwrap();
    assert_eq!(again, Inserted::Done, "the very same");
    assert_eq!(nodes.two.payment_of_key(environment, &key).await.unwrap(), Some(first.id));
    assert_eq!(nodes.two.payment_of_key(environment, &nodes.new_key_digest()).await.unwrap(), None);
    // Elsewhere the same key is another's.
    let elsewhere = nodes.environment().await.id;
    assert_eq!(nodes.two.payment_of_key(elsewhere, &key).await.unwrap(), None);
    nodes.payment_with(&keyed(elsewhere), &preparing()).await;

    let withdrawn = Progress { preparation: Preparation::Withdrawn, ..preparing() };
    nodes.change(environment, first.id, &nodes.change_to(0, withdrawn)).await;
    assert_eq!(nodes.one.payment_of_key(environment, &key).await.unwrap(), None);
    nodes.payment_with(&third, &preparing()).await;
    assert_eq!(nodes.two.payment_of_key(environment, &key).await.unwrap(), Some(third.id));
}

pub async fn insertion_is_repeatable(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let order = nodes.new_full_order(environment);
    let entries = [nodes.new_entry("request"), nodes.new_entry("routed")];
    for node in [&nodes.one, &nodes.two, &nodes.one] {
        let inserted = node.insert_payment(environment, &order, &due(at(1)), &entries, &[]).await.unwrap();
        assert_eq!(inserted, Inserted::Done);
    }
    assert_eq!(nodes.two.timeline(environment, card(order.id)).await.unwrap(), entries);
    // A late repetition changes nothing of a payment that has gone on, and adds nothing to it.
    let changed = nodes.change(environment, order.id, &nodes.full_change(0, "evt_1")).await;
    let lines = nodes.two.timeline(environment, card(order.id)).await.unwrap();
    let late = [nodes.new_entry("late")];
    let inserted = nodes.two.insert_payment(environment, &order, &preparing(), &late, &[]).await.unwrap();
    assert_eq!(inserted, Inserted::Done);
    assert_eq!(nodes.read(environment, order.id).await, changed);
    assert_eq!(nodes.two.timeline(environment, card(order.id)).await.unwrap(), lines);
}

pub async fn insertion_needs_its_environment(nodes: &Nodes) {
    let nowhere = EnvironmentId::from_bytes([9; 16]);
    let order = nodes.new_order(nowhere);
    let entries = [nodes.new_entry("request")];
    let inserted = nodes.one.insert_payment(nowhere, &order, &preparing(), &entries, &[]).await.unwrap();
    assert_eq!(inserted, Inserted::EnvironmentMissing);
    assert_eq!(nodes.two.payment(nowhere, order.id).await.unwrap(), None);
    assert!(nodes.two.timeline(nowhere, card(order.id)).await.unwrap().is_empty());
    // Nor is a payment slipped into another environment than its own.
    let environment = nodes.environment().await.id;
    assert!(nodes.one.insert_payment(environment, &order, &preparing(), &[], &[]).await.is_err());
    assert!(
        nodes
            .one
            .insert_payment(nowhere, &nodes.new_order(environment), &preparing(), &[], &[])
            .await
            .is_err()
    );
    assert!(nodes.two.payments(environment, PaymentFilter::default(), None, ALL).await.unwrap().is_empty());
}

pub async fn objects_lead_to_their_payment(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let (first, second) = (nodes.payment(environment).await, nodes.payment(environment).await);
    let other_provider = {
        let mut order = nodes.new_order(environment);
        order.provider = String::from("square");
        nodes.payment_with(&order, &preparing()).await
    };
    let name = async |id: PaymentId, from: u64, objects: &[&str]| {
        let mut change = nodes.change_to(from, preparing());
        change.objects = objects.iter().map(|object| (*object).to_owned()).collect();
        nodes.change(environment, id, &change).await;
    };
    let found = async |provider: &str, object: &str| {
        nodes.two.payment_of_object(environment, provider, object).await.unwrap()
    };
    name(first, 0, &["cs_1", LETTERS, "cs_1"]).await;
    // One already known stays whose it is, and the rest of the change is made.
    name(second, 0, &["cs_1", "cs_2"]).await;
    name(second, 1, &["cs_2", "cs_3"]).await;
    name(other_provider, 0, &["cs_1"]).await;
    for (id, expected) in [
        (second, vec!["cs_2", "cs_3"]),
        (other_provider, vec!["cs_1"]),
        (nodes.payment(environment).await, vec![]),
    ] {
        assert_eq!(nodes.two.objects_of_payment(environment, id).await.unwrap(), expected);
    }
    assert_eq!(nodes.two.objects_of_payment(environment, first).await.unwrap().len(), 2);
    let elsewhere = nodes.environment().await.id;
    assert!(nodes.two.objects_of_payment(elsewhere, second).await.unwrap().is_empty());
    for (provider, object, expected) in [
        ("stripe-main", "cs_1", Some(first)),
        ("stripe-main", LETTERS, Some(first)),
        ("stripe-main", "cs_2", Some(second)),
        ("stripe-main", "cs_3", Some(second)),
        ("square", "cs_1", Some(other_provider)),
        ("square", "cs_2", None),
        ("stripe-main", "CS_1", None),
        ("stripe-main", "cs_1 ", None),
        ("stripe", "cs_1", None),
        ("stripe-main", "", None),
    ] {
        assert_eq!(found(provider, object).await, expected, "{provider} {object}");
    }
}

pub async fn the_timeline_is_oldest_first(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let order = nodes.new_order(environment);
    let mut lines: Vec<Entry> = (0..6).map(|place| nodes.new_entry(&format!("kind {place}"))).collect();
    lines[0].request = Some(LETTERS.to_owned());
    lines[1].detail = format!("{{\"said\":{:?}}}", LETTERS.repeat(200));
    lines[2].kind = String::from(LETTERS);
    // The order of ids counts, neither that of arrival nor that of the clocks.
    lines[3].at = at(-5);
    nodes
        .one
        .insert_payment(environment, &order, &preparing(), &[lines[4].clone(), lines[1].clone()], &[])
        .await
        .unwrap();
    for (from, places) in [(0, [5, 0]), (1, [3, 2])] {
        let mut change = nodes.change_to(from, preparing());
        change.entries = places.into_iter().map(|place: usize| lines[place].clone()).collect();
        nodes.change(environment, order.id, &change).await;
    }
    assert_eq!(nodes.two.timeline(environment, card(order.id)).await.unwrap(), lines);
    // A line is never changed, even where one comes under its name.
    let mut change = nodes.change_to(2, preparing());
    change.entries = vec![Entry { kind: "forged".to_owned(), ..lines[0].clone() }];
    nodes.change(environment, order.id, &change).await;
    assert_eq!(nodes.two.timeline(environment, card(order.id)).await.unwrap(), lines);

    let other = nodes.payment(environment).await;
    assert!(nodes.two.timeline(environment, card(other)).await.unwrap().is_empty());
    // The same bytes as a transfer's reference are something else.
    let transfer = tollgate_domain::ServiceReference::from_bytes(
        tollgate_domain::PaymentMethod::Ach,
        order.id.to_bytes(),
    );
    assert!(nodes.two.timeline(environment, transfer).await.unwrap().is_empty());
}

/// Random payments under every filter, in pages, against the plainest model there is.
pub async fn payments_are_listed_newest_first(nodes: &Nodes) {
    let (seed, mut random) = random();
    let environment = nodes.environment().await.id;
    let mut model: Vec<(PaymentId, Preparation, bool)> = Vec::new();
    for _ in 0..60 {
        let preparation = Preparation::ALL[random.random_range(0..5)];
        let waits = random.random_range(0..3) == 0;
        let waiting = waits.then(|| String::from("the provider does not answer"));
        let order = nodes.new_order(environment);
        nodes.payment_with(&order, &Progress { preparation, waiting, ..preparing() }).await;
        model.insert(0, (order.id, preparation, waits));
    }
    let preparations = Preparation::ALL.into_iter().map(Some).chain([None]);
    for filter in preparations
        .flat_map(|preparation| [false, true].map(|waiting| PaymentFilter { preparation, waiting }))
    {
        let expected: Vec<PaymentId> = model
            .iter()
            .filter(|(_, preparation, waits)| {
                filter.preparation.is_none_or(|wanted| wanted == *preparation) && (*waits || !filter.waiting)
            })
            .map(|(id, _, _)| *id)
            .collect();
        let mut listed = Vec::new();
        loop {
            let limit = random.random_range(1..=9);
            let before = listed.last().copied();
            let page = nodes.two.payments(environment, filter, before, limit).await.unwrap();
            assert!(page.len() <= usize::try_from(limit).unwrap());
            if page.is_empty() {
                break;
            }
            listed.extend(page);
        }
        assert_eq!(listed, expected, "seed {seed}, {filter:?}");
        let nothing = nodes.two.payments(environment, filter, None, 0).await.unwrap();
        assert!(nothing.is_empty());
    }
    let first = PaymentId::from_bytes([0; 16]);
    let below = nodes.two.payments(environment, PaymentFilter::default(), Some(first), ALL).await.unwrap();
    assert!(below.is_empty(), "nothing is below the first id");
}

pub async fn a_payment_goes_on_to_another_provider_once(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let first = nodes.new_order(environment);
    let id = nodes.payment_with(&first, &preparing()).await;
    let full = nodes.new_full_order(environment);
    let next = CardOrder {
        provider: "another".to_owned(),
        adapter: "square".to_owned(),
        account: full.account,
        fee: tollgate_domain::fee::FeeEntry::default().assess(first.fee.principal),
        route: RouteProgress {
            attempts: attempts_at(
                &first.provider,
                &[RouteOutcome::Skipped, RouteOutcome::Unavailable, RouteOutcome::Refused],
            ),
            next: vec![Target { provider: LETTERS.into(), channel: Channel::WebCard }],
            ..RouteProgress::default()
        },
        expires_at: at(5),
        ..first.clone()
    };
    let progress = Progress { due: Some(at(7)), ..preparing() };
    let entries = vec![nodes.new_entry("route")];
    let change = nodes.change_to(0, preparing());
    let reroute =
        PaymentReroute { id: change.id, from_revision: 0, at: at(3), order: next.clone(), progress, entries };
    let elsewhere = nodes.environment().await.id;
    let moving = nodes.one.reroute_payment(elsewhere, id, &reroute).await.unwrap();
    assert_eq!(moving, Changed::Missing);
    for _ in 0..2 {
        let moving = nodes.one.reroute_payment(environment, id, &reroute).await.unwrap();
        assert_eq!(moving, Changed::Done, "twice is once");
    }
    let read = nodes.two.payment(environment, id).await.unwrap().unwrap();
    assert_eq!((read.revision, &read.order, &read.progress), (1, &next, &reroute.progress));
    assert_eq!(nodes.two.timeline(environment, card(id)).await.unwrap(), reroute.entries);
    // What is out of date, or may have been paid, stays where it is.
    let stale = PaymentReroute { id: nodes.change_to(0, preparing()).id, ..reroute.clone() };
    assert_eq!(nodes.one.reroute_payment(environment, id, &stale).await.unwrap(), Changed::Stale);
    let mut paid = nodes.change_to(1, preparing());
    let state = super::samples::in_status(tollgate_domain::transaction::Status::Pending);
    paid.transaction = Some((nodes.new_transaction_id(), state));
    nodes.change(environment, id, &paid).await;
    let late = PaymentReroute { id: nodes.change_to(0, preparing()).id, from_revision: 2, ..reroute };
    assert_eq!(nodes.one.reroute_payment(environment, id, &late).await.unwrap(), Changed::Stale);
}
