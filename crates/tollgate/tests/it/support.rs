//! What the tests share: a running server, a plain HTTP client, a throw-away PostgreSQL database.

mod alone;
mod audit;
mod bank_books;
mod bank_inbox;
mod bank_rail;
mod bank_simulator;
mod bank_world;
mod client;
mod inbox;
mod outage;
mod postgres;
mod proxy;
mod python;
mod receiver;
mod seed;
mod server;
mod shop;
mod signature;
mod simulator;
mod stop_on_drop;
mod tenant;
mod terminal;
mod trap;
mod world;

/// The same tests on both stores, each a function that takes the store's kind.
macro_rules! on_both_stores {
    ($($name:ident)*) => {
        mod sqlite {
            $(#[test]
            fn $name() {
                super::$name($crate::support::StoreKind::Sqlite);
            })*
        }
        mod postgres {
            $(#[test]
            fn $name() {
                super::$name($crate::support::StoreKind::Postgres);
            })*
        }
    };
}

pub use alone::alone;
pub use audit::wait_agreement;
pub use bank_books::{Knowledge, Told, complaints as bank_complaints, settle_down};
pub use bank_inbox::BankInbox;
pub use bank_rail::{BANK_API_KEY, BankRail, is_long_run, rails_on, stores_of_second_rail};
pub(crate) use bank_rail::{on_alternate_rails, on_each_rail};
pub use bank_simulator::BankSimulator;
pub(crate) use bank_world::on_each_store;
pub use bank_world::{
    BANK_WAIT_TIMEOUT, BankStore, BankWorld, Desk, GOOD_BANK, On, PREVIEW, REFUSED_BANK, SLOW_BANK, TOKENS,
    TRANSFERS, Wallet,
};
pub use client::{Answer, Client};
pub use inbox::{Inbox, Letter};
pub(crate) use on_both_stores;
pub use outage::{Outage, Switch};
pub use postgres::Database;
pub use proxy::{Proxy, Weather};
pub use python::python;
pub use receiver::{Gate, Parcel, Receiver, Reply, Subscription};
pub use seed::{randomness, seed};
pub use server::{ADMIN_TOKEN, BINARY, MASTER_KEY, Server, Start, binary, wait_until};
pub use shop::{COMPONENT, Flow, HOSTED, Prepared, Shop, WAIT_TIMEOUT};
pub use signature::{
    derived, sign_adyen, signature_header, square_signature, stripe_signature, unix_seconds,
};
pub use simulator::{DECLINED_CARD, GOOD_CARD, SQUARE_TOKEN, STRIPE_KEY, Simulator, Wire, truth};
pub use stop_on_drop::StopOnDrop;
pub use tenant::{FIRST_MARKER, Key, QUOTE, Tenant, marked_document, quote, quoted_marker, sole_marker};
pub use terminal::Terminal;
pub use trap::Trap;
pub use world::{Store, StoreKind, World};

/// Says that a test cannot run here, and why, past the harness: it counts the test as passed, and the summary of all
/// tests counts it as skipped.
pub fn skipped(reason: &str) {
    use std::io::Write as _;
    std::io::stdout().write_all(format!("SKIPPED: {reason}\n").as_bytes()).unwrap();
}
