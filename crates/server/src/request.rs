//! What callers send: who they are, bodies and fields, every fault collected.

pub(crate) mod auth;
pub(crate) mod body;
pub(crate) mod call_notes;
pub(crate) mod card_fee_fields;
pub(crate) mod context;
pub(crate) mod fields;
pub(crate) mod form;
pub(crate) mod idempotency_key;
pub(crate) mod location;
pub(crate) mod metadata_field;
pub(crate) mod origin;
pub(crate) mod unknown_fields;
