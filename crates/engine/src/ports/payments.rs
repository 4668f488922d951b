//! Card payments, transactions and what providers sent us, as whole units of work.
//!
//! A payment is inserted once and from then on changed only by [`PaymentStore::change_payment`], which takes effect
//! exactly when the payment is still as its changer saw it. Whoever comes second looks again and decides afresh, so that
//! a confirm, a webhook and the resolver on three nodes make one transaction between them.

use async_trait::async_trait;
use tollgate_domain::{
    Currency, ProviderAccount, ServiceReference, Timestamp,
    card::{Attempt, CardOrder, DiscrepancyKind, Preparation},
    card_fee::PaymentFee,
    fee::FeeSnapshot,
    hold::HoldAction,
    id::{
        ApprovalId, ChangeId, EntryId, EnvironmentId, ExceptionId, HoldActionId, PaymentId, RefundId,
        TransactionId,
    },
    limit::LimitUse,
    refund::Refund,
    transaction::{Dispute, Status, Transaction, TransactionState},
};

use super::{ApprovalQuery, LimitExceeded, NewCardPosting, NewEvent, StoreError};

/// The part of a payment that changes, its transaction and attempts aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// Where the preparation stands.
    pub preparation: Preparation,
    /// What the provider made for it: an intent, a session, a link.
    pub object: Option<String>,
    /// Where the customer pays, for hosted flows.
    pub checkout_url: Option<String>,
    /// When the customer could pay.
    pub prepared_at: Option<Timestamp>,
    /// Whether the caller has confirmed at least once.
    pub confirmed: bool,
    /// When the resolver checks it next; `None` when there is nothing left to do.
    pub due: Option<Timestamp>,
    /// When a paid payment is next checked for refunds and disputes of which no webhook came; `None` when it is not.
    pub follow_up: Option<Timestamp>,
    /// How often the resolver has checked since something last changed.
    pub tries: u32,
    /// Why it waits, for operators.
    pub waiting: Option<String>,
    /// What was decided about its card fee, where the configuration names the fee's kind; in a box, since few payments have it.
    pub card_fee: Option<Box<PaymentFee>>,
}

impl Progress {
    /// A payment that was just recorded and has not been sent to its provider.
    pub const fn initial() -> Self {
        Self {
            preparation: Preparation::Preparing,
            object: None,
            checkout_url: None,
            prepared_at: None,
            confirmed: false,
            due: None,
            follow_up: None,
            tries: 0,
            waiting: None,
            card_fee: None,
        }
    }
}

/// A refund that waits for people's approval or did, with what it takes to show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundToApprove {
    pub payment: PaymentId,
    pub provider: String,
    pub currency: Currency,
    pub refund: Refund,
}

/// A payment's transaction, as far as it is not the payment's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardTransaction {
    /// Its place in lists.
    pub id: TransactionId,
    pub state: TransactionState,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// A card payment with everything that belongs to it, seen at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardPayment {
    /// Counts the changes; 0 as inserted.
    pub revision: u64,
    /// What was asked for and decided.
    pub order: CardOrder,
    pub progress: Progress,
    /// Its transaction, once it exists.
    pub transaction: Option<CardTransaction>,
    /// Its charging attempts by number.
    pub attempts: Vec<Attempt>,
    /// Its refunds in the order of their recording.
    pub refunds: Vec<Refund>,
    /// Its disputes in the order of their recording; the transaction shows the one that changed last.
    pub disputes: Vec<Dispute>,
    /// Its captures and voids in the order of their recording.
    pub hold_actions: Vec<HoldAction>,
}

impl CardPayment {
    /// The amounts that count: those that were captured, once a payment was captured by hand.
    pub fn amounts(&self) -> FeeSnapshot {
        let prepared = &self.order.fee;
        self.transaction.as_ref().map_or(*prepared, |transaction| transaction.state.amounts(prepared))
    }

    /// The amounts it was charged with, before any capture: those that were decided for the card, if it was.
    pub fn charged(&self) -> FeeSnapshot {
        let prepared = &self.order.fee;
        self.transaction.as_ref().map_or(*prepared, |transaction| transaction.state.charged(prepared))
    }

    /// The order with the amounts it was charged with.
    pub fn charged_order(&self) -> CardOrder {
        CardOrder { fee: self.charged(), ..self.order.clone() }
    }

    /// Where it stands, in a word: the preparation's until somebody pays, then the transaction's.
    pub fn status(&self) -> &'static str {
        let prepared = self.progress.preparation.as_str();
        self.transaction.as_ref().map_or(prepared, |transaction| transaction.state.status.as_str())
    }
}

/// One line of a payment's timeline. Lines are never changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its place: the order of ids is the order of lines.
    pub id: EntryId,
    pub at: Timestamp,
    /// What kind of line: `provider_call`, `webhook`, `status`, …
    pub kind: String,
    /// The request it happened in, where there was one.
    pub request: Option<String>,
    /// The particulars as JSON text. Never holds a secret or a card.
    pub detail: String,
}

/// A discrepancy to be shown to an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewException {
    pub id: ExceptionId,
    /// What about.
    pub kind: DiscrepancyKind,
    /// What our books say.
    pub expected: String,
    /// What the provider says.
    pub found: String,
    /// How it came to our notice: an event's id, `confirm`, `resolver`.
    pub source: String,
    pub at: Timestamp,
}

/// A change of a payment: everything in it, or nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentChange {
    /// The change's own id: made twice, it is made once.
    pub id: ChangeId,
    /// The revision it was decided on. Another revision in the store means the decision is out of date.
    pub from_revision: u64,
    pub at: Timestamp,
    /// Where the payment stands from now on.
    pub progress: Progress,
    /// The transaction from now on: inserted under this id if there is none, otherwise its state is replaced (its id
    /// and its date stay). `None` leaves it as it is.
    pub transaction: Option<(TransactionId, TransactionState)>,
    /// The date of a transaction that this inserts.
    pub began_at: Timestamp,
    /// An attempt to add, or to replace by its number.
    pub attempt: Option<Attempt>,
    /// Refunds to add, or to replace by their ids.
    pub refunds: Vec<Refund>,
    /// Disputes to add, or to replace by their ids.
    pub disputes: Vec<Dispute>,
    /// What it posts to the books.
    pub postings: Vec<NewCardPosting>,
    /// Whether the payment counts toward its limits from now on; `None` leaves that.
    pub counts: Option<bool>,
    /// Captures and voids to add, or to replace by their ids.
    pub hold_actions: Vec<HoldAction>,
    /// Names of the provider's objects by which the payment is found from now on. One already known stays whose it is.
    pub objects: Vec<String>,
    /// Lines to add to the timeline.
    pub entries: Vec<Entry>,
    /// Discrepancies to record; one with the same kind and the same words found is recorded once per payment.
    pub exceptions: Vec<NewException>,
    /// The provider's event that led here, which is settled with it.
    pub event: Option<SettledProviderEvent>,
    /// The events it emits, in order. An event about the transaction shows it as this change leaves it.
    pub new_events: Vec<NewEvent>,
}

/// A payment that goes on to the next target of its route: everything in it, or nothing. One that its caller switches after a
/// decline takes its failed transaction along; any other has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentReroute {
    /// Made twice, it is made once.
    pub id: ChangeId,
    /// The revision it was decided on.
    pub from_revision: u64,
    pub at: Timestamp,
    /// The order at its new provider.
    pub order: CardOrder,
    pub progress: Progress,
    /// Lines to add to the timeline.
    pub entries: Vec<Entry>,
}

/// The outcome of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changed {
    /// It is made (also when this very change was made before, and nothing has changed since).
    Done,
    /// The payment has changed meanwhile: nothing was done.
    Stale,
    /// No such payment in this environment.
    Missing,
}

/// The outcome of an insertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inserted {
    /// It is there now (also when this very id was there before).
    Done,
    /// Another payment has the order's key, and nothing was stored.
    KeyTaken(PaymentId),
    /// One of its limits does not allow it, and nothing was stored.
    LimitExceeded(LimitExceeded),
    /// No such environment.
    EnvironmentMissing,
}

/// A provider's event, verified and translated, on its way in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderEvent {
    /// The provider, by its name in the configuration.
    pub provider: String,
    /// The provider's own id of the event.
    pub id: String,
    /// The provider's word for what happened.
    pub kind: String,
    /// What we need of it, as JSON text without anything secret. Empty once it is applied.
    pub notice: String,
    /// The request it came in.
    pub request: String,
    /// When it came.
    pub received_at: Timestamp,
}

/// Whether an event is news.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// It is stored, and due for whoever received it.
    New,
    /// It was here before, whatever became of it.
    Known,
}

/// Where an event stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProviderEventState {
    /// Stored and not applied yet.
    Waiting,
    /// Done with: what it told is in the books.
    Applied,
    /// Done with: it is about nothing of ours, or tells nothing we keep.
    Ignored,
    /// Failed too often to be tried again by itself; an operator may have it retried.
    Parked,
}

impl ProviderEventState {
    pub const ALL: [Self; 4] = [Self::Waiting, Self::Applied, Self::Ignored, Self::Parked];

    /// The name in the API and in the stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Applied => "applied",
            Self::Ignored => "ignored",
            Self::Parked => "parked",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

/// What is to become of an event. It may have been stored before, waiting, or be new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettledProviderEvent {
    pub event: ProviderEvent,
    /// Its state from now on. One that was applied, ignored or parked before keeps its state.
    pub state: ProviderEventState,
    /// When to check again; only with [`ProviderEventState::Waiting`].
    pub due: Option<Timestamp>,
    /// A message for operators.
    pub note: String,
}

/// A place in a list of events. Several can arrive within one moment, so that the moment alone is not enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderEventCursor {
    /// When the event at this place was received.
    pub received_at: Timestamp,
    /// Its provider and id; `None` is the place in front of all events of that moment.
    pub event: Option<(String, String)>,
}

/// An event as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredProviderEvent {
    pub environment: EnvironmentId,
    /// What came in.
    pub event: ProviderEvent,
    pub state: ProviderEventState,
    /// When it is looked at next.
    pub due: Option<Timestamp>,
    /// How often it has been claimed.
    pub tries: u32,
    /// A message for operators.
    pub note: String,
}

/// A discrepancy as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredException {
    /// The payment it is about.
    pub reference: ServiceReference,
    /// What was recorded.
    pub exception: NewException,
    /// When an operator was done with it, who, and what they wrote.
    pub resolved: Option<Resolution>,
}

/// An operator is done with a discrepancy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    pub at: Timestamp,
    pub actor: String,
    /// What they wrote.
    pub note: String,
}

/// Which transactions to list; everything that is given must hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TransactionFilter {
    /// In this status.
    pub status: Option<Status>,
    /// By this method.
    pub method: Option<tollgate_domain::PaymentMethod>,
    /// Of this provider.
    pub provider: Option<String>,
    /// Only those that are paid and were refunded in part.
    pub is_partly_refunded: bool,
    /// Only those with a dispute, whatever became of it.
    pub is_disputed: bool,
    /// Recorded at this moment or later.
    pub created_from: Option<Timestamp>,
    /// Recorded before this moment.
    pub created_before: Option<Timestamp>,
}

/// Transactions of one method, currency and status, added up. The amounts are those that count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransactionTotal {
    pub method: tollgate_domain::PaymentMethod,
    pub currency: Currency,
    pub status: Status,
    pub count: u64,
    pub principal_minor: u128,
    pub total_debit_minor: u128,
    pub refunded_minor: u128,
}

/// Which payments to list; everything that is given must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PaymentFilter {
    /// With their preparation here.
    pub preparation: Option<Preparation>,
    /// Only those that say why they wait.
    pub waiting: bool,
}

/// The part of the store that keeps payments.
#[async_trait]
pub trait PaymentStore: Send + Sync + 'static {
    /// Stores a new payment at revision 0 with its first lines and the events it emits, if no other has its key.
    async fn insert_payment(
        &self,
        environment: EnvironmentId,
        order: &CardOrder,
        progress: &Progress,
        entries: &[Entry],
        new_events: &[NewEvent],
    ) -> Result<Inserted, StoreError>;

    /// As [`PaymentStore::insert_payment`], if none of these limits is exceeded by it.
    async fn insert_limited_payment(
        &self,
        environment: EnvironmentId,
        order: &CardOrder,
        progress: &Progress,
        entries: &[Entry],
        new_events: &[NewEvent],
        limits: &[LimitUse],
    ) -> Result<Inserted, StoreError>;

    /// The payment with all that belongs to it, if there is one.
    async fn payment(
        &self,
        environment: EnvironmentId,
        id: PaymentId,
    ) -> Result<Option<CardPayment>, StoreError>;

    /// The payment that has this key; one that was withdrawn has it no longer.
    async fn payment_of_key(
        &self,
        environment: EnvironmentId,
        key: &[u8; 32],
    ) -> Result<Option<PaymentId>, StoreError>;

    /// Which payment a provider's object belongs to.
    async fn payment_of_object(
        &self,
        environment: EnvironmentId,
        provider: &str,
        object: &str,
    ) -> Result<Option<PaymentId>, StoreError>;

    /// Refunds that wait for people's approval or did.
    async fn refund_approvals(
        &self,
        environment: EnvironmentId,
        query: ApprovalQuery,
    ) -> Result<Vec<RefundToApprove>, StoreError>;

    /// The refund that an approval is about.
    async fn refund_approval(
        &self,
        environment: EnvironmentId,
        id: ApprovalId,
    ) -> Result<Option<RefundToApprove>, StoreError>;

    /// Which payment a refund belongs to.
    async fn payment_of_refund(
        &self,
        environment: EnvironmentId,
        refund: RefundId,
    ) -> Result<Option<PaymentId>, StoreError>;

    /// Which payment a capture or void belongs to.
    async fn payment_of_hold_action(
        &self,
        environment: EnvironmentId,
        action: HoldActionId,
    ) -> Result<Option<PaymentId>, StoreError>;

    /// The names of the provider's objects by which a payment is found, at most a hundred.
    async fn objects_of_payment(
        &self,
        environment: EnvironmentId,
        id: PaymentId,
    ) -> Result<Vec<String>, StoreError>;

    /// Changes a payment, if it is still as it was seen. [`StoreError::Broken`] if the id of a new refund,
    /// capture or void is another payment's.
    async fn change_payment(
        &self,
        environment: EnvironmentId,
        id: PaymentId,
        change: &PaymentChange,
    ) -> Result<Changed, StoreError>;

    /// Moves a payment to another provider, if it is still as it was seen and its provider has made nothing: neither an object
    /// nor a transaction is on record.
    async fn reroute_payment(
        &self,
        environment: EnvironmentId,
        id: PaymentId,
        reroute: &PaymentReroute,
    ) -> Result<Changed, StoreError>;

    /// Payments by id, newest first, below `before` if given.
    async fn payments(
        &self,
        environment: EnvironmentId,
        filter: PaymentFilter,
        before: Option<PaymentId>,
        limit: u32,
    ) -> Result<Vec<PaymentId>, StoreError>;

    /// Takes up to `limit` payments of any environment that are due at `now`, the longest due first, and makes each due
    /// again at `until`: whoever took them has so long, and where they vanish another node takes over. Counts a try for
    /// each; the revision stays.
    async fn claim_payments(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<(EnvironmentId, PaymentId)>, StoreError>;

    /// As [`PaymentStore::claim_payments`], for paid payments whose follow-up is due. Counts no try.
    async fn claim_follow_ups(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<(EnvironmentId, PaymentId)>, StoreError>;

    /// The transaction under this reference, if there is one.
    async fn transaction(
        &self,
        environment: EnvironmentId,
        reference: ServiceReference,
    ) -> Result<Option<Transaction>, StoreError>;

    /// Transactions newest first, below `before` if given.
    async fn transactions(
        &self,
        environment: EnvironmentId,
        filter: &TransactionFilter,
        before: Option<TransactionId>,
        limit: u32,
    ) -> Result<Vec<Transaction>, StoreError>;

    /// The transactions that fit, added up by method, currency and status; `None` if there are more than `most`.
    async fn transaction_totals(
        &self,
        environment: EnvironmentId,
        filter: &TransactionFilter,
        most: u32,
    ) -> Result<Option<Vec<TransactionTotal>>, StoreError>;

    /// A payment's timeline, oldest line first.
    async fn timeline(
        &self,
        environment: EnvironmentId,
        reference: ServiceReference,
    ) -> Result<Vec<Entry>, StoreError>;

    /// Stores a provider's event once per environment, provider and event id; due at `due`.
    async fn receive_provider_event(
        &self,
        environment: EnvironmentId,
        event: &ProviderEvent,
        due: Timestamp,
    ) -> Result<Received, StoreError>;

    /// As [`PaymentStore::claim_payments`], for events that wait.
    async fn claim_provider_events(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<StoredProviderEvent>, StoreError>;

    /// Settles an event that changes no payment; `false` if it was settled before, or there is no such environment.
    async fn settle_provider_event(
        &self,
        environment: EnvironmentId,
        settled: &SettledProviderEvent,
    ) -> Result<bool, StoreError>;

    /// Makes a parked event wait again, due at `now` and with no tries; `false` if there is no such parked event.
    async fn retry_stored_provider_event(
        &self,
        environment: EnvironmentId,
        provider: &str,
        id: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// An environment's events, newest first and by name within one moment: behind `before` if given, in
    /// `state` where given.
    async fn provider_events(
        &self,
        environment: EnvironmentId,
        state: Option<ProviderEventState>,
        before: Option<&ProviderEventCursor>,
        limit: u32,
    ) -> Result<Vec<StoredProviderEvent>, StoreError>;

    /// An environment's discrepancies, newest first, below `before` if given; only unresolved ones with
    /// `open_only`.
    async fn exceptions(
        &self,
        environment: EnvironmentId,
        open_only: bool,
        before: Option<ExceptionId>,
        limit: u32,
    ) -> Result<Vec<StoredException>, StoreError>;

    /// The discrepancies about one payment, oldest first.
    async fn exceptions_of(
        &self,
        environment: EnvironmentId,
        reference: ServiceReference,
    ) -> Result<Vec<StoredException>, StoreError>;

    /// Marks a discrepancy as done with; the first resolution stays. `false` if there is none.
    async fn resolve_exception(
        &self,
        environment: EnvironmentId,
        id: ExceptionId,
        resolution: &Resolution,
    ) -> Result<bool, StoreError>;

    /// Ties a payment or transfer to this account at its provider from now on, adds the line to its timeline and makes it
    /// due at the line's moment; with `from_revision`, only if it is still at that one. `false` if there is none.
    async fn set_account(
        &self,
        environment: EnvironmentId,
        reference: ServiceReference,
        account: &ProviderAccount,
        from_revision: Option<u64>,
        entry: &Entry,
    ) -> Result<bool, StoreError>;

    /// Adds a line to the timeline of a payment or transfer, which stays as it is otherwise. `false` if there is none.
    async fn add_to_timeline(
        &self,
        environment: EnvironmentId,
        reference: ServiceReference,
        entry: &Entry,
    ) -> Result<bool, StoreError>;
}
