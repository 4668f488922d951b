//! The adapters over real HTTP: against the simulator, against scripted answers, against the providers' own documents,
//! and against a fake that somebody else wrote.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod adyen;
mod adyen_validation;
mod check_validation;
mod child;
mod conformance;
mod deliveries;
mod events;
mod fee_lines;
mod fuzz;
mod holds;
mod increase;
mod increase_funds;
mod increase_privacy;
mod increase_script;
mod increase_support;
mod increase_validation;
mod increase_webhooks;
mod instant_rails;
mod localstripe;
mod modern_treasury;
mod modern_treasury_support;
mod modern_treasury_validation;
mod offered;
mod refunds;
mod retry;
mod signatures;
mod square;
mod stripe;
mod stripe_checks;
mod stripe_options;
mod support;
mod transfer_cancel;
mod transfer_faults;
mod validators;
mod wires;
