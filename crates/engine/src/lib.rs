//! Use-cases over ports: what happens, in which order, and what is durable before anyone is told.
//!
//! No HTTP and no SQL here. The outside is reached through the traits of [`ports`]; the hot paths (authentication,
//! quotes) read only the immutable [`Snapshot`] that [`Directory`] swaps when something changed.

mod ach;
mod card;
mod clock;
mod configure;
mod directory;
mod doctor;
mod engine;
mod failpoint;
mod growing;
mod host;
mod keys;
mod metadata_text;
mod meter;
mod options;
mod outbox;
pub mod ports;
mod provider_account;
mod provider_health;
mod quote;
mod record;
mod records;
mod resolver;
mod sequence;
mod snapshot;
mod tenants;
mod timeline;
mod wallet;

pub use ach::{
    Bank, CustomerToken, IssuedToken, Preview, TokenError, TransferError, TransferMade, TransferRead,
    TransferRequest,
};
pub use card::{
    ConfirmBody, ConfirmError, Confirmable, Confirmed, PaymentRead, PrepareError, PrepareRequest,
    PreparedPayment, ReadError, WebhookError,
};
pub use clock::SystemClock;
pub use configure::{ConfigCheck, ConfigDocument, ConfigRead, ConfigureError, Origin};
pub use directory::{Directory, FOLLOW_POLL};
pub use doctor::{Check, Verdict};
pub use engine::{Engine, StartError};
#[cfg(feature = "failpoints")]
pub use failpoint::plant;
pub use host::Process;
pub use keys::{KeyError, NewKey};
pub use metadata_text::metadata_pairs;
pub use meter::{Exhausted, Meter};
pub use options::{DEFAULT_REQUEST_DEADLINE, Options, OutboxOptions, ResolverOptions};
pub use outbox::{
    DeliveryOutcome, DeliveryTally, DescriptionChange, EndpointChange, EndpointError, EndpointMade,
    EndpointUrl, EventRead, InvalidUrl, NewEndpoint, ResendError, ResentEvents,
};
pub use provider_account::UseAccountError;
pub use provider_health::ProviderHealth;
pub use quote::{Quote, QuoteExplanation, QuoteRequest, explain, quote};
pub use records::{
    FoundPayment, MOST_REPLAYED, MovedMoney, PaymentSearch, Replay, ReplayExample, ReplayedMove,
};
pub use snapshot::{EnvironmentView, KeyRefusal, LiveKey, Snapshot};
pub use tenants::TenantError;
pub use wallet::{MoveError, MoveOrder};
