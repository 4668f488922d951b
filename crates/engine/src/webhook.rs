//! Provider webhooks of both payment methods: verified and stored first, applied after. The event is a hint: what counts is
//! what the provider says when asked.

mod apply;
mod dispute_list;
mod notice_text;
mod receive;
mod turns;

pub(crate) use apply::{EventOutcome, settled};
pub(crate) use dispute_list::DisputeLists;
pub use receive::WebhookError;
pub(crate) use turns::ObjectTurns;
