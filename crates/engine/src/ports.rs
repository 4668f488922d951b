//! What the engine needs from outside, each promise written above its method.

mod books;
mod courier;
mod host;
mod inspection;
mod limits;
mod outbox;
mod payments;
mod people;
mod provider;
mod provider_check;
mod reporting;
mod request_log;
mod sealed;
mod security;
mod store;
mod transfers;

use tollgate_domain::Timestamp;

pub use books::{BooksStore, NewCardPosting};
pub use courier::{Courier, DeliveryError, EventBodies, EventSubject, OutboundRequest, OutboundResponse};
pub use host::{Host, Stopped, Task};
pub use inspection::{Backlog, Diagnosis, Durability, InspectionStore, ProviderCheckRecord};
pub use limits::{LimitExceeded, LimitStore};
pub use outbox::{
    Attempted, ClaimedDelivery, DeliveryQuery, DeliveryState, Endpoint, EndpointAdded, EndpointChanged,
    EndpointEffect, Event, EventDelivery, EventQuery, EventsFrom, LastTry, NewEvent, OutboxStore, Resend,
    ResendWhich, Resent, SealedSecret,
};
pub use payments::{
    CardPayment, CardTransaction, Changed, Entry, Inserted, NewException, PaymentChange, PaymentFilter,
    PaymentReroute, PaymentStore, Progress, ProviderEvent, ProviderEventCursor, ProviderEventState, Received,
    Resolution, SettledProviderEvent, StoredException, StoredProviderEvent, TransactionFilter,
};
pub use people::{AccessEnded, PeopleStore, TokenIssued, UserCreated, UserState};
pub use provider::{
    AchTransfers, Adapters, BankAccount, Call, CallError, CallLog, Cards, Charge, Component, Confirmation,
    DomainWallet, Identified, InboundWebhook, OrderFault, Prepared, RegisteredDomain, Rejection,
    RejectionKind, SignatureError, Subject, TransientError, Try, UnreadableEvent, WebhookNotice,
    WebhookReader,
};
pub use provider_check::{CheckSubject, NewWebhook, ProviderCheck, ProviderChecks, RegisteredWebhook};
pub use reporting::{
    Activity, Attention, PastPayment, PaymentCustomer, ReportingStore, SearchCursor, SearchHit,
};
pub use request_log::{ErrorGroup, LoggedRequest, QuoteCount, RequestFilter, RequestLogStore};
pub use sealed::{SealedKind, SealedPlace, SealedStore, SealedValue};
pub use security::{ChangeOrigin, KeyAction, KeyChange, SealingKey, SecurityStore};
pub use store::{
    AppliedMovement, ChangeSignal, ConfigChange, ConfigPut, ConfigVersion, ConfigVersionSummary, Created,
    Delta, DirectoryVersion, EnvironmentState, Issued, LedgerLine, Moved, Page, Revoked, Rotated, Store,
    StoreError,
};
pub use transfers::{
    Audit, AuditFinding, KeyedToken, NewTransfer, ReservationCancel, Reserved, Transfer, TransferChange,
    TransferPosting, TransferProgress, TransferStore,
};

/// The time of day. Domain and engine never read a clock by themselves.
pub trait Clock: Send + Sync + 'static {
    /// This moment.
    fn now(&self) -> Timestamp;
}
