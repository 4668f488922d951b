//! Personal data: erased from everywhere it is kept, and from nowhere else.

use tollgate_domain::{
    PaymentMethod, ServiceReference,
    approval::{Approval, ApprovalState},
    card::{DiscrepancyKind, Preparation},
    event::EventKind,
    id::{EnvironmentId, PaymentId},
    ledger::TransferStep,
    payment_card::PaymentCard,
    refund::{Refund, RefundOrigin, RefundStatus, RefundTerms},
    search::{amount_term, customer_term, text_term},
    transaction::{Failure, Status},
};
use tollgate_engine::ports::{
    Erased, KeyedToken, NewTransfer, PaymentChange, Progress, ProviderEventState, Resolution,
};

use super::{
    ALL, Nodes, at, minor,
    outbox_samples::FAILED,
    samples::{card, full_card, in_status, preparing, settled},
    transfer_samples::{ach, sending, voted},
};

/// What everything about the person contains, in letters that nothing else has.
pub const CANARY: &str = "Quetzalcoatlus";

/// The digest of the bank account that a transfer to them was approved to.
const ACCOUNT: [u8; 32] = [47; 32];

/// Somebody of whom everything is known that can be.
pub struct Somebody {
    pub environment: EnvironmentId,
    pub paid: PaymentId,
    pub sent: NewTransfer,
}

fn text(what: &str) -> String {
    format!("{CANARY}-{what}")
}

fn failure(what: &str) -> Failure {
    Failure { code: "code".to_owned(), message: text(what) }
}

/// Makes a card payment and a transfer that have both ended, with something of the person wherever it can be.
pub async fn somebody(nodes: &Nodes) -> Somebody {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 5_000, "f").await;
    let mut order = nodes.new_order(environment);
    order.description = Some(text("description"));
    order.customer_name = Some(text("name"));
    order.customer_email = Some(format!("{CANARY}@example.com"));
    order.metadata = format!("{{\"who\":\"{}\"}}", text("metadata"));
    order.success_url = Some(format!("https://shop.example/{CANARY}"));
    order.cancel_url = order.success_url.clone();
    let paid = nodes.payment_with(&order, &preparing()).await;
    let (moment, random) = nodes.next();
    let refund = Refund {
        id: tollgate_domain::id::RefundId::new(moment, random),
        terms: RefundTerms {
            amount: None,
            fee_refund: None,
            reason: None,
            description: Some(text("refund")),
            metadata: format!("{{\"who\":\"{}\"}}", text("refund metadata")),
        },
        principal: minor(1),
        fee: minor(0),
        origin: RefundOrigin::Api,
        status: RefundStatus::Failed,
        provider_reference: None,
        failure: Some(failure("refund failure")),
        request: None,
        approval: None,
        created_at: moment,
        updated_at: moment,
    };
    let mut state = in_status(Status::Failed);
    state.failure = Some(failure("failure"));
    state.card = Some(Box::new(PaymentCard { last_four: Some("4711".to_owned()), ..full_card() }));
    let mut entry = nodes.new_entry("provider_call");
    entry.detail = format!("{{\"said\":\"{}\"}}", text("timeline"));
    let exception = nodes.new_exception(DiscrepancyKind::Amount, "1");
    let progress = Progress { preparation: Preparation::Prepared, ..preparing() };
    let mut told = nodes.new_outbox_event(EventKind::RefundFailed);
    told.refund = Some(Box::new(refund.clone()));
    let change = PaymentChange {
        transaction: Some((nodes.new_transaction_id(), state)),
        refunds: vec![refund],
        attempt: Some(nodes.new_attempt(1, 1)),
        entries: vec![entry.clone()],
        exceptions: vec![exception.clone()],
        new_events: vec![nodes.new_outbox_event(FAILED), told],
        ..nodes.change_to(0, progress)
    };
    nodes.change(environment, paid, &change).await;
    let resolution = Resolution { at: at(9), actor: "ann".to_owned(), note: text("resolution") };
    nodes.one.resolve_exception(environment, exception.id, &resolution).await.unwrap();

    let mut sent = nodes.new_transfer(environment);
    sent.order.external_customer_id = text("id");
    sent.order.customer_name = text("name");
    sent.order.customer_email = format!("{CANARY}@example.com");
    sent.order.bank_name = text("bank");
    sent.order.account_name = text("account");
    "4711".clone_into(&mut sent.order.last_four);
    sent.order.description = Some(text("description"));
    sent.order.metadata = order.metadata;
    sent.order.remittance = Some(format!("\"{CANARY}\""));
    sent.order.statement_descriptor = CANARY.get(..10).map(str::to_owned);
    sent.fingerprints = format!("{{\"who\":\"{CANARY}\"}}");
    let approval =
        Approval { state: ApprovalState::Approved, account: Some(ACCOUNT), ..voted("asked by a rule") };
    sent.progress.approval = Some(approval.clone());
    nodes.reserve(&sent).await;
    let mut settle = nodes.transfer_step(0, TransferStep::Settle, &sent.order.fee);
    settle.progress = sending();
    settle.progress.approval = Some(approval);
    settle.progress.corrections = format!("[{{\"text\":\"{CANARY}\"}}]");
    settle.entries = vec![tollgate_engine::ports::Entry { id: nodes.new_entry("x").id, ..entry }];
    nodes.change_transfer(&sent, &settle).await;
    Somebody { environment, paid, sent }
}

impl Somebody {
    /// Erases both payments, and has the database overwrite what it can.
    pub async fn erase(&self, nodes: &Nodes) {
        while nodes.one.index_events(50).await.unwrap() > 0 {}
        for reference in [card(self.paid), ach(self.sent.order.id)] {
            assert_eq!(self.erase_one(nodes, reference).await, Erased::Done);
        }
        nodes.one.overwrite_erased().await.unwrap();
    }

    async fn is_partly_erased(&self, nodes: &Nodes) -> bool {
        let (environment, method) = (self.environment, PaymentMethod::WebCard);
        let customers = nodes.two.payment_customers(environment, method, None, ALL).await.unwrap();
        customers[0].is_partly_erased
    }

    async fn erase_one(&self, nodes: &Nodes, reference: ServiceReference) -> Erased {
        let entry = nodes.new_entry("erased");
        nodes.one.erase_payment(self.environment, reference, &entry).await.unwrap()
    }
}

pub async fn a_person_is_erased_and_the_books_are_not(nodes: &Nodes) {
    let who = somebody(nodes).await;
    let Somebody { environment, paid, sent } = &who;
    let (environment, references) = (*environment, [card(*paid), ach(sent.order.id)]);
    let busy = who.erase_one(nodes, references[0]).await;
    assert_eq!(busy, Erased::InProgress, "its events are not indexed yet");
    while nodes.one.index_events(50).await.unwrap() > 0 {}
    let found = async |term: Option<String>| {
        let found = nodes.two.find_payments(environment, &term.unwrap(), None, ALL).await.unwrap();
        found.into_iter().map(|found| found.reference).collect::<Vec<_>>()
    };
    let email = || customer_term(&format!("{CANARY}@example.com"));
    assert_eq!(found(email()).await.len(), 2);
    assert_eq!(found(Some("last4:4711".to_owned())).await.len(), 2);
    let balances = nodes.two.balances(environment, sent.order.currency).await.unwrap();
    let ledger = nodes.two.ledger(environment, sent.order.currency, None, ALL).await.unwrap();
    let (before_card, before_transfer) =
        (nodes.read(environment, *paid).await, nodes.read_transfer(sent).await);
    let events = nodes.all_events(environment).await;
    assert!(nodes.two.is_approved_account(environment, &ACCOUNT).await.unwrap());

    who.erase(nodes).await;
    assert!(!nodes.two.is_approved_account(environment, &ACCOUNT).await.unwrap());
    for reference in references {
        assert_eq!(who.erase_one(nodes, reference).await, Erased::Before);
        let timeline = nodes.two.timeline(environment, reference).await.unwrap();
        let kinds: Vec<_> = timeline.iter().map(|entry| entry.kind.as_str()).collect();
        assert_eq!(kinds, ["erased"]);
    }
    assert_eq!(found(email()).await, []);
    assert_eq!(found(text_term(&text("metadata"))).await, []);
    assert_eq!(found(Some("last4:4711".to_owned())).await, []);
    let total = amount_term(before_card.order.fee.total_debit);
    assert_eq!(found(Some(total)).await, [references[0]], "amounts are still found");

    let card = nodes.read(environment, *paid).await;
    assert_eq!((card.order.fee, &card.order.request), (before_card.order.fee, &before_card.order.request));
    let (was, is) = (before_card.transaction.unwrap(), card.transaction.clone().unwrap());
    assert_eq!((is.state.status, is.id), (was.state.status, was.id));
    let known = was.state.card.unwrap();
    let left = PaymentCard {
        brand: known.brand,
        funding: known.funding,
        country: known.country,
        ..PaymentCard::default()
    };
    assert_eq!(is.state.card.as_deref(), Some(&left));
    assert_eq!(card.revision, before_card.revision + 1, "whoever read it before reads it again");
    let transfer = nodes.read_transfer(sent).await;
    assert_eq!(transfer.order.fee, before_transfer.order.fee);
    assert_eq!(transfer.state.status, Status::Succeeded);
    assert_eq!(transfer.order.last_four, "");
    let told = nodes.all_events(environment).await;
    assert!(
        told.iter()
            .filter_map(|event| event.state.as_ref())
            .all(|state| { state.card.as_deref().is_none_or(|card| *card == left) })
    );
    let shown = format!("{card:?} {transfer:?} {told:?}");
    assert!(!shown.contains(CANARY), "{shown}");
    let kinds = |events: &[tollgate_engine::ports::Event]| {
        events.iter().map(|event| (event.id, event.kind, event.at)).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&told), kinds(&events), "what happened stays");

    assert_eq!(nodes.two.balances(environment, sent.order.currency).await.unwrap(), balances);
    assert_eq!(nodes.two.ledger(environment, sent.order.currency, None, ALL).await.unwrap(), ledger);
    nodes.audit_is_clean().await;
    // Another environment's payments are nobody's here.
    let elsewhere = Somebody { environment: nodes.environment().await.id, paid: *paid, sent: sent.clone() };
    assert_eq!(elsewhere.erase_one(nodes, references[1]).await, Erased::Missing);
}

pub async fn what_an_earlier_version_left_is_erased_when_asked_again(nodes: &Nodes) {
    let who = somebody(nodes).await;
    let (environment, reference) = (who.environment, card(who.paid));
    let before = nodes.read(environment, who.paid).await.transaction.unwrap();
    assert!(!who.is_partly_erased(nodes).await, "nobody erased it");
    who.erase(nodes).await;
    assert!(!who.is_partly_erased(nodes).await);
    // As a version leaves it that does not know cards: all of it, and its terms.
    let erased = nodes.read(environment, who.paid).await;
    let change = PaymentChange {
        transaction: Some((before.id, before.state)),
        new_events: vec![nodes.new_outbox_event(FAILED)],
        ..nodes.change_to(erased.revision, erased.progress)
    };
    nodes.change(environment, who.paid, &change).await;
    while nodes.one.index_events(50).await.unwrap() > 0 {}
    let found = async || nodes.two.find_payments(environment, "last4:4711", None, ALL).await.unwrap().len();
    assert_eq!((who.is_partly_erased(nodes).await, found().await), (true, 1));

    assert_eq!(who.erase_one(nodes, reference).await, Erased::Done);
    let after = nodes.read(environment, who.paid).await;
    assert_eq!(after.transaction.unwrap().state.card, erased.transaction.unwrap().state.card);
    let events = nodes.all_events(environment).await;
    let shown = events.iter().any(|event| format!("{:?}", event.state).contains("4711"));
    assert_eq!((shown, found().await, who.is_partly_erased(nodes).await), (false, 0, false));
    assert_eq!(who.erase_one(nodes, reference).await, Erased::Before);
}

pub async fn what_has_not_ended_keeps_its_data(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 5_000, "f").await;
    let erase = async |reference| {
        let entry = nodes.new_entry("erased");
        nodes.two.erase_payment(environment, reference, &entry).await.unwrap()
    };
    let preparing_still = nodes.payment(environment).await;
    assert_eq!(erase(card(preparing_still)).await, Erased::InProgress);
    let paying = nodes.payment(environment).await;
    let prepared = Progress { preparation: Preparation::Prepared, due: Some(at(50)), ..preparing() };
    nodes.change(environment, paying, &nodes.change_to(0, prepared)).await;
    assert_eq!(erase(card(paying)).await, Erased::InProgress, "it can still be paid");
    let expired = Progress { preparation: Preparation::Expired, ..preparing() };
    nodes.change(environment, paying, &nodes.change_to(1, expired)).await;
    assert_eq!(erase(card(paying)).await, Erased::Done);
    let sending = nodes.new_transfer(environment);
    nodes.reserve(&sending).await;
    assert_eq!(erase(ach(sending.order.id)).await, Erased::InProgress);
    assert_eq!(nodes.read_transfer(&sending).await.order.customer_name, sending.order.customer_name);
}

pub async fn customers_are_listed_in_slices(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 5_000, "f").await;
    let mut sent = Vec::new();
    for _ in 0..3 {
        let new = nodes.new_transfer(environment);
        sent.push(nodes.reserve(&new).await);
    }
    let mut order = nodes.new_order(environment);
    order.customer_email = Some("ada@example.com".to_owned());
    let paid = nodes.payment_with(&order, &preparing()).await;
    let slice =
        async |method, after| nodes.two.payment_customers(environment, method, after, 2).await.unwrap();
    let first = slice(PaymentMethod::Ach, None).await;
    let second = slice(PaymentMethod::Ach, first.last().map(|last| last.place)).await;
    let listed: Vec<_> = first.iter().chain(&second).map(|it| it.reference).collect();
    assert_eq!(listed, sent.into_iter().map(ach).collect::<Vec<_>>());
    assert!(first.iter().all(|it| it.external_id.as_deref() == Some("cus_1") && it.erased_at.is_none()));
    let cards = slice(PaymentMethod::WebCard, None).await;
    assert_eq!(cards.len(), 1);
    assert_eq!((cards[0].reference, cards[0].email.as_deref()), (card(paid), Some("ada@example.com")));

    let token = |number: u8| KeyedToken {
        key: [number; 32],
        fingerprints: "{}".to_owned(),
        token: format!("token {number}"),
        expires_at: None,
        created_at: at(i64::from(number)),
    };
    for number in 1..=3 {
        nodes.one.keep_customer_token(environment, &token(number)).await.unwrap();
    }
    nodes.one.forget_customer_token(environment, &[2; 32]).await.unwrap();
    let tokens = async |after| nodes.two.customer_tokens(environment, after, 1).await.unwrap();
    assert_eq!(tokens(None).await, [token(1)]);
    assert_eq!(tokens(Some([1; 32])).await, [token(3)]);
    assert!(tokens(Some([3; 32])).await.is_empty());
}

pub async fn old_webhooks_are_forgotten_once_they_are_done_with(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    for id in ["done", "also", "waits"] {
        nodes.one.receive_provider_event(environment, &nodes.new_event(id), at(0)).await.unwrap();
    }
    for id in ["done", "also"] {
        let settled = settled(id, ProviderEventState::Applied);
        nodes.one.settle_provider_event(environment, &settled).await.unwrap();
    }
    let forget = async |state, before| {
        nodes.two.forget_provider_events(environment, state, at(before), 1).await.unwrap()
    };
    assert_eq!(forget(ProviderEventState::Applied, -1_000_000).await, 0, "they are younger");
    assert_eq!(forget(ProviderEventState::Ignored, 1_000_000).await, 0);
    assert_eq!(forget(ProviderEventState::Applied, 1_000_000).await, 1, "no more than asked for");
    assert_eq!(forget(ProviderEventState::Applied, 1_000_000).await, 1);
    assert_eq!(forget(ProviderEventState::Applied, 1_000_000).await, 0);
}
