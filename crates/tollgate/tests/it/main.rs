//! The product from the outside: the real binary, real HTTP, a real database.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    missing_docs,
    unreachable_pub
)]

mod support;

mod admin;
mod authentication;
mod configuration;
mod quote;
mod sandbox;
mod transport;
