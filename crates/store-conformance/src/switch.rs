//! A payment whose caller moves it on to another provider after a decline.

use tollgate_domain::{
    card::CardOrder,
    card_fee::Place,
    fee::FeeEntry,
    routing::{LeftTarget, RouteAttempt, RouteOutcome, RouteProgress},
    transaction::{Status, TransactionState},
};
use tollgate_engine::ports::{Changed, PaymentReroute};

use super::{
    Nodes, at,
    samples::{LETTERS, card, in_status, preparing},
};

pub(super) fn attempts_at(provider: &str, outcomes: &[RouteOutcome]) -> Vec<RouteAttempt> {
    let attempt = |outcome: &RouteOutcome| RouteAttempt {
        provider: provider.to_owned(),
        outcome: *outcome,
        reason: LETTERS.to_owned(),
    };
    outcomes.iter().map(attempt).collect()
}

/// A payment that was declined goes on with its transaction; one that may have been paid stays.
pub async fn a_declined_payment_is_switched_with_its_transaction(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let first = nodes.new_order(environment);
    let id = nodes.payment_with(&first, &preparing()).await;
    let next = CardOrder {
        provider: "another".to_owned(),
        fee: FeeEntry::default().assess(first.fee.principal),
        route: RouteProgress {
            attempts: attempts_at(&first.provider, &RouteOutcome::ALL),
            next: Vec::new(),
            left: vec![LeftTarget {
                provider: LETTERS.to_owned(),
                channel: first.channel,
                fee: first.fee,
                prepared_at: Some(at(1)),
                expires_at: at(9),
                until: at(2),
            }],
            payer: Place::parse("US-GA"),
            recurring: true,
        },
        ..first.clone()
    };
    let switch = |revision: u64, order: &CardOrder, minute: i64| PaymentReroute {
        id: nodes.change_to(0, preparing()).id,
        from_revision: revision,
        at: at(minute),
        order: order.clone(),
        progress: preparing(),
        entries: Vec::new(),
    };
    let switching = nodes.one.reroute_payment(environment, id, &switch(0, &next, 3)).await.unwrap();
    assert_eq!(switching, Changed::Stale, "nothing was declined");
    let mut declined = nodes.change_to(0, preparing());
    let state = TransactionState { provider_reference: Some("pi_1".to_owned()), ..in_status(Status::Failed) };
    declined.transaction = Some((nodes.new_transaction_id(), state.clone()));
    declined.objects = vec!["pi_1".to_owned()];
    nodes.change(environment, id, &declined).await;
    // As long as it is where it was, its name is, too.
    let leaving = CardOrder { route: next.route.clone(), ..first.clone() };
    for (revision, order, reference) in [(1, &leaving, Some("pi_1".to_owned())), (2, &next, None)] {
        let switch = switch(revision, order, 5);
        for _ in 0..2 {
            let switching = nodes.one.reroute_payment(environment, id, &switch).await.unwrap();
            assert_eq!(switching, Changed::Done, "twice is once");
        }
        let read = nodes.two.payment(environment, id).await.unwrap().unwrap();
        let transaction = nodes.two.transaction(environment, card(id)).await.unwrap().unwrap();
        assert_eq!((read.revision, &read.order), (revision + 1, order));
        let expected = TransactionState { provider_reference: reference, ..state.clone() };
        assert_eq!((&transaction.state, &transaction.provider), (&expected, &order.provider));
        assert_eq!((transaction.fee, transaction.updated_at), (order.fee, at(5)));
    }
    let names = nodes.two.objects_of_payment(environment, id).await.unwrap();
    assert!(names.is_empty(), "what the first provider called it says nothing at the next one: {names:?}");
    let mut paid = nodes.change_to(3, preparing());
    paid.transaction = Some((declined.transaction.unwrap().0, in_status(Status::Processing)));
    nodes.change(environment, id, &paid).await;
    let late = switch(4, &leaving, 9);
    assert_eq!(nodes.one.reroute_payment(environment, id, &late).await.unwrap(), Changed::Stale);
}
