//! The table from the wire's states to ours.

use tollgate_domain::{
    Minor,
    card::{Sighting, Standing},
    transaction::Failure,
};

use super::{refusal, wire::Payment};

/// A payment as the domain sees it.
pub(super) fn sighting(payment: &Payment) -> Sighting {
    let errors = payment.card_details.as_ref().map(|details| details.errors.as_slice()).unwrap_or_default();
    Sighting {
        payment: Some(payment.id.clone()),
        standing: payment_standing(&payment.status, refusal::failure(errors)),
        amount: Some(payment.amount_money.amount),
        currency: Some(payment.amount_money.currency.to_ascii_uppercase()),
        reference: payment.reference_id.clone(),
        refunded: payment.refunded_money.as_ref().map_or(Minor::ZERO, |money| money.amount),
        // A payment does not say; a dispute is read by its own name.
        disputed: false,
    }
}

/// Payments. `failure` is why, should it have failed.
fn payment_standing(status: &str, failure: Failure) -> Standing {
    match status {
        // Payments are completed by themselves here, so an approved one is on its way.
        "APPROVED" | "PENDING" => Standing::Processing,
        "COMPLETED" => Standing::Succeeded,
        "CANCELED" => Standing::Canceled,
        "FAILED" => Standing::Failed(failure),
        other => Standing::Unrecognized(other.to_owned()),
    }
}

/// Orders that no payment has been made for.
pub(super) fn order_standing(state: &str) -> Standing {
    match state {
        "OPEN" | "DRAFT" => Standing::Untouched,
        "CANCELED" => Standing::Canceled,
        // Complete without a payment is nothing this service can have caused.
        other => Standing::Unrecognized(other.to_owned()),
    }
}

/// How far a payment came, to pick one of several for the same thing.
pub(super) const fn rank(standing: &Standing) -> u8 {
    match standing {
        Standing::Succeeded => 5,
        Standing::Processing => 4,
        Standing::Unrecognized(_) => 3,
        Standing::Acting | Standing::Untouched => 2,
        Standing::Canceled => 1,
        Standing::Failed(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Code;

    #[test]
    fn every_state_of_a_payment() {
        for (status, expected) in [
            ("APPROVED", Standing::Processing),
            ("PENDING", Standing::Processing),
            ("COMPLETED", Standing::Succeeded),
            ("CANCELED", Standing::Canceled),
            ("FAILED", Standing::Failed(Code::CardDeclined.failure())),
            ("DANCING", Standing::Unrecognized("DANCING".to_owned())),
            ("", Standing::Unrecognized(String::new())),
        ] {
            assert_eq!(payment_standing(status, Code::CardDeclined.failure()), expected, "{status}");
        }
    }

    #[test]
    fn every_state_of_an_order_nobody_paid() {
        for (state, expected) in [
            ("DRAFT", Standing::Untouched),
            ("OPEN", Standing::Untouched),
            ("CANCELED", Standing::Canceled),
            ("COMPLETED", Standing::Unrecognized("COMPLETED".to_owned())),
            ("NEW", Standing::Unrecognized("NEW".to_owned())),
        ] {
            assert_eq!(order_standing(state), expected, "{state}");
        }
    }
}
