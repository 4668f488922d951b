//! The courier over real sockets: whom it carries to, whom it does not, and what it makes of answers.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    unreachable_pub
)]

mod answers;
mod encryption;
mod hostile;
mod support;
