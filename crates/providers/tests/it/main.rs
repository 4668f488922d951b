//! The adapters over real HTTP: against the simulator, against scripted answers, and against the providers' own
//! documents.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod child;
mod increase;
mod increase_faults;
mod increase_privacy;
mod increase_script;
mod increase_support;
mod increase_validation;
mod increase_webhooks;
