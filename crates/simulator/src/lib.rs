//! The payment providers' adapters, played from memory.
//!
//! The simulator answers what the providers' published specifications promise, closely enough that their official
//! client libraries work against it unchanged. It keeps state, honors idempotency keys as each provider does, signs
//! and sends webhooks, and fails on request. It shares no code with the rest of the workspace, so that it can bear
//! witness: a misreading of the provider in an adapter is not repeated here.
//!
//! The README beside this crate says how to drive it and what it does not imitate.

// The providers' larger objects are one `json!` each.
#![recursion_limit = "256"]

mod calendar;
mod call_handler;
mod card;
mod collection;
mod config;
mod control;
mod faults;
mod idempotency;
mod ids;
mod increase;
mod page;
mod signature;
mod simulator;
mod square;
mod stripe;
mod webhooks;

pub use config::{Config, IncreaseKeys, SquareKeys, StripeKeys, WebhookTarget, Wire};
pub use increase::return_reason;
pub use signature::{increase_signature, square_signature, stripe_signature};
pub use simulator::{Simulator, router};
