//! Lists of transactions.

use std::collections::BTreeMap;

use rand::RngExt as _;
use tollgate_domain::{
    Minor, PaymentMethod, Timestamp,
    hold::Hold,
    id::TransactionId,
    transaction::{Dispute, Status, Transaction},
};
use tollgate_engine::ports::{TransactionFilter, TransactionTotal};

use super::{
    ALL, Nodes, at, random,
    samples::{card, in_status, plain_fee, preparing},
};

fn holds(filter: &TransactionFilter, transaction: &Transaction) -> bool {
    filter.status.is_none_or(|status| transaction.state.status == status)
        && filter.method.is_none_or(|method| transaction.reference.method() == method)
        && filter.provider.as_ref().is_none_or(|provider| transaction.provider == *provider)
        && (!filter.is_partly_refunded || transaction.state.is_partly_refunded())
        && (!filter.is_disputed || transaction.state.dispute.is_some())
        && filter.created_from.is_none_or(|from| transaction.created_at >= from)
        && filter.created_before.is_none_or(|before| transaction.created_at < before)
}

fn dispute() -> Dispute {
    Dispute {
        id: "dp_1".to_owned(),
        status: "needs_response".to_owned(),
        reason: None,
        amount: None,
        currency: None,
        respond_by: None,
        withdrawn: None,
    }
}

/// What a list comes to, by method, currency and status.
fn added_up(transactions: &[Transaction]) -> Vec<TransactionTotal> {
    let mut totals: BTreeMap<_, TransactionTotal> = BTreeMap::new();
    for transaction in transactions {
        let (method, status) = (transaction.reference.method(), transaction.state.status);
        let currency = transaction.currency;
        let total =
            totals.entry((method.as_str(), currency.to_string(), status)).or_insert(TransactionTotal {
                method,
                currency,
                status,
                count: 0,
                principal_minor: 0,
                total_debit_minor: 0,
                refunded_minor: 0,
            });
        let amounts = transaction.state.amounts(&transaction.fee);
        total.count += 1;
        total.principal_minor += u128::from(amounts.principal.minor());
        total.total_debit_minor += u128::from(amounts.total_debit.get());
        total.refunded_minor += u128::from(transaction.state.refunded.get());
    }
    totals.into_values().collect()
}

/// Random transactions under random filters, in pages, against the plainest model there is.
pub async fn lists_agree_with_a_model(nodes: &Nodes) {
    let (seed, mut random) = random();
    let (environment, other) = (nodes.environment().await.id, nodes.environment().await.id);
    let providers = ["stripe-main", "square", "square "];
    let mut model: Vec<Transaction> = Vec::new();
    for place in 0..80_u64 {
        let mut order = nodes.new_order(if place % 10 == 9 { other } else { environment });
        order.provider = providers[random.random_range(0..3)].to_owned();
        let id = nodes.payment_with(&order, &preparing()).await;
        let mut change = nodes.change_to(0, preparing());
        // Recorded on another node's clock, some minutes off: lists are in the order of ids all the same.
        change.at = at(random.random_range(0..20) * 60_000);
        let status = Status::ALL[random.random_range(0..6)];
        let mut state = in_status(status);
        if random.random_range(0..4) == 0 {
            state.hold = Some(Hold {
                capture_before: None,
                pending: None,
                captured: Some(plain_fee(random.random_range(1..500))),
            });
        }
        if random.random_range(0..3) == 0 {
            state.refunded = Minor::new(random.random_range(0..2)).unwrap();
        }
        if random.random_range(0..3) == 0 {
            state.dispute = Some(dispute());
        }
        change.transaction = Some((nodes.new_transaction_id(), state));
        nodes.change(order.environment, id, &change).await;
        if order.environment == environment {
            model.insert(0, nodes.two.transaction(environment, card(id)).await.unwrap().unwrap());
        }
    }
    for round in 0..60 {
        let mut sometimes = |odds: u32| random.random_range(0..odds) == 0;
        let (by_status, by_method, by_provider) = (sometimes(2), sometimes(4), sometimes(3));
        let (by_start, by_end) = (sometimes(3), sometimes(3));
        let (is_partly_refunded, is_disputed) = (sometimes(3), sometimes(3));
        let filter = TransactionFilter {
            status: by_status.then(|| Status::ALL[random.random_range(0..6)]),
            method: by_method.then(|| PaymentMethod::ALL[random.random_range(0..2)]),
            provider: by_provider.then(|| providers[random.random_range(0..3)].to_owned()),
            is_partly_refunded,
            is_disputed,
            created_from: by_start.then(|| at(random.random_range(0..20) * 60_000)),
            created_before: by_end.then(|| at(random.random_range(0..20) * 60_000)),
        };
        let expected: Vec<_> =
            model.iter().filter(|transaction| holds(&filter, transaction)).cloned().collect();
        let mut listed: Vec<Transaction> = Vec::new();
        loop {
            let limit = random.random_range(1..=20);
            let before = listed.last().map(|transaction| transaction.id);
            let page = nodes.two.transactions(environment, &filter, before, limit).await.unwrap();
            assert!(page.len() <= usize::try_from(limit).unwrap());
            if page.is_empty() {
                break;
            }
            listed.extend(page);
        }
        assert_eq!(listed, expected, "seed {seed}, round {round}: {filter:?}");
        let count = u32::try_from(expected.len()).unwrap();
        let totals = nodes.two.transaction_totals(environment, &filter, count).await.unwrap();
        assert_eq!(totals, Some(added_up(&expected)), "seed {seed}, round {round}: {filter:?}");
        let too_few =
            nodes.two.transaction_totals(environment, &filter, count.saturating_sub(1)).await.unwrap();
        assert_eq!(too_few.is_none(), count > 0, "seed {seed}, round {round}: {filter:?}");
    }
}

pub async fn a_list_has_exact_ends(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let mut ids: Vec<TransactionId> = Vec::new();
    for moment in [10, 20, 30] {
        let id = nodes.payment(environment).await;
        let mut change = nodes.change_to(0, preparing());
        change.transaction = Some((nodes.new_transaction_id(), in_status(Status::Pending)));
        (change.began_at, change.at) = (at(moment), at(moment + 1));
        nodes.change(environment, id, &change).await;
        ids.push(change.transaction.unwrap().0);
    }
    let (earliest, last) = (Timestamp::from_unix_millis(i64::MIN), Timestamp::from_unix_millis(i64::MAX));
    for (from, before, expected) in [
        (None, None, &ids[..]),
        (Some(at(10)), Some(at(30)), &ids[..2]),
        (Some(at(11)), Some(at(31)), &ids[1..]),
        (Some(at(20)), Some(at(20)), &[]),
        (Some(at(31)), Some(at(10)), &[]),
        (Some(earliest), Some(last), &ids[..]),
        (Some(last), None, &[]),
        (None, Some(earliest), &[]),
    ] {
        let filter =
            TransactionFilter { created_from: from, created_before: before, ..TransactionFilter::default() };
        let mut listed: Vec<_> = nodes
            .two
            .transactions(environment, &filter, None, ALL)
            .await
            .unwrap()
            .iter()
            .map(|transaction| transaction.id)
            .collect();
        listed.reverse();
        assert_eq!(listed, expected, "{from:?} to {before:?}");
    }
    for provider in ["", "\0", "stripe-main\0", "\u{fffd}", "'; --"] {
        let filter =
            TransactionFilter { provider: Some(provider.to_owned()), ..TransactionFilter::default() };
        assert!(nodes.two.transactions(environment, &filter, None, ALL).await.unwrap().is_empty());
    }
    let all = TransactionFilter::default();
    assert!(nodes.two.transactions(environment, &all, None, 0).await.unwrap().is_empty());
    let first = Some(TransactionId::from_bytes([0; 16]));
    assert!(nodes.two.transactions(environment, &all, first, ALL).await.unwrap().is_empty());
    let beyond = Some(TransactionId::from_bytes([0xff; 16]));
    assert_eq!(nodes.two.transactions(environment, &all, beyond, ALL).await.unwrap().len(), 3);
}

/// A status that moved is found under its new name only.
pub async fn a_list_follows_the_status(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let id = nodes.payment(environment).await;
    for status in [Status::Pending, Status::Processing, Status::Succeeded, Status::Refunded] {
        nodes.record(environment, id, in_status(status)).await;
        for listed in Status::ALL {
            let filter = TransactionFilter { status: Some(listed), ..TransactionFilter::default() };
            let found = nodes.two.transactions(environment, &filter, None, ALL).await.unwrap();
            assert_eq!(found.len(), usize::from(listed == status), "{listed:?} while {status:?}");
        }
    }
}
