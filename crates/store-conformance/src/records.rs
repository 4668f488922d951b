//! Payments as they are found and added up, a moment after they were told of.

use tollgate_domain::{
    Currency, Flow, PaymentMethod, ServiceReference, Timestamp,
    card::DiscrepancyKind,
    event::EventKind,
    id::{EnvironmentId, RequestId},
    search::{amount_term, customer_term, metadata_term, text_term, value_prefix},
    transaction::{Status, TransactionState},
};
use tollgate_engine::ports::{
    Activity, Attention, Endpoint, HealthQuery, KeyedToken, PastPayment, ProviderEventState, SearchHit,
};

use super::{
    ALL, Nodes, at,
    concurrency::at_once,
    minor,
    outbox_samples::{FAILED, SUCCEEDED},
    samples::{PROVIDER, card, in_status, preparing, settled},
    transfer_samples::{ach, fees, sending},
};

/// Digests all there is.
async fn digest_all(nodes: &Nodes) -> u32 {
    let mut all = 0;
    loop {
        match nodes.one.index_events(7).await.unwrap() {
            0 => return all,
            some => all += some,
        }
    }
}

impl Nodes {
    async fn activity_of(&self, environment: EnvironmentId) -> Vec<Activity> {
        self.two.activity(environment, at(-90_000_000), at(90_000_000)).await.unwrap()
    }

    async fn found_by(&self, environment: EnvironmentId, term: Option<String>) -> Vec<SearchHit> {
        self.two.find_payments(environment, &term.unwrap(), None, ALL).await.unwrap()
    }
}

pub async fn events_are_digested_once(nodes: &Nodes) {
    assert_eq!(nodes.one.index_events(9).await.unwrap(), 0);
    let environments = [nodes.environment().await.id, nodes.environment().await.id];
    for place in 0..60_u8 {
        let kind = [SUCCEEDED, FAILED, EventKind::PaymentPrepared][usize::from(place % 3)];
        nodes.append_event(environments[usize::from(place % 2)], kind).await;
    }
    assert_eq!(nodes.one.index_events(0).await.unwrap(), 0);
    assert_eq!(nodes.one.index_events(4).await.unwrap(), 4);
    let answers = at_once(nodes, 8, |_, node| async move {
        let mut taken = 0;
        for _ in 0..12 {
            taken += node.index_events(3).await.unwrap();
        }
        taken
    })
    .await;
    assert_eq!(answers.iter().sum::<u32>(), 56, "each was taken by one");
    assert_eq!(nodes.two.index_events(9).await.unwrap(), 0);
    for environment in environments {
        let counts: Vec<_> = nodes
            .activity_of(environment)
            .await
            .into_iter()
            .map(|line| (line.kind, line.count, line.principal_minor))
            .collect();
        let mut kinds =
            [(EventKind::PaymentPrepared, 10, 100_000), (FAILED, 10, 100_000), (SUCCEEDED, 10, 100_000)];
        kinds.sort_by_key(|(kind, ..)| kind.as_str());
        assert_eq!(counts, kinds);
        assert_eq!(nodes.found_by(environment, Some(amount_term(minor(10_000)))).await.len(), 30);
    }
}

pub async fn activity_is_added_up_by_the_hour(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 500_000, "f").await;
    let hour = 3_600_000;
    // Of two hours, two currencies, two methods and two providers.
    for (place, moment) in [(0, 0), (1, hour - 1), (2, hour), (3, -1)] {
        let mut order = nodes.new_order(environment);
        order.created_at = at(moment);
        if place == 1 {
            order.currency = Currency::parse("EUR").unwrap();
            "square".clone_into(&mut order.provider);
        }
        let new_events = [nodes.new_outbox_event(EventKind::PaymentPrepared)];
        nodes.one.insert_payment(environment, &order, &preparing(), &[], &new_events).await.unwrap();
    }
    for _ in 0..2 {
        nodes.reserve_and_announce(&nodes.new_transfer_of(environment, fees(2_000, 25, 10))).await;
    }
    assert_eq!(digest_all(nodes).await, 6);
    let line = |moment, currency: &str, provider: &str| Activity {
        hour: at(moment),
        currency: Currency::parse(currency).unwrap(),
        method: PaymentMethod::WebCard,
        provider: provider.to_owned(),
        kind: EventKind::PaymentPrepared,
        count: 1,
        principal_minor: 10_000,
        platform_fee_minor: 320,
        organization_fee_minor: 0,
    };
    let transfers = Activity {
        method: PaymentMethod::Ach,
        kind: EventKind::Transaction(Status::Pending),
        count: 2,
        principal_minor: 4_000,
        platform_fee_minor: 50,
        organization_fee_minor: 20,
        ..line(0, "USD", PROVIDER)
    };
    let expected = [
        line(-hour, "USD", PROVIDER),
        line(0, "EUR", "square"),
        transfers,
        line(0, "USD", PROVIDER),
        line(hour, "USD", PROVIDER),
    ];
    assert_eq!(nodes.activity_of(environment).await, expected);
    // From the first hour on, and without the last.
    for (from, until, range) in [(-hour, 0, 0..1), (0, hour, 1..4), (1, hour + 1, 4..5), (5, 5, 0..0)] {
        let found = nodes.two.activity(environment, at(from), at(until)).await.unwrap();
        assert_eq!(found, expected[range]);
    }
    // What happens later in the same hour is added.
    nodes.append_event(environment, EventKind::PaymentPrepared).await;
    digest_all(nodes).await;
    let added = nodes.two.activity(environment, at(0), at(1)).await.unwrap();
    assert_eq!((added[2].count, added[2].principal_minor, added[2].platform_fee_minor), (2, 20_000, 640));
}

/// What no event leads to is found all the same, and counts for nothing.
pub async fn a_payment_without_events_is_indexed_on_request(nodes: &Nodes) {
    let (environment, other) = (nodes.environment().await.id, nodes.environment().await.id);
    let order = nodes.new_full_order(environment);
    nodes.one.insert_payment(environment, &order, &preparing(), &[], &[]).await.unwrap();
    let found = async |environment| nodes.found_by(environment, text_term("REQ_2")).await;
    assert_eq!(found(environment).await, []);
    // Another environment has no such payment.
    nodes.one.index_payment(other, order.id).await.unwrap();
    for _ in 0..2 {
        nodes.one.index_payment(environment, order.id).await.unwrap();
    }
    let hits = found(environment).await;
    assert_eq!(hits.iter().map(|hit| hit.reference).collect::<Vec<_>>(), [ServiceReference::Card(order.id)]);
    assert_eq!(nodes.found_by(environment, customer_term("ŁUCJA@例え.jp")).await, hits);
    assert_eq!(found(other).await, []);
    assert_eq!(nodes.activity_of(environment).await, []);
}

pub async fn a_key_keeps_its_first_customer_token(nodes: &Nodes) {
    let (environment, other) = (nodes.environment().await.id, nodes.environment().await.id);
    let key = nodes.new_key_digest();
    let token = |text: &str| KeyedToken {
        key,
        fingerprints: format!("{{\"email\":\"{text}\"}}"),
        token: format!("{text}…"),
        expires_at: (text == "first").then(|| at(5)),
        created_at: at(1),
    };
    let answers = at_once(nodes, 8, |number, node| {
        let new = token(&format!("one of many {number}"));
        async move { node.keep_customer_token(environment, &new).await.unwrap().unwrap() }
    })
    .await;
    assert!(answers.iter().all(|kept| kept == &answers[0]), "{answers:?}");
    let kept = nodes.two.keep_customer_token(environment, &token("late")).await.unwrap();
    assert_eq!(kept.as_ref(), answers.first());
    let first = token("first");
    assert_eq!(nodes.one.keep_customer_token(other, &first).await.unwrap(), Some(first.clone()));
    assert_eq!(nodes.two.keep_customer_token(other, &token("second")).await.unwrap(), Some(first));
    let nowhere = EnvironmentId::from_bytes([9; 16]);
    assert_eq!(nodes.one.keep_customer_token(nowhere, &token("x")).await.unwrap(), None);
}

pub async fn sums_end_at_the_largest_number(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    for round in 0..3 {
        for _ in 0..5 {
            let order = nodes.new_full_order(environment);
            let new_events = [nodes.new_outbox_event(EventKind::PaymentPrepared)];
            nodes.one.insert_payment(environment, &order, &preparing(), &[], &new_events).await.unwrap();
        }
        assert_eq!(nodes.one.index_events(9).await.unwrap(), 5);
        let [line] = <[Activity; 1]>::try_from(nodes.activity_of(environment).await).unwrap();
        let principals = [5_000_000_000_000_000_000, i64::MAX, i64::MAX][round];
        assert_eq!((line.principal_minor, line.platform_fee_minor), (principals, i64::MAX));
        assert_eq!(line.organization_fee_minor, 15 * (i64::try_from(round).unwrap() + 1));
    }
}

pub async fn payments_are_found_by_their_terms(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 500_000, "f").await;
    let mut order = nodes.new_order(environment);
    order.customer_name = Some("Grace  Hopper".to_owned());
    order.customer_email = Some("Grace@Example.com".to_owned());
    r#"{"orderId":"A-17","count":3,"paid":true,"deep":{"no":"never"},"list":["never"]}"#
        .clone_into(&mut order.metadata);
    let mut progress = preparing();
    progress.object = Some("cs_9".to_owned());
    let new_events = [nodes.new_outbox_event(EventKind::PaymentPrepared)];
    nodes.one.insert_payment(environment, &order, &progress, &[], &new_events).await.unwrap();
    let mut new = nodes.new_transfer(environment);
    "Cus 17".clone_into(&mut new.order.external_customer_id);
    r#"{"orderId":"a-17"}"#.clone_into(&mut new.order.metadata);
    nodes.reserve_and_announce(&new).await;
    assert!(nodes.found_by(environment, text_term("a-17")).await.is_empty(), "not yet");
    digest_all(nodes).await;

    let by_card = SearchHit { place: order.id.to_bytes(), reference: card(order.id) };
    let by_transfer = SearchHit { place: new.transaction.to_bytes(), reference: ach(new.order.id) };
    for (term, expected) in [
        (customer_term("grace hopper"), vec![by_card]),
        (customer_term("Hopper"), vec![by_card]),
        (customer_term("GRACE@example.com"), vec![by_card]),
        (Some(amount_term(minor(10_000))), vec![by_card]),
        (Some(amount_term(minor(10_320))), vec![by_card]),
        (text_term("CS_9"), vec![by_card]),
        (metadata_term("count", "3"), vec![by_card]),
        (metadata_term("paid", "true"), vec![by_card]),
        (text_term("never"), vec![]),
        (customer_term("ada lovelace"), vec![by_transfer]),
        (customer_term("cus 17"), vec![by_transfer]),
        (Some(amount_term(minor(1_035))), vec![by_transfer]),
        (metadata_term("orderid", "A-17"), vec![by_transfer, by_card]),
        (text_term("a-17"), vec![]),
        (Some("a-17".to_owned()), vec![]),
    ] {
        assert_eq!(nodes.found_by(environment, term.clone()).await, expected, "{term:?}");
    }
    // What is learned later is found by, too, and nothing is found twice.
    let state = |name: &str| TransactionState {
        provider_reference: Some(name.to_owned()),
        ..in_status(Status::Processing)
    };
    let mut change = nodes.change_to(0, progress);
    change.transaction = Some((nodes.new_transaction_id(), state("pi_9")));
    change.new_events = vec![nodes.new_outbox_event(EventKind::Transaction(Status::Processing))];
    nodes.change(environment, order.id, &change).await;
    let mut change = nodes.transfer_change(1, sending());
    change.state = Some(state("ach_transfer_9"));
    change.new_events = vec![nodes.new_outbox_event(EventKind::Transaction(Status::Processing))];
    nodes.change_transfer(&new, &change).await;
    digest_all(nodes).await;
    assert_eq!(nodes.found_by(environment, text_term("pi_9")).await, [by_card]);
    let entry = || metadata_term("orderId", "a-17");
    assert_eq!(nodes.found_by(environment, entry()).await, [by_transfer, by_card]);
    let with_value = nodes.two.search_terms(environment, &value_prefix("A-17").unwrap(), ALL).await.unwrap();
    assert_eq!(Some(with_value), entry().map(|term| vec![term]));
    // A transfer is found by its provider's name for it without a term.
    assert!(nodes.found_by(environment, text_term("ach_transfer_9")).await.is_empty());
    let named = async |prefix: &str| nodes.two.transfers_of_objects(environment, prefix, 5).await.unwrap();
    for prefix in ["ach_transfer_9", "ach_tr", ""] {
        assert_eq!(named(prefix).await, [new.order.id], "{prefix}");
    }
    for prefix in ["ach_transfer_90", "ACH", "b", "ach\0"] {
        assert_eq!(named(prefix).await, [], "{prefix}");
    }
    let elsewhere = nodes.environment().await.id;
    assert_eq!(nodes.two.transfers_of_objects(elsewhere, "ach", 5).await.unwrap(), []);
}

pub async fn a_payment_is_found_by_the_request_that_made_it(nodes: &Nodes) {
    let (environment, elsewhere) = (nodes.environment().await.id, nodes.environment().await.id);
    nodes.fund(environment, 500_000, "f").await;
    let made_by =
        async |environment, request| nodes.two.payment_of_request(environment, request).await.unwrap();
    let mut order = nodes.new_order(environment);
    let request = RequestId::from_bytes(order.id.to_bytes());
    order.request = request.to_string();
    nodes.payment_with(&order, &preparing()).await;
    let mut new = nodes.new_transfer(environment);
    let requested = RequestId::from_bytes(new.transaction.to_bytes());
    new.order.request = requested.to_string();
    nodes.reserve_and_announce(&new).await;
    nodes.one.index_payment(environment, order.id).await.unwrap();
    digest_all(nodes).await;
    assert_eq!(made_by(environment, request).await, Some(card(order.id)));
    assert_eq!(made_by(environment, requested).await, Some(ach(new.order.id)));
    assert_eq!(made_by(elsewhere, requested).await, None);
    assert_eq!(made_by(environment, RequestId::from_bytes([1; 16])).await, None);
    // Neither needs a term; a payment whose request was long before has one.
    assert!(nodes.found_by(environment, text_term(&order.request)).await.is_empty());
    assert!(nodes.found_by(environment, text_term(&new.order.request)).await.is_empty());
    let mut late = nodes.new_order(environment);
    let request = RequestId::new(at(-3_600_000), [7; 10]);
    late.request = request.to_string();
    nodes.payment_with(&late, &preparing()).await;
    nodes.one.index_payment(environment, late.id).await.unwrap();
    assert_eq!(made_by(environment, request).await, None);
    let hits = nodes.found_by(environment, text_term(&late.request)).await;
    assert_eq!(hits.iter().map(|hit| hit.reference).collect::<Vec<_>>(), [card(late.id)]);
}

pub async fn what_is_found_comes_in_pages(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let mut expected = Vec::new();
    for _ in 0..7 {
        expected.insert(0, nodes.append_event(environment, EventKind::PaymentPrepared).await.reference);
    }
    digest_all(nodes).await;
    let term = amount_term(minor(10_000));
    let (mut found, mut before) = (Vec::new(), None);
    loop {
        let page = nodes.two.find_payments(environment, &term, before, 3).await.unwrap();
        assert!(page.len() <= 3);
        before = page.last().map(|found| found.place);
        found.extend(page.iter().map(|found| Some(found.reference)));
        if page.is_empty() {
            break;
        }
    }
    assert_eq!(found, expected);
    assert!(nodes.two.find_payments(environment, &term, Some([0; 16]), 3).await.unwrap().is_empty());
}

pub async fn past_payments_are_the_newest(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 500_000, "f").await;
    nodes.fund_in(environment, Currency::parse("KWD").unwrap(), i64::MAX.unsigned_abs(), "k").await;
    assert!(nodes.two.past_payments(environment, None, ALL).await.unwrap().is_empty());
    let mut expected = Vec::new();
    for place in 0..6_u8 {
        let order = if place == 3 { nodes.new_full_order(environment) } else { nodes.new_order(environment) };
        nodes.payment_with(&order, &preparing()).await;
        let flow = if place == 3 { Flow::HostedCheckout } else { Flow::PaymentComponent };
        expected.insert(
            0,
            PastPayment {
                reference: card(order.id),
                at: order.created_at,
                flow: Some(flow),
                currency: order.currency,
                metadata: order.metadata,
                provider: order.provider,
                channel: order.channel,
                fee: order.fee,
            },
        );
        let new =
            if place == 3 { nodes.new_full_transfer(environment) } else { nodes.new_transfer(environment) };
        nodes.reserve(&new).await;
        expected.insert(
            0,
            PastPayment {
                reference: ach(new.order.id),
                at: new.order.created_at,
                flow: None,
                currency: new.order.currency,
                metadata: new.order.metadata,
                provider: new.order.provider,
                channel: new.order.channel,
                fee: new.order.fee,
            },
        );
    }
    for method in [None, Some(PaymentMethod::WebCard), Some(PaymentMethod::Ach)] {
        let wanted: Vec<PastPayment> = expected
            .iter()
            .filter(|payment| method.is_none_or(|method| payment.reference.method() == method))
            .cloned()
            .collect();
        for limit in [0, 1, 5, ALL] {
            let found = nodes.two.past_payments(environment, method, limit).await.unwrap();
            assert_eq!(found, wanted[..wanted.len().min(usize::try_from(limit).unwrap())]);
        }
    }
}

pub async fn parts_of_references_terms_disputes_and_customers_are_found(nodes: &Nodes) {
    let (environment, elsewhere) = (nodes.environment().await.id, nodes.environment().await.id);
    nodes.fund(environment, 500_000, "f").await;
    let mut cards = Vec::new();
    for _ in 0..3 {
        cards.push(card(nodes.payment(environment).await));
    }
    let new = nodes.new_transfer(environment);
    nodes.reserve(&new).await;
    let sent = ach(new.order.id);
    cards.sort_unstable();
    let between = async |first, last, limit| {
        nodes.two.references_between(environment, first, last, limit).await.unwrap()
    };
    assert_eq!(between(cards[0], cards[1], ALL).await, [cards[1], cards[0]]);
    assert_eq!(between(cards[0], cards[2], 1).await, [cards[2]]);
    assert_eq!(between(sent, sent, ALL).await, [sent]);
    assert!(nodes.two.references_between(elsewhere, sent, sent, ALL).await.unwrap().is_empty());

    let customers = nodes.two.customers_of(environment, &[sent, cards[0]]).await.unwrap();
    assert_eq!(customers.iter().map(|one| one.reference).collect::<Vec<_>>(), [sent, cards[0]]);
    assert_eq!(customers[0].email.as_ref(), Some(&new.order.customer_email));
    assert_eq!(customers[0].external_id.as_ref(), Some(&new.order.external_customer_id));
    assert_eq!(customers[0].bank_name.as_ref(), Some(&new.order.bank_name));
    assert_eq!(customers[0].last_four.as_ref(), Some(&new.order.last_four));
    assert_eq!((&customers[1].bank_name, &customers[1].last_four), (&None, &None));
    assert!(nodes.two.customers_of(elsewhere, &[sent, cards[0]]).await.unwrap().is_empty());

    let ServiceReference::Card(id) = cards[0] else { panic!("{cards:?}") };
    nodes.one.index_payment(environment, id).await.unwrap();
    let terms = async |prefix: &str, limit| nodes.two.search_terms(environment, prefix, limit).await.unwrap();
    let all = terms("amount:", ALL).await;
    assert!(!all.is_empty() && all.iter().all(|term| term.starts_with("amount:")), "{all:?}");
    assert_eq!(terms("amount:", 1).await, all[..1]);
    assert_eq!(terms(&all[0], ALL).await, all[..1], "a whole term begins with itself");
    assert!(nodes.two.search_terms(elsewhere, "amount:", ALL).await.unwrap().is_empty());
    assert_eq!(nodes.two.payment_of_dispute(environment, "dp_unknown").await.unwrap(), None);
}

pub async fn wallets_know_what_was_spent(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 2_000, "f").await;
    nodes.fund_in(environment, Currency::parse("EUR").unwrap(), 5, "e").await;
    assert!(nodes.health(environment, ALL).await.wallets.iter().all(|wallet| !wallet.is_low()));
    nodes.reserve_and_announce(&nodes.new_transfer(environment)).await;
    digest_all(nodes).await;
    let [eur, usd] = <[_; 2]>::try_from(nodes.health(environment, ALL).await.wallets).unwrap();
    assert_eq!((eur.currency.code(), eur.balances.available, eur.spent), ("EUR", minor(5), minor(0)));
    assert_eq!((usd.balances.available, usd.balances.reserved), (minor(965), minor(1_035)));
    assert_eq!((usd.currency, usd.spent), (Currency::USD, minor(1_035)));
    assert!(usd.is_low() && !eur.is_low());
}

pub async fn attention_is_counted_up_to_a_limit(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 500_000, "f").await;
    assert_eq!(nodes.attention(environment, 5).await, Attention::default());
    let mut ids = Vec::new();
    let mut made = Vec::new();
    for place in 0..4_u8 {
        let mut progress = preparing();
        progress.waiting = (place < 2).then(|| "why".to_owned());
        let order = nodes.new_order(environment);
        ids.push(nodes.payment_with(&order, &progress).await);
        let mut new = nodes.new_transfer(environment);
        new.progress.waiting = (place < 1).then(|| "why".to_owned());
        made.push((order.created_at, new.order.created_at));
        nodes.reserve(&new).await;
        nodes
            .one
            .receive_provider_event(environment, &nodes.new_event(&format!("evt_{place}")), at(1))
            .await
            .unwrap();
    }
    nodes
        .one
        .settle_provider_event(environment, &settled("evt_1", ProviderEventState::Ignored))
        .await
        .unwrap();
    nodes
        .one
        .settle_provider_event(environment, &settled("evt_3", ProviderEventState::Parked))
        .await
        .unwrap();
    let mut change = nodes.change_to(0, preparing());
    change.exceptions =
        (0..4).map(|n| nodes.new_exception(DiscrepancyKind::Amount, &n.to_string())).collect();
    nodes.change(environment, ids[2], &change).await;
    let resolution =
        tollgate_engine::ports::Resolution { at: at(1), actor: "me".into(), note: String::new() };
    nodes.one.resolve_exception(environment, change.exceptions[0].id, &resolution).await.unwrap();
    let endpoint = nodes.endpoint(environment, &["*"]).await;
    for _ in 0..5 {
        let event = nodes.append_event(environment, SUCCEEDED).await;
        nodes.park(environment, endpoint.id, event.id).await;
    }
    let last_event = nodes.append_event(environment, SUCCEEDED).await;
    for failures in [2, 3] {
        let failing = Endpoint { failures, ..nodes.new_endpoint(&["transaction.refunded"]) };
        nodes.one.add_endpoint(environment, &failing, 9).await.unwrap();
    }
    let disabled = Endpoint { disabled: Some("no".to_owned()), ..nodes.new_endpoint(&["*"]) };
    nodes.one.add_endpoint(environment, &disabled, 9).await.unwrap();
    let first = made[0];
    let all = Attention {
        waiting_payments: 2,
        waiting_transfers: 1,
        open_exceptions: 3,
        waiting_deliveries: 1,
        oldest_waiting_delivery: Some(last_event.at),
        parked_deliveries: 5,
        disabled_endpoints: 1,
        failing_endpoints: 1,
        waiting_provider_events: 2,
        parked_provider_events: 1,
        open_approvals: 0,
        open_disputes: 0,
        respond_by: None,
        oldest_waiting_payment: Some(first.0),
        oldest_waiting_transfer: Some(first.1),
    };
    assert_eq!(nodes.attention(environment, ALL).await, all);
    let some = Attention { open_exceptions: 2, parked_deliveries: 2, ..all };
    assert_eq!(nodes.attention(environment, 2).await, some);
    let elsewhere = nodes.environment().await.id;
    assert_eq!(nodes.attention(elsewhere, ALL).await, Attention::default());
    let several = HealthQuery {
        environments: vec![environment, elsewhere, EnvironmentId::from_bytes([9; 16])],
        most: ALL,
        failing_from: 3,
        spending: at(0)..at(1),
    };
    let several = nodes.two.environment_health(&several).await.unwrap();
    let attention: Vec<_> = several.iter().map(|it| (it.environment, it.attention)).collect();
    assert_eq!(attention, [(environment, all), (elsewhere, Attention::default())], "those that exist");
    // Also while nothing but time has passed.
    let ever = Timestamp::from_unix_millis(i64::MAX);
    assert!(nodes.two.activity(elsewhere, Timestamp::from_unix_millis(0), ever).await.unwrap().is_empty());
}
