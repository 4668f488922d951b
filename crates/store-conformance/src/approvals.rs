//! What waits for people: found by state and by id, and a vote goes with its entry in the audit log.

use tollgate_domain::{
    Currency, Minor, Timestamp,
    approval::{Approval, ApprovalState, Proposal, ProposalNotice},
    event::EventKind,
    id::{ApprovalId, EnvironmentId},
    ledger::{Cause, TransferStep},
    refund::{Refund, RefundStatus},
    transaction::Status,
};
use tollgate_engine::ports::{
    ApprovalQuery, Changed, FundRequest, FundsDecided, FundsDecision, FundsRequested, MoveOrder, Moved,
    NewEvent, NewTransfer, Transfer, TransferProgress,
};

use super::{
    ALL, Nodes,
    audit_log::new_entry,
    samples::{LETTERS, in_status, preparing},
    transfer_samples::{sending, voted},
    wallet::books_balance,
};

fn approval(number: u8, state: ApprovalState, account: Option<[u8; 32]>) -> Approval {
    Approval { id: ApprovalId::from_bytes([number; 16]), state, account, ..voted("rule") }
}

impl Nodes {
    fn waiting_transfer(&self, environment: EnvironmentId, approval: Approval) -> NewTransfer {
        let progress = TransferProgress { approval: Some(approval), ..sending() };
        NewTransfer { progress, ..self.new_transfer(environment) }
    }

    async fn approvals_in(
        &self,
        environment: EnvironmentId,
        state: Option<ApprovalState>,
    ) -> Vec<ApprovalId> {
        let query = ApprovalQuery { state, before: None, limit: ALL };
        let found = self.two.approvals(environment, query).await.unwrap();
        found.iter().filter_map(|it| it.progress.approval.as_ref()).map(|it| it.id).collect()
    }
}

pub async fn approvals_are_found(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 100_000, "f").await;
    let id = |number| ApprovalId::from_bytes([number; 16]);
    let (known, other) = ([7; 32], [8; 32]);
    for (number, state, account) in [
        (1, ApprovalState::Required, None),
        (2, ApprovalState::Approved, Some(known)),
        (3, ApprovalState::Required, Some(other)),
        (4, ApprovalState::Denied, Some(other)),
    ] {
        nodes.reserve(&nodes.waiting_transfer(environment, approval(number, state, account))).await;
    }
    nodes.reserve(&nodes.new_transfer(environment)).await;
    assert_eq!(nodes.approvals_in(environment, None).await, [id(4), id(3), id(2), id(1)]);
    assert_eq!(nodes.approvals_in(environment, Some(ApprovalState::Required)).await, [id(3), id(1)]);
    assert_eq!(nodes.approvals_in(environment, Some(ApprovalState::Denied)).await, [id(4)]);
    assert!(nodes.approvals_in(environment, Some(ApprovalState::Canceled)).await.is_empty());
    let query = ApprovalQuery { state: None, before: Some(id(4)), limit: 2 };
    let page = nodes.two.approvals(environment, query).await.unwrap();
    assert_eq!(page.len(), 2);
    let found: Option<Transfer> = nodes.two.approval(environment, id(3)).await.unwrap();
    let expected = approval(3, ApprovalState::Required, Some(other));
    assert_eq!(found.unwrap().progress.approval, Some(expected), "as it was given");
    assert!(nodes.two.is_approved_account(environment, &known).await.unwrap());
    assert!(!nodes.two.is_approved_account(environment, &other).await.unwrap(), "only what was approved");
    assert_eq!(nodes.attention(environment, ALL).await.open_approvals, 2);

    let elsewhere = nodes.environment().await.id;
    assert!(nodes.approvals_in(elsewhere, None).await.is_empty());
    assert_eq!(nodes.two.approval(elsewhere, id(3)).await.unwrap(), None);
    assert!(!nodes.two.is_approved_account(elsewhere, &known).await.unwrap());
}

pub async fn a_vote_goes_with_its_entry(nodes: &Nodes) {
    let environment = nodes.environment().await.id;
    nodes.fund(environment, 100_000, "f").await;
    let new = nodes.waiting_transfer(environment, approval(1, ApprovalState::Required, None));
    let id = nodes.reserve(&new).await;
    let audited = nodes.one.audited(vec![new_entry("approval.deny", "apr")]);
    let progress = TransferProgress { approval: Some(approval(1, ApprovalState::Denied, None)), ..sending() };
    let mut change = nodes.transfer_step(0, TransferStep::Release, &new.order.fee);
    change.progress = progress;
    assert_eq!(audited.change_transfer(environment, id, &change).await.unwrap(), Changed::Done);
    assert_eq!(audited.change_transfer(environment, id, &change).await.unwrap(), Changed::Done);
    let stale = nodes.transfer_change(0, sending());
    assert_eq!(audited.change_transfer(environment, id, &stale).await.unwrap(), Changed::Stale);
    nodes.chain_is_whole(1).await;
    assert_eq!(nodes.approvals_in(environment, Some(ApprovalState::Denied)).await.len(), 1);
    books_balance(nodes, environment, Currency::USD).await;

    // Whatever else there is to a change goes with it, too.
    let other = nodes.new_transfer(environment);
    let id = nodes.reserve(&other).await;
    let change = nodes.full_transfer_change(0, "evt_audited", &other.order.fee);
    assert_eq!(audited.change_transfer(environment, id, &change).await.unwrap(), Changed::Done);
    nodes.chain_is_whole(2).await;
    for event in &change.new_events {
        assert!(nodes.two.find_event(environment, event.id).await.unwrap().is_some(), "{event:?}");
    }
    assert!(!change.new_events.is_empty());
    books_balance(nodes, environment, Currency::USD).await;
}

pub async fn refunds_that_wait_are_found(nodes: &Nodes) {
    let (environment, elsewhere) = (nodes.environment().await.id, nodes.environment().await.id);
    let payment = nodes.payment(environment).await;
    let given = |number, state| Refund {
        approval: Some(approval(number, state, None)),
        ..nodes.new_refund(number == 2)
    };
    let mut change = nodes.change_to(0, preparing());
    change.transaction = Some((nodes.new_transaction_id(), in_status(Status::Succeeded)));
    change.refunds = vec![
        given(1, ApprovalState::Required),
        given(2, ApprovalState::Approved),
        given(3, ApprovalState::Required),
        nodes.new_refund(false),
    ];
    let event = nodes.new_outbox_event(EventKind::ApprovalRequired);
    let told = Some(Box::new(change.refunds[0].clone()));
    change.new_events = vec![NewEvent { refund: told.clone(), ..event }];
    assert_eq!(nodes.change(environment, payment, &change).await.refunds, change.refunds);
    let event = nodes.two.find_event(environment, change.new_events[0].id).await.unwrap().unwrap();
    assert_eq!(event.refund, told, "with its approval");
    let ids = async |environment, state| {
        let query = ApprovalQuery { state, before: None, limit: ALL };
        let found = nodes.two.refund_approvals(environment, query).await.unwrap();
        found.iter().filter_map(|it| it.refund.approval.as_ref()).map(|it| it.id).collect::<Vec<_>>()
    };
    let id = |number| ApprovalId::from_bytes([number; 16]);
    assert_eq!(ids(environment, None).await, [id(3), id(2), id(1)]);
    assert_eq!(ids(environment, Some(ApprovalState::Required)).await, [id(3), id(1)]);
    assert_eq!(ids(environment, Some(ApprovalState::Approved)).await, [id(2)]);
    assert!(ids(elsewhere, None).await.is_empty());
    assert_eq!(nodes.attention(environment, ALL).await.open_approvals, 2);
    let found = nodes.two.refund_approval(environment, id(2)).await.unwrap().unwrap();
    assert_eq!((found.payment, &found.refund), (payment, &change.refunds[1]));
    assert_eq!(nodes.two.refund_approval(elsewhere, id(2)).await.unwrap(), None);

    let denied = Refund { status: RefundStatus::Canceled, ..given(3, ApprovalState::Denied) };
    let denied = Refund { id: change.refunds[2].id, ..denied };
    let mut change = nodes.change_to(1, preparing());
    change.refunds = vec![denied];
    nodes.change(environment, payment, &change).await;
    assert_eq!(ids(environment, Some(ApprovalState::Required)).await, [id(1)]);
    assert_eq!(ids(environment, Some(ApprovalState::Denied)).await, [id(3)]);
}

pub async fn funds_move_with_their_decision(nodes: &Nodes) {
    let (environment, nowhere) = (nodes.environment().await.id, EnvironmentId::from_bytes([9; 16]));
    let wanting = nodes.endpoint(environment, &["approval.required"]).await;
    let request = |number, amount, reference: &str| FundRequest {
        environment,
        approval: approval(number, ApprovalState::Required, None),
        order: MoveOrder {
            currency: Currency::USD,
            cause: Cause::Withdraw,
            amount: Minor::new(amount).unwrap(),
            reference: reference.to_owned(),
        },
        actor: LETTERS.to_owned(),
        at: Timestamp::from_unix_millis(7),
        posting: None,
    };
    let first = request(1, 10, LETTERS);
    let ask = async |request: &FundRequest| {
        nodes.one.request_funds(request, nodes.new_event_id(), 2).await.unwrap()
    };
    assert_eq!(ask(&first).await, FundsRequested::Kept);
    assert_eq!(ask(&request(2, 10, LETTERS)).await, FundsRequested::Known(Box::new(first.clone())));
    let amount = first.order.amount;
    assert_eq!(ask(&request(2, 11, LETTERS)).await, FundsRequested::ReferenceReused { amount });
    assert_eq!(ask(&request(2, 20, "second")).await, FundsRequested::Kept);
    assert_eq!(ask(&request(3, 30, "third")).await, FundsRequested::TooMany);
    let missing = FundRequest { environment: nowhere, ..request(3, 30, "third") };
    assert_eq!(ask(&missing).await, FundsRequested::EnvironmentMissing);
    assert_eq!(nodes.attention(environment, ALL).await.open_approvals, 2);
    let query = ApprovalQuery { state: Some(ApprovalState::Required), before: None, limit: ALL };
    assert_eq!(nodes.two.fund_requests(environment, query).await.unwrap().len(), 2);
    let told = nodes.all_deliveries(environment).await;
    assert!(told.len() == 2 && told.iter().all(|it| it.endpoint == wanting.id), "{told:?}");
    let what = Proposal::Funds {
        cause: Cause::Withdraw,
        amount,
        currency: Currency::USD,
        reference: LETTERS.to_owned(),
    };
    let notice = ProposalNotice { approval: first.approval.id, proposed_by: LETTERS.to_owned(), what };
    assert_eq!(nodes.all_events(environment).await[0].proposal, Some(Box::new(notice)));

    let approved = Approval { state: ApprovalState::Approved, ..first.approval.clone() };
    let movement = nodes.new_movement(Cause::Withdraw, 10, LETTERS);
    let available = Minor::ZERO;
    let refused = FundsDecided::Refused(Moved::Insufficient { available });
    let decide = async |decided: &Approval| {
        let audited = nodes.one.audited(vec![new_entry("approval.approve", "apr")]);
        let decision = FundsDecision { approval: decided.clone(), movement: Some(movement.clone()) };
        audited.decide_funds(&first, &decision).await.unwrap()
    };
    assert_eq!(decide(&approved).await, refused);
    assert_eq!(nodes.two.fund_request(environment, first.approval.id).await.unwrap(), Some(first.clone()));
    nodes.fund(environment, 15, "f").await;
    let posting = Some(movement.posting);
    assert_eq!(decide(&approved).await, FundsDecided::Done { posting });
    assert_eq!(decide(&approved).await, FundsDecided::Changed, "once");
    nodes.chain_is_whole(1).await;
    let decided = FundRequest { approval: approved, posting, ..first.clone() };
    assert_eq!(nodes.two.fund_request(environment, first.approval.id).await.unwrap(), Some(decided));
    let balances = nodes.two.balances(environment, Currency::USD).await.unwrap().unwrap();
    assert_eq!(balances.available.get(), 5);
    assert!(matches!(ask(&request(4, 10, LETTERS)).await, FundsRequested::Moved(it) if it.replayed));
    books_balance(nodes, environment, Currency::USD).await;
}
