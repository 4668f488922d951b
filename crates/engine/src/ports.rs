//! What the engine needs from outside, each promise written above its method.

mod courier;
mod host;
mod inspection;
mod outbox;
mod payments;
mod provider;
mod records;
mod store;
mod transfers;

use tollgate_domain::Timestamp;

pub use courier::{Courier, EventBodies, EventSubject, Letter, Receipt, Undelivered};
pub use host::{Host, Stopped, Task};
pub use inspection::{Backlog, Diagnosis, Durability, InspectionStore};
pub use outbox::{
    Attempted, ClaimedDelivery, DeliveryQuery, DeliveryState, Endpoint, EndpointAdded, EndpointChanged,
    EndpointEffect, EventDelivery, EventQuery, EventsFrom, LastTry, NewEvent, OutEvent, OutboxStore, Resend,
    ResendWhich, Resent, SealedSecret,
};
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
pub use records::{Activity, Attention, Found, FoundPlace, PastPayment, RecordStore};
pub use store::{
    AppliedMovement, ChangeSignal, ConfigChange, ConfigPut, ConfigVersion, ConfigVersionSummary, Created,
    Delta, DirectoryVersion, EnvironmentState, Issued, LedgerLine, Moved, Page, Revoked, Rotated, Store,
    StoreError,
};
pub use transfers::{
    Audit, AuditFinding, NewTransfer, ReservationCancel, Reserved, Transfer, TransferChange, TransferPosting,
    TransferProgress, TransferStore,
};

/// The time of day. Domain and engine never read a clock by themselves.
pub trait Clock: Send + Sync + 'static {
    /// This moment.
    fn now(&self) -> Timestamp;
}
