//! The provider's webhooks: `Stripe-Signature` over time and body, and events that carry their object.

use tollgate_domain::{Timestamp, transaction::Dispute};
use tollgate_engine::ports::{InboundWebhook, SignatureError, UnreadableEvent, WebhookNotice};

use super::types::{Event, EventObject, Named};
use crate::signature;

/// How far the signature's time may be from ours, either way.
const SECONDS_AWAY_MAX: u64 = 300;

/// Checks the signature, then its time.
pub(super) fn verify(
    secret: Option<&str>,
    inbound: InboundWebhook<'_>,
    now: Timestamp,
) -> Result<(), SignatureError> {
    let secret = secret.filter(|secret| !secret.is_empty()).ok_or(SignatureError::NoSecret)?;
    let header = signature::header(inbound.headers, "stripe-signature").ok_or(SignatureError::Malformed)?;
    let (at, given) = parts(header).ok_or(SignatureError::Malformed)?;
    let seconds: i64 = at.parse().map_err(|_| SignatureError::Malformed)?;
    if inbound.body.is_empty() {
        return Err(SignatureError::Malformed);
    }
    // The key is the whole secret, its prefix included.
    if !signature::any_signs(&given, secret.as_bytes(), &[at.as_bytes(), b".", inbound.body]) {
        return Err(SignatureError::Forged);
    }
    let away = now.unix_millis().div_euclid(1_000).abs_diff(seconds);
    if away > SECONDS_AWAY_MAX { Err(SignatureError::Stale) } else { Ok(()) }
}

/// The time as it was written, and every `v1` signature; there are two while a secret is being replaced.
fn parts(header: &str) -> Option<(&str, Vec<Vec<u8>>)> {
    let (mut at, mut given) = (None, Vec::new());
    for part in header.split(',') {
        match part.trim().split_once('=') {
            Some(("t", text)) if at.is_none() => at = Some(text),
            Some(("t", _)) => return None,
            Some(("v1", text)) => given.extend(data_encoding::HEXLOWER.decode(text.as_bytes())),
            _ => {}
        }
    }
    let at = at.filter(|at| !at.is_empty() && at.bytes().all(|byte| byte.is_ascii_digit()))?;
    (!given.is_empty()).then_some((at, given))
}

/// What an event's object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    Intent,
    Session,
    Charge,
    Refund,
    Dispute,
}

/// Every event that can change anything here.
fn subject(kind: &str) -> Option<Subject> {
    match kind {
        "payment_intent.succeeded"
        | "payment_intent.processing"
        | "payment_intent.requires_action"
        | "payment_intent.amount_capturable_updated"
        | "payment_intent.payment_failed"
        | "payment_intent.canceled" => Some(Subject::Intent),
        "checkout.session.completed"
        | "checkout.session.async_payment_succeeded"
        | "checkout.session.async_payment_failed"
        | "checkout.session.expired" => Some(Subject::Session),
        "charge.refunded" => Some(Subject::Charge),
        "refund.created" | "refund.updated" | "refund.failed" | "charge.refund.updated" => {
            Some(Subject::Refund)
        }
        "charge.dispute.created"
        | "charge.dispute.updated"
        | "charge.dispute.closed"
        | "charge.dispute.funds_withdrawn"
        | "charge.dispute.funds_reinstated" => Some(Subject::Dispute),
        _ => None,
    }
}

/// What a verified body says.
pub(super) fn translate(body: &[u8]) -> Result<WebhookNotice, UnreadableEvent> {
    let unreadable = |error: serde_json::Error| UnreadableEvent(error.to_string());
    let event: Event = serde_json::from_slice(body).map_err(unreadable)?;
    let notice = WebhookNotice { event: event.id, kind: event.kind, ..WebhookNotice::default() };
    let Some(subject) = subject(&notice.kind) else { return Ok(notice) };
    let object: EventObject = serde_json::from_value(event.data.object).map_err(unreadable)?;
    Ok(told(notice, subject, object))
}

fn told(notice: WebhookNotice, subject: Subject, object: EventObject) -> WebhookNotice {
    let intent = object.payment_intent.map(Named::into_id);
    let reference = object.metadata.and_then(|metadata| metadata.tollgate_reference);
    let currency = object.currency.map(|code| code.to_ascii_uppercase());
    let notice = WebhookNotice { relevant: true, ..notice };
    match subject {
        Subject::Intent => WebhookNotice {
            objects: vec![object.id.clone()],
            payment: Some(object.id),
            reference,
            amount: object.amount,
            currency,
            ..notice
        },
        Subject::Session => WebhookNotice {
            objects: [Some(object.id), intent.clone()].into_iter().flatten().collect(),
            payment: intent,
            reference: object.client_reference_id.or(reference),
            amount: object.amount_total,
            currency,
            ..notice
        },
        Subject::Charge => WebhookNotice {
            objects: [intent.clone(), Some(object.id)].into_iter().flatten().collect(),
            payment: intent,
            reference,
            amount: object.amount,
            currency,
            ..notice
        },
        // A refund's and a dispute's amounts are their own, not the payment's.
        Subject::Refund | Subject::Dispute => {
            let charge = object.charge.map(Named::into_id);
            let dispute = (subject == Subject::Dispute).then(|| Dispute {
                id: object.id,
                status: object.status.unwrap_or_default(),
                reason: object.reason,
                amount: object.amount,
            });
            let objects = [intent.clone(), charge].into_iter().flatten().collect();
            WebhookNotice { objects, payment: intent, reference, dispute, ..notice }
        }
    }
}
