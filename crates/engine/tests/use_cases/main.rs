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
mod bank_details;
mod bank_notices;
mod books;
mod configuration;
mod confirm;
mod deliveries;
mod directory;
mod expiry;
mod follow_up;
mod forgotten_keys;
mod hold;
mod keys;
mod people;
mod prepare;
mod provider_check;
mod provider_funds;
mod quote;
mod refund;
mod replay;
mod resolver;
mod transfer;
mod wallet;
mod webhooks;
