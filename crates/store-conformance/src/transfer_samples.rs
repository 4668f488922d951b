//! Transfers and what happens to them, as tests make them up.

use std::sync::Arc;

use tollgate_domain::{
    Channel, Currency, Principal, ServiceReference, Timestamp,
    ach::{BankAccountType, RecipientKind, TransferOrder, TransferPurpose, TransferRail},
    approval::{Approval, ApprovalState, Vote},
    card::DiscrepancyKind,
    event::EventKind,
    fee::{FeeEntry, FeeLayer, FeeSnapshot},
    id::{ApprovalId, ChangeId, EnvironmentId, EventId, KeyId, PostingId, TransactionId, TransferId, UserId},
    ledger::{Cause, TransferStep},
    routing::Matched,
    transaction::{Failure, Status, TransactionState},
};
use tollgate_engine::ports::{
    Audit, AuditScope, Changed, Moved, NewTransfer, ProviderEventState, Reserved, Transfer, TransferChange,
    TransferPosting, TransferProgress,
};

use super::{
    Nodes, at, minor,
    samples::{LETTERS, PROVIDER, account, in_status, odd_fee, settled},
};

pub fn ach(id: TransferId) -> ServiceReference {
    ServiceReference::Ach(id)
}

/// Where a transfer begins that nobody looks after.
pub fn sending() -> TransferProgress {
    TransferProgress {
        sealed_account: None,
        expected_on: None,
        corrections: "[]".to_owned(),
        due: None,
        tries: 0,
        waiting: None,
        cancel_requested_at: None,
        approval: None,
    }
}

pub fn sending_until(due: Timestamp) -> TransferProgress {
    TransferProgress { due: Some(due), ..sending() }
}

fn full_progress(note: &str) -> TransferProgress {
    TransferProgress {
        sealed_account: Some(format!("sealed {note} {LETTERS}")),
        expected_on: Some("2027-02-28".to_owned()),
        corrections: format!("[{:?}]", LETTERS.repeat(20)),
        due: Some(at(7)),
        tries: u32::MAX,
        waiting: Some(format!("{note} {LETTERS}")),
        cancel_requested_at: Some(at(6)),
        approval: Some(voted(note)),
    }
}

/// An approval with everything in it, but for an account.
pub fn voted(note: &str) -> Approval {
    let vote = |user: u8, approves| Vote {
        user: UserId::from_bytes([user; 16]),
        name: format!("{note} {LETTERS}"),
        people: vec![UserId::from_bytes([user; 16]), UserId::from_bytes([9; 16])],
        approves,
        at: at(3),
    };
    Approval {
        id: ApprovalId::from_bytes([5; 16]),
        state: ApprovalState::Denied,
        count: 3,
        reasons: vec![note.to_owned(), LETTERS.to_owned()],
        maker: Some(KeyId::from_bytes([6; 16])),
        makers: vec![UserId::from_bytes([7; 16]), UserId::from_bytes([8; 16])],
        votes: vec![vote(1, true), vote(2, false)],
        account: None,
    }
}

/// Fees of fixed amounts, so that sums can be told by heart.
pub fn fees(principal: u64, platform: u64, organization: u64) -> FeeSnapshot {
    let layer = |fixed| FeeLayer { enabled: true, fixed: minor(fixed), ..FeeLayer::default() };
    FeeEntry { platform: layer(platform), organization: layer(organization) }
        .assess(Principal::new(principal).unwrap())
}

/// The state a transfer is in after this step.
pub fn state_after(step: TransferStep) -> TransactionState {
    let failure = Some(Failure { code: "R03".to_owned(), message: "There is no such account.".to_owned() });
    match step {
        TransferStep::Reserve => TransactionState::pending(),
        TransferStep::Settle => in_status(Status::Succeeded),
        TransferStep::Release | TransferStep::Reverse => {
            TransactionState { failure, ..in_status(Status::Failed) }
        }
    }
}

impl Nodes {
    pub fn new_posting_id(&self) -> PostingId {
        let (at, random) = self.next();
        PostingId::new(at, random)
    }

    pub fn new_event_id(&self) -> EventId {
        let (at, random) = self.next();
        EventId::new(at, random)
    }

    /// A transfer with nothing in it that can be left out, of 1,000 and fees of 25 and 10 unless its fee is replaced.
    pub fn new_transfer(&self, environment: EnvironmentId) -> NewTransfer {
        let (created_at, random) = self.next();
        // Ids of transfers are digests, and come in no order.
        let mut id = [0x5c; 16];
        for (to, from) in id.iter_mut().zip(random.iter().rev()) {
            *to = from.wrapping_mul(59).wrapping_add(7);
        }
        id[10..].copy_from_slice(&random[2..8]);
        NewTransfer {
            transaction: TransactionId::new(created_at, random),
            order: TransferOrder {
                environment,
                id: TransferId::from_bytes(id),
                provider: PROVIDER.to_owned(),
                adapter: "increase".to_owned(),
                account: None,
                channel: Channel::StandardAch,
                rail: None,
                matched: None,
                route: tollgate_domain::routing::RouteProgress::default(),
                config_version: 1,
                currency: Currency::USD,
                fee: fees(1_000, 25, 10),
                external_customer_id: "cus_1".to_owned(),
                customer_name: "Ada Lovelace".to_owned(),
                customer_email: "ada@example.com".to_owned(),
                bank_name: "First Bank".to_owned(),
                account_name: "Ada Lovelace".to_owned(),
                account_type: BankAccountType::Checking,
                last_four: "6789".to_owned(),
                description: None,
                metadata: "{}".to_owned(),
                remittance: None,
                recipient_kind: RecipientKind::Individual,
                purpose: None,
                statement_descriptor: None,
                request: "req_1".to_owned(),
                created_at,
            },
            fingerprints: "{}".to_owned(),
            progress: sending(),
            posting: self.new_posting_id(),
            limits: Vec::new(),
        }
    }

    pub fn new_transfer_of(&self, environment: EnvironmentId, fee: FeeSnapshot) -> NewTransfer {
        let mut new = self.new_transfer(environment);
        new.order.fee = fee;
        new
    }

    /// A transfer with everything in it.
    pub fn new_full_transfer(&self, environment: EnvironmentId) -> NewTransfer {
        let plain = self.new_transfer(environment);
        NewTransfer {
            order: TransferOrder {
                channel: Channel::SameDayAch,
                rail: Some(TransferRail::FedNow),
                account: Some(account(Some("account_1"))),
                matched: Some(Matched {
                    rule: Arc::from(LETTERS),
                    conditions: [Arc::from("amount"), Arc::from(LETTERS), Arc::from("")].into(),
                }),
                config_version: i64::MAX.unsigned_abs(),
                currency: Currency::parse("KWD").unwrap(),
                fee: odd_fee(),
                external_customer_id: LETTERS.to_owned(),
                customer_name: format!("name {LETTERS}"),
                customer_email: "łucja@例え.jp".to_owned(),
                bank_name: format!("bank {LETTERS}"),
                account_name: format!("account {LETTERS}"),
                account_type: BankAccountType::Savings,
                last_four: "0000".to_owned(),
                description: Some(LETTERS.to_owned()),
                metadata: format!("{{\"order\":{:?},\"n\":\"1\"}}", "\u{1F9FE}".repeat(2_000)),
                remittance: Some(format!("{{\"lines\":[{LETTERS:?}]}}")),
                recipient_kind: RecipientKind::Business,
                purpose: Some(TransferPurpose::Payroll),
                statement_descriptor: Some("ACME WAGES".to_owned()),
                request: "req_2".to_owned(),
                ..plain.order
            },
            fingerprints: format!("{{\"amount\":{:?}}}", "0a1b".repeat(500)),
            progress: full_progress("begun"),
            ..plain
        }
    }

    pub fn transfer_change(&self, from_revision: u64, progress: TransferProgress) -> TransferChange {
        let (at, random) = self.next();
        TransferChange {
            id: ChangeId::new(at, random),
            from_revision,
            reservation: None,
            at,
            state: None,
            progress,
            posting: None,
            counts: None,
            entries: Vec::new(),
            exceptions: Vec::new(),
            event: None,
            pending_event: (from_revision == 0).then(|| self.new_event_id()),
            new_events: Vec::new(),
        }
    }

    /// A change that takes a transfer of these amounts a step on, funds included.
    pub fn transfer_step(&self, from_revision: u64, step: TransferStep, fee: &FeeSnapshot) -> TransferChange {
        let plain = self.transfer_change(from_revision, sending());
        TransferChange {
            state: Some(state_after(step)),
            posting: Some(TransferPosting {
                id: self.new_posting_id(),
                cause: step.cause(),
                entries: step.entries(fee),
            }),
            entries: vec![self.new_entry("status")],
            new_events: vec![self.new_outbox_event(EventKind::Transaction(state_after(step).status))],
            ..plain
        }
    }

    /// A change of everything that a change can change; the transfer fails and its funds are released.
    pub fn full_transfer_change(&self, from_revision: u64, event: &str, fee: &FeeSnapshot) -> TransferChange {
        let mut state = super::samples::full_state();
        (state.hold, state.card) = (None, None);
        state.provider_reference = Some(format!("ach_transfer_{from_revision}"));
        TransferChange {
            state: Some(state),
            entries: vec![self.new_entry("provider_call"), self.new_entry("status")],
            exceptions: vec![
                self.new_exception(DiscrepancyKind::Amount, "1"),
                self.new_exception(DiscrepancyKind::Reference, LETTERS),
            ],
            event: Some(settled(event, ProviderEventState::Applied)),
            progress: full_progress("changed"),
            ..self.transfer_step(from_revision, TransferStep::Release, fee)
        }
    }

    /// Makes a reservation, which must work.
    pub async fn reserve(&self, new: &NewTransfer) -> TransferId {
        let reserved = self.one.reserve_transfer(new.order.environment, new).await.unwrap();
        assert_eq!(reserved, Reserved::Created);
        new.order.id
    }

    /// Makes a reservation and its first change, which tells of it.
    pub async fn reserve_and_announce(&self, new: &NewTransfer) {
        self.reserve(new).await;
        self.change_transfer(new, &self.transfer_change(0, sending())).await;
    }

    pub async fn fund_in(
        &self,
        environment: EnvironmentId,
        currency: Currency,
        amount: u64,
        reference: &str,
    ) {
        let mut movement = self.new_movement(Cause::Fund, amount, reference);
        movement.currency = currency;
        let moved = self.one.move_funds(environment, &movement).await.unwrap();
        assert!(matches!(moved, Moved::Done(_)), "{moved:?}");
    }

    /// Makes a change, which must work, and returns the transfer.
    pub async fn change_transfer(&self, new: &NewTransfer, change: &TransferChange) -> Transfer {
        let (environment, id) = (new.order.environment, new.order.id);
        let changed = self.one.change_transfer(environment, id, change).await.unwrap();
        assert_eq!(changed, Changed::Done);
        self.read_transfer(new).await
    }

    pub async fn read_transfer(&self, new: &NewTransfer) -> Transfer {
        let found = self.two.transfer(new.order.environment, new.order.id).await.unwrap();
        found.expect("the transfer is there")
    }

    /// The books hold what they must, and say so.
    pub async fn audit_is_clean(&self) {
        for scope in [AuditScope::Recent, AuditScope::Everything] {
            let audit = self.two.audit(scope, at(0)).await.unwrap();
            assert!(audit.findings.is_empty(), "{scope:?}: {:#?}", audit.findings);
        }
    }

    /// The audit of everything.
    pub async fn audit(&self) -> Audit {
        self.two.audit(AuditScope::Everything, at(0)).await.unwrap()
    }
}
