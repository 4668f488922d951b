//! The simulator over real HTTP: each adapter's main paths, keys, faults, webhooks, pages, and the official SDKs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod accounts;
mod adyen;
mod adyen_browser;
mod adyen_setup;
mod archive;
mod control;
mod faults;
mod increase;
mod increase_webhooks;
mod modern_treasury;
mod pages;
mod sdk;
mod square;
mod stripe;
mod support;
mod webhooks;
