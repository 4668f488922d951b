//! Units of work by topic, each written once over a [`Session`](crate::session::Session).

pub(crate) mod accounts;
pub(crate) mod audit;
pub(crate) mod config;
pub(crate) mod customer_tokens;
pub(crate) mod deliveries;
pub(crate) mod diagnosis;
pub(crate) mod digest;
pub(crate) mod directory;
pub(crate) mod endpoints;
pub(crate) mod events;
pub(crate) mod exceptions;
pub(crate) mod keys;
pub(crate) mod out_events;
pub(crate) mod payment_change;
pub(crate) mod payments;
pub(crate) mod postings;
pub(crate) mod provider_checks;
pub(crate) mod records;
pub(crate) mod resend;
pub(crate) mod timeline;
pub(crate) mod transactions;
pub(crate) mod transfer_change;
pub(crate) mod transfers;
pub(crate) mod wallet;
