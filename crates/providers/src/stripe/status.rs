//! The table from the wire's states to ours.

use tollgate_domain::{
    Minor,
    card::{Sighting, Standing},
    transaction::Failure,
};

use super::{
    refusal,
    wire::{Intent, Metadata, Session},
};

/// An intent as the domain sees it.
pub(super) fn intent_sighting(intent: &Intent) -> Sighting {
    let failure = intent.last_payment_error.as_ref().map(refusal::failure);
    Sighting {
        payment: Some(intent.id.clone()),
        standing: intent_standing(&intent.status, failure),
        amount: Some(intent.amount),
        currency: Some(intent.currency.to_ascii_uppercase()),
        reference: reference(intent.metadata.as_ref()),
        refunded: intent.latest_charge.as_ref().map_or(Minor::ZERO, |charge| charge.amount_refunded),
        disputed: intent.latest_charge.as_ref().is_some_and(|charge| charge.disputed),
    }
}

/// A session as the domain sees it: by its intent once there is one.
pub(super) fn session_sighting(session: &Session) -> Sighting {
    let intent = session.payment_intent.as_ref().map(intent_sighting);
    let status = session.status.as_deref().unwrap_or_default();
    let standing = session_standing(status, &session.payment_status, intent.as_ref().map(|it| &it.standing));
    let own_reference = session.client_reference_id.clone().or_else(|| reference(session.metadata.as_ref()));
    match intent {
        Some(intent) => Sighting { standing, reference: intent.reference.or(own_reference), ..intent },
        None => Sighting {
            payment: None,
            standing,
            amount: session.amount_total,
            currency: session.currency.as_deref().map(str::to_ascii_uppercase),
            reference: own_reference,
            refunded: Minor::ZERO,
            disputed: false,
        },
    }
}

/// Payment intents. `failure` is why the last try failed, where one did.
fn intent_standing(status: &str, failure: Option<Failure>) -> Standing {
    match (status, failure) {
        ("requires_payment_method", None) | ("requires_confirmation", _) => Standing::Untouched,
        ("requires_payment_method", Some(failure)) => Standing::Failed(failure),
        ("requires_action", _) => Standing::Acting,
        // Authorised only happens to intents that are captured by hand, which are none of ours.
        ("processing" | "requires_capture", _) => Standing::Processing,
        ("succeeded", _) => Standing::Succeeded,
        ("canceled", _) => Standing::Canceled,
        (other, _) => Standing::Unrecognized(other.to_owned()),
    }
}

/// Checkout sessions, by their status, their payment's status, and where their intent stands.
fn session_standing(status: &str, payment_status: &str, intent: Option<&Standing>) -> Standing {
    match (status, payment_status, intent) {
        // What an intent says is the truth about money, whatever became of the page.
        (_, _, Some(paid @ (Standing::Succeeded | Standing::Processing))) => paid.clone(),
        // An open page makes itself a new intent where it needs one.
        ("open", _, None | Some(Standing::Canceled)) => Standing::Untouched,
        ("open", _, Some(intent)) => intent.clone(),
        ("complete", "paid" | "no_payment_required", _) => Standing::Succeeded,
        // A delayed method that did not come through; the page cannot be used again.
        ("complete", "unpaid", Some(failed @ Standing::Failed(_))) => failed.clone(),
        ("complete", "unpaid", Some(Standing::Canceled)) | ("expired", _, _) => Standing::Canceled,
        ("complete", "unpaid", _) => Standing::Processing,
        ("complete", other, _) => Standing::Unrecognized(format!("complete, {other}")),
        (other, _, _) => Standing::Unrecognized(other.to_owned()),
    }
}

fn reference(metadata: Option<&Metadata>) -> Option<String> {
    metadata.and_then(|metadata| metadata.tollgate_reference.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Code;

    fn failed() -> Standing {
        Standing::Failed(Code::CardDeclined.failure())
    }

    #[test]
    fn every_state_of_an_intent() {
        let failure = || Some(Code::CardDeclined.failure());
        for (status, failure, expected) in [
            ("requires_payment_method", None, Standing::Untouched),
            ("requires_payment_method", failure(), failed()),
            ("requires_confirmation", None, Standing::Untouched),
            ("requires_confirmation", failure(), Standing::Untouched),
            ("requires_action", None, Standing::Acting),
            ("requires_action", failure(), Standing::Acting),
            ("processing", None, Standing::Processing),
            ("requires_capture", None, Standing::Processing),
            ("succeeded", None, Standing::Succeeded),
            ("succeeded", failure(), Standing::Succeeded),
            ("canceled", None, Standing::Canceled),
            ("canceled", failure(), Standing::Canceled),
            ("requires_a_dance", None, Standing::Unrecognized("requires_a_dance".to_owned())),
            ("", None, Standing::Unrecognized(String::new())),
        ] {
            assert_eq!(intent_standing(status, failure), expected, "{status}");
        }
    }

    #[test]
    fn every_state_of_a_session() {
        use Standing::{Acting, Canceled, Processing, Succeeded, Unrecognized, Untouched};
        let strange = || Unrecognized("strange".to_owned());
        for (status, payment_status, intent, expected) in [
            ("open", "unpaid", None, Untouched),
            ("open", "unpaid", Some(Untouched), Untouched),
            ("open", "unpaid", Some(Canceled), Untouched),
            ("open", "unpaid", Some(Acting), Acting),
            ("open", "unpaid", Some(failed()), failed()),
            ("open", "unpaid", Some(strange()), strange()),
            ("open", "unpaid", Some(Processing), Processing),
            ("complete", "paid", Some(Succeeded), Succeeded),
            ("complete", "paid", None, Succeeded),
            ("complete", "no_payment_required", None, Succeeded),
            ("complete", "unpaid", None, Processing),
            ("complete", "unpaid", Some(Processing), Processing),
            ("complete", "unpaid", Some(Untouched), Processing),
            ("complete", "unpaid", Some(failed()), failed()),
            ("complete", "unpaid", Some(Canceled), Canceled),
            ("complete", "unpaid", Some(Succeeded), Succeeded),
            ("complete", "strange", None, Unrecognized("complete, strange".to_owned())),
            ("expired", "unpaid", None, Canceled),
            ("expired", "unpaid", Some(Canceled), Canceled),
            ("expired", "unpaid", Some(Untouched), Canceled),
            ("expired", "unpaid", Some(Processing), Processing),
            ("expired", "paid", Some(Succeeded), Succeeded),
            ("strange", "unpaid", None, strange()),
        ] {
            let found = session_standing(status, payment_status, intent.as_ref());
            assert_eq!(found, expected, "{status} {payment_status} {intent:?}");
        }
    }
}
