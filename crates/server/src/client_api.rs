//! The client API, one file per endpoint.

pub(crate) mod caller;
pub(crate) mod card_fee;
pub(crate) mod confirm;
pub(crate) mod customer_tokens;
pub(crate) mod holds;
pub(crate) mod payments;
pub(crate) mod quote;
pub(crate) mod refunds;
pub(crate) mod switch;
pub(crate) mod transactions;
pub(crate) mod transfers;
