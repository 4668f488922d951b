//! The provider's objects and how they are shown. What happens to them is told elsewhere.

mod charge;
mod dispute;
mod domain;
mod event;
mod intent;
mod method;
mod refund;
mod session;

pub(crate) use charge::Charge;
pub(crate) use dispute::Dispute;
pub(crate) use domain::Domain;
pub(crate) use event::Event;
pub(crate) use intent::{Intent, Status};
pub(crate) use method::Method;
pub(crate) use refund::Refund;
pub(crate) use session::Session;
