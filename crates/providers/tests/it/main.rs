//! The adapters over real HTTP: against the simulator, against scripted answers, against the providers' own documents,
//! and against a fake that somebody else wrote.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod child;
mod deliveries;
mod events;
mod faults;
mod localstripe;
mod mutations;
mod retry;
mod signatures;
mod square;
mod stripe;
mod support;
mod validators;
