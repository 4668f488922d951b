//! The table from the provider's states to ours.

use tollgate_domain::{
    ach::{
        AchProviderReport, AchProviderStatus, CorrectedNumber, Correction, is_return_code, is_routing_number,
    },
    transaction::Failure,
};

use super::{
    rejection,
    types::{PaymentOrder, Return, Reversal},
};
use crate::{
    mask::{last_four, masked},
    text::fit,
};

/// The code under which a reversal that brought the money back is reported.
const REVERSED: &str = "reversed";

/// A payment order as it stands, with its reversals and its returns where they were asked for.
pub(super) fn report(order: PaymentOrder, reversals: &[Reversal], returns: Vec<Return>) -> AchProviderReport {
    let provider_status = provider_status(&order, reversals);
    // The provider lists the newest first.
    let notices = returns.into_iter().rev().filter(|one| one.kind.as_deref() == Some("ach_noc"));
    AchProviderReport {
        transfer: order.id,
        provider_status,
        amount: Some(order.amount),
        currency: order.currency.map(|code| fit(&code.to_ascii_uppercase(), 3)),
        reference: order.external_id,
        expected_on: order.effective_date.filter(|day| day.parse::<jiff::civil::Date>().is_ok()),
        corrections: notices.map(correction).collect(),
    }
}

fn provider_status(order: &PaymentOrder, reversals: &[Reversal]) -> AchProviderStatus {
    match order.status.as_str() {
        "needs_approval" => AchProviderStatus::AwaitingApproval,
        "approved" | "pending" | "processing" => AchProviderStatus::Accepted,
        "held" => AchProviderStatus::Attention,
        "sent" => AchProviderStatus::Sent,
        // Reconciled with the bank's own statement. By ACH it can still come back.
        "completed" => AchProviderStatus::Settled,
        "returned" => AchProviderStatus::Returned { code: return_code(order.current_return.as_ref()) },
        "reversed" => reversed(reversals),
        "failed" => AchProviderStatus::Rejected(failed(order.vendor_failure_reason.as_deref())),
        "denied" | "cancelled" => AchProviderStatus::Canceled,
        other => AchProviderStatus::Unrecognized(fit(&masked(other), 64)),
    }
}

/// That a reversal was sent brings nothing back yet: the receiving bank may refuse it.
fn reversed(reversals: &[Reversal]) -> AchProviderStatus {
    let is = |status: &str| reversals.iter().any(|reversal| reversal.status == status);
    if is("completed") {
        return AchProviderStatus::Returned { code: REVERSED.to_owned() };
    }
    let is_over =
        |reversal: &Reversal| matches!(reversal.status.as_str(), "failed" | "returned" | "cancelled");
    if !reversals.is_empty() && reversals.iter().all(is_over) {
        return AchProviderStatus::Settled;
    }
    AchProviderStatus::Sent
}

/// The network's code, where there is one.
fn return_code(returned: Option<&Return>) -> String {
    let code = returned.and_then(|returned| returned.code.as_deref()).filter(|code| is_return_code(code));
    code.unwrap_or("returned").to_owned()
}

/// Why the bank did not carry it out: the provider passes on the bank's words, which may repeat bank details.
fn failed(reason: Option<&str>) -> Failure {
    let sentence = "The provider or its bank could not send the transfer.";
    let message = rejection::quoting(sentence, reason.unwrap_or_default());
    Failure { code: "provider_rejected".to_owned(), message }
}

/// What to correct. The whole account number goes no further than its sealing.
fn correction(notice: Return) -> Correction {
    let at = notice.created_at.as_deref().and_then(|text| text.parse::<jiff::Timestamp>().ok());
    // A bank is no secret; what stands in its place may be.
    let routing = |text: String| if is_routing_number(&text) { text } else { last_four(&fit(&text, 100)) };
    let (account, bank, person) = notice
        .corrections
        .map_or((None, None, None), |told| (told.account_number, told.routing_number, told.individual_id));
    Correction {
        code: notice.code.as_deref().map(|text| fit(&masked(text), 100)),
        routing_number: bank.map(routing),
        account_number: account.map(|text| CorrectedNumber::new(fit(&text, 100))),
        account_funding: None,
        individual_id: person.map(|text| last_four(&fit(&text, 100))),
        created_at: at.map(|at| at.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn seen(order: &Value, reversals: &[&str]) -> AchProviderReport {
        let mut full =
            json!({ "id": "po_1", "amount": 2_000, "direction": "credit", "external_id": "ach_1" });
        full.as_object_mut().unwrap().extend(order.as_object().unwrap().clone());
        let reversals: Vec<_> =
            reversals.iter().map(|status| Reversal { status: (*status).to_owned() }).collect();
        report(serde_json::from_value(full).unwrap(), &reversals, Vec::new())
    }

    #[test]
    fn every_state_of_a_payment_order() {
        let returned = |code: &str| AchProviderStatus::Returned { code: code.to_owned() };
        for (status, expected) in [
            ("needs_approval", AchProviderStatus::AwaitingApproval),
            ("approved", AchProviderStatus::Accepted),
            ("pending", AchProviderStatus::Accepted),
            ("processing", AchProviderStatus::Accepted),
            ("held", AchProviderStatus::Attention),
            ("sent", AchProviderStatus::Sent),
            ("completed", AchProviderStatus::Settled),
            ("returned", returned("R03")),
            ("denied", AchProviderStatus::Canceled),
            ("cancelled", AchProviderStatus::Canceled),
            ("failed", AchProviderStatus::Rejected(failed(None))),
            // Checks are stopped, transfers are not; and no new word ends anything.
            ("stopped", AchProviderStatus::Unrecognized("stopped".to_owned())),
            ("canceled", AchProviderStatus::Unrecognized("canceled".to_owned())),
            ("", AchProviderStatus::Unrecognized(String::new())),
        ] {
            let order = json!({ "status": status, "current_return": { "code": "R03", "type": "ach" } });
            assert_eq!(seen(&order, &[]).provider_status, expected, "{status}");
        }
        assert_eq!(seen(&json!({ "status": "returned" }), &[]).provider_status, returned("returned"));
    }

    #[test]
    fn only_a_reversal_that_is_complete_brings_the_money_back() {
        let status = json!({ "status": "reversed" });
        for (reversals, expected) in [
            (vec![], AchProviderStatus::Sent),
            (vec!["pending"], AchProviderStatus::Sent),
            (vec!["sent"], AchProviderStatus::Sent),
            (vec!["failed", "processing"], AchProviderStatus::Sent),
            (vec!["one_from_the_future"], AchProviderStatus::Sent),
            (vec!["failed"], AchProviderStatus::Settled),
            (vec!["returned", "cancelled"], AchProviderStatus::Settled),
            (vec!["failed", "completed"], AchProviderStatus::Returned { code: "reversed".to_owned() }),
        ] {
            assert_eq!(seen(&status, &reversals).provider_status, expected, "{reversals:?}");
        }
    }

    #[test]
    fn a_failure_is_told_without_its_numbers() {
        let reason = "Account 000123456789 at 021000021 rejected by bank";
        let order = json!({ "status": "failed", "vendor_failure_reason": reason });
        let AchProviderStatus::Rejected(failure) = seen(&order, &[]).provider_status else { panic!() };
        let message = "The provider or its bank could not send the transfer. It says: Account **** at **** rejected by bank";
        assert_eq!((failure.code.as_str(), failure.message.as_str()), ("provider_rejected", message));
    }

    #[test]
    fn a_debit_is_not_ours() {
        let order = json!({ "id": "x", "status": "sent", "amount": 1, "direction": "debit" });
        assert!(serde_json::from_value::<PaymentOrder>(order).is_err());
    }

    #[test]
    fn a_day_that_is_none_is_left_out() {
        for (day, expected) in [("2026-11-17", Some("2026-11-17")), ("soon", None)] {
            let order = json!({ "status": "sent", "effective_date": day });
            assert_eq!(seen(&order, &[]).expected_on.as_deref(), expected);
        }
    }
}
