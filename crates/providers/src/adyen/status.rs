//! Where sessions and payment links stand, in our words. Nothing here is a payment's outcome for good: signed webhooks tell that.

use tollgate_domain::{
    card::{CardOrder, ProviderReport, ProviderStatus, ReportSource},
    hold::CaptureMode,
};
use tollgate_engine::ports::{CallError, Reading};

use super::{
    amount::from_provider,
    types::{Amount, Link, SessionPayment, SessionResult},
};
use crate::failure::{Code, unknown};

/// What a result code of a payment means.
fn payment_status(code: &str, capture: CaptureMode) -> ProviderStatus {
    match (code, capture) {
        ("Authorised", CaptureMode::Automatic) => ProviderStatus::Succeeded,
        ("Authorised", CaptureMode::Manual) => ProviderStatus::Authorized { capture_before: None },
        ("Received" | "Pending", _) => ProviderStatus::Processing,
        ("RedirectShopper" | "IdentifyShopper" | "ChallengeShopper", _) => ProviderStatus::ActionRequired,
        ("Refused" | "Error", _) => ProviderStatus::Failed(Code::CardDeclined.failure()),
        ("Cancelled", _) => ProviderStatus::Failed(Code::CustomerCanceled.failure()),
        (other, _) => ProviderStatus::Unrecognized(other.to_owned()),
    }
}

/// Where a session stood when its browser was done.
pub(super) fn session(result: SessionResult, order: &CardOrder) -> Result<Reading, CallError> {
    let SessionResult { status, reference, payments, .. } = result;
    let word = |payment: &SessionPayment| payment.result_code.clone().unwrap_or_default();
    let paid = payments.iter().find(|payment| word(payment) == "Authorised").or_else(|| payments.first());
    let provider_status = match (status.as_str(), paid) {
        ("completed" | "paymentPending", Some(payment)) => payment_status(&word(payment), order.capture),
        // Paid, and by which payment its webhook tells.
        ("completed", None) => ProviderStatus::Processing,
        // Whether it is paid, its webhook tells.
        ("paymentPending", None) => return Ok(Reading::CannotBeAsked(None)),
        ("refused", _) => ProviderStatus::Failed(Code::CardDeclined.failure()),
        ("canceled", _) => ProviderStatus::Failed(Code::CustomerCanceled.failure()),
        // The customer may still be at it: its end is waited for.
        ("active" | "expired", _) => ProviderStatus::NotStarted,
        (other, _) => ProviderStatus::Unrecognized(other.to_owned()),
    };
    let paid =
        paid.filter(|_| !matches!(provider_status, ProviderStatus::Failed(_) | ProviderStatus::NotStarted));
    let amount = match paid.and_then(|payment| payment.amount.as_ref()) {
        Some(Amount { currency, value }) => Some(
            value
                .and_then(|value| from_provider(value, currency))
                .ok_or_else(|| unknown("the payment's amount cannot be read"))?,
        ),
        None => None,
    };
    Ok(Reading::Report(ProviderReport {
        payment: paid.and_then(|payment| payment.psp_reference.clone()),
        provider_status,
        amount,
        currency: paid.and_then(|payment| Some(payment.amount.as_ref()?.currency.clone())),
        reference,
        refunds: Vec::new(),
        disputed: false,
        source: ReportSource::Result,
        card: None,
        is_not_card: false,
    }))
}

/// Where a payment link stands. It never says which payment has paid it.
pub(super) fn link(link: &Link) -> Result<Reading, CallError> {
    let amount = link.amount.value.and_then(|value| from_provider(value, &link.amount.currency));
    let report = |provider_status| -> Result<ProviderReport, CallError> {
        Ok(ProviderReport {
            payment: None,
            provider_status,
            amount: Some(amount.ok_or_else(|| unknown("the link's amount cannot be read"))?),
            currency: Some(link.amount.currency.clone()),
            reference: Some(link.reference.clone()),
            refunds: Vec::new(),
            disputed: false,
            source: ReportSource::Read,
            card: None,
            is_not_card: false,
        })
    };
    let unasked = |report| Reading::CannotBeAsked(Some(Box::new(report)));
    Ok(match link.status.as_str() {
        "active" => Reading::Report(report(ProviderStatus::NotStarted)?),
        "expired" => Reading::Report(report(ProviderStatus::Canceled)?),
        "completed" | "paid" => unasked(report(ProviderStatus::Processing)?),
        // Of the one who pays it is not known yet whether it comes to anything, so that a refusal may follow.
        "paymentPending" => unasked(report(ProviderStatus::ActionRequired)?),
        other => Reading::Report(report(ProviderStatus::Unrecognized(other.to_owned()))?),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_state_of_a_payment_link_is_read() {
        let read = |status: &str| {
            let made = json!({ "id": "PL1", "url": "https://pay.example", "status": status, "reference": "pay_1",
                "amount": { "currency": "USD", "value": 100 } });
            link(&serde_json::from_value(made).unwrap()).unwrap()
        };
        for (status, expected) in [
            ("active", ProviderStatus::NotStarted),
            ("expired", ProviderStatus::Canceled),
            ("new_word", ProviderStatus::Unrecognized("new_word".to_owned())),
        ] {
            let Reading::Report(report) = read(status) else { panic!("{status} can be asked") };
            assert_eq!((report.provider_status, report.payment), (expected, None), "{status}");
        }
        for (status, expected) in [
            ("completed", ProviderStatus::Processing),
            ("paid", ProviderStatus::Processing),
            ("paymentPending", ProviderStatus::ActionRequired),
        ] {
            let Reading::CannotBeAsked(Some(known)) = read(status) else {
                panic!("{status} tells no outcome")
            };
            assert_eq!(known.provider_status, expected, "{status}");
        }
    }

    #[test]
    fn every_state_of_a_result_code_is_read() {
        for (code, automatic) in [
            ("Authorised", ProviderStatus::Succeeded),
            ("Received", ProviderStatus::Processing),
            ("Pending", ProviderStatus::Processing),
            ("RedirectShopper", ProviderStatus::ActionRequired),
            ("IdentifyShopper", ProviderStatus::ActionRequired),
            ("ChallengeShopper", ProviderStatus::ActionRequired),
            ("Refused", ProviderStatus::Failed(Code::CardDeclined.failure())),
            ("Error", ProviderStatus::Failed(Code::CardDeclined.failure())),
            ("Cancelled", ProviderStatus::Failed(Code::CustomerCanceled.failure())),
            ("PartiallyAuthorised", ProviderStatus::Unrecognized("PartiallyAuthorised".to_owned())),
        ] {
            assert_eq!(payment_status(code, CaptureMode::Automatic), automatic, "{code}");
        }
        let held = ProviderStatus::Authorized { capture_before: None };
        assert_eq!(payment_status("Authorised", CaptureMode::Manual), held);
    }
}
