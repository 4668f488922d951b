//! What Tollgate decides, as plain values and pure functions.
//!
//! Nothing in this crate does IO, reads a clock, draws randomness, waits or knows JSON. Values come in, decisions
//! go out, and every decision can be explained afterwards.

pub mod ach;
pub mod address_range;
pub mod approval;
pub mod audit_log;
pub mod books;
pub mod card;
pub mod card_fee;
pub mod card_number;
pub mod circuit;
pub mod currency;
pub mod customer;
pub mod event;
pub mod fee;
pub mod hold;
pub mod id;
pub mod key_scope;
pub mod ledger;
pub mod limit;
pub mod metadata;
pub mod money;
pub mod payment;
pub mod payment_card;
pub mod people;
pub mod provider_account;
pub mod public_address;
pub mod reference;
pub mod refund;
pub mod routing;
pub mod search;
pub mod settlement;
pub mod statement;
pub mod tenant;
pub mod time;
pub mod transaction;

pub use currency::Currency;
pub use money::{BasisPoints, Minor, Principal};
pub use payment::{Channel, Flow, PaymentMethod};
pub use provider_account::{AccountMatch, ProviderAccount};
pub use reference::ServiceReference;
pub use time::Timestamp;
