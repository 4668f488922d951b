//! Provider webhooks of both payment methods: verified, then applied and stored in one commit, or stored first where applying takes
//! long. The event is a hint: what counts is what the provider says when asked.

mod apply;
mod notice_text;
mod receive;
mod turns;

pub(crate) use apply::{EventOutcome, settled};
pub use receive::WebhookError;
pub(crate) use turns::ObjectTurns;
