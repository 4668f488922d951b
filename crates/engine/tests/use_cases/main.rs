//! Use cases over SQLite in memory and model providers: they work, repeating them has one effect, and whichever call fails,
//! everything ends in a consistent state.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::large_futures,
    clippy::unchecked_time_subtraction
)]

mod support;

mod accounts;
mod approvals;
mod audit_log;
mod bank_details;
mod bank_notices;
mod books;
mod cancel;
mod capabilities;
mod card_fees;
mod circuits;
mod clocks;
mod configuration;
mod confirm;
mod deliveries;
mod directory;
mod erasure;
mod expiry;
mod fallbacks;
mod follow_up;
mod forgotten_keys;
mod fund_requests;
mod hold;
mod instant;
mod keys;
mod limits;
mod people;
mod prepare;
mod provider_check;
mod provider_funds;
mod quote;
mod refund;
mod refund_approvals;
mod rekey;
mod replay;
mod request_log;
mod resolver;
mod routes_model;
mod search;
mod splits;
mod status;
mod switch;
mod transfer;
mod wallet;
mod webhooks;
