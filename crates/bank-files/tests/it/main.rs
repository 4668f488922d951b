//! The readers against files that the tests write by themselves, against mutations of those, and against public samples.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::expect_used,
    clippy::format_push_string,
    missing_docs
)]

mod draw;
mod formats;
mod fuzz;
mod samples;
mod write;
