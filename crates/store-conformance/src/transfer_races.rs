//! The same promises about transfers while many ask at once, from both nodes.

use std::time::Duration;

use tollgate_domain::{
    Currency,
    ledger::{Cause, TransferStep},
    transaction::Status,
};
use tollgate_engine::ports::{Changed, Moved, Reserved};

use super::{
    ALL, Nodes, at,
    audit_log::new_entry,
    concurrency::at_once,
    minor,
    samples::in_status,
    transfer_samples::{ach, fees, sending, sending_until},
    wallet::books_balance,
};

pub async fn reservations_never_overdraw(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 25 * 40 + 39, "f").await;
    let answers = at_once(nodes, 60, |_, node| {
        let new = nodes.new_transfer_of(environment, fees(37, 2, 1));
        async move { node.reserve_transfer(environment, &new).await.unwrap() }
    })
    .await;
    let created = answers.iter().filter(|answer| **answer == Reserved::Created).count();
    let refused =
        answers.iter().filter(|answer| **answer == Reserved::Insufficient { available: minor(39) }).count();
    assert_eq!((created, refused), (25, 35), "{answers:?}");
    assert_eq!(books_balance(nodes, environment, Currency::USD).await, 39);
    let balances = nodes.two.balances(environment, Currency::USD).await.unwrap().unwrap();
    assert_eq!(balances.reserved, minor(1_000));
    nodes.audit_is_clean().await;
}

/// One that is too large stops no smaller one, and withdrawals take from the same money.
pub async fn reservations_and_withdrawals_share_a_wallet(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 1_000, "f").await;
    let answers = at_once(nodes, 90, |place, node| {
        let large = nodes.new_transfer_of(environment, fees(5_000, 0, 0));
        let small = nodes.new_transfer_of(environment, fees(30, 0, 0));
        let movement = nodes.new_movement(Cause::Withdraw, 30, &format!("w{place}"));
        async move {
            match place % 3 {
                0 => {
                    let refused = node.reserve_transfer(environment, &large).await.unwrap();
                    assert!(matches!(refused, Reserved::Insufficient { .. }), "{refused:?}");
                    0
                }
                1 => match node.reserve_transfer(environment, &small).await.unwrap() {
                    Reserved::Created => 30,
                    Reserved::Insufficient { available } => {
                        assert!(available < minor(30), "{available}");
                        0
                    }
                    other => panic!("{other:?}"),
                },
                _ => match node.move_funds(environment, &movement).await.unwrap() {
                    Moved::Done(_) => 30,
                    other => {
                        assert_eq!(other, Moved::Insufficient { available: minor(10) });
                        0
                    }
                },
            }
        }
    })
    .await;
    assert_eq!(answers.iter().sum::<u64>(), 990, "all that could be taken was");
    assert_eq!(books_balance(nodes, environment, Currency::USD).await, 10);
    nodes.audit_is_clean().await;
}

pub async fn one_reference_is_reserved_once(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 1_000_000, "f").await;
    let reference = nodes.new_transfer(environment).order.id;
    let answers = at_once(nodes, 100, |_, node| {
        let mut new = nodes.new_transfer(environment);
        new.order.id = reference;
        async move { (new.transaction, node.reserve_transfer(environment, &new).await.unwrap()) }
    })
    .await;
    let there = nodes.two.transfer(environment, reference).await.unwrap().unwrap();
    let mut created = 0;
    for (transaction, answer) in answers {
        match answer {
            Reserved::Created => {
                created += 1;
                assert_eq!(transaction, there.transaction);
            }
            Reserved::Existing(known) => assert_eq!(*known, there),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(created, 1);
    assert_eq!(books_balance(nodes, environment, Currency::USD).await, 1_000_000 - 1_035);

    // The very same call from many hands at once: whoever was first, it is there once.
    let new = nodes.new_transfer(environment);
    let answers = at_once(nodes, 40, |_, node| {
        let new = new.clone();
        async move { node.reserve_transfer(environment, &new).await.unwrap() }
    })
    .await;
    assert_eq!(answers.iter().filter(|answer| **answer == Reserved::Created).count(), 1);
    assert_eq!(books_balance(nodes, environment, Currency::USD).await, 1_000_000 - 2 * 1_035);
    nodes.audit_is_clean().await;
}

/// A reference is one, whichever of an environment's wallets it is paid from.
pub async fn one_reference_is_reserved_in_one_wallet(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let currencies = ["USD", "EUR", "JPY", "KWD"].map(|code| Currency::parse(code).unwrap());
    for currency in currencies {
        nodes.fund_in(environment, currency, 100_000, "f").await;
    }
    for _ in 0..5 {
        let reference = nodes.new_transfer(environment).order.id;
        let answers = at_once(nodes, 24, |place, node| {
            let mut new = nodes.new_transfer(environment);
            (new.order.id, new.order.currency) = (reference, currencies[place % 4]);
            async move { node.reserve_transfer(environment, &new).await.unwrap() }
        })
        .await;
        let created = answers.iter().filter(|answer| **answer == Reserved::Created).count();
        let existing = answers.iter().filter(|answer| matches!(answer, Reserved::Existing(_))).count();
        assert_eq!((created, existing), (1, 23), "{answers:?}");
    }
    let mut held = 0;
    for currency in currencies {
        held += books_balance(nodes, environment, currency).await;
    }
    assert_eq!(held, 400_000 - 5 * 1_035);
    nodes.audit_is_clean().await;
}

pub async fn one_of_many_changes_wins(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 10_000, "f").await;
    let new = nodes.new_transfer(environment);
    let id = nodes.reserve(&new).await;
    // Ones that settle, ones that release and ones that only note something.
    let answers = at_once(nodes, 51, |place, node| {
        let change = match place % 3 {
            0 => nodes.transfer_step(0, TransferStep::Settle, &new.order.fee),
            1 => nodes.transfer_step(0, TransferStep::Release, &new.order.fee),
            _ => nodes.transfer_change(0, sending_until(at(5))),
        };
        async move { node.change_transfer(environment, id, &change).await.unwrap() }
    })
    .await;
    let done = answers.iter().filter(|answer| **answer == Changed::Done).count();
    let stale = answers.iter().filter(|answer| **answer == Changed::Stale).count();
    assert_eq!((done, stale), (1, 50), "{answers:?}");
    let transfer = nodes.read_transfer(&new).await;
    assert_eq!(transfer.revision, 1);
    let lines = nodes.two.ledger(environment, Currency::USD, None, ALL).await.unwrap();
    let expected = match transfer.state.status {
        Status::Pending => (2 + 2, 8_965),
        Status::Succeeded => (2 + 2 + 4, 8_965),
        _ => (2 + 2 + 2, 10_000),
    };
    assert_eq!((lines.len(), books_balance(nodes, environment, Currency::USD).await), expected);
    nodes.audit_is_clean().await;
}

pub async fn one_change_at_once_is_made_once(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 10_000, "f").await;
    let new = nodes.new_transfer(environment);
    let id = nodes.reserve(&new).await;
    for change in [
        nodes.transfer_change(0, sending_until(at(3))),
        nodes.transfer_step(1, TransferStep::Settle, &new.order.fee),
        nodes.transfer_step(2, TransferStep::Reverse, &new.order.fee),
    ] {
        let answers = at_once(nodes, 24, |_, node| {
            let change = change.clone();
            async move { node.change_transfer(environment, id, &change).await.unwrap() }
        })
        .await;
        assert!(answers.iter().all(|answer| *answer == Changed::Done), "{answers:?}");
        assert_eq!(nodes.read_transfer(&new).await.revision, change.from_revision + 1);
    }
    assert_eq!(nodes.two.timeline(environment, ach(id)).await.unwrap().len(), 2);
    assert_eq!(books_balance(nodes, environment, Currency::USD).await, 10_000);
    nodes.audit_is_clean().await;
}

/// Denials, which go with an entry of the audit log, among reservations and settlements of one wallet.
pub async fn denials_and_sends_share_a_wallet(nodes: &Nodes) {
    const OF_EACH: u64 = 40;
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 1_000_000, "f").await;
    let (mut denied, mut settled) = (Vec::new(), Vec::new());
    for transfers in [&mut denied, &mut settled] {
        for _ in 0..OF_EACH {
            let new = nodes.new_transfer(environment);
            nodes.reserve(&new).await;
            transfers.push(new);
        }
    }
    at_once(nodes, denied.len() * 3, |place, node| {
        let (denied, settled) = (&denied[place / 3], &settled[place / 3]);
        let denial = nodes.transfer_step(0, TransferStep::Release, &denied.order.fee);
        let settlement = nodes.transfer_step(0, TransferStep::Settle, &settled.order.fee);
        let (denied, settled) = (denied.order.id, settled.order.id);
        let new = nodes.new_transfer(environment);
        async move {
            match place % 3 {
                0 => {
                    let node = node.audited(vec![new_entry("approval.deny", "apr")]);
                    assert_eq!(
                        node.change_transfer(environment, denied, &denial).await.unwrap(),
                        Changed::Done
                    );
                }
                1 => {
                    let changed = node.change_transfer(environment, settled, &settlement).await.unwrap();
                    assert_eq!(changed, Changed::Done);
                }
                _ => {
                    let reserved = node.reserve_transfer(environment, &new).await.unwrap();
                    assert_eq!(reserved, Reserved::Created);
                }
            }
        }
    })
    .await;
    nodes.chain_is_whole(OF_EACH).await;
    let left = books_balance(nodes, environment, Currency::USD).await;
    assert_eq!(left, 1_000_000 - 2 * OF_EACH * 1_035, "settled and reserved");
    nodes.audit_is_clean().await;
}

/// Many transfers of two wallets, each taken through its life on whichever node, all at once.
pub async fn many_lives_at_once(nodes: &Nodes) {
    use TransferStep::{Release, Reverse, Settle};
    let environments = [nodes.environment().await.id, nodes.environment().await.id];
    for environment in environments {
        nodes.fund(environment, 100_000, "f").await;
    }
    at_once(nodes, 90, |place, node| {
        let new = nodes.new_transfer(environments[place % 2]);
        let mut sent = nodes.transfer_change(0, sending());
        sent.state = Some(in_status(Status::Processing));
        let fee = new.order.fee;
        let rest = match place % 3 {
            0 => vec![nodes.transfer_step(1, Settle, &fee)],
            1 => vec![nodes.transfer_step(1, Release, &fee)],
            _ => vec![nodes.transfer_step(1, Settle, &fee), nodes.transfer_step(2, Reverse, &fee)],
        };
        let (environment, id) = (new.order.environment, new.order.id);
        async move {
            assert_eq!(node.reserve_transfer(environment, &new).await.unwrap(), Reserved::Created);
            for change in [sent].into_iter().chain(rest) {
                let changed = node.change_transfer(environment, id, &change).await.unwrap();
                assert_eq!(changed, Changed::Done);
            }
        }
    })
    .await;
    for environment in environments {
        assert_eq!(books_balance(nodes, environment, Currency::USD).await, 100_000 - 15 * 1_035);
        let balances = nodes.two.balances(environment, Currency::USD).await.unwrap().unwrap();
        assert_eq!((balances.reserved, balances.settled_out), (minor(0), minor(15_000)));
    }
    nodes.audit_is_clean().await;
}

/// Whoever reads never meets half a change: revision, state and books tell the same.
pub async fn a_transfer_is_read_at_one_moment(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 10_000, "f").await;
    let new = nodes.new_transfer(environment);
    let id = nodes.reserve(&new).await;
    let (reading, expected) = (nodes.clone(), new.clone());
    let reader = tokio::spawn(async move {
        loop {
            let transfer = reading.read_transfer(&expected).await;
            let told = transfer.state.provider_reference;
            let revision = transfer.revision;
            assert_eq!(told, (revision > 0).then(|| revision.to_string()), "half a change was read");
            assert_eq!(u64::from(transfer.progress.tries), revision);
            reading.audit_is_clean().await;
            if revision == 20 {
                return;
            }
        }
    });
    for from in 0..20_u64 {
        let mut change = nodes.transfer_change(from, sending());
        let mut state = in_status(Status::Processing);
        state.provider_reference = Some((from + 1).to_string());
        (change.state, change.progress.tries) = (Some(state), u32::try_from(from + 1).unwrap());
        assert_eq!(nodes.one.change_transfer(environment, id, &change).await.unwrap(), Changed::Done);
    }
    reader.await.unwrap();
}

/// Half of the callers go away after a moment of their own: each transfer is there whole or not at all, and those who
/// stayed got theirs.
pub async fn a_caller_who_leaves_disturbs_nobody(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 1_000_000, "f").await;
    let answers = at_once(nodes, 80, |place, node| {
        let new = nodes.new_transfer(environment);
        let change = nodes.transfer_step(0, TransferStep::Settle, &new.order.fee);
        async move {
            let id = new.order.id;
            let living = async {
                assert_eq!(node.reserve_transfer(environment, &new).await.unwrap(), Reserved::Created);
                assert_eq!(node.change_transfer(environment, id, &change).await.unwrap(), Changed::Done);
            };
            if place % 4 < 2 {
                let wait = Duration::from_micros(u64::try_from(place).unwrap() * 120);
                (id, tokio::time::timeout(wait, living).await.is_ok())
            } else {
                living.await;
                (id, true)
            }
        }
    })
    .await;
    assert!(answers.iter().filter(|(_, stayed)| *stayed).count() >= 40, "all who stayed were answered");
    // What was left under way ends by itself; later units on each node still work.
    nodes.reserve(&nodes.new_transfer(environment)).await;
    nodes.two.probe().await.unwrap();
    for (id, answered) in answers {
        let transfer = nodes.two.transfer(environment, id).await.unwrap();
        if answered {
            assert_eq!(transfer.unwrap().state.status, Status::Succeeded);
        }
    }
    nodes.audit_is_clean().await;
    books_balance(nodes, environment, Currency::USD).await;
}
