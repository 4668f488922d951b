//! The one way a transfer changes.

use tollgate_domain::{
    Currency,
    id::{EnvironmentId, TransferId},
    ledger::{Account, Balances, Entry as Side, TransferStep},
    transaction::Transaction,
};
use tollgate_engine::ports::{
    Changed, Entry, LedgerLine, NewTransfer, ProviderEventState, StoredException, StoredProviderEvent,
    TransactionFilter, Transfer, TransferChange,
};

use super::{
    ALL, Nodes, at,
    concurrency::at_once,
    samples::{LETTERS, settled},
    transfer_samples::{ach, fees, sending, sending_until},
    wallet::books_balance,
};

/// All that a change of this transfer can reach.
#[derive(Debug, PartialEq)]
struct Everything {
    transfer: Option<Transfer>,
    timeline: Vec<Entry>,
    transactions: Vec<Transaction>,
    exceptions: Vec<StoredException>,
    events: Vec<StoredProviderEvent>,
    balances: Option<Balances>,
    ledger: Vec<LedgerLine>,
}

impl Everything {
    async fn read(nodes: &Nodes, environment: EnvironmentId, id: TransferId) -> Self {
        Self {
            transfer: nodes.two.transfer(environment, id).await.unwrap(),
            timeline: nodes.two.timeline(environment, ach(id)).await.unwrap(),
            transactions: nodes
                .two
                .transactions(environment, &TransactionFilter::default(), None, ALL)
                .await
                .unwrap(),
            exceptions: nodes.two.exceptions(environment, false, None, ALL).await.unwrap(),
            events: nodes.two.provider_events(environment, None, None, ALL).await.unwrap(),
            balances: nodes.two.balances(environment, Currency::USD).await.unwrap(),
            ledger: nodes.two.ledger(environment, Currency::USD, None, ALL).await.unwrap(),
        }
    }
}

/// A transfer that is there, in an environment with an event to settle.
async fn reserved(nodes: &Nodes) -> NewTransfer {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 5_000, "f").await;
    nodes.one.receive_provider_event(environment, &nodes.new_event("evt_1"), at(1)).await.unwrap();
    let new = nodes.new_transfer(environment);
    nodes.reserve(&new).await;
    new
}

pub async fn a_change_is_made_whole(nodes: &Nodes) {
    let new = reserved(nodes).await;
    let (environment, id) = (new.order.environment, new.order.id);
    let change = nodes.full_transfer_change(0, "evt_1", &new.order.fee);
    let transfer = nodes.change_transfer(&new, &change).await;
    assert_eq!((transfer.revision, &transfer.progress), (1, &change.progress));
    assert_eq!((Some(&transfer.state), transfer.updated_at), (change.state.as_ref(), change.at));

    let stored = Everything::read(nodes, environment, id).await;
    assert_eq!(stored.timeline, change.entries);
    assert_eq!(stored.transactions.len(), 1);
    assert_eq!(Some(&stored.transactions[0].state), change.state.as_ref());
    let mut found: Vec<_> = stored.exceptions.iter().map(|stored| stored.exception.clone()).collect();
    found.reverse();
    assert_eq!(found, change.exceptions);
    assert!(stored.exceptions.iter().all(|stored| stored.reference == ach(id) && stored.resolved.is_none()));
    assert_eq!(nodes.two.exceptions_of(environment, ach(id)).await.unwrap().len(), 2);
    let event = &stored.events[0];
    assert_eq!((event.state, event.due, event.note.as_str()), (ProviderEventState::Applied, None, LETTERS));
    let posting = change.posting.unwrap();
    let line = &stored.ledger[0];
    assert_eq!((line.posting, line.cause, line.at), (posting.id, posting.cause, change.at));
    assert_eq!((line.reference.as_str(), line.actor.as_str()), (id.to_string().as_str(), "transfer"));
    assert_eq!(books_balance(nodes, environment, Currency::USD).await, 5_000);
    nodes.audit_is_clean().await;
}

/// A change that is refused, for whatever reason, leaves nothing at all behind.
pub async fn a_refused_change_leaves_nothing(nodes: &Nodes) {
    let new = reserved(nodes).await;
    let (environment, id) = (new.order.environment, new.order.id);
    nodes.change_transfer(&new, &nodes.transfer_change(0, sending())).await;
    let before = Everything::read(nodes, environment, id).await;
    for from in [0, 2, u64::MAX] {
        let change = nodes.full_transfer_change(from, "evt_1", &new.order.fee);
        let changed = nodes.one.change_transfer(environment, id, &change).await.unwrap();
        assert_eq!(changed, Changed::Stale, "made from {from}");
        let mut short = nodes.transfer_change(from, sending_until(at(9)));
        short.entries = vec![nodes.new_entry("late")];
        let changed = nodes.one.change_transfer(environment, id, &short).await.unwrap();
        assert_eq!(changed, Changed::Stale, "made from {from}");
    }
    assert_eq!(Everything::read(nodes, environment, id).await, before);

    let nobody = nodes.new_transfer(environment).order.id;
    let change = nodes.full_transfer_change(0, "evt_1", &new.order.fee);
    assert_eq!(nodes.one.change_transfer(environment, nobody, &change).await.unwrap(), Changed::Missing);
    let short = nodes.transfer_change(0, sending());
    assert_eq!(nodes.two.change_transfer(environment, nobody, &short).await.unwrap(), Changed::Missing);
    assert_eq!(Everything::read(nodes, environment, id).await, before);
    assert!(nodes.two.timeline(environment, ach(nobody)).await.unwrap().is_empty());
    assert!(nodes.two.exceptions_of(environment, ach(nobody)).await.unwrap().is_empty());
    nodes.audit_is_clean().await;
}

/// What would leave the books wrong is an error, whatever the caller decided, and nothing of it is kept.
pub async fn books_refuse_what_cannot_be(nodes: &Nodes) {
    let new = reserved(nodes).await;
    let (environment, id, fee) = (new.order.environment, new.order.id, &new.order.fee);
    let before = Everything::read(nodes, environment, id).await;
    let side = |account, amount_minor| Side { account, amount_minor };
    let full = || nodes.full_transfer_change(0, "evt_1", fee);
    let posting = |entries: Vec<Side>| {
        let mut change = full();
        change.posting.as_mut().unwrap().entries = entries;
        change
    };
    let mut stolen = full();
    stolen.posting.as_mut().unwrap().id = before.ledger[0].posting;
    let mut repeated = full();
    repeated.posting.as_mut().unwrap().cause = TransferStep::Reserve.cause();
    for (why, wrong) in [
        (
            "it does not balance",
            posting(vec![side(Account::Reserved, -1_035), side(Account::Available, 1_034)]),
        ),
        ("it moves nothing", posting(Vec::new())),
        ("one account twice", posting(vec![side(Account::Available, -5), side(Account::Available, 5)])),
        ("more than is reserved", nodes.transfer_step(0, TransferStep::Release, &fees(1_001, 25, 10))),
        ("from an account that is not there", nodes.transfer_step(0, TransferStep::Reverse, fee)),
        ("from the outside world", posting(vec![side(Account::Funding, -5), side(Account::Available, 5)])),
        ("its id is another posting's", stolen),
        ("the transfer has such a posting", repeated),
    ] {
        let answer = nodes.one.change_transfer(environment, id, &wrong).await;
        assert!(matches!(answer, Err(tollgate_engine::ports::StoreError::Broken(_))), "{why}: {answer:?}");
        assert_eq!(Everything::read(nodes, environment, id).await, before, "{why}");
    }
    // Settled twice is settled once.
    nodes.change_transfer(&new, &nodes.transfer_step(0, TransferStep::Settle, fee)).await;
    let before = Everything::read(nodes, environment, id).await;
    let again = nodes.transfer_step(1, TransferStep::Settle, fee);
    assert!(nodes.two.change_transfer(environment, id, &again).await.is_err());
    assert_eq!(Everything::read(nodes, environment, id).await, before);
    nodes.audit_is_clean().await;
}

pub async fn a_repeated_change_is_made_once(nodes: &Nodes) {
    let new = reserved(nodes).await;
    let (environment, id) = (new.order.environment, new.order.id);
    let first = nodes.full_transfer_change(0, "evt_1", &new.order.fee);
    nodes.change_transfer(&new, &first).await;
    let before = Everything::read(nodes, environment, id).await;
    for node in [&nodes.one, &nodes.two] {
        assert_eq!(node.change_transfer(environment, id, &first).await.unwrap(), Changed::Done);
    }
    assert_eq!(Everything::read(nodes, environment, id).await, before, "posted once");
    // Once something has changed since, it is out of date like any other, unless its event shows that it was made.
    nodes.change_transfer(&new, &nodes.transfer_change(1, sending())).await;
    let before = Everything::read(nodes, environment, id).await;
    assert_eq!(nodes.two.change_transfer(environment, id, &first).await.unwrap(), Changed::Done);
    let silent = TransferChange { event: None, ..first };
    assert_eq!(nodes.two.change_transfer(environment, id, &silent).await.unwrap(), Changed::Stale);
    assert_eq!(Everything::read(nodes, environment, id).await, before);
    nodes.audit_is_clean().await;
}

/// What one of them is answered says nothing of another one about the same transfer.
pub async fn an_event_again_beside_late_changes(nodes: &Nodes) {
    let new = reserved(nodes).await;
    let (environment, id) = (new.order.environment, new.order.id);
    nodes.change_transfer(&new, &nodes.full_transfer_change(0, "evt_1", &new.order.fee)).await;
    let before = Everything::read(nodes, environment, id).await;
    let answers = at_once(nodes, 32, |number, node| {
        let mut change = nodes.transfer_change(0, sending());
        let is_again = number % 4 < 2;
        change.event = is_again.then(|| settled("evt_1", ProviderEventState::Applied));
        async move { (is_again, node.change_transfer(environment, id, &change).await.unwrap()) }
    })
    .await;
    for (is_again, changed) in answers {
        assert_eq!(changed, if is_again { Changed::Done } else { Changed::Stale });
    }
    assert_eq!(Everything::read(nodes, environment, id).await, before);
}

pub async fn a_claim_does_not_disturb_a_change(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 5_000, "f").await;
    let mut new = nodes.new_transfer(environment);
    new.progress = sending_until(at(1));
    let id = nodes.reserve(&new).await;
    let change = nodes.transfer_change(0, sending_until(at(50)));
    assert_eq!(nodes.two.claim_transfers(at(2), at(9), 5).await.unwrap(), [(environment, id)]);
    let transfer = nodes.change_transfer(&new, &change).await;
    assert_eq!((transfer.revision, transfer.progress), (1, change.progress.clone()));
    // And a repetition is known again although the transfer was claimed since.
    assert_eq!(nodes.two.claim_transfers(at(60), at(70), 5).await.unwrap(), [(environment, id)]);
    assert_eq!(nodes.one.change_transfer(environment, id, &change).await.unwrap(), Changed::Done);
    assert_eq!(nodes.read_transfer(&new).await.progress.due, Some(at(70)));
}

/// The same discrepancy is recorded once, and an event may be left waiting.
pub async fn what_goes_along_is_as_with_payments(nodes: &Nodes) {
    let new = reserved(nodes).await;
    let (environment, id) = (new.order.environment, new.order.id);
    let mut change = nodes.full_transfer_change(0, "evt_1", &new.order.fee);
    (change.posting, change.state, change.new_events) = (None, None, Vec::new());
    let event = change.event.as_mut().unwrap();
    (event.state, event.due) = (ProviderEventState::Waiting, Some(at(77)));
    nodes.change_transfer(&new, &change).await;
    let stored = &nodes.two.provider_events(environment, None, None, ALL).await.unwrap()[0];
    assert_eq!((stored.state, stored.due), (ProviderEventState::Waiting, Some(at(77))));

    let mut again = nodes.full_transfer_change(1, "evt_1", &new.order.fee);
    (again.posting, again.state, again.new_events) = (None, None, Vec::new());
    again.entries.push(change.entries[0].clone());
    nodes.change_transfer(&new, &again).await;
    let found = nodes.two.exceptions_of(environment, ach(id)).await.unwrap();
    let ids: Vec<_> = found.iter().map(|stored| stored.exception.id).collect();
    let first: Vec<_> = change.exceptions.iter().map(|exception| exception.id).collect();
    assert_eq!(ids, first, "the same words are recorded once");
    assert_eq!(nodes.two.timeline(environment, ach(id)).await.unwrap().len(), 4, "a line is there once");
    // An event that is not there is no obstacle, and a posting needs no new state.
    let mut change = nodes.full_transfer_change(2, "evt_none", &new.order.fee);
    (change.state, change.new_events) = (None, Vec::new());
    assert!(change.posting.is_some());
    let transfer = nodes.change_transfer(&new, &change).await;
    assert_eq!(transfer.updated_at, new.order.created_at);
    assert_eq!(books_balance(nodes, environment, Currency::USD).await, 5_000);
}
