//! What callers get: the envelope, the error codes, payments as JSON.

pub(crate) mod error;
pub(crate) mod error_code;
pub(crate) mod event_bodies;
pub(crate) mod fee_decision;
pub(crate) mod list;
pub(crate) mod payment;
pub(crate) mod refund;
pub(crate) mod respond;
pub(crate) mod transaction;
pub(crate) mod transfer;
