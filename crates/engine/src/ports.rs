//! What the engine needs from outside, each promise written above its method.

mod audit_log;
mod books;
mod courier;
mod erasure;
mod funds;
mod health;
mod host;
mod inspection;
mod limits;
mod outbox;
mod payments;
mod people;
mod proposals;
mod provider;
mod provider_check;
mod reporting;
mod request_log;
mod sealed;
mod security;
mod store;
mod transfers;

use std::time::Duration;

use tollgate_domain::Timestamp;

pub use audit_log::{AUDIT_ACCEPTED, AUDIT_UNPROVED, AuditLogFilter, AuditLogStore};
pub use books::{BooksStore, NewCardPosting};
pub use courier::{Courier, DeliveryError, EventBodies, EventSubject, OutboundRequest, OutboundResponse};
pub use erasure::{Erased, ErasureStore, StoredCustomer};
pub use funds::{FundRequest, FundsDecided, FundsDecision, FundsRequested, MoveOrder};
pub use health::{Attention, EnvironmentHealth, HealthQuery, WalletHealth};
pub use host::{Host, Stopped, Task};
pub use inspection::{Backlog, Diagnosis, Durability, InspectionStore, ProviderCheckRecord};
pub use limits::{LimitExceeded, LimitStore};
pub use outbox::{
    Attempted, ClaimedDelivery, DeliveryQuery, DeliveryState, Endpoint, EndpointAdded, EndpointChanged,
    EndpointEffect, Event, EventDelivery, EventQuery, EventsFrom, LastTry, NewAuditHeadEvent,
    NewCircuitEvent, NewEvent, OutboxStore, Resend, ResendWhich, Resent, SealedSecret,
};
pub use payments::{
    CardPayment, CardTransaction, Changed, Entry, Inserted, NewException, PaymentChange, PaymentFilter,
    PaymentReroute, PaymentStore, Progress, ProviderEvent, ProviderEventCursor, ProviderEventState, Received,
    RefundToApprove, Resolution, SettledProviderEvent, StoredException, StoredProviderEvent,
    TransactionFilter, TransactionTotal,
};
pub use people::{AccessEnded, OperatorUse, PeopleStore, SubjectBound, TokenIssued, UserCreated, UserState};
pub use proposals::{ConfigProposal, ProposalDecided, ProposalStore, Proposed};
pub use provider::{
    AchTransfers, Adapters, BankAccount, BrowserResults, Call, CallError, CallLog, Capabilities, Captures,
    Cards, Charge, ChargeTerms, Charges, Component, Confirmation, DisputeLists, DisputePage, DomainWallet,
    Embedded, EmbeddedCards, HostedCheckout, Identified, InboundWebhook, InstantCapability, ListedDispute,
    OrderFault, Prepared, Preparing, Reading, Refunds, RegisteredDomain, Rejection, RejectionKind,
    SignatureError, SignedReport, SignedStep, Subject, TokenCard, TokenCards, TransientError, Try,
    UnreadableEvent, WebhookNotice, Webhooks,
};
pub use provider_check::{
    CheckReport, CheckSubject, NewWebhook, ProviderCheck, ProviderChecks, RegisteredWebhook,
};
pub use reporting::{
    Activity, ChargedPayment, PastPayment, PaymentCustomer, ReportingStore, ReturnCounts, SearchCursor,
    SearchHit,
};
pub use request_log::{ErrorGroup, KeyUse, LoggedRequest, QuoteCount, RequestFilter, RequestLogStore};
pub use sealed::{SealedKind, SealedPlace, SealedStore, SealedValue};
pub use security::{KeyAction, KeyChange, SealingKey, SecurityStore};
pub use store::{
    AppliedMovement, ChangeSignal, ConfigChange, ConfigPut, ConfigVersion, ConfigVersionSummary, Created,
    Delta, DirectoryVersion, EnvironmentState, Issued, LedgerLine, Moved, Page, Revoked, Rotated, Store,
    StoreError,
};
pub use transfers::{
    ApprovalQuery, Audit, AuditCheckpoint, AuditFinding, AuditScope, KeyedToken, NewTransfer,
    ReservationCancel, Reserved, Transfer, TransferChange, TransferPosting, TransferProgress, TransferStore,
};

/// The time of day. Domain and engine never read a clock by themselves.
pub trait Clock: Send + Sync + 'static {
    /// This moment.
    fn now(&self) -> Timestamp;

    /// How far it can be relied on.
    fn standing(&self) -> ClockStanding {
        ClockStanding::default()
    }
}

/// How far a clock can be relied on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClockStanding {
    /// By how many milliseconds the machine's clock is ahead of the database's; negative if it is behind.
    pub machine_ahead: i64,
    /// Whether the database's clock has jumped a short while ago, so that an age may be too great by the jump.
    pub is_settling: bool,
}

impl ClockStanding {
    /// How far the clocks of a node and of its database may be apart.
    pub const MOST_APART: Duration = Duration::from_mins(1);

    /// Whether the machine's clock is too far from the database's for this node to take work.
    pub fn is_off(&self) -> bool {
        u128::from(self.machine_ahead.unsigned_abs()) > Self::MOST_APART.as_millis()
    }

    /// Whether something may be given up for good because so much time has passed.
    pub fn may_conclude(&self) -> bool {
        !self.is_off() && !self.is_settling
    }
}
