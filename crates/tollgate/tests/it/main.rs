//! The product from the outside: the real binary, real HTTP, a real database.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::format_push_string,
    clippy::single_match_else,
    clippy::duration_suboptimal_units,
    clippy::too_many_lines,
    clippy::string_slice,
    missing_docs,
    unreachable_pub
)]

mod support;

mod access;
mod accounts;
mod ach;
mod ach_canary;
mod ach_crash;
mod ach_faults;
mod ach_model;
mod ach_races;
mod admin;
mod api_reference;
mod attacks;
mod audit_log;
mod authentication;
mod browser;
mod card_awaiting;
mod card_crash;
mod card_faults;
mod card_fee_pages;
mod card_fees;
mod card_model;
mod card_nodes;
mod card_races;
mod card_resolver;
mod card_webhooks;
mod cards;
mod cli;
mod clocks;
mod configuration;
mod connections;
mod console_reviews;
mod crash;
mod database_fails;
mod deploy;
mod disk_full;
mod events;
mod events_crash;
mod four_eyes;
mod guides;
mod hostile_bodies;
mod in_process;
mod limit_races;
mod live;
mod mcp;
mod metrics;
mod nodes;
mod payment_pages;
mod people;
mod provider_checks;
mod quote;
mod readme;
mod rekey;
mod routes;
mod sandbox;
mod sandbox_survives;
mod sdks;
mod secrets;
mod shutdown;
mod simulator;
mod single_sign_on;
mod store_down;
mod traces;
mod transport;
mod upgrade;
