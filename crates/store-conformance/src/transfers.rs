//! Transfers: reserved once, found, listed, and their funds in the books.

use tollgate_domain::{
    Currency, Minor, PaymentMethod,
    id::{EnvironmentId, TransferId},
    ledger::{Account, Balances, Cause, PostingCause, TransferStep},
    transaction::{Status, Transaction, TransactionState},
};
use tollgate_engine::ports::{Moved, Reserved, TransactionFilter, Transfer, TransferProgress};

use super::{
    ALL, Nodes, at, minor,
    samples::{LETTERS, PROVIDER, full_state, in_status},
    transfer_samples::{ach, fees, sending, state_after},
    wallet::books_balance,
};

/// A transfer as it is right after its reservation.
fn begun(new: &tollgate_engine::ports::NewTransfer) -> Transfer {
    Transfer {
        revision: 0,
        transaction: new.transaction,
        order: new.order.clone(),
        fingerprints: new.fingerprints.clone(),
        progress: new.progress.clone(),
        state: TransactionState::pending(),
        updated_at: new.order.created_at,
    }
}

pub async fn a_transfer_goes_round(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let plain = nodes.new_transfer(environment);
    let full = nodes.new_full_transfer(environment);
    nodes.fund(environment, 5_000, "f").await;
    nodes.fund_in(environment, full.order.currency, Minor::MAX.get(), "all").await;
    for new in [&plain, &full] {
        nodes.reserve(new).await;
        assert_eq!(nodes.read_transfer(new).await, begun(new));
        let transaction = nodes.two.transaction(environment, ach(new.order.id)).await.unwrap().unwrap();
        let order = new.order.clone();
        let expected = Transaction {
            environment,
            id: new.transaction,
            revision: 0,
            reference: ach(order.id),
            provider: order.provider,
            channel: order.channel,
            currency: order.currency,
            fee: order.fee,
            description: order.description,
            metadata: order.metadata,
            state: TransactionState::pending(),
            created_at: order.created_at,
            updated_at: order.created_at,
        };
        assert_eq!(transaction, expected);
    }
    let filter = TransactionFilter { method: Some(PaymentMethod::Ach), ..TransactionFilter::default() };
    let listed = nodes.two.transactions(environment, &filter, None, ALL).await.unwrap();
    assert_eq!(
        listed.iter().map(|transaction| transaction.id).collect::<Vec<_>>(),
        [full.transaction, plain.transaction]
    );
    assert!(nodes.two.timeline(environment, ach(plain.order.id)).await.unwrap().is_empty());
    assert_eq!(nodes.two.transfer(environment, TransferId::from_bytes([1; 16])).await.unwrap(), None);
    nodes.audit_is_clean().await;
}

pub async fn a_changed_transfer_goes_round(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 5_000, "f").await;
    let new = nodes.new_transfer(environment);
    nodes.reserve(&new).await;
    let mut expected = begun(&new);
    let mut change = nodes.full_transfer_change(0, "evt_1", &new.order.fee);
    // Nothing of a transfer is held, and it has no card.
    let full = TransactionState { hold: None, card: None, charged: None, ..full_state() };
    change.state = Some(full.clone());
    (expected.revision, expected.updated_at) = (1, change.at);
    (expected.progress, expected.state) = (change.progress.clone(), full);
    assert_eq!(nodes.change_transfer(&new, &change).await, expected);
    // A change without a state leaves the transaction as it is, its moment included.
    let change = nodes.transfer_change(1, sending());
    (expected.revision, expected.progress) = (2, sending());
    assert_eq!(nodes.change_transfer(&new, &change).await, expected);
    // All that can be taken back is.
    let mut change = nodes.transfer_change(2, sending());
    change.state = Some(in_status(Status::Failed));
    (expected.revision, expected.updated_at, expected.state) = (3, change.at, in_status(Status::Failed));
    assert_eq!(nodes.change_transfer(&new, &change).await, expected);
    let transaction = nodes.two.transaction(environment, ach(new.order.id)).await.unwrap().unwrap();
    assert_eq!((transaction.state, transaction.updated_at), (expected.state, expected.updated_at));
}

pub async fn an_existing_transfer_is_returned_whole(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 1_035, "f").await;
    let new = nodes.new_transfer(environment);
    nodes.reserve(&new).await;
    let existing = |transfer: Transfer| Reserved::Existing(Box::new(transfer));
    // The very same call again, although nothing is available anymore.
    let answer = nodes.two.reserve_transfer(environment, &new).await.unwrap();
    assert_eq!(answer, existing(begun(&new)));
    // As it is by now, and whatever else is asked for under its reference.
    let changed = nodes.change_transfer(&new, &nodes.full_transfer_change(0, "evt", &new.order.fee)).await;
    assert_eq!(nodes.one.reserve_transfer(environment, &new).await.unwrap(), existing(changed.clone()));
    let mut other = nodes.new_full_transfer(environment);
    other.order.id = new.order.id;
    assert_eq!(nodes.two.reserve_transfer(environment, &other).await.unwrap(), existing(changed.clone()));
    assert_eq!(nodes.read_transfer(&new).await, changed);
    assert_eq!(books_balance(nodes, environment, Currency::USD).await, 1_035);
    let listed = nodes.two.transactions(environment, &TransactionFilter::default(), None, ALL).await.unwrap();
    assert_eq!(listed.len(), 1);
    nodes.audit_is_clean().await;
}

pub async fn funds_suffice_to_the_last_cent(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 1_034, "f").await;
    let new = nodes.new_transfer(environment);
    let refused = Reserved::Insufficient { available: minor(1_034) };
    assert_eq!(nodes.one.reserve_transfer(environment, &new).await.unwrap(), refused);
    assert_eq!(nodes.two.transfer(environment, new.order.id).await.unwrap(), None, "nothing was recorded");
    assert_eq!(books_balance(nodes, environment, Currency::USD).await, 1_034);
    // A refusal uses up nothing: the same may be asked for again.
    nodes.fund(environment, 1, "g").await;
    nodes.reserve(&new).await;
    assert_eq!(books_balance(nodes, environment, Currency::USD).await, 0);
    let next = nodes.new_transfer_of(environment, fees(1, 0, 0));
    let refused = Reserved::Insufficient { available: minor(0) };
    assert_eq!(nodes.two.reserve_transfer(environment, &next).await.unwrap(), refused);
    // What is set aside cannot be taken out either.
    let withdraw = nodes.new_movement(Cause::Withdraw, 1, "w");
    let refused = Moved::Insufficient { available: minor(0) };
    assert_eq!(nodes.two.move_funds(environment, &withdraw).await.unwrap(), refused);
    nodes.audit_is_clean().await;
}

pub async fn a_wallet_never_funded_has_nothing(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    let new = nodes.new_transfer(environment);
    let refused = Reserved::Insufficient { available: minor(0) };
    assert_eq!(nodes.one.reserve_transfer(environment, &new).await.unwrap(), refused);
    // Nor does money in another currency help.
    nodes.fund_in(environment, Currency::parse("EUR").unwrap(), 5_000, "f").await;
    assert_eq!(nodes.two.reserve_transfer(environment, &new).await.unwrap(), refused);
    assert_eq!(nodes.two.wallet_currencies(environment).await.unwrap().len(), 1, "a refusal makes no wallet");
    assert_eq!(nodes.two.transfer(environment, new.order.id).await.unwrap(), None);
    nodes.audit_is_clean().await;
}

pub async fn a_reservation_needs_its_environment(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 5_000, "f").await;
    let nowhere = EnvironmentId::from_bytes([9; 16]);
    let new = nodes.new_transfer(nowhere);
    assert_eq!(nodes.one.reserve_transfer(nowhere, &new).await.unwrap(), Reserved::EnvironmentMissing);
    // One environment's transfer cannot be slipped into another.
    assert!(nodes.one.reserve_transfer(environment, &new).await.is_err());
    assert_eq!(nodes.two.transfer(environment, new.order.id).await.unwrap(), None);
    assert_eq!(nodes.two.transfer(nowhere, new.order.id).await.unwrap(), None);
    assert_eq!(books_balance(nodes, environment, Currency::USD).await, 5_000);
    // Ids belong to one transfer, and a posting to one wallet's step.
    let there = nodes.new_transfer(environment);
    nodes.reserve(&there).await;
    let mut thief = nodes.new_transfer(environment);
    thief.transaction = there.transaction;
    assert!(nodes.one.reserve_transfer(environment, &thief).await.is_err());
    let mut thief = nodes.new_transfer(environment);
    thief.posting = there.posting;
    assert!(nodes.two.reserve_transfer(environment, &thief).await.is_err());
    assert_eq!(books_balance(nodes, environment, Currency::USD).await, 5_000 - 1_035);
    nodes.audit_is_clean().await;
}

/// After every step the books balance, and each account holds what the transfers say.
pub async fn funds_follow_the_transfer(nodes: &Nodes) {
    use TransferStep::{Release, Reverse, Settle};
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 10_000, "f").await;
    let holds = async |available: u64, reserved: u64, settled_out: u64, platform: u64, organization: u64| {
        assert_eq!(books_balance(nodes, environment, Currency::USD).await, available);
        let expected = Balances {
            available: minor(available),
            reserved: minor(reserved),
            settled_out: minor(settled_out),
            platform_fees: minor(platform),
            organization_fees: minor(organization),
        };
        assert_eq!(nodes.two.balances(environment, Currency::USD).await.unwrap(), Some(expected));
        nodes.audit_is_clean().await;
    };
    let [paid, refused, returned, free] = [
        nodes.new_transfer(environment),
        nodes.new_transfer_of(environment, fees(2_000, 0, 5)),
        nodes.new_transfer_of(environment, fees(300, 7, 0)),
        nodes.new_transfer_of(environment, fees(40, 0, 0)),
    ];
    for new in [&paid, &refused, &returned, &free] {
        nodes.reserve(new).await;
    }
    holds(10_000 - 1_035 - 2_005 - 307 - 40, 1_035 + 2_005 + 307 + 40, 0, 0, 0).await;
    nodes.change_transfer(&paid, &nodes.transfer_step(0, Settle, &paid.order.fee)).await;
    holds(6_613, 2_005 + 307 + 40, 1_000, 25, 10).await;
    nodes.change_transfer(&refused, &nodes.transfer_step(0, Release, &refused.order.fee)).await;
    holds(8_618, 307 + 40, 1_000, 25, 10).await;
    nodes.change_transfer(&returned, &nodes.transfer_step(0, Settle, &returned.order.fee)).await;
    holds(8_618, 40, 1_300, 32, 10).await;
    nodes.change_transfer(&returned, &nodes.transfer_step(1, Reverse, &returned.order.fee)).await;
    holds(8_925, 40, 1_000, 25, 10).await;
    nodes.change_transfer(&free, &nodes.transfer_step(0, Settle, &free.order.fee)).await;
    holds(8_925, 0, 1_040, 25, 10).await;

    // The ledger shows each step under the transfer's reference.
    let lines = nodes.two.ledger(environment, Currency::USD, None, ALL).await.unwrap();
    let name = returned.order.id.to_string();
    let of_one: Vec<_> = lines
        .iter()
        .filter(|line| line.reference == name)
        .map(|line| (line.cause, line.account, line.amount_minor, line.actor.as_str()))
        .collect();
    let line = |cause, account, amount| (cause, account, amount, "transfer");
    assert_eq!(
        of_one,
        [
            line(PostingCause::Reverse, Account::Available, 307),
            line(PostingCause::Reverse, Account::SettledOut, -300),
            line(PostingCause::Reverse, Account::PlatformFees, -7),
            line(PostingCause::Settle, Account::Reserved, -307),
            line(PostingCause::Settle, Account::SettledOut, 300),
            line(PostingCause::Settle, Account::PlatformFees, 7),
            line(PostingCause::Reserve, Account::Available, -307),
            line(PostingCause::Reserve, Account::Reserved, 307),
        ]
    );
}

pub async fn objects_lead_to_their_transfer(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 50_000, "f").await;
    let find = async |provider: &str, object: &str| {
        let found = nodes.two.transfer_of_object(environment, provider, object).await.unwrap();
        found.map(|transfer| transfer.order.id)
    };
    let news =
        [nodes.new_transfer(environment), nodes.new_transfer(environment), nodes.new_transfer(environment)];
    for (new, object) in news.iter().zip(["ach_1", LETTERS, "ach_1"]) {
        nodes.reserve(new).await;
        let mut change = nodes.transfer_change(0, sending());
        change.state = Some(TransactionState {
            provider_reference: Some(object.to_owned()),
            ..in_status(Status::Processing)
        });
        nodes.change_transfer(new, &change).await;
    }
    assert_eq!(find(PROVIDER, "ach_1").await, Some(news[0].order.id), "the first keeps the name");
    assert_eq!(find(PROVIDER, LETTERS).await, Some(news[1].order.id));
    for (provider, object) in [(PROVIDER, "ach_2"), (PROVIDER, "ACH_1"), (PROVIDER, ""), ("other", "ach_1")] {
        assert_eq!(find(provider, object).await, None, "{provider} {object}");
    }
    // A later state keeps the name or takes it away.
    let mut change = nodes.transfer_step(1, TransferStep::Settle, &news[0].order.fee);
    change.state = Some(state_after(TransferStep::Settle));
    nodes.change_transfer(&news[0], &change).await;
    assert_eq!(find(PROVIDER, "ach_1").await, Some(news[2].order.id));
    // A card payment's object is no transfer's.
    let payment = nodes.payment(environment).await;
    let state =
        TransactionState { provider_reference: Some("pi_1".to_owned()), ..in_status(Status::Processing) };
    nodes.record(environment, payment, state).await;
    assert_eq!(find(PROVIDER, "pi_1").await, None);
}

pub async fn waiting_transfers_are_listed_newest_first(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 50_000, "f").await;
    let mut waiting = Vec::new();
    for place in 0..7 {
        let mut new = nodes.new_transfer(environment);
        if place % 2 == 0 {
            new.progress.waiting = Some(format!("{place} {LETTERS}"));
            waiting.push(begun(&new));
        }
        nodes.reserve(&new).await;
    }
    waiting.reverse();
    let list = async |before, limit| nodes.two.waiting_transfers(environment, before, limit).await.unwrap();
    assert_eq!(list(None, ALL).await, waiting);
    assert_eq!(list(None, 2).await, waiting[..2]);
    assert_eq!(list(Some(waiting[1].transaction), ALL).await, waiting[2..]);
    assert!(list(Some(waiting[3].transaction), ALL).await.is_empty());
    assert!(list(None, 0).await.is_empty());
    // Whoever says no more why they wait is gone, and whoever begins to is there.
    let done = TransferProgress { due: Some(at(5)), ..sending() };
    let (environment_id, id) = (waiting[0].order.environment, waiting[0].order.id);
    nodes.one.change_transfer(environment_id, id, &nodes.transfer_change(0, done)).await.unwrap();
    assert_eq!(list(None, ALL).await, waiting[1..]);
}
