//! The provider's objects and how they are shown. What happens to them is told elsewhere.

mod ach;
mod event;
mod fednow;
mod rtp;
mod transfer;

pub(crate) use ach::{Ach, EffectiveDate};
pub(crate) use event::Event;
pub(crate) use fednow::FedNow;
pub(crate) use rtp::Rtp;
pub(crate) use transfer::{Rail, Transfer};
