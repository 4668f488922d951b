//! A simulator of the payment providers' APIs, in memory, and on request in a file as well.
//!
//! The simulator answers what the providers' published specifications promise, closely enough that their official
//! client libraries work against it unchanged. It keeps state, honors idempotency keys as each provider does, signs
//! and sends webhooks, and fails on request. It shares no code with the rest of the workspace, so that it stays an
//! independent check: a misreading of a provider's API in an adapter is not repeated here.
//!
//! Each file knows only the layers below it. From the top:
//! - `simulator` is the handle that callers hold, `control` the control interface;
//! - `providers` holds the APIs together;
//! - `stripe`, `square`, `increase`, `modern_treasury` and `adyen` list their routes; inside, endpoints and objects stand on `call` and `state`;
//! - `call_handler` carries out any provider's call, `api` says what it must know about the provider;
//! - `services` is what all share, over leaves such as `webhooks`, `faults`, `archive` and `config`; `prelude` names what most files use.
//!
//! The README beside this crate says how to drive it and what it does not imitate.

// The providers' larger objects are one `json!` each.
#![recursion_limit = "256"]

mod adyen;
mod api;
mod archive;
mod calendar;
mod call_handler;
mod card;
mod collection;
mod config;
mod control;
mod due;
mod faults;
mod fields;
mod idempotency;
mod ids;
mod increase;
mod json;
mod modern_treasury;
mod page;
mod prelude;
mod providers;
mod query;
mod services;
mod signature;
mod simulator;
mod square;
mod stripe;
mod webhooks;

pub use config::{
    AdyenKeys, Config, IncreaseKeys, ModernTreasuryKeys, SquareKeys, StripeKeys, WebhookTarget, Wire,
};
pub use increase::return_reason;
pub use signature::{
    adyen_signature, increase_signature, modern_treasury_signature, square_signature, stripe_signature,
};
pub use simulator::{Simulator, router};
