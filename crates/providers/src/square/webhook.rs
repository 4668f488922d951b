//! The provider's webhooks: a signature over address and body, and events that carry their object.

use data_encoding::BASE64;
use serde::de::DeserializeOwned;
use tollgate_domain::{Minor, Timestamp, transaction::Dispute};
use tollgate_engine::ports::{InboundWebhook, SignatureError, UnreadableEvent, WebhookNotice};

use super::types::{DisputeObject, Event, EventData, EventDispute, PaymentObject, RefundObject};
use crate::{failure::unreadable_event, signature};

/// Checks the signature. It has no time in it, so that an old delivery looks like a new one: the event's id is what
/// tells them apart.
pub(super) fn verify(key: Option<&str>, inbound: InboundWebhook<'_>) -> Result<(), SignatureError> {
    let key = key.filter(|key| !key.is_empty()).ok_or(SignatureError::NoSecret)?;
    let header = signature::header(inbound.headers, "x-square-hmacsha256-signature");
    let given = BASE64.decode(header.ok_or(SignatureError::Malformed)?.trim().as_bytes());
    let given = given.map_err(|_| SignatureError::Malformed)?;
    if inbound.body.is_empty() {
        return Err(SignatureError::Malformed);
    }
    let signed = [inbound.url.as_bytes(), inbound.body];
    if signature::any_signs(&[given], key.as_bytes(), &signed) { Ok(()) } else { Err(SignatureError::Forged) }
}

/// What a verified body says.
pub(super) fn translate(body: &[u8]) -> Result<WebhookNotice, UnreadableEvent> {
    let event: Event = serde_json::from_slice(body).map_err(|error| unreadable_event(&error))?;
    let notice = WebhookNotice { event: event.id, kind: event.kind, ..WebhookNotice::default() };
    match notice.kind.as_str() {
        "payment.created" | "payment.updated" => payment(notice, event.data),
        "refund.created" | "refund.updated" => refund(notice, event.data),
        "dispute.created" | "dispute.state.updated" => dispute(notice, event.data),
        _ => Ok(notice),
    }
}

fn payment(notice: WebhookNotice, data: Option<EventData>) -> Result<WebhookNotice, UnreadableEvent> {
    let (_, PaymentObject { payment }) = object(data)?;
    Ok(WebhookNotice {
        relevant: true,
        objects: [Some(payment.id.clone()), payment.order_id].into_iter().flatten().collect(),
        payment: Some(payment.id),
        reference: payment.reference_id,
        ..notice
    })
}

/// A refund's amount is its own, not the payment's.
fn refund(notice: WebhookNotice, data: Option<EventData>) -> Result<WebhookNotice, UnreadableEvent> {
    let (_, RefundObject { refund }) = object(data)?;
    let objects = [refund.payment_id.clone(), refund.order_id].into_iter().flatten().collect();
    Ok(WebhookNotice { relevant: true, objects, payment: refund.payment_id, ..notice })
}

fn dispute(notice: WebhookNotice, data: Option<EventData>) -> Result<WebhookNotice, UnreadableEvent> {
    let (id, DisputeObject { dispute }) = object(data)?;
    let id = dispute.id.clone().or(id).ok_or_else(|| UnreadableEvent("the dispute has no id".to_owned()))?;
    let payment = dispute.disputed_payment.as_ref().and_then(|payment| payment.payment_id.clone());
    let objects = payment.iter().cloned().collect();
    Ok(WebhookNotice { relevant: true, objects, payment, dispute: Some(told(dispute, id)), ..notice })
}

/// A dispute as the domain sees it.
pub(super) fn told(dispute: EventDispute, id: String) -> Dispute {
    let (amount, currency) = dispute.amount_money.map(|money| (money.amount, money.currency)).unzip();
    let status = dispute.state.unwrap_or_default();
    Dispute {
        id,
        withdrawn: if is_withdrawn(&status) { amount } else { Some(Minor::ZERO) },
        status,
        reason: dispute.reason,
        amount,
        currency: currency.map(|currency| currency.to_ascii_uppercase()),
        respond_by: dispute.due_at.and_then(|due| moment(&due)),
    }
}

/// Whether the provider has the money, or the customer. It shows no more of a dispute's money than its state.
fn is_withdrawn(state: &str) -> bool {
    match state {
        "INQUIRY_EVIDENCE_REQUIRED" | "INQUIRY_PROCESSING" | "INQUIRY_CLOSED" | "WON" => false,
        // An unknown state is not taken for money given back.
        _ => true,
    }
}

/// A moment as the provider writes it; one that cannot be read is not worth losing the dispute for.
fn moment(text: &str) -> Option<Timestamp> {
    let moment: jiff::Timestamp = text.parse().ok()?;
    Some(Timestamp::from_unix_millis(moment.as_millisecond()))
}

/// The event's object, and the id the event gives for it.
fn object<T: DeserializeOwned>(data: Option<EventData>) -> Result<(Option<String>, T), UnreadableEvent> {
    let data = data.ok_or_else(|| UnreadableEvent("the event has no data".to_owned()))?;
    let object = serde_json::from_value(data.object).map_err(|error| unreadable_event(&error))?;
    Ok((data.id, object))
}
