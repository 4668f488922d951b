//! The provider's webhooks: Standard Webhooks signatures over id, time and body, and events that only name their object.

use data_encoding::BASE64;
use tollgate_domain::Timestamp;
use tollgate_engine::ports::{InboundWebhook, SignatureError, UnreadableEvent, WebhookNotice};

use super::types::Event;
use crate::{failure::unreadable_event, signature};

/// How far the signature's time may be from ours, either way.
const SECONDS_AWAY_MAX: u64 = 300;

/// Checks the signature, then its time.
pub(super) fn verify(
    secret: Option<&str>,
    inbound: InboundWebhook<'_>,
    now: Timestamp,
) -> Result<(), SignatureError> {
    let secret = secret.filter(|secret| !secret.is_empty()).ok_or(SignatureError::NoSecret)?;
    let header = |name| signature::header(inbound.headers, name).ok_or(SignatureError::Malformed);
    let (id, at) = (header("webhook-id")?, header("webhook-timestamp")?);
    let seconds = seconds(at).ok_or(SignatureError::Malformed)?;
    let given = signatures(header("webhook-signature")?);
    if id.is_empty() || given.is_empty() || inbound.body.is_empty() {
        return Err(SignatureError::Malformed);
    }
    // The key is the secret as it is written. What other senders do, decoding one that begins with `whsec_`, is not
    // done on this API.
    let signed = [id.as_bytes(), b".", at.as_bytes(), b".", inbound.body];
    if !signature::any_signs(&given, secret.as_bytes(), &signed) {
        return Err(SignatureError::Forged);
    }
    let away = now.unix_millis().div_euclid(1_000).abs_diff(seconds);
    if away > SECONDS_AWAY_MAX { Err(SignatureError::Stale) } else { Ok(()) }
}

/// Digits alone: no sign, no space.
fn seconds(text: &str) -> Option<i64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Every `v1` signature; there are several while a secret is being replaced.
fn signatures(header: &str) -> Vec<Vec<u8>> {
    let given = header.split(' ').filter_map(|part| part.strip_prefix("v1,"));
    given.filter_map(|text| BASE64.decode(text.as_bytes()).ok()).collect()
}

/// What a verified body says. All that happens to a transfer is told as `created` or `updated`.
pub(super) fn translate(body: &[u8]) -> Result<WebhookNotice, UnreadableEvent> {
    let event: Event = serde_json::from_slice(body).map_err(|error| unreadable_event(&error))?;
    let notice = WebhookNotice { event: event.id, kind: event.category, ..WebhookNotice::default() };
    let told = ["ach_transfer.", "real_time_payments_transfer.", "fednow_transfer."];
    if !told.iter().any(|prefix| notice.kind.starts_with(prefix)) {
        return Ok(notice);
    }
    let object = event.associated_object_id.filter(|id| !id.is_empty());
    let object = object.ok_or_else(|| UnreadableEvent("the event names no transfer".to_owned()))?;
    let is_creation = notice.kind.ends_with(".created");
    Ok(WebhookNotice { relevant: true, objects: vec![object], is_creation, ..notice })
}
