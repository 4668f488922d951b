//! Bank transfers and the wallet they are paid from, as whole units of work.
//!
//! A transfer's record, its transaction and the funds it sets aside come into being together; from then on each change
//! takes effect exactly when the transfer is still as its changer saw it, with its posting in the same transaction.

use async_trait::async_trait;
use tollgate_domain::{
    Currency, Minor, Timestamp,
    ach::TransferOrder,
    approval::{Approval, ApprovalState},
    id::{ApprovalId, ChangeId, EnvironmentId, EventId, PostingId, TransactionId, TransferId},
    ledger::{self, PostingCause},
    limit::LimitUse,
    transaction::TransactionState,
};

use super::{Changed, Entry, LimitExceeded, NewEvent, NewException, SettledProviderEvent, StoreError};

/// The part of a transfer that changes, its transaction aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransferProgress {
    /// The bank details, sealed; gone once the provider has taken the transfer or refused it.
    pub sealed_account: Option<String>,
    /// The day it is expected to arrive, as `YYYY-MM-DD`.
    pub expected_on: Option<String>,
    /// What the receiving bank asked to be corrected, as a JSON list; account numbers in it are sealed.
    pub corrections: String,
    /// When the resolver checks it next; `None` when there is nothing left to do.
    pub due: Option<Timestamp>,
    /// How often the resolver has checked since something last changed.
    pub tries: u32,
    /// Why it waits, for operators.
    pub waiting: Option<String>,
    /// When its cancellation was asked for; `None` once that is decided.
    pub cancel_requested_at: Option<Timestamp>,
    /// What people have to decide, or have decided, before it is sent.
    pub approval: Option<Approval>,
}

/// Which approvals are wanted, newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApprovalQuery {
    pub state: Option<ApprovalState>,
    pub before: Option<ApprovalId>,
    pub limit: u32,
}

/// A transfer with all that belongs to it, seen at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// Counts the changes; 0 as reserved.
    pub revision: u64,
    /// Its transaction's place in lists.
    pub transaction: TransactionId,
    /// What was asked for and decided.
    pub order: TransferOrder,
    /// By which a repeated request is told from another: a JSON object of keyed digests by field.
    pub fingerprints: String,
    pub progress: TransferProgress,
    /// Its transaction's state; the provider's name for the transfer is its `provider_reference`.
    pub state: TransactionState,
    pub updated_at: Timestamp,
}

impl Transfer {
    /// Since when it may have been sent: since it was made, or since people have approved it.
    pub fn sendable_since(&self) -> Timestamp {
        self.progress.approval.as_ref().and_then(Approval::approved_at).unwrap_or(self.order.created_at)
    }
}

/// A transfer to be made. It begins `pending`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTransfer {
    /// Its transaction's place in lists.
    pub transaction: TransactionId,
    /// What was asked for and decided.
    pub order: TransferOrder,
    /// As in [`Transfer`].
    pub fingerprints: String,
    /// Where it stands at first.
    pub progress: TransferProgress,
    /// The posting that sets its total debit aside: cause `reserve`, reference the transfer's own.
    pub posting: PostingId,
    /// The limits that its principal counts toward.
    pub limits: Vec<LimitUse>,
}

/// The outcome of a reservation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reserved {
    /// The funds are set aside and the transfer is recorded.
    Created,
    /// This very transfer was made before (also when this call is the repetition of one whose answer was lost, told by
    /// `transaction`): nothing was done.
    Existing(Box<Transfer>),
    /// The available funds are below the total debit: nothing was done.
    Insufficient {
        /// What is there.
        available: Minor,
    },
    /// One of its limits does not allow it: nothing was done.
    LimitExceeded(LimitExceeded),
    /// No such environment.
    EnvironmentMissing,
}

/// A posting that goes with a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransferPosting {
    pub id: PostingId,
    /// Why; its reference is the transfer's own.
    pub cause: PostingCause,
    /// Its entries, which sum to zero.
    pub entries: Vec<ledger::Entry>,
}

/// A change of a transfer: everything in it, or nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransferChange {
    /// The change's own id: made twice, it is made once.
    pub id: ChangeId,
    /// The revision it was decided on. Another revision in the store means the decision is out of date.
    pub from_revision: u64,
    /// The reservation it was decided on, while that can be taken back: another one under the same reference, perhaps at
    /// another provider, means the decision is out of date. `None` where there can be no other.
    pub reservation: Option<TransactionId>,
    pub at: Timestamp,
    /// The transaction's state from now on; `None` leaves it.
    pub state: Option<TransactionState>,
    /// Where the transfer stands from now on.
    pub progress: TransferProgress,
    /// What becomes of the funds.
    pub posting: Option<TransferPosting>,
    /// Whether it counts toward its limits from now on; `None` leaves that.
    pub counts: Option<bool>,
    /// Lines to add to the timeline.
    pub entries: Vec<Entry>,
    /// Discrepancies to record.
    pub exceptions: Vec<NewException>,
    /// The provider's event that led here, which is settled with it.
    pub event: Option<SettledProviderEvent>,
    /// The event that says the transfer is `pending`, written before `new_events`. A reservation announces nothing, so that it
    /// can be taken back; the first change after it does. Nothing is written where the transfer has an event already.
    pub pending_event: Option<EventId>,
    /// The events it emits, in order; they show the transaction in `state`.
    pub new_events: Vec<NewEvent>,
}

/// A reservation to be taken back, because its transfer certainly was never sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReservationCancel {
    /// Which reservation of the reference: the id its transaction was given.
    pub transaction: TransactionId,
    /// The wallet's currency.
    pub currency: Currency,
    /// The posting that makes the funds available again. Both it and the one that set them aside are renamed to
    /// "<reference> (not sent, <posting>)", so that the reference can be reserved again.
    pub posting: TransferPosting,
    pub at: Timestamp,
    /// Lines to add to the timeline, which stays under the reference.
    pub entries: Vec<Entry>,
}

/// Something in the books that cannot be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditFinding {
    pub environment: EnvironmentId,
    /// What about: a wallet's currency, a posting, a transfer.
    pub subject: String,
    /// What is wrong, in a sentence.
    pub problem: String,
}

/// How much an audit verifies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditScope {
    /// What was written since the last audit that found nothing; everything if there was none.
    Recent,
    /// Everything, and that what was verified before has not changed since.
    Everything,
}

/// What audits have verified so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditCheckpoint {
    /// When the last audit found nothing.
    pub at: Timestamp,
    /// When the last audit of everything did.
    pub full_at: Timestamp,
    pub postings: u64,
    /// Postings of card payments.
    pub card_postings: u64,
}

/// What an audit looked at, and what it found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Audit {
    /// How many wallets were added up.
    pub wallets: u64,
    /// How many postings were verified now.
    pub postings: u64,
    /// How many transfers these are about.
    pub transfers: u64,
    /// Postings of card payments that were verified now.
    pub card_postings: u64,
    /// What was verified before and not again; none if everything was.
    pub earlier: Option<AuditCheckpoint>,
    /// What is wrong; at most a thousand things.
    pub findings: Vec<AuditFinding>,
}

/// A customer token that was issued under a key. The customer is readable in none of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyedToken {
    /// A digest of the caller's key.
    pub key: [u8; 32],
    /// Digests of the request's fields, as for a transfer.
    pub fingerprints: String,
    /// The token itself, which is encrypted.
    pub token: String,
    pub expires_at: Option<Timestamp>,
    pub created_at: Timestamp,
}

/// The part of the store that keeps transfers.
#[async_trait]
pub trait TransferStore: Send + Sync + 'static {
    /// Sets the total debit aside and records the transfer as pending, or does neither. Many at once share a commit.
    async fn reserve_transfer(
        &self,
        environment: EnvironmentId,
        new: &NewTransfer,
    ) -> Result<Reserved, StoreError>;

    /// Keeps a token under its key, unless the key has one already; returns the one that is kept. `None` if there is no such
    /// environment.
    async fn keep_customer_token(
        &self,
        environment: EnvironmentId,
        new: &KeyedToken,
    ) -> Result<Option<KeyedToken>, StoreError>;

    /// The transfer, if there is one.
    async fn transfer(
        &self,
        environment: EnvironmentId,
        id: TransferId,
    ) -> Result<Option<Transfer>, StoreError>;

    /// The transfer a provider knows by this name.
    async fn transfer_of_object(
        &self,
        environment: EnvironmentId,
        provider: &str,
        object: &str,
    ) -> Result<Option<Transfer>, StoreError>;

    /// Changes a transfer, if it is still as it was seen. Many at once share a commit.
    async fn change_transfer(
        &self,
        environment: EnvironmentId,
        id: TransferId,
        change: &TransferChange,
    ) -> Result<Changed, StoreError>;

    /// Takes a reservation back, if its transfer is still as reserved (revision 0): transfer and transaction are removed
    /// and the funds are available again. `Done` also where that reservation was gone before, `Stale` where its transfer
    /// has changed.
    async fn cancel_reservation(
        &self,
        environment: EnvironmentId,
        id: TransferId,
        cancel: &ReservationCancel,
    ) -> Result<Changed, StoreError>;

    /// Takes up to `limit` transfers of any environment that are due at `now`, the longest due first, and makes each due
    /// again at `until`. Counts a try for each; the revision stays.
    async fn claim_transfers(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<(EnvironmentId, TransferId)>, StoreError>;

    /// Transfers that say why they wait, newest first, below `before` if given.
    async fn waiting_transfers(
        &self,
        environment: EnvironmentId,
        before: Option<TransactionId>,
        limit: u32,
    ) -> Result<Vec<Transfer>, StoreError>;

    /// Transfers that wait for people's approval or did.
    async fn approvals(
        &self,
        environment: EnvironmentId,
        query: ApprovalQuery,
    ) -> Result<Vec<Transfer>, StoreError>;

    /// The transfer that an approval is about.
    async fn approval(
        &self,
        environment: EnvironmentId,
        id: ApprovalId,
    ) -> Result<Option<Transfer>, StoreError>;

    /// Whether people have approved a transfer to this bank account before, by its digest.
    async fn is_approved_account(
        &self,
        environment: EnvironmentId,
        account: &[u8; 32],
    ) -> Result<bool, StoreError>;

    /// Recomputes every balance from its entries and checks what must always hold: each posting's entries sum to zero;
    /// each balance is the sum of its entries and, but for the outside world's side, never negative; what is reserved is
    /// the total debit of the open transfers; what is settled out and earned in fees is that of the succeeded ones; and
    /// every transfer has exactly the postings its status demands. One consistent read.
    ///
    /// An audit that finds nothing leaves its balances as a checkpoint. The next one adds to them what was committed since,
    /// in whichever order, and looks only at that; a change of what came before is for [`AuditScope::Everything`] to find.
    async fn audit(&self, scope: AuditScope, now: Timestamp) -> Result<Audit, StoreError>;
}
