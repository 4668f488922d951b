//! The table from the provider's states to ours.

use tollgate_domain::{
    Timestamp,
    card::{ProviderReport, ProviderStatus, ReportSource},
    payment_card::{CardChecks, CheckResult, PaymentCard},
    transaction::Failure,
};

use super::{
    rejection,
    types::{CardDetails, Charge, Intent, Metadata, NextAction, Session},
};
use crate::payment_card;

/// The customer holds something to pay by, a voucher or the like, and has days to do it. What is not paid in time comes back
/// as failed.
const PAID_LATER: [&str; 7] = [
    "boleto_display_details",
    "display_bank_transfer_instructions",
    "konbini_display_details",
    "multibanco_display_details",
    "oxxo_display_details",
    "pix_display_qr_code",
    "verify_with_microdeposits",
];

/// An intent as the domain sees it, without its refunds.
pub(super) fn intent_report(intent: &Intent) -> ProviderReport {
    let failure = intent.last_payment_error.as_ref().map(rejection::failure);
    let provider_status = match intent_status(&intent.status, failure, intent.next_action.as_ref()) {
        ProviderStatus::Authorized { .. } => {
            ProviderStatus::Authorized { capture_before: capture_before(intent) }
        }
        ProviderStatus::Canceled if has_lapsed(intent) => ProviderStatus::AuthorizationExpired,
        other => other,
    };
    // Of what was captured in part, that part was received.
    let received = intent.amount_received.filter(|_| provider_status == ProviderStatus::Succeeded);
    ProviderReport {
        payment: Some(intent.id.clone()),
        provider_status,
        amount: Some(received.unwrap_or(intent.amount)),
        currency: Some(intent.currency.to_ascii_uppercase()),
        reference: reference(intent.metadata.as_ref()),
        refunds: Vec::new(),
        disputed: intent.latest_charge.as_ref().is_some_and(|charge| charge.disputed),
        source: ReportSource::Read,
        card: charged_card(intent).and_then(|card| payment_card::known(card_of(card))),
        is_not_card: intent
            .latest_charge
            .as_ref()
            .and_then(|charge| charge.payment_method_details.as_ref())
            .is_some_and(|details| details.card.is_none()),
    }
}

/// The card that was charged or tried last, if it is one.
fn charged_card(intent: &Intent) -> Option<&CardDetails> {
    intent.latest_charge.as_ref()?.payment_method_details.as_ref()?.card.as_ref()
}

/// A card in words common to all providers; most of them are this provider's.
pub(super) fn card_of(card: &CardDetails) -> PaymentCard {
    let check = |result: &Option<String>| result.as_deref().and_then(CheckResult::parse);
    let checks = card.checks.as_ref();
    let (expiry_month, expiry_year) = payment_card::expiry(card.exp_month, card.exp_year);
    let proof = card.three_d_secure.as_ref().and_then(|tried| tried.result.as_deref());
    PaymentCard {
        brand: payment_card::word(card.brand.as_deref()),
        last_four: payment_card::last_four(card.last4.as_deref()),
        funding: payment_card::word(card.funding.as_deref()),
        country: payment_card::country(card.country.as_deref()),
        expiry_month,
        expiry_year,
        three_d_secure: payment_card::word(proof),
        checks: CardChecks {
            address: checks.and_then(|checks| check(&checks.address)),
            postal_code: checks.and_then(|checks| check(&checks.postal_code)),
            cvc: checks.and_then(|checks| check(&checks.cvc)),
        },
    }
}

fn capture_before(intent: &Intent) -> Option<Timestamp> {
    let seconds = charged_card(intent)?.capture_before?;
    Some(Timestamp::from_unix_millis(seconds.saturating_mul(1_000)))
}

/// Whether the provider canceled it by itself because nobody captured in time.
fn has_lapsed(intent: &Intent) -> bool {
    let by_itself = matches!(intent.cancellation_reason.as_deref(), Some("automatic" | "expired"));
    by_itself && intent.latest_charge.as_ref().is_some_and(Charge::is_uncaptured)
}

/// A session as the domain sees it: by its intent once it exists.
pub(super) fn session_report(session: &Session) -> ProviderReport {
    let intent = session.payment_intent.as_ref().map(intent_report);
    let status = session.status.as_deref().unwrap_or_default();
    let provider_status =
        session_status(status, &session.payment_status, intent.as_ref().map(|it| &it.provider_status));
    let own_reference = session.client_reference_id.clone().or_else(|| reference(session.metadata.as_ref()));
    match intent {
        Some(intent) => {
            ProviderReport { provider_status, reference: intent.reference.or(own_reference), ..intent }
        }
        None => ProviderReport {
            payment: None,
            provider_status,
            amount: session.amount_total,
            currency: session.currency.as_deref().map(str::to_ascii_uppercase),
            reference: own_reference,
            refunds: Vec::new(),
            disputed: false,
            source: ReportSource::Read,
            card: None,
            is_not_card: false,
        },
    }
}

/// Payment intents. `failure` is why the last try failed, where one did.
fn intent_status(status: &str, failure: Option<Failure>, next: Option<&NextAction>) -> ProviderStatus {
    let is_paid_later = next.is_some_and(|next| PAID_LATER.contains(&next.kind.as_str()));
    match (status, failure) {
        ("requires_payment_method", None) | ("requires_confirmation", _) => ProviderStatus::NotStarted,
        ("requires_payment_method", Some(failure)) => ProviderStatus::Failed(failure),
        ("requires_action", _) if is_paid_later => ProviderStatus::Processing,
        ("requires_action", _) => ProviderStatus::ActionRequired,
        ("processing", _) => ProviderStatus::Processing,
        ("requires_capture", _) => ProviderStatus::Authorized { capture_before: None },
        ("succeeded", _) => ProviderStatus::Succeeded,
        ("canceled", _) => ProviderStatus::Canceled,
        (other, _) => ProviderStatus::Unrecognized(other.to_owned()),
    }
}

/// Checkout sessions, by their status, their payment's status, and where their intent stands.
fn session_status(status: &str, payment_status: &str, intent: Option<&ProviderStatus>) -> ProviderStatus {
    match (status, payment_status, intent) {
        // What an intent says is the truth about money, whatever became of the page.
        (_, _, Some(paid)) if paid.is_under_way() => paid.clone(),
        // An open page makes itself a new intent where it needs one.
        ("open", _, None | Some(ProviderStatus::Canceled | ProviderStatus::AuthorizationExpired)) => {
            ProviderStatus::NotStarted
        }
        ("open", _, Some(intent)) => intent.clone(),
        ("complete", "paid" | "no_payment_required", _) => ProviderStatus::Succeeded,
        // A delayed method that did not come through; the page cannot be used again.
        ("complete", "unpaid", Some(failed @ ProviderStatus::Failed(_))) => failed.clone(),
        ("complete", "unpaid", Some(ended)) if ended.is_canceled() => ended.clone(),
        ("expired", _, _) => ProviderStatus::Canceled,
        ("complete", "unpaid", _) => ProviderStatus::Processing,
        ("complete", other, _) => ProviderStatus::Unrecognized(format!("complete, {other}")),
        (other, _, _) => ProviderStatus::Unrecognized(other.to_owned()),
    }
}

fn reference(metadata: Option<&Metadata>) -> Option<String> {
    metadata.and_then(|metadata| metadata.tollgate_reference.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Code;

    fn failed() -> ProviderStatus {
        ProviderStatus::Failed(Code::CardDeclined.failure())
    }

    #[test]
    fn every_state_of_an_intent() {
        let failure = || Some(Code::CardDeclined.failure());
        for (status, failure, expected) in [
            ("requires_payment_method", None, ProviderStatus::NotStarted),
            ("requires_payment_method", failure(), failed()),
            ("requires_confirmation", None, ProviderStatus::NotStarted),
            ("requires_confirmation", failure(), ProviderStatus::NotStarted),
            ("requires_action", None, ProviderStatus::ActionRequired),
            ("requires_action", failure(), ProviderStatus::ActionRequired),
            ("processing", None, ProviderStatus::Processing),
            ("requires_capture", None, ProviderStatus::Authorized { capture_before: None }),
            ("succeeded", None, ProviderStatus::Succeeded),
            ("succeeded", failure(), ProviderStatus::Succeeded),
            ("canceled", None, ProviderStatus::Canceled),
            ("canceled", failure(), ProviderStatus::Canceled),
            ("requires_a_dance", None, ProviderStatus::Unrecognized("requires_a_dance".to_owned())),
            ("", None, ProviderStatus::Unrecognized(String::new())),
        ] {
            assert_eq!(intent_status(status, failure, None), expected, "{status}");
        }
    }

    #[test]
    fn what_is_held_says_until_when_and_how_it_ended() {
        let intent = |status: &str, reason: Option<&str>, received: u64, charge: serde_json::Value| {
            let intent = serde_json::json!({
                "id": "pi_1", "status": status, "amount": 1_000, "amount_received": received, "currency": "usd",
                "cancellation_reason": reason, "latest_charge": charge,
            });
            intent_report(&serde_json::from_value(intent).unwrap())
        };
        let held = serde_json::json!({
            "status": "succeeded", "captured": false,
            "payment_method_details": { "type": "card", "card": { "capture_before": 1_790_000_000 } },
        });
        let until = Some(Timestamp::from_unix_millis(1_790_000_000_000));
        let authorized = intent("requires_capture", None, 0, held.clone());
        assert_eq!(authorized.provider_status, ProviderStatus::Authorized { capture_before: until });
        assert_eq!(authorized.amount.unwrap().get(), 1_000);
        let part = intent("succeeded", None, 400, serde_json::json!({ "captured": true }));
        assert_eq!((part.provider_status, part.amount.unwrap().get()), (ProviderStatus::Succeeded, 400));
        let declined = serde_json::json!({ "status": "failed", "captured": false });
        for (reason, charge, expected) in [
            (Some("automatic"), held.clone(), ProviderStatus::AuthorizationExpired),
            (Some("expired"), held.clone(), ProviderStatus::AuthorizationExpired),
            (Some("requested_by_customer"), held.clone(), ProviderStatus::Canceled),
            (None, held, ProviderStatus::Canceled),
            (Some("automatic"), declined, ProviderStatus::Canceled),
            (Some("automatic"), serde_json::Value::Null, ProviderStatus::Canceled),
        ] {
            assert_eq!(intent("canceled", reason, 0, charge).provider_status, expected, "{reason:?}");
        }
    }

    #[test]
    fn a_voucher_is_on_its_way_and_proof_of_identity_is_not() {
        for (next, expected) in [
            ("oxxo_display_details", ProviderStatus::Processing),
            ("multibanco_display_details", ProviderStatus::Processing),
            ("redirect_to_url", ProviderStatus::ActionRequired),
            ("use_stripe_sdk", ProviderStatus::ActionRequired),
            ("something_new", ProviderStatus::ActionRequired),
        ] {
            let next = NextAction { kind: next.to_owned() };
            assert_eq!(intent_status("requires_action", None, Some(&next)), expected, "{}", next.kind);
            assert_eq!(intent_status("canceled", None, Some(&next)), ProviderStatus::Canceled);
        }
    }

    #[test]
    fn every_state_of_a_session() {
        use ProviderStatus::{
            ActionRequired, AuthorizationExpired, Canceled, NotStarted, Processing, Succeeded, Unrecognized,
        };
        let held = || ProviderStatus::Authorized { capture_before: None };
        let strange = || Unrecognized("strange".to_owned());
        for (status, payment_status, intent, expected) in [
            ("open", "unpaid", None, NotStarted),
            ("open", "unpaid", Some(NotStarted), NotStarted),
            ("open", "unpaid", Some(Canceled), NotStarted),
            ("open", "unpaid", Some(ActionRequired), ActionRequired),
            ("open", "unpaid", Some(failed()), failed()),
            ("open", "unpaid", Some(strange()), strange()),
            ("open", "unpaid", Some(Processing), Processing),
            ("complete", "paid", Some(Succeeded), Succeeded),
            ("complete", "paid", None, Succeeded),
            ("complete", "no_payment_required", None, Succeeded),
            ("complete", "unpaid", None, Processing),
            ("complete", "unpaid", Some(Processing), Processing),
            ("complete", "unpaid", Some(NotStarted), Processing),
            ("complete", "unpaid", Some(failed()), failed()),
            ("complete", "unpaid", Some(Canceled), Canceled),
            ("complete", "unpaid", Some(Succeeded), Succeeded),
            ("complete", "unpaid", Some(held()), held()),
            ("complete", "unpaid", Some(AuthorizationExpired), AuthorizationExpired),
            ("open", "unpaid", Some(AuthorizationExpired), NotStarted),
            ("complete", "strange", None, Unrecognized("complete, strange".to_owned())),
            ("expired", "unpaid", None, Canceled),
            ("expired", "unpaid", Some(Canceled), Canceled),
            ("expired", "unpaid", Some(NotStarted), Canceled),
            ("expired", "unpaid", Some(Processing), Processing),
            ("expired", "paid", Some(Succeeded), Succeeded),
            ("strange", "unpaid", None, strange()),
        ] {
            let found = session_status(status, payment_status, intent.as_ref());
            assert_eq!(found, expected, "{status} {payment_status} {intent:?}");
        }
    }
}
