//! The provider's webhooks. The signature covers eight fields of each event, joined with colons and not escaped: everything
//! else can be changed on the way and still verifies, so that nothing else decides anything here.

use data_encoding::{BASE64, HEXUPPER_PERMISSIVE};
use tollgate_configuration::Provider;
use tollgate_domain::{
    Minor, Timestamp,
    id::{HoldActionId, PaymentId},
    refund::{RefundReport, RefundStatus},
    tenant::Mode,
    transaction::Dispute,
};
use tollgate_engine::ports::{
    InboundWebhook, SignatureError, SignedReport, SignedStep, UnreadableEvent, WebhookNotice,
};

use super::{
    amount::from_provider,
    rejection::{failure, refused_later},
    types::{Item, Notification},
};
use crate::{
    failure::{Code, unreadable_event},
    signature,
};

/// Every event that can change anything here.
pub(super) const NEEDED_EVENTS: [&str; 27] = [
    "AUTHORISATION",
    "CANCELLATION",
    "CANCEL_OR_REFUND",
    "CAPTURE",
    "CAPTURE_FAILED",
    "CHARGEBACK",
    "CHARGEBACK_REVERSED",
    "DISPUTE_DEFENSE_PERIOD_ENDED",
    "EXPIRE",
    "ISSUER_RESPONSE_TIMEFRAME_EXPIRED",
    "NOTIFICATION_OF_CHARGEBACK",
    "OFFER_CLOSED",
    "PREARBITRATION_ACCEPTED",
    "PREARBITRATION_DECLINED",
    "PREARBITRATION_ISSUER_WITHDRAWN",
    "PREARBITRATION_LOST",
    "PREARBITRATION_OPEN",
    "PREARBITRATION_WON",
    "REFUND",
    "REFUNDED_REVERSED",
    "REFUND_FAILED",
    "REQUEST_FOR_INFORMATION",
    "SCHEME_ARBITRATION",
    "SCHEME_ARBITRATION_LOST",
    "SCHEME_ARBITRATION_WON",
    "SECOND_CHARGEBACK",
    "TECHNICAL_CANCEL",
];

/// Who sends them, where the webhook is set up with a password.
pub(super) const USER: &str = "tollgate";

/// Checks who sends it, the signature of every event, with the key in use and the one before, and which of the provider's sides it
/// is of.
pub(super) fn verify(provider: &Provider, inbound: InboundWebhook<'_>) -> Result<(), SignatureError> {
    let password = provider.credential("webhookPassword");
    if password.is_some_and(|password| !signature::is_from(inbound.headers, USER, password)) {
        return Err(SignatureError::Forged);
    }
    let keys = ["hmacKey", "hmacKeyPrevious"].into_iter().filter_map(|name| provider.credential(name));
    let keys: Vec<_> = keys
        .filter_map(|key| HEXUPPER_PERMISSIVE.decode(key.as_bytes()).ok())
        .filter(|key| !key.is_empty())
        .collect();
    if keys.is_empty() {
        return Err(SignatureError::NoSecret);
    }
    let read = serde_json::from_slice::<Notification>(inbound.body);
    let Notification { live, notification_items } = read.map_err(|_| SignatureError::Malformed)?;
    if notification_items.is_empty() {
        return Err(SignatureError::Malformed);
    }
    for wrapper in &notification_items {
        let given = wrapper.item.data("hmacSignature").ok_or(SignatureError::Malformed)?;
        let given = [BASE64.decode(given.as_bytes()).map_err(|_| SignatureError::Malformed)?];
        let signed = signed(&wrapper.item).ok_or(SignatureError::Malformed)?;
        if !keys.iter().any(|key| signature::any_signs(&given, key, &[signed.as_bytes()])) {
            return Err(SignatureError::Forged);
        }
    }
    let side = match (live.as_str(), live.as_bool()) {
        (Some("true"), _) | (_, Some(true)) => Mode::Live,
        (Some("false"), _) | (_, Some(false)) => Mode::Test,
        _ => return Err(SignatureError::Malformed),
    };
    if provider.mode().is_some_and(|mode| mode != side) { Err(SignatureError::OtherMode) } else { Ok(()) }
}

/// What is signed. A colon can stand in our reference alone: anywhere else, the same text could be another event's, whose
/// fields were cut in other places.
fn signed(item: &Item) -> Option<String> {
    let value = item.amount.value.map(|value| value.to_string()).unwrap_or_default();
    let fields = [
        &item.psp_reference,
        &item.original_reference,
        &item.merchant_account_code,
        &item.merchant_reference,
        &value,
        &item.amount.currency,
        &item.event_code,
        &item.success,
    ];
    let is_ours = |field: &&&String| std::ptr::eq(**field, &raw const item.merchant_reference);
    let is_cut_elsewhere = fields.iter().filter(|field| !is_ours(field)).any(|field| field.contains(':'));
    (!is_cut_elsewhere).then(|| fields.map(String::as_str).join(":"))
}

/// What a verified body says.
pub(super) fn translate(body: &[u8]) -> Vec<Result<WebhookNotice, UnreadableEvent>> {
    match serde_json::from_slice::<Notification>(body) {
        Ok(read) => read.notification_items.iter().map(|wrapper| notice(&wrapper.item)).collect(),
        Err(error) => vec![Err(unreadable_event(&error))],
    }
}

/// Duplicates of an event share its code and reference. Its date tells a later one of the same kind apart, such as a second
/// capture after the first one failed; whatever is done with either can be done again.
fn notice(item: &Item) -> Result<WebhookNotice, UnreadableEvent> {
    let Item { event_code, psp_reference, success, event_date, .. } = item;
    let notice = WebhookNotice {
        event: format!("{event_code}.{psp_reference}.{success}.{event_date}"),
        kind: event_code.clone(),
        account: Some(item.merchant_account_code.clone()),
        ..WebhookNotice::default()
    };
    let is_success = match success.as_str() {
        "true" => true,
        "false" => false,
        _ => return Err(UnreadableEvent("it does not say whether it succeeded".to_owned())),
    };
    let Some(step) = step(item, is_success)? else { return Ok(notice) };
    let amount = amount(item)?;
    // A payment's own events are called as the payment is, those of what was asked for later name it beside.
    let payment = [&item.original_reference, psp_reference].into_iter().find(|name| !name.is_empty());
    let is_dispute = matches!(step, SignedStep::Disputed);
    let payment = payment.filter(|_| !is_dispute || !item.original_reference.is_empty()).cloned();
    Ok(WebhookNotice {
        relevant: true,
        objects: payment.iter().cloned().collect(),
        payment,
        reference: Some(item.merchant_reference.clone()).filter(|text| text.parse::<PaymentId>().is_ok()),
        dispute: is_dispute.then(|| dispute(item, amount)).flatten(),
        signed: Some(SignedReport { step, amount, currency: item.amount.currency.clone() }),
        ..notice
    })
}

fn amount(item: &Item) -> Result<Minor, UnreadableEvent> {
    let value = item.amount.value.unwrap_or_default();
    let amount = from_provider(value, &item.amount.currency);
    amount.ok_or_else(|| UnreadableEvent("its amount cannot be expressed in our minor units".to_owned()))
}

/// What happened; `None` if that changes nothing here.
fn step(item: &Item, is_success: bool) -> Result<Option<SignedStep>, UnreadableEvent> {
    let reason = item.reason.as_deref();
    let action = || item.merchant_reference.parse::<HoldActionId>().ok();
    let refund = |status, reason: Option<Code>| -> Result<_, UnreadableEvent> {
        Ok(SignedStep::Refund(RefundReport {
            id: item.psp_reference.clone(),
            reference: item.merchant_reference.parse().ok(),
            total: amount(item)?,
            status,
            failure: reason.map(Code::failure),
        }))
    };
    Ok(Some(match (item.event_code.as_str(), is_success) {
        ("AUTHORISATION", true) => SignedStep::Approved,
        ("AUTHORISATION", false) => SignedStep::Declined(failure(reason)),
        ("CAPTURE", true) => SignedStep::Captured,
        ("CAPTURE" | "CANCELLATION", false) => SignedStep::HoldActionFailed(action(), refused_later(reason)),
        ("CAPTURE_FAILED", true) => SignedStep::CaptureFailed,
        ("CANCELLATION" | "TECHNICAL_CANCEL", true) => SignedStep::Released,
        ("EXPIRE", true) => SignedStep::Expired,
        ("OFFER_CLOSED", true) => SignedStep::Closed,
        ("REFUND", true) => refund(RefundStatus::Succeeded, None)?,
        ("REFUND", false) => refund(RefundStatus::Failed, Some(Code::ProviderRefused))?,
        ("REFUND_FAILED" | "REFUNDED_REVERSED", true) => {
            refund(RefundStatus::Failed, Some(Code::RefundFailed))?
        }
        // Only what is not signed says which of the two it was.
        ("CANCEL_OR_REFUND", true) => SignedStep::Unclear,
        (code, true) if dispute_status(code).is_some() => SignedStep::Disputed,
        _ => return Ok(None),
    }))
}

/// Where a dispute stands after each event about it, and whether the provider has the money then: as long as it can go on, an
/// event that says nothing of money leaves it where it was.
fn dispute_status(code: &str) -> Option<(&'static str, Option<bool>)> {
    Some(match code {
        "REQUEST_FOR_INFORMATION" => ("inquiry_needs_response", Some(false)),
        "NOTIFICATION_OF_CHARGEBACK" => ("announced", Some(false)),
        "CHARGEBACK" => ("charged_back", Some(true)),
        // Nobody has defended it. Whether it was a chargeback or an inquiry, the steps before tell.
        "DISPUTE_DEFENSE_PERIOD_ENDED" => ("undefended", None),
        // The bank may still take it again.
        "CHARGEBACK_REVERSED" => ("reversed", Some(false)),
        "PREARBITRATION_OPEN" | "PREARBITRATION_DECLINED" | "SCHEME_ARBITRATION" => ("arbitration", None),
        "SECOND_CHARGEBACK"
        | "PREARBITRATION_LOST"
        | "PREARBITRATION_ACCEPTED"
        | "SCHEME_ARBITRATION_LOST" => ("lost", Some(true)),
        "PREARBITRATION_WON"
        | "PREARBITRATION_ISSUER_WITHDRAWN"
        | "SCHEME_ARBITRATION_WON"
        | "ISSUER_RESPONSE_TIMEFRAME_EXPIRED" => ("won", Some(false)),
        _ => return None,
    })
}

/// A dispute keeps one reference through all its events.
fn dispute(item: &Item, amount: Minor) -> Option<Dispute> {
    let (status, is_withdrawn) = dispute_status(&item.event_code)?;
    let respond_by = item.data("defensePeriodEndsAt").and_then(|text| text.parse::<jiff::Timestamp>().ok());
    Some(Dispute {
        id: item.psp_reference.clone(),
        status: status.to_owned(),
        reason: item.data("chargebackReasonCode").map(|reason| reason.trim().to_owned()),
        amount: Some(amount),
        currency: Some(item.amount.currency.clone()),
        respond_by: respond_by.map(|at| Timestamp::from_unix_millis(at.as_millisecond())),
        withdrawn: is_withdrawn.map(|is_withdrawn| if is_withdrawn { amount } else { Minor::ZERO }),
    })
}

#[cfg(test)]
#[path = "webhook_tests.rs"]
#[allow(clippy::needless_pass_by_value, reason = "tables read better with their values")]
mod tests;
