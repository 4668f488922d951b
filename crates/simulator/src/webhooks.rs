//! Webhooks: what is waiting, who sends it, its outcome.

mod delivery;
mod endpoint;
mod queue;
mod sender;

pub(crate) use delivery::{Delivery, WebhookEvent};
pub(crate) use endpoint::Endpoint;
pub(crate) use queue::Queue;
pub(crate) use sender::Sender;
