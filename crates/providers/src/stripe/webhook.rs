//! The provider's webhooks: `Stripe-Signature` over time and body, and events that carry their object or only name it.

use tollgate_domain::{Timestamp, transaction::Dispute};
use tollgate_engine::ports::{InboundWebhook, SignatureError, UnreadableEvent, WebhookNotice};

use super::types::{Event, EventObject, Named};
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
pub(super) enum Kind {
    Intent,
    Session,
    Charge,
    Refund,
    Dispute,
}

/// Sent to try an endpoint, about nothing.
const PING: &str = "v2.core.event_destination.ping";

/// Every event that can change anything here, by its name without a version.
fn kind_of(event: &str) -> Option<Kind> {
    match event {
        "payment_intent.succeeded"
        | "payment_intent.processing"
        | "payment_intent.requires_action"
        | "payment_intent.amount_capturable_updated"
        | "payment_intent.payment_failed"
        | "payment_intent.canceled" => Some(Kind::Intent),
        "checkout.session.completed"
        | "checkout.session.async_payment_succeeded"
        | "checkout.session.async_payment_failed"
        | "checkout.session.expired" => Some(Kind::Session),
        "charge.refunded" => Some(Kind::Charge),
        "refund.created" | "refund.updated" | "refund.failed" | "charge.refund.updated" => Some(Kind::Refund),
        "charge.dispute.created"
        | "charge.dispute.updated"
        | "charge.dispute.closed"
        | "charge.dispute.funds_withdrawn"
        | "charge.dispute.funds_reinstated" => Some(Kind::Dispute),
        _ => None,
    }
}

/// What a verified body says.
pub(super) fn translate(body: &[u8]) -> Result<WebhookNotice, UnreadableEvent> {
    let unreadable = |error: serde_json::Error| unreadable_event(&error);
    let mut event: Event = serde_json::from_slice(body).map_err(unreadable)?;
    let (is_ping, account) = (event.kind == PING, event.account());
    let notice =
        WebhookNotice { event: event.id, kind: event.kind, account, is_ping, ..WebhookNotice::default() };
    // A thin event's type has the version of the API in front that its object belongs to.
    let Some(kind) = kind_of(notice.kind.strip_prefix("v1.").unwrap_or(&notice.kind)) else {
        return Ok(notice);
    };
    let notice = WebhookNotice { relevant: true, ..notice };
    match (event.data.and_then(|data| data.object), event.related_object) {
        (Some(object), _) => {
            Ok(about(notice, kind, serde_json::from_value::<EventObject>(object).map_err(unreadable)?))
        }
        (None, Some(related)) => Ok(named(notice, kind, related.id)),
        (None, None) => Err(UnreadableEvent("it names no object".to_owned())),
    }
}

/// An event that says what its object is called and no more.
fn named(notice: WebhookNotice, kind: Kind, id: String) -> WebhookNotice {
    let is_known_here = matches!(kind, Kind::Intent | Kind::Session);
    WebhookNotice {
        objects: Some(id.clone()).filter(|_| is_known_here).into_iter().collect(),
        payment: Some(id.clone()).filter(|_| kind == Kind::Intent),
        names_only: Some(id),
        ..notice
    }
}

/// What an object says about the payment it belongs to. Its amounts are not looked at: they may be in the buyer's currency,
/// and are read from the provider anyway.
pub(super) fn about(notice: WebhookNotice, kind: Kind, object: EventObject) -> WebhookNotice {
    let withdrawn = object.withdrawn();
    let of_intent = object.payment_intent.as_ref().and_then(Named::reference).map(str::to_owned);
    let reference = object.metadata.and_then(|metadata| metadata.tollgate_reference);
    let reference = object.client_reference_id.or(reference).or(of_intent);
    let intent = object.payment_intent.map(Named::into_id);
    let charge = object.charge.map(Named::into_id);
    let names =
        |first: Option<String>, second: Option<String>| [first, second].into_iter().flatten().collect();
    match kind {
        Kind::Intent => {
            WebhookNotice { objects: vec![object.id.clone()], payment: Some(object.id), reference, ..notice }
        }
        Kind::Session => {
            let objects = names(Some(object.id), intent.clone());
            WebhookNotice { objects, payment: intent, reference, ..notice }
        }
        Kind::Charge => {
            let objects = names(intent.clone(), Some(object.id));
            WebhookNotice { objects, payment: intent, reference, ..notice }
        }
        Kind::Refund => {
            let objects = names(intent.clone(), charge);
            WebhookNotice { objects, payment: intent, reference, ..notice }
        }
        Kind::Dispute => {
            let dispute = Some(Dispute {
                withdrawn,
                id: object.id,
                status: object.status.unwrap_or_default(),
                reason: object.reason,
                amount: object.amount,
                currency: object.currency.map(|currency| currency.to_ascii_uppercase()),
                respond_by: object.evidence_details.and_then(|details| details.respond_by()),
            });
            let objects = names(intent.clone(), charge);
            WebhookNotice { objects, payment: intent, reference, dispute, ..notice }
        }
    }
}
