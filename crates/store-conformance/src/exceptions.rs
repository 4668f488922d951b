//! Discrepancies with providers.

use tollgate_domain::{PaymentMethod, ServiceReference, card::DiscrepancyKind, id::ExceptionId};
use tollgate_engine::ports::{NewException, Resolution, StoredException};

use super::{
    ALL, Nodes, at,
    concurrency::at_once,
    samples::{LETTERS, card, preparing},
};

fn resolution(actor: &str) -> Resolution {
    Resolution { at: at(500), actor: actor.to_owned(), note: LETTERS.to_owned() }
}

fn shown(stored: &[StoredException]) -> Vec<ExceptionId> {
    stored.iter().map(|stored| stored.exception.id).collect()
}

pub async fn the_same_is_recorded_once(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let (id, other) = (nodes.payment(environment).await, nodes.payment(environment).await);
    let long = LETTERS.repeat(1_000);
    let found = [
        nodes.new_exception(DiscrepancyKind::Amount, "10371"),
        nodes.new_exception(DiscrepancyKind::Amount, "10372"),
        nodes.new_exception(DiscrepancyKind::Currency, "10371"),
        nodes.new_exception(DiscrepancyKind::Reference, &long),
        nodes.new_exception(DiscrepancyKind::Reference, &format!("{long}.")),
        nodes.new_exception(DiscrepancyKind::Status, ""),
    ];
    let again = |exception: &NewException| NewException {
        expected: "other".to_owned(),
        source: "resolver".to_owned(),
        ..nodes.new_exception(exception.kind, &exception.found)
    };
    let mut change = nodes.change_to(0, preparing());
    // Also within one change.
    change.exceptions = found.iter().cloned().chain(found.iter().map(again)).collect();
    nodes.change(environment, id, &change).await;
    let mut change = nodes.change_to(1, preparing());
    change.exceptions = found.iter().map(again).collect();
    nodes.change(environment, id, &change).await;

    let stored = nodes.two.exceptions_of(environment, card(id)).await.unwrap();
    let expected: Vec<_> = found
        .iter()
        .map(|exception| StoredException {
            reference: card(id),
            exception: exception.clone(),
            resolved: None,
        })
        .collect();
    assert_eq!(stored, expected, "the first of each, oldest first");
    // Another payment has discrepancies of its own.
    let mut change = nodes.change_to(0, preparing());
    change.exceptions = found.iter().map(again).collect();
    nodes.change(environment, other, &change).await;
    assert_eq!(nodes.two.exceptions_of(environment, card(other)).await.unwrap().len(), 6);
    assert_eq!(nodes.two.exceptions_of(environment, card(id)).await.unwrap(), expected);
    let transfer = ServiceReference::from_bytes(PaymentMethod::Ach, id.to_bytes());
    assert!(nodes.two.exceptions_of(environment, transfer).await.unwrap().is_empty());
    for kind in DiscrepancyKind::ALL {
        let payment = nodes.payment(environment).await;
        let mut change = nodes.change_to(0, preparing());
        change.exceptions = vec![nodes.new_exception(kind, LETTERS)];
        nodes.change(environment, payment, &change).await;
        let stored = nodes.two.exceptions_of(environment, card(payment)).await.unwrap();
        assert_eq!(stored[0].exception, change.exceptions[0]);
    }
}

pub async fn the_first_resolution_stays(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let id = nodes.payment(environment).await;
    let exception = nodes.new_exception(DiscrepancyKind::SecondPayment, "pi_2");
    let mut change = nodes.change_to(0, preparing());
    change.exceptions = vec![exception.clone()];
    nodes.change(environment, id, &change).await;

    let nobody = ExceptionId::from_bytes([9; 16]);
    assert!(!nodes.one.resolve_exception(environment, nobody, &resolution("a")).await.unwrap());
    let first = resolution(LETTERS);
    assert!(nodes.one.resolve_exception(environment, exception.id, &first).await.unwrap());
    for node in [&nodes.one, &nodes.two] {
        assert!(node.resolve_exception(environment, exception.id, &resolution("late")).await.unwrap());
    }
    let expected = StoredException { reference: card(id), exception, resolved: Some(first) };
    assert_eq!(
        nodes.two.exceptions_of(environment, card(id)).await.unwrap(),
        std::slice::from_ref(&expected)
    );
    // What an operator is done with does not come back with the next check at the provider.
    let mut change = nodes.change_to(1, preparing());
    change.exceptions = vec![nodes.new_exception(DiscrepancyKind::SecondPayment, "pi_2")];
    nodes.change(environment, id, &change).await;
    assert_eq!(nodes.two.exceptions_of(environment, card(id)).await.unwrap(), [expected]);
    assert!(nodes.two.exceptions(environment, true, None, ALL).await.unwrap().is_empty());
}

pub async fn one_of_many_resolutions_stays(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let id = nodes.payment(environment).await;
    let exception = nodes.new_exception(DiscrepancyKind::Refund, "0");
    let mut change = nodes.change_to(0, preparing());
    change.exceptions = vec![exception.clone()];
    nodes.change(environment, id, &change).await;
    let answers = at_once(nodes, 16, |place, node| {
        let resolution = resolution(&place.to_string());
        async move { node.resolve_exception(environment, exception.id, &resolution).await.unwrap() }
    })
    .await;
    assert!(answers.iter().all(|answer| *answer));
    let stays = nodes.two.exceptions_of(environment, card(id)).await.unwrap();
    nodes.one.resolve_exception(environment, exception.id, &resolution("late")).await.unwrap();
    assert_eq!(nodes.two.exceptions_of(environment, card(id)).await.unwrap(), stays);
}

pub async fn exceptions_are_listed_newest_first(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let mut ids = Vec::new();
    for place in 0..12 {
        let id = nodes.payment(environment).await;
        let mut change = nodes.change_to(0, preparing());
        change.exceptions = vec![nodes.new_exception(DiscrepancyKind::Amount, &place.to_string())];
        nodes.change(environment, id, &change).await;
        ids.insert(0, change.exceptions[0].id);
    }
    for id in ids.iter().step_by(3) {
        assert!(nodes.one.resolve_exception(environment, *id, &resolution("ops")).await.unwrap());
    }
    let open: Vec<_> =
        ids.iter().enumerate().filter(|(place, _)| place % 3 != 0).map(|(_, id)| *id).collect();
    for (open_only, expected) in [(false, &ids), (true, &open)] {
        let mut listed = Vec::new();
        loop {
            let before = listed.last().copied();
            let page = nodes.two.exceptions(environment, open_only, before, 5).await.unwrap();
            assert!(page.len() <= 5);
            if page.is_empty() {
                break;
            }
            listed.extend(shown(&page));
        }
        assert_eq!(listed, *expected);
        assert!(nodes.two.exceptions(environment, open_only, None, 0).await.unwrap().is_empty());
        let first = Some(ExceptionId::from_bytes([0; 16]));
        assert!(nodes.two.exceptions(environment, open_only, first, ALL).await.unwrap().is_empty());
    }
}
