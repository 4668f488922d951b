//! The table from the provider's states to ours.

use tollgate_domain::{
    Minor, Timestamp,
    card::{ProviderReport, ProviderStatus, ReportSource},
    payment_card::{CardChecks, CheckResult, PaymentCard},
    transaction::Failure,
};

use super::{
    rejection,
    types::{CardDetails, Payment},
};
use crate::payment_card;

/// A payment as the domain sees it, without its refunds.
pub(super) fn report(payment: &Payment) -> ProviderReport {
    let errors = payment.card_details.as_ref().map(|details| details.errors.as_slice()).unwrap_or_default();
    ProviderReport {
        payment: Some(payment.id.clone()),
        provider_status: provider_status(payment, rejection::failure(errors)),
        amount: Some(payment.amount_money.amount),
        currency: Some(payment.amount_money.currency.to_ascii_uppercase()),
        reference: payment.reference_id.clone(),
        refunds: Vec::new(),
        // A payment does not say; a dispute is read by its own name.
        disputed: false,
        source: ReportSource::Read,
        card: payment.card_details.as_ref().and_then(|details| payment_card::known(card_of(details))),
        is_not_card: false,
    }
}

/// A card in words common to all providers. Who issued it, and where, this one does not say.
fn card_of(details: &CardDetails) -> PaymentCard {
    let checks = CardChecks {
        address: None,
        postal_code: details.avs_status.as_deref().and_then(check_result),
        cvc: details.cvv_status.as_deref().and_then(check_result),
    };
    let Some(card) = &details.card else { return PaymentCard { checks, ..PaymentCard::default() } };
    let (expiry_month, expiry_year) = payment_card::expiry(card.exp_month, card.exp_year);
    PaymentCard {
        brand: card.brand.as_deref().and_then(brand),
        last_four: payment_card::last_four(card.last_4.as_deref()),
        funding: funding(card.kind.as_deref(), card.prepaid_type.as_deref()).map(str::to_owned),
        country: None,
        expiry_month,
        expiry_year,
        three_d_secure: None,
        checks,
    }
}

fn brand(word: &str) -> Option<String> {
    match word {
        "AMERICAN_EXPRESS" => Some("amex".to_owned()),
        "DISCOVER_DINERS" => Some("diners".to_owned()),
        "CHINA_UNIONPAY" => Some("unionpay".to_owned()),
        "EFTPOS" => Some("eftpos_au".to_owned()),
        "OTHER_BRAND" => None,
        other => payment_card::word(Some(other)),
    }
}

/// Prepaid cards are of either type; a card that is neither prepaid nor not may be.
fn funding(kind: Option<&str>, prepaid: Option<&str>) -> Option<&'static str> {
    match (kind, prepaid) {
        (_, Some("PREPAID")) => Some("prepaid"),
        (Some("DEBIT"), _) => Some("debit"),
        (Some("CREDIT"), Some("NOT_PREPAID")) => Some("credit"),
        _ => None,
    }
}

/// The provider asks the card's bank for the postal code; a street it mostly does not know.
fn check_result(word: &str) -> Option<CheckResult> {
    match word {
        "AVS_ACCEPTED" | "CVV_ACCEPTED" => Some(CheckResult::Pass),
        "AVS_REJECTED" | "CVV_REJECTED" => Some(CheckResult::Fail),
        "AVS_NOT_CHECKED" | "CVV_NOT_CHECKED" => Some(CheckResult::Unchecked),
        _ => None,
    }
}

fn provider_status(payment: &Payment, failure: Failure) -> ProviderStatus {
    let moment = |text: &Option<String>| text.as_deref()?.parse::<jiff::Timestamp>().ok();
    let end = moment(&payment.delayed_until);
    match payment_status(&payment.status, failure) {
        ProviderStatus::Authorized { .. } => {
            let capture_before = end.map(|end| Timestamp::from_unix_millis(end.as_millisecond()));
            ProviderStatus::Authorized { capture_before }
        }
        // The provider does not say who canceled it. What changed last at its end or after, it canceled by itself.
        ProviderStatus::Canceled
            if end.zip(moment(&payment.updated_at)).is_some_and(|(end, at)| at >= end) =>
        {
            ProviderStatus::AuthorizationExpired
        }
        other => other,
    }
}

/// The payments of one order as one payment: it has succeeded when those that were taken cover the order's total. Its name
/// is that of the first one that counts. `None` without a payment.
pub(super) fn order_report(total: Option<Minor>, payments: &[Payment]) -> Option<ProviderReport> {
    let reports: Vec<_> = payments.iter().map(report).collect();
    let counts = |report: &&ProviderReport| rank(&report.provider_status) >= COUNTED_RANK;
    let counted: Vec<_> = reports.iter().filter(counts).collect();
    let Some(first) = counted.first() else {
        // None of them took anything: the one that came furthest tells.
        return reports.iter().max_by_key(|report| rank(&report.provider_status)).cloned();
    };
    let amount = sum(counted.iter().filter_map(|report| report.amount));
    let is_covered = total.is_none_or(|total| amount >= total);
    let is_done = counted.iter().all(|report| report.provider_status == ProviderStatus::Succeeded);
    let provider_status = match counted.as_slice() {
        [only] if is_covered => only.provider_status.clone(),
        _ if is_covered && is_done => ProviderStatus::Succeeded,
        _ => ProviderStatus::Processing,
    };
    Some(ProviderReport {
        payment: first.payment.clone(),
        provider_status,
        // A part is not what the customer is debited in the end.
        amount: if is_covered { Some(amount) } else { total },
        currency: first.currency.clone(),
        reference: first.reference.clone(),
        refunds: Vec::new(),
        disputed: false,
        source: ReportSource::Read,
        card: first.card.clone(),
        is_not_card: first.is_not_card,
    })
}

fn sum(amounts: impl Iterator<Item = Minor>) -> Minor {
    amounts.fold(Minor::ZERO, |sum, amount| {
        sum.get().checked_add(amount.get()).and_then(Minor::new).unwrap_or(Minor::MAX)
    })
}

/// Payments. `failure` is why, should it have failed.
fn payment_status(status: &str, failure: Failure) -> ProviderStatus {
    match status {
        "APPROVED" => ProviderStatus::Authorized { capture_before: None },
        "PENDING" => ProviderStatus::Processing,
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

/// From here on a payment has taken money, or may take some yet.
const COUNTED_RANK: u8 = 3;

/// How far a payment came, to pick one of several for the same thing.
pub(super) const fn rank(provider_status: &ProviderStatus) -> u8 {
    match provider_status {
        ProviderStatus::Succeeded => 5,
        ProviderStatus::Processing | ProviderStatus::Authorized { .. } => 4,
        ProviderStatus::Unrecognized(_) => 3,
        ProviderStatus::ActionRequired | ProviderStatus::NotStarted => 2,
        ProviderStatus::Canceled | ProviderStatus::AuthorizationExpired => 1,
        ProviderStatus::Failed(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{failure::Code, square::types::Money};

    #[test]
    fn every_state_of_a_payment() {
        for (status, expected) in [
            ("APPROVED", ProviderStatus::Authorized { capture_before: None }),
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

    fn paid(id: &str, status: &str, amount: u64) -> Payment {
        let money = |amount| Money { amount: Minor::new(amount).unwrap(), currency: "USD".to_owned() };
        Payment {
            id: id.to_owned(),
            status: status.to_owned(),
            order_id: None,
            amount_money: money(amount),
            refund_ids: Vec::new(),
            reference_id: None,
            created_at: None,
            updated_at: None,
            delayed_until: None,
            version_token: None,
            card_details: None,
        }
    }

    #[test]
    fn what_is_held_says_until_when_and_how_it_ended() {
        let end = "2026-11-23T09:30:00.000Z";
        let until = Some(Timestamp::from_unix_millis(1_795_426_200_000));
        for (status, updated_at, expected) in [
            ("APPROVED", "2026-11-16T09:30:01Z", ProviderStatus::Authorized { capture_before: until }),
            ("CANCELED", "2026-11-16T09:30:01Z", ProviderStatus::Canceled),
            ("CANCELED", "2026-11-23T09:30:00Z", ProviderStatus::AuthorizationExpired),
            ("CANCELED", "2026-11-23T09:30:07Z", ProviderStatus::AuthorizationExpired),
            ("CANCELED", "never", ProviderStatus::Canceled),
            ("COMPLETED", "2026-11-23T09:30:07Z", ProviderStatus::Succeeded),
        ] {
            let payment = Payment {
                delayed_until: Some(end.to_owned()),
                updated_at: Some(updated_at.to_owned()),
                ..paid("p1", status, 1_000)
            };
            assert_eq!(report(&payment).provider_status, expected, "{status} {updated_at}");
        }
    }

    #[test]
    fn several_payments_of_an_order_are_added_up() {
        use ProviderStatus::{Canceled, Processing, Succeeded};
        let (total, minor) = (Minor::new(1_000), |amount| Minor::new(amount).unwrap());
        for (payments, status, name, amount) in [
            (vec![("p1", "COMPLETED", 1_000)], Succeeded, "p1", 1_000),
            // The gift card first, then the rest.
            (vec![("p1", "APPROVED", 400)], Processing, "p1", 1_000),
            (vec![("p1", "APPROVED", 400), ("p2", "APPROVED", 600)], Processing, "p1", 1_000),
            (vec![("p1", "COMPLETED", 400), ("p2", "APPROVED", 600)], Processing, "p1", 1_000),
            (vec![("p1", "COMPLETED", 400), ("p2", "COMPLETED", 600)], Succeeded, "p1", 1_000),
            // What failed or was canceled pays for nothing.
            (vec![("p1", "FAILED", 1_000), ("p2", "COMPLETED", 1_000)], Succeeded, "p2", 1_000),
            (vec![("p1", "CANCELED", 400), ("p2", "COMPLETED", 600)], Processing, "p2", 1_000),
            (vec![("p1", "FAILED", 400), ("p2", "CANCELED", 600)], Canceled, "p2", 600),
            // More than was asked for shows.
            (vec![("p1", "COMPLETED", 600), ("p2", "COMPLETED", 600)], Succeeded, "p1", 1_200),
            (vec![("p1", "DANCING", 1_000)], ProviderStatus::Unrecognized("DANCING".to_owned()), "p1", 1_000),
        ] {
            let all: Vec<_> = payments.iter().map(|it| paid(it.0, it.1, it.2)).collect();
            let seen = order_report(total, &all).unwrap();
            assert_eq!(
                (seen.provider_status, seen.payment.as_deref(), seen.amount),
                (status, Some(name), Some(minor(amount))),
                "{payments:?}"
            );
        }
        assert_eq!(order_report(total, &[]), None);
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
