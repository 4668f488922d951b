//! The harness: the real engine over SQLite in memory, model providers, and a fault at any call.

pub(crate) mod clock;
pub(crate) mod config;
pub(crate) mod every_step;
pub(crate) mod faults;
pub(crate) mod invariants;
pub(crate) mod provider;
pub(crate) mod receiver;
pub(crate) mod requests;
pub(crate) mod store;
pub(crate) mod world;
