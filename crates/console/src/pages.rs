//! A file per page.

pub(crate) mod cancel;
pub(crate) mod config;
pub(crate) mod deliveries;
pub(crate) mod disputes;
pub(crate) mod endpoints;
pub(crate) mod environments;
pub(crate) mod events;
pub(crate) mod exceptions;
pub(crate) mod hold;
pub(crate) mod keys;
pub(crate) mod not_found;
pub(crate) mod overview;
pub(crate) mod payment;
pub(crate) mod payments;
pub(crate) mod playground;
pub(crate) mod providers;
pub(crate) mod refund;
pub(crate) mod routing;
pub(crate) mod sign_in;
pub(crate) mod statement;
pub(crate) mod timeline;
pub(crate) mod try_out;
pub(crate) mod users;
pub(crate) mod waiting;
pub(crate) mod wallets;
