//! The operator's API, a file per resource with its requests and answers.

pub(crate) mod applications;
pub(crate) mod audit;
pub(crate) mod config;
pub(crate) mod deliveries;
pub(crate) mod doctor;
pub(crate) mod environments;
pub(crate) mod event_endpoints;
pub(crate) mod events;
pub(crate) mod exceptions;
pub(crate) mod explain;
pub(crate) mod holds;
pub(crate) mod keys;
mod operator;
pub(crate) mod organizations;
mod paging;
pub(crate) mod payments;
pub(crate) mod provider_check;
pub(crate) mod provider_domains;
pub(crate) mod provider_events;
pub(crate) mod providers;
pub(crate) mod refunds;
pub(crate) mod statement;
mod timeline;
pub(crate) mod transactions;
pub(crate) mod transfers;
pub(crate) mod users;
pub(crate) mod wallets;
