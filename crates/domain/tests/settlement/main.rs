//! Settlement as a whole: worked examples to the cent, planted faults, an ordinary year.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    missing_docs
)]

mod build;
mod examples;
mod faults;
mod months;
mod order;
mod year;
