//! What the engine needs from outside, each promise written above its method.

mod payments;
mod provider;
mod store;
mod transfers;

use tollgate_domain::Timestamp;

pub use payments::{
    CardPayment, CardTransaction, Changed, Entry, EventPlace, EventState, Inserted, NewException,
    PaymentChange, PaymentFilter, PaymentStore, Progress, ProviderEvent, Received, Resolution, SettledEvent,
    StoredEvent, StoredException, TransactionFilter,
};
pub use provider::{
    AchTransfers, BankAccount, Call, CallError, CallLog, Cards, Charge, Component, Confirmation, Delivery,
    Notice, Prepared, Refusal, RefusalKind, Subject, Trouble, Try, Unreadable, Unverified, WebhookReader,
    Wires,
};
pub use store::{
    AppliedMovement, ChangeSignal, ConfigChange, ConfigPut, ConfigVersion, ConfigVersionSummary, Created,
    Delta, DirectoryVersion, EnvironmentState, Issued, LedgerLine, Moved, Page, Revoked, Rotated, Store,
    StoreError,
};
pub use transfers::{
    Audit, AuditFinding, NewTransfer, Reserved, Transfer, TransferChange, TransferPosting, TransferProgress,
    TransferStore,
};

/// The time of day. Domain and engine never read a clock by themselves.
pub trait Clock: Send + Sync + 'static {
    /// This moment.
    fn now(&self) -> Timestamp;
}
