//! Use-cases over ports: what happens, in which order, and what is durable before anyone is told.
//!
//! No HTTP and no SQL here. The outside is reached through the traits of [`ports`]; the hot paths (authentication,
//! quotes) read only the immutable [`Snapshot`] that [`Directory`] swaps when something changed.

mod ach;
mod activity;
mod approvals;
mod audit_log;
mod backoff;
mod body_budget;
mod books;
mod canonical_json;
mod card;
mod circuit_events;
mod circuits;
mod clock;
mod configure;
mod directory;
mod doctor;
mod engine;
mod erasure;
mod export;
mod failpoint;
mod fee_report;
mod funds;
mod host;
mod key_conflicts;
mod key_meters;
mod keys;
mod limits;
mod metadata_text;
mod notes;
mod options;
mod outbox;
mod people;
pub mod ports;
mod proposals;
mod provider_account;
mod provider_check;
mod provider_health;
mod quote;
mod rate_limiter;
mod record;
mod rekey;
mod replay;
mod request_log;
mod resolver;
mod route;
mod search;
mod sequence;
mod sessions;
mod snapshot;
mod tenants;
mod timeline;
mod wallet;
mod webhook;

pub use ach::{
    Bank, CancelError, CorrectedAccount, CustomerToken, IssueTokenError, IssuedToken, Preview, TokenError,
    TransferCanceled, TransferCreated, TransferError, TransferRead, TransferRequest, notifications_of_change,
};
pub use activity::ACTIVITY;
pub use approvals::{ApprovalSubject, DecideError};
pub use audit_log::{Audited, list_query};
pub use body_budget::{BodyBudget, BodyMeter, FREE_BODY_BYTES, NoRoomForBody};
pub use books::{EnvironmentStatement, Statement};
pub use card::{
    ConfirmBody, ConfirmError, Confirmable, Confirmed, HoldChanged, HoldError, HoldRequest, PaymentRead,
    PrepareError, PrepareRequest, PreparedPayment, ReadError, RefundCreated, RefundError, RefundRequest,
    RegisterDomainError, SwitchError,
};
pub use circuits::{CircuitOpen, CircuitStatus, Circuits};
pub use clock::{DatabaseClock, SystemClock};
pub use configure::{
    AppliedConfig, ConfigCheck, ConfigDocument, ConfigRead, ConfigureError, Configured, DecidedBy, Origin,
    TooManyReads,
};
pub use directory::{Directory, FOLLOW_POLL};
pub use doctor::{Area, Check, CheckStatus, ExternalCheck, ProviderReadiness};
pub use engine::{Engine, StartError};
pub use erasure::{CustomerName, EraseError, Erasure, InProgress};
pub use fee_report::{FeeReportKey, FeeReportRow, fee_report_csv};
pub use funds::MoveOutcome;
pub use host::Process;
pub use key_meters::KeyMeters;
pub use keys::{KeyError, KeyRequest, NewKey, RotationRequest};
pub use limits::ExceededLimit;
pub use metadata_text::metadata_pairs;
pub use notes::MAX_NOTE_LENGTH;
pub use options::{DEFAULT_REQUEST_DEADLINE, Options, OutboxOptions, ResolverOptions};
pub use outbox::{
    CreatedEndpoint, DeliveryOutcome, DeliveryTally, DescriptionChange, EndpointChange, EndpointError,
    EndpointUrl, EventRead, InvalidUrl, NewEndpoint, ResendError, ResentEvents,
};
pub use people::{CredentialError, NewUser, NewUserToken, UserChange, UserError};
pub use ports::MoveOrder;
pub use proposals::ProposedChange;
pub use provider_account::UseAccountError;
pub use provider_check::{CheckedProvider, ProviderCheckError};
pub use provider_health::{ProviderHealth, ProviderIncident, ProviderState};
pub use quote::{Price, Quote, QuoteExplanation, QuoteRequest, explain, explain_routing, quote};
pub use rate_limiter::{AddressRateLimiter, RateLimitExceeded, RateLimiter};
pub use rekey::{RekeyError, RekeyProgress};
pub use replay::{MAX_REPLAYED, MovedMoney, Replay, ReplayExample, ReplayedMove};
pub use route::ExplainedFallback;
pub use search::{CustomerPayment, FoundPayment, PaymentSearch};
pub use snapshot::{EnvironmentView, KeyRejection, LiveKey, LiveToken, Snapshot, UnusableConfig};
pub use tenants::TenantError;
pub use wallet::MoveError;
pub use webhook::WebhookError;
