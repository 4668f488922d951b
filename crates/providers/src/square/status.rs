//! The table from the provider's states to ours.

use tollgate_domain::{
    card::{ProviderReport, ProviderStatus},
    transaction::Failure,
};

use super::{rejection, types::Payment};

/// A payment as the domain sees it, without its refunds.
pub(super) fn report(payment: &Payment) -> ProviderReport {
    let errors = payment.card_details.as_ref().map(|details| details.errors.as_slice()).unwrap_or_default();
    ProviderReport {
        payment: Some(payment.id.clone()),
        provider_status: payment_status(&payment.status, rejection::failure(errors)),
        amount: Some(payment.amount_money.amount),
        currency: Some(payment.amount_money.currency.to_ascii_uppercase()),
        reference: payment.reference_id.clone(),
        refunds: Vec::new(),
        // A payment does not say; a dispute is read by its own name.
        disputed: false,
    }
}

/// Payments. `failure` is why, should it have failed.
fn payment_status(status: &str, failure: Failure) -> ProviderStatus {
    match status {
        // Payments are completed by themselves here, so an approved one is on its way.
        "APPROVED" | "PENDING" => ProviderStatus::Processing,
        "COMPLETED" => ProviderStatus::Succeeded,
        "CANCELED" => ProviderStatus::Canceled,
        "FAILED" => ProviderStatus::Failed(failure),
        other => ProviderStatus::Unrecognized(other.to_owned()),
    }
}

/// Orders that no payment has been made for.
pub(super) fn order_status(state: &str) -> ProviderStatus {
    match state {
        "OPEN" | "DRAFT" => ProviderStatus::NotStarted,
        "CANCELED" => ProviderStatus::Canceled,
        // Complete without a payment is nothing this service can have caused.
        other => ProviderStatus::Unrecognized(other.to_owned()),
    }
}

/// How far a payment came, to pick one of several for the same thing.
pub(super) const fn rank(provider_status: &ProviderStatus) -> u8 {
    match provider_status {
        ProviderStatus::Succeeded => 5,
        ProviderStatus::Processing => 4,
        ProviderStatus::Unrecognized(_) => 3,
        ProviderStatus::ActionRequired | ProviderStatus::NotStarted => 2,
        ProviderStatus::Canceled => 1,
        ProviderStatus::Failed(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Code;

    #[test]
    fn every_state_of_a_payment() {
        for (status, expected) in [
            ("APPROVED", ProviderStatus::Processing),
            ("PENDING", ProviderStatus::Processing),
            ("COMPLETED", ProviderStatus::Succeeded),
            ("CANCELED", ProviderStatus::Canceled),
            ("FAILED", ProviderStatus::Failed(Code::CardDeclined.failure())),
            ("DANCING", ProviderStatus::Unrecognized("DANCING".to_owned())),
            ("", ProviderStatus::Unrecognized(String::new())),
        ] {
            assert_eq!(payment_status(status, Code::CardDeclined.failure()), expected, "{status}");
        }
    }

    #[test]
    fn every_state_of_an_order_nobody_paid() {
        for (state, expected) in [
            ("DRAFT", ProviderStatus::NotStarted),
            ("OPEN", ProviderStatus::NotStarted),
            ("CANCELED", ProviderStatus::Canceled),
            ("COMPLETED", ProviderStatus::Unrecognized("COMPLETED".to_owned())),
            ("NEW", ProviderStatus::Unrecognized("NEW".to_owned())),
        ] {
            assert_eq!(order_status(state), expected, "{state}");
        }
    }
}
