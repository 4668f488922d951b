//! Webhooks: what is waiting, who sends it, its outcome.

mod delivery;
mod queue;
mod sender;

pub(crate) use delivery::{Delivery, WebhookEvent};
pub(crate) use queue::Queue;
pub(crate) use sender::Sender;
