//! What the tests share: a running server, a plain HTTP client, a throw-away PostgreSQL database.

mod alone;
mod bank_books;
mod bank_inbox;
mod bank_simulator;
mod bank_world;
mod client;
mod postgres;
mod proxy;
mod seed;
mod server;
mod tenant;

pub use alone::alone;
pub use bank_books::{Knowledge, Told, complaints as bank_complaints, settle_down};
pub use bank_inbox::BankInbox;
pub use bank_simulator::{BANK_API_KEY, BankSimulator};
pub(crate) use bank_world::on_each_store;
pub use bank_world::{
    BANK_PATIENCE, BankStore, BankWorld, Desk, GOOD_BANK, On, PREVIEW, REFUSED_BANK, SLOW_BANK, TOKENS,
    TRANSFERS, Wallet,
};
pub use client::{Answer, Client};
pub use postgres::Database;
pub use proxy::{Proxy, Weather};
pub use seed::{randomness, seed};
pub use server::{Server, Start, wait_until};
pub use tenant::{FIRST_MARKER, Key, QUOTE, Tenant, marked_document, quote, quoted_marker, sole_marker};
