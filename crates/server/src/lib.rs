//! HTTP and nothing else: routes, validation, authentication, answers.
//!
//! Handlers translate; what happens is decided in the engine. Every answer leaves through [`transport::edge`], which gives it
//! its request id, renders failures in the one envelope, counts and logs.

mod admin_api;
mod app;
mod assemble;
mod browser_script;
mod checkout_pages;
mod client_api;
mod json;
mod operations;
mod policy_reports;
mod policy_tally;
mod prelude;
mod provider_webhooks;
mod readiness;
mod reference;
mod request;
mod response;
mod router;
mod transport;
mod types;

pub use app::App;
pub use json::timestamp::rfc3339;
pub use response::event_bodies::ApiEventBodies;
pub use transport::service::Service;
pub use transport::{
    listen::{Limits, Listeners, serve},
    tls::{Tls, TlsError, TlsFiles},
};
