//! Those who use the service, and those who run it.

pub(crate) mod cards;
pub(crate) mod follower;
pub(crate) mod operator;
pub(crate) mod transfers;
