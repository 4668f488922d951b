//! Lines of a transfer's timeline that say which sends there were, and which of them never left.

use serde_json::{Value, json};

use crate::ports::Transfer;

/// Before a transfer is sent once more.
pub(super) const SENDING_AGAIN: &str = "sending_again";
/// A send ended before anything left.
pub(super) const NOT_REACHED: &str = "provider_not_reached";
/// The first send was not begun: whoever made the transfer did not send it, and does not anymore.
pub(super) const NOT_SENT_YET: &str = "not_sent_yet";

/// The line of a first send that was not begun.
pub(super) fn not_sent_yet(transfer: &Transfer) -> Value {
    json!({ "provider": transfer.order.provider, "revision": transfer.revision })
}
