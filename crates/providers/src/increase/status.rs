//! The table from the provider's states to ours.

use jiff::{civil::Date, tz::TimeZone};
use tollgate_domain::ach::{
    AchProviderReport, AchProviderStatus, CorrectedNumber, Correction, is_routing_number,
};

use super::{
    rejection, returns,
    types::{AchTransfer, InstantTransfer, NotificationOfChange, Rejection, Return, Submission},
};
use crate::{
    mask::{last_four, masked},
    text::fit,
};

/// A transfer by ACH as it stands.
pub(super) fn ach(transfer: AchTransfer) -> AchProviderReport {
    let provider_status =
        ach_status(&transfer.status, transfer.settlement.is_some(), transfer.returned.as_ref());
    let corrections = transfer.notifications_of_change.unwrap_or_default();
    AchProviderReport {
        transfer: transfer.id,
        provider_status,
        amount: Some(transfer.amount),
        currency: transfer.currency.map(|code| fit(&code.to_ascii_uppercase(), 3)),
        reference: transfer.idempotency_key,
        expected_on: transfer.submission.as_ref().and_then(expected_on),
        corrections: corrections.into_iter().map(correction).collect(),
    }
}

/// A real-time payment as it stands.
pub(super) fn real_time(transfer: InstantTransfer) -> AchProviderReport {
    let provider_status = real_time_status(&transfer.status, transfer.rejection.as_ref());
    instant(transfer, provider_status)
}

/// A payment by FedNow as it stands.
pub(super) fn fednow(transfer: InstantTransfer) -> AchProviderReport {
    let provider_status = fednow_status(&transfer.status, transfer.rejection.as_ref());
    instant(transfer, provider_status)
}

fn instant(transfer: InstantTransfer, provider_status: AchProviderStatus) -> AchProviderReport {
    AchProviderReport {
        transfer: transfer.id,
        provider_status,
        amount: Some(transfer.amount),
        currency: transfer.currency.map(|code| fit(&code.to_ascii_uppercase(), 3)),
        reference: transfer.idempotency_key,
        expected_on: None,
        corrections: Vec::new(),
    }
}

/// A transfer stays `submitted` when it settles; only its settlement tells. One that came back keeps its settlement.
fn ach_status(status: &str, settled: bool, returned: Option<&Return>) -> AchProviderStatus {
    match status {
        "pending_approval" => AchProviderStatus::AwaitingApproval,
        "pending_transfer_session_confirmation" => AchProviderStatus::AwaitingConfirmation,
        "pending_reviewing" | "pending_submission" => AchProviderStatus::Accepted,
        "requires_attention" => AchProviderStatus::Attention,
        "submitted" if settled => AchProviderStatus::Settled,
        "submitted" => AchProviderStatus::Sent,
        "returned" => AchProviderStatus::Returned { code: returns::code(returned) },
        "rejected" => AchProviderStatus::Rejected(rejection::ach_rejection()),
        "canceled" => AchProviderStatus::Canceled,
        other => unrecognized(other),
    }
}

fn real_time_status(status: &str, rejection: Option<&Rejection>) -> AchProviderStatus {
    match status {
        "pending_approval" => AchProviderStatus::AwaitingApproval,
        "pending_reviewing" | "pending_submission" => AchProviderStatus::Accepted,
        "requires_attention" => AchProviderStatus::Attention,
        "submitted" => AchProviderStatus::Sent,
        "complete" => AchProviderStatus::Settled,
        "rejected" => {
            let reason = rejection.and_then(|rejection| rejection.reject_reason_code.as_deref());
            AchProviderStatus::Rejected(rejection::real_time_rejection(reason))
        }
        "canceled" => AchProviderStatus::Canceled,
        other => unrecognized(other),
    }
}

fn fednow_status(status: &str, rejection: Option<&Rejection>) -> AchProviderStatus {
    match status {
        "pending_submitting" => AchProviderStatus::Accepted,
        "pending_response" => AchProviderStatus::Sent,
        // By the provider, before the network saw it.
        "reviewing_rejected" => AchProviderStatus::Rejected(rejection::ach_rejection()),
        "pending_submission" | "submitted" => unrecognized(status),
        other => real_time_status(other, rejection),
    }
}

fn unrecognized(status: &str) -> AchProviderStatus {
    AchProviderStatus::Unrecognized(fit(&masked(status), 64))
}

/// The day the money should be there, as the network's own clocks have it.
fn expected_on(submission: &Submission) -> Option<String> {
    let settles_at = submission.expected_funds_settlement_at.as_deref();
    let settles_at = settles_at.and_then(|text| text.parse::<jiff::Timestamp>().ok());
    let settles_on = settles_at.and_then(|at| Some(at.to_zoned(eastern()?).date()));
    let effective = || submission.effective_date.as_deref()?.parse::<Date>().ok();
    settles_on.or_else(effective).map(|day| day.to_string())
}

fn eastern() -> Option<TimeZone> {
    TimeZone::get("America/New_York").ok()
}

/// What to correct. The whole account number goes no further than its sealing.
fn correction(change: NotificationOfChange) -> Correction {
    let word = |text: Option<String>| text.as_deref().map(|text| fit(&masked(text), 100));
    let at = change.created_at.as_deref().and_then(|text| text.parse::<jiff::Timestamp>().ok());
    // A bank is no secret; what stands in its place may be.
    let routing = |text: String| if is_routing_number(&text) { text } else { last_four(&fit(&text, 100)) };
    Correction {
        code: word(change.change_code),
        routing_number: change.corrected_routing_number.map(routing),
        account_number: change.corrected_account_number.map(|text| CorrectedNumber::new(fit(&text, 100))),
        account_funding: word(change.corrected_account_funding),
        individual_id: change.corrected_individual_id.map(|text| last_four(&fit(&text, 100))),
        created_at: at.map(|at| at.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tollgate_domain::Minor;

    use super::*;

    #[test]
    fn every_state_of_a_transfer_by_ach() {
        let unrecognized = |word: &str| AchProviderStatus::Unrecognized(word.to_owned());
        let returned = || AchProviderStatus::Returned { code: "R03".to_owned() };
        let reason = Return {
            raw_return_reason_code: Some("R03".to_owned()),
            return_reason_code: Some("no_account".to_owned()),
        };
        for (status, unsettled, settled) in [
            ("pending_approval", AchProviderStatus::AwaitingApproval, AchProviderStatus::AwaitingApproval),
            (
                "pending_transfer_session_confirmation",
                AchProviderStatus::AwaitingConfirmation,
                AchProviderStatus::AwaitingConfirmation,
            ),
            ("pending_reviewing", AchProviderStatus::Accepted, AchProviderStatus::Accepted),
            ("requires_attention", AchProviderStatus::Attention, AchProviderStatus::Attention),
            ("pending_submission", AchProviderStatus::Accepted, AchProviderStatus::Accepted),
            ("submitted", AchProviderStatus::Sent, AchProviderStatus::Settled),
            ("returned", returned(), returned()),
            (
                "rejected",
                AchProviderStatus::Rejected(rejection::ach_rejection()),
                AchProviderStatus::Rejected(rejection::ach_rejection()),
            ),
            ("canceled", AchProviderStatus::Canceled, AchProviderStatus::Canceled),
            ("settled", unrecognized("settled"), unrecognized("settled")),
            ("complete", unrecognized("complete"), unrecognized("complete")),
            ("SUBMITTED", unrecognized("SUBMITTED"), unrecognized("SUBMITTED")),
            ("", unrecognized(""), unrecognized("")),
        ] {
            assert_eq!(ach_status(status, false, Some(&reason)), unsettled, "{status}");
            assert_eq!(ach_status(status, true, Some(&reason)), settled, "{status}, settled");
        }
    }

    #[test]
    fn every_state_of_a_real_time_payment() {
        let closed = Rejection { reject_reason_code: Some("account_closed".to_owned()) };
        for (status, expected) in [
            ("pending_approval", AchProviderStatus::AwaitingApproval),
            ("pending_reviewing", AchProviderStatus::Accepted),
            ("requires_attention", AchProviderStatus::Attention),
            ("pending_submission", AchProviderStatus::Accepted),
            ("submitted", AchProviderStatus::Sent),
            ("complete", AchProviderStatus::Settled),
            ("rejected", AchProviderStatus::Rejected(rejection::real_time_rejection(Some("account_closed")))),
            ("canceled", AchProviderStatus::Canceled),
            ("returned", AchProviderStatus::Unrecognized("returned".to_owned())),
            ("pending_transfer_session_confirmation", {
                AchProviderStatus::Unrecognized("pending_transfer_session_confirmation".to_owned())
            }),
            ("", AchProviderStatus::Unrecognized(String::new())),
        ] {
            assert_eq!(real_time_status(status, Some(&closed)), expected, "{status}");
        }
    }

    #[test]
    fn every_state_of_a_payment_by_fednow() {
        let closed = Rejection { reject_reason_code: Some("account_closed".to_owned()) };
        for (status, expected) in [
            ("pending_approval", AchProviderStatus::AwaitingApproval),
            ("pending_reviewing", AchProviderStatus::Accepted),
            ("requires_attention", AchProviderStatus::Attention),
            ("pending_submitting", AchProviderStatus::Accepted),
            ("pending_response", AchProviderStatus::Sent),
            ("complete", AchProviderStatus::Settled),
            ("rejected", AchProviderStatus::Rejected(rejection::real_time_rejection(Some("account_closed")))),
            ("reviewing_rejected", AchProviderStatus::Rejected(rejection::ach_rejection())),
            ("canceled", AchProviderStatus::Canceled),
            ("submitted", AchProviderStatus::Unrecognized("submitted".to_owned())),
            ("pending_submission", AchProviderStatus::Unrecognized("pending_submission".to_owned())),
        ] {
            assert_eq!(fednow_status(status, Some(&closed)), expected, "{status}");
        }
    }

    #[test]
    fn a_whole_transfer() {
        let transfer = json!({
            "id": "ach_transfer_1", "status": "submitted", "amount": 12_345, "currency": "USD", "idempotency_key": "ach_key",
            "account_number": "000123456789", "routing_number": "021000021",
            "settlement": { "settled_at": "2026-11-03T13:30:00Z" },
            "submission": {
                "effective_date": "2026-11-02", "expected_funds_settlement_at": "2026-11-03T13:30:00Z",
            },
            "notifications_of_change": [{
                "change_code": "incorrect_routing_number_and_account_number",
                "corrected_account_funding": null, "corrected_account_number": "000987654321",
                "corrected_individual_id": null, "corrected_routing_number": "122105155",
                "created_at": "2026-11-04T10:00:00Z", "added_later": "000987654321",
            }],
        });
        let report = ach(serde_json::from_value(transfer).unwrap());
        let correction = Correction {
            code: Some("incorrect_routing_number_and_account_number".to_owned()),
            routing_number: Some("122105155".to_owned()),
            account_number: Some(CorrectedNumber::new("000987654321".to_owned())),
            created_at: Some("2026-11-04T10:00:00Z".to_owned()),
            ..Correction::default()
        };
        assert!(!format!("{report:?}").contains("987654"), "{report:?}");
        let expected = AchProviderReport {
            transfer: "ach_transfer_1".to_owned(),
            provider_status: AchProviderStatus::Settled,
            amount: Minor::new(12_345),
            currency: Some("USD".to_owned()),
            reference: Some("ach_key".to_owned()),
            expected_on: Some("2026-11-03".to_owned()),
            corrections: vec![correction],
        };
        assert_eq!(report, expected);
    }

    #[test]
    fn the_day_is_the_one_on_the_networks_clocks() {
        for (at, effective, expected) in [
            (Some("2026-07-01T22:00:00Z"), Some("2026-07-01"), Some("2026-07-01")),
            (Some("2026-07-02T03:59:59Z"), None, Some("2026-07-01")),
            (Some("2026-07-02T04:00:00Z"), None, Some("2026-07-02")),
            (Some("2026-12-02T04:59:59Z"), None, Some("2026-12-01")),
            (Some("2026-12-02T05:00:00Z"), None, Some("2026-12-02")),
            (None, Some("2026-07-01"), Some("2026-07-01")),
            (Some("soon"), Some("2026-07-01"), Some("2026-07-01")),
            (Some("soon"), Some("later"), None),
            (None, None, None),
        ] {
            let submission = Submission {
                effective_date: effective.map(str::to_owned),
                expected_funds_settlement_at: at.map(str::to_owned),
            };
            assert_eq!(expected_on(&submission).as_deref(), expected, "{at:?} {effective:?}");
        }
    }
}
