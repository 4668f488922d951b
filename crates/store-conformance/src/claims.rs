//! Work that is due: taken by one, and by another where that one vanishes.

use std::collections::BTreeSet;

use tollgate_domain::{
    card::Preparation,
    id::{EnvironmentId, PaymentId, TransferId},
};
use tollgate_engine::ports::{Progress, ProviderEventState, TransferProgress};

use super::{
    Nodes, at,
    concurrency::at_once,
    samples::{due, preparing, settled},
    transfer_samples::{sending, sending_until},
};

pub async fn payments_are_claimed_longest_due_first(nodes: &Nodes) {
    let (one, other) = (nodes.environment().await.id, nodes.environment().await.id);
    assert!(nodes.one.claim_payments(at(1_000), at(2_000), 10).await.unwrap().is_empty());
    let mut payments = Vec::new();
    for (environment, moment) in [(one, 30), (other, 10), (one, 20), (other, 40), (one, 41)] {
        let id = nodes.payment_with(&nodes.new_order(environment), &due(at(moment))).await;
        payments.push((environment, id));
    }
    nodes.payment_with(&nodes.new_order(one), &preparing()).await;

    let [third, first, second, fourth, late] = payments.try_into().unwrap();
    assert!(nodes.one.claim_payments(at(9), at(100), 10).await.unwrap().is_empty(), "nothing is due yet");
    assert!(nodes.one.claim_payments(at(40), at(100), 0).await.unwrap().is_empty());
    assert_eq!(nodes.one.claim_payments(at(40), at(100), 3).await.unwrap(), [first, second, third]);
    assert_eq!(
        nodes.two.claim_payments(at(40), at(100), 3).await.unwrap(),
        [fourth],
        "due means at its moment"
    );
    assert!(nodes.one.claim_payments(at(40), at(100), 3).await.unwrap().is_empty());
    for (environment, id) in [first, second, third, fourth] {
        let payment = nodes.read(environment, id).await;
        assert_eq!((payment.revision, payment.progress), (0, Progress { tries: 1, ..due(at(100)) }));
    }
    assert_eq!(nodes.read(late.0, late.1).await.progress, due(at(41)), "what was not taken is untouched");
}

pub async fn follow_ups_are_claimed_apart_from_what_is_due(nodes: &Nodes) {
    let (one, other) = (nodes.environment().await.id, nodes.environment().await.id);
    let follow_up = |moment| Progress { follow_up: Some(at(moment)), ..preparing() };
    let mut payments = Vec::new();
    for (environment, progress) in [
        (one, follow_up(30)),
        (other, follow_up(10)),
        (one, Progress { due: Some(at(5)), ..follow_up(20) }),
        (one, follow_up(41)),
    ] {
        let id = nodes.payment_with(&nodes.new_order(environment), &progress).await;
        payments.push((environment, id));
    }
    let [third, first, second, late] = payments.try_into().unwrap();
    assert!(nodes.one.claim_follow_ups(at(9), at(100), 10).await.unwrap().is_empty(), "none is due yet");
    assert_eq!(nodes.one.claim_payments(at(50), at(200), 10).await.unwrap(), [second], "only what is due");
    assert_eq!(nodes.one.claim_follow_ups(at(40), at(100), 2).await.unwrap(), [first, second]);
    assert_eq!(nodes.two.claim_follow_ups(at(40), at(100), 2).await.unwrap(), [third]);
    assert!(nodes.two.claim_follow_ups(at(40), at(100), 2).await.unwrap().is_empty(), "somebody has them");
    let read = async |(environment, id)| nodes.read(environment, id).await;
    let payment = read(first).await;
    assert_eq!((payment.revision, payment.progress), (0, follow_up(100)), "no try is counted");
    let expected = Progress { due: Some(at(200)), tries: 1, ..follow_up(100) };
    assert_eq!(read(second).await.progress, expected);
    assert_eq!(read(late).await.progress, follow_up(41));
    // Whoever is done says when the next one is.
    nodes.change(first.0, first.1, &nodes.change_to(0, follow_up(300))).await;
    assert_eq!(nodes.one.claim_follow_ups(at(100), at(150), 9).await.unwrap(), [late, third, second]);
}

pub async fn a_claim_ends_by_itself(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let id = nodes.payment_with(&nodes.new_order(environment), &due(at(10))).await;
    let claimed = [(environment, id)];
    assert_eq!(nodes.one.claim_payments(at(10), at(20), 5).await.unwrap(), claimed);
    assert!(nodes.two.claim_payments(at(19), at(30), 5).await.unwrap().is_empty(), "somebody has it");
    assert_eq!(nodes.two.claim_payments(at(20), at(30), 5).await.unwrap(), claimed, "and has vanished");
    assert_eq!(nodes.read(environment, id).await.progress, Progress { tries: 2, ..due(at(30)) });
    // Whoever is done says so, and it is not due again.
    let done = Progress { preparation: Preparation::Expired, ..preparing() };
    nodes.change(environment, id, &nodes.change_to(0, done)).await;
    assert!(nodes.one.claim_payments(at(1_000), at(2_000), 5).await.unwrap().is_empty());
}

pub async fn many_claimers_share_nothing(nodes: &Nodes) {
    let environments = [nodes.environment().await.id, nodes.environment().await.id];
    let mut all = BTreeSet::new();
    for place in 0..90_u8 {
        let environment = environments[usize::from(place % 2)];
        let moment = at(i64::from(place));
        all.insert((environment, nodes.payment_with(&nodes.new_order(environment), &due(moment)).await));
    }
    let answers = at_once(nodes, 16, |_, node| async move {
        let mut taken = Vec::new();
        // What others hold in the same moment is passed over, so an empty answer does not yet mean that all is taken.
        for _ in 0..20 {
            taken.extend(node.claim_payments(at(1_000), at(2_000), 4).await.unwrap());
        }
        taken
    })
    .await;
    let taken: Vec<(EnvironmentId, PaymentId)> = answers.into_iter().flatten().collect();
    assert_eq!(taken.len(), 90, "none was taken twice");
    assert_eq!(taken.iter().copied().collect::<BTreeSet<_>>(), all, "and all were taken");
    for (environment, id) in all {
        assert_eq!(nodes.read(environment, id).await.progress.tries, 1);
    }
}

pub async fn events_are_claimed_longest_due_first(nodes: &Nodes) {
    let (one, other) = (nodes.environment().await.id, nodes.environment().await.id);
    assert!(nodes.one.claim_provider_events(at(1_000), at(2_000), 10).await.unwrap().is_empty());
    let mut received = Vec::new();
    for (environment, id, moment) in [(one, "c", 30), (other, "a", 10), (one, "b", 20), (one, "d", 40)] {
        let event = nodes.new_event(id);
        nodes.one.receive_provider_event(environment, &event, at(moment)).await.unwrap();
        received.push((environment, event));
    }
    assert!(
        nodes.one.claim_provider_events(at(9), at(100), 10).await.unwrap().is_empty(),
        "nothing is due yet"
    );
    let claimed = nodes.two.claim_provider_events(at(30), at(100), 2).await.unwrap();
    assert_eq!(claimed.iter().map(|stored| stored.event.id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    for (stored, (environment, event)) in claimed.iter().zip([&received[1], &received[2]]) {
        assert_eq!((stored.environment, &stored.event), (*environment, event));
        assert_eq!((stored.state, stored.due, stored.tries), (ProviderEventState::Waiting, Some(at(100)), 1));
    }
    let claimed = nodes.one.claim_provider_events(at(30), at(100), 2).await.unwrap();
    assert_eq!(claimed.iter().map(|stored| stored.event.id.as_str()).collect::<Vec<_>>(), ["c"]);
    assert!(nodes.one.claim_provider_events(at(39), at(100), 2).await.unwrap().is_empty());
    // Whoever took them has vanished; one of them was settled before, and one put off.
    assert!(nodes.one.settle_provider_event(one, &settled("b", ProviderEventState::Ignored)).await.unwrap());
    let mut put_off = settled("c", ProviderEventState::Waiting);
    put_off.due = Some(at(500));
    assert!(nodes.one.settle_provider_event(one, &put_off).await.unwrap());
    let claimed = nodes.two.claim_provider_events(at(100), at(200), 9).await.unwrap();
    let shown: Vec<_> = claimed.iter().map(|stored| (stored.event.id.as_str(), stored.tries)).collect();
    assert_eq!(shown, [("d", 1), ("a", 2)]);
    let claimed = nodes.two.claim_provider_events(at(500), at(600), 9).await.unwrap();
    let shown: Vec<_> = claimed.iter().map(|stored| (stored.event.id.as_str(), stored.tries)).collect();
    assert_eq!(shown.len(), 3);
    assert!(shown.contains(&("c", 2)), "{shown:?}");
}

pub async fn many_claimers_share_no_event(nodes: &Nodes) {
    let environments = [nodes.environment().await.id, nodes.environment().await.id];
    let mut all = BTreeSet::new();
    for place in 0..60_u8 {
        let environment = environments[usize::from(place % 2)];
        let event = nodes.new_event(&format!("evt_{}", place / 2));
        nodes.one.receive_provider_event(environment, &event, at(i64::from(place))).await.unwrap();
        all.insert((environment, event.id));
    }
    let answers = at_once(nodes, 16, |_, node| async move {
        let mut taken = Vec::new();
        for _ in 0..20 {
            taken.extend(node.claim_provider_events(at(1_000), at(2_000), 3).await.unwrap());
        }
        taken
    })
    .await;
    let taken: Vec<_> =
        answers.into_iter().flatten().map(|stored| (stored.environment, stored.event.id)).collect();
    assert_eq!(taken.len(), 60, "none was taken twice");
    assert_eq!(taken.into_iter().collect::<BTreeSet<_>>(), all, "and all were taken");
}

pub async fn transfers_are_claimed_longest_due_first(nodes: &Nodes) {
    let (one, other) = (nodes.environment().await.id, nodes.environment().await.id);
    for environment in [one, other] {
        nodes.fund(environment, 50_000, "f").await;
    }
    assert!(nodes.one.claim_transfers(at(1_000), at(2_000), 10).await.unwrap().is_empty());
    let mut news = Vec::new();
    for (environment, moment) in
        [(one, Some(30)), (other, Some(10)), (one, Some(20)), (other, Some(40)), (one, Some(41)), (one, None)]
    {
        let mut new = nodes.new_transfer(environment);
        new.progress = moment.map_or_else(sending, |moment| sending_until(at(moment)));
        nodes.reserve(&new).await;
        news.push(new);
    }
    let name = |place: usize| (news[place].order.environment, news[place].order.id);
    let [third, first, second, fourth] = [name(0), name(1), name(2), name(3)];
    assert!(nodes.one.claim_transfers(at(9), at(100), 10).await.unwrap().is_empty(), "nothing is due yet");
    assert!(nodes.one.claim_transfers(at(40), at(100), 0).await.unwrap().is_empty());
    assert_eq!(nodes.one.claim_transfers(at(40), at(100), 3).await.unwrap(), [first, second, third]);
    assert_eq!(
        nodes.two.claim_transfers(at(40), at(100), 3).await.unwrap(),
        [fourth],
        "due means at its moment"
    );
    assert!(nodes.one.claim_transfers(at(40), at(100), 3).await.unwrap().is_empty());
    for new in &news[..4] {
        let transfer = nodes.read_transfer(new).await;
        let expected = TransferProgress { tries: 1, ..sending_until(at(100)) };
        assert_eq!((transfer.revision, transfer.progress), (0, expected));
    }
    assert_eq!(
        nodes.read_transfer(&news[4]).await.progress,
        sending_until(at(41)),
        "what was not taken is untouched"
    );
    // Whoever took them has vanished; one was done with before.
    let done = nodes.transfer_change(0, sending());
    nodes.change_transfer(&news[1], &done).await;
    let again = nodes.two.claim_transfers(at(100), at(200), 9).await.unwrap();
    assert_eq!(again.len(), 4);
    assert_eq!(again[0], name(4), "the longest due first");
    assert!(!again.contains(&first));
    assert_eq!(nodes.read_transfer(&news[0]).await.progress.tries, 2);
}

pub async fn many_claimers_share_no_transfer(nodes: &Nodes) {
    let environments = [nodes.environment().await.id, nodes.environment().await.id];
    let mut all = BTreeSet::new();
    for environment in environments {
        nodes.fund(environment, 500_000, "f").await;
    }
    for place in 0..60_u8 {
        let mut new = nodes.new_transfer(environments[usize::from(place % 2)]);
        new.progress = sending_until(at(i64::from(place)));
        all.insert((new.order.environment, nodes.reserve(&new).await));
    }
    let answers = at_once(nodes, 16, |_, node| async move {
        let mut taken = Vec::new();
        for _ in 0..20 {
            taken.extend(node.claim_transfers(at(1_000), at(2_000), 3).await.unwrap());
        }
        taken
    })
    .await;
    let taken: Vec<(EnvironmentId, TransferId)> = answers.into_iter().flatten().collect();
    assert_eq!(taken.len(), 60, "none was taken twice");
    assert_eq!(taken.into_iter().collect::<BTreeSet<_>>(), all, "and all were taken");
}
