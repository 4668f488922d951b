//! What the tests share: a running server, a plain HTTP client, a throw-away PostgreSQL database.

mod alone;
mod client;
mod postgres;
mod proxy;
mod seed;
mod server;
mod tenant;

pub use alone::alone;
pub use client::{Answer, Client};
pub use postgres::Database;
pub use proxy::{Proxy, Weather};
pub use seed::{randomness, seed};
pub use server::{Server, Start, wait_until};
pub use tenant::{FIRST_MARKER, Key, QUOTE, Tenant, marked_document, quote, quoted_marker, sole_marker};
