//! The provider's objects and how they are shown. What happens to them is told elsewhere.

mod dispute;
mod link;
mod order;
mod payment;
mod refund;

pub(crate) use dispute::Dispute;
pub(crate) use link::Link;
pub(crate) use order::Order;
pub(crate) use payment::{Payment, brand};
pub(crate) use refund::Refund;
