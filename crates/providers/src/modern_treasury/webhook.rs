//! The provider's webhooks: a signature over the body alone, and events that carry their object. What they say of it is not
//! believed: the payment order is read.

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use tollgate_domain::ServiceReference;
use tollgate_engine::ports::{InboundWebhook, SignatureError, UnreadableEvent, WebhookNotice};

use super::types::{Event, EventObject};
use crate::{failure::unreadable_event, signature};

/// Checks the signature. The provider signs no time, so that an old delivery is as good as a new one; reading the order
/// makes both harmless.
pub(super) fn verify(key: Option<&str>, inbound: InboundWebhook<'_>) -> Result<(), SignatureError> {
    let key = key.filter(|key| !key.is_empty()).ok_or(SignatureError::NoSecret)?;
    let given = signature::header(inbound.headers, "x-signature").ok_or(SignatureError::Malformed)?;
    let given =
        HEXLOWER.decode(given.to_ascii_lowercase().as_bytes()).map_err(|_| SignatureError::Malformed)?;
    if given.is_empty() || inbound.body.is_empty() {
        return Err(SignatureError::Malformed);
    }
    let is_signed = signature::any_signs(&[given], key.as_bytes(), &[inbound.body]);
    is_signed.then_some(()).ok_or(SignatureError::Forged)
}

/// What a verified body says.
pub(super) fn translate(body: &[u8]) -> Result<WebhookNotice, UnreadableEvent> {
    let Event { event, data } = serde_json::from_slice(body).map_err(|error| unreadable_event(&error))?;
    // The id of the delivery is in a header, which nobody signs. A repeated delivery repeats the body.
    let id = HEXLOWER.encode(&Sha256::digest(body));
    let kind = format!("{}.{event}", data.object);
    // An order that was completed is `sent` again, as it was before.
    let is_taken_back = data.object == "payment_order" && event == "unreconciled";
    let taken_back = is_taken_back.then_some(event);
    let order = payment_order(data);
    Ok(WebhookNotice {
        event: id,
        kind,
        relevant: order.is_some(),
        objects: order.into_iter().collect(),
        taken_back,
        ..WebhookNotice::default()
    })
}

/// The payment order an object belongs to, unless it is plainly somebody else's: webhooks come for everything the whole
/// organization does.
fn payment_order(data: EventObject) -> Option<String> {
    let id = match data.object.as_str() {
        "payment_order" => {
            let is_ours = |text: &str| matches!(text.parse(), Ok(ServiceReference::Ach(_)));
            data.external_id.as_deref().is_some_and(is_ours).then_some(data.id)
        }
        "return" if data.returnable_type.as_deref() == Some("payment_order") => data.returnable_id,
        "reversal" => data.payment_order_id,
        _ => None,
    };
    id.filter(|id| !id.is_empty())
}
