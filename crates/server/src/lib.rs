//! HTTP and nothing else: routes, validation, authentication, answers.
//!
//! Handlers translate; what happens is decided in the engine. Every answer leaves through [`edge`], which gives it
//! its request id, renders failures in the one envelope, counts and logs.

mod admin_api;
mod app;
mod auth;
mod bad_credentials;
mod body;
mod checkout_pages;
mod client_api;
mod compact_json;
mod connection_stream;
mod connections;
mod edge;
mod error;
mod error_code;
mod event_bodies;
mod fields;
mod json_text;
mod json_writer;
mod list;
mod listen;
mod location;
mod metadata_field;
mod metrics;
mod minor_text;
mod operations;
mod payment_response;
mod poll_on_wake;
mod provider_webhooks;
mod reference;
mod respond;
mod router;
mod service;
mod timestamp;
mod transaction_response;
mod transfer_response;

pub use app::App;
pub use event_bodies::ApiEventBodies;
pub use listen::{Limits, serve};
pub use service::Service;
pub use timestamp::rfc3339;
