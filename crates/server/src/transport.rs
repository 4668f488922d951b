//! Connections and the HTTP around every handler.

pub(crate) mod call_lines;
pub(crate) mod client_address;
pub(crate) mod connections;
pub(crate) mod edge;
pub(crate) mod listen;
pub(crate) mod metered_body;
pub(crate) mod metrics;
pub(crate) mod own_host;
pub(crate) mod poll_on_wake;
pub(crate) mod request_log;
pub(crate) mod service;
pub(crate) mod state_metrics;
pub(crate) mod stream;
pub(crate) mod tls;
