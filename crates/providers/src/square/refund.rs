//! Refunds: made under our own key, and recognized by our own name for them, which stands in their reason.

use std::collections::BTreeSet;

use serde_json::json;
use tollgate_domain::{
    card::CardOrder,
    id::{RefundId, TEXT_LENGTH},
    refund::{Refund, RefundReason, RefundReport, RefundStatus},
};
use tollgate_engine::ports::{CallError, RejectionKind};

use super::{
    call::{ApiClient, interpret},
    request,
    types::{self, Payment, RefundBody, RefundList},
};
use crate::{
    failure::{Code, refused, unknown},
    retry::CallSession,
    text::is_id,
};

/// More are not read one by one.
const FEW: usize = 100;

pub(super) async fn make(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    order: &CardOrder,
    payment: &str,
    refund: &Refund,
) -> Result<RefundReport, CallError> {
    if !is_id(payment) {
        return Err(refused(RejectionKind::Missing, Code::ProviderObjectMissing));
    }
    let key = refund.id.to_string();
    let body = json!({
        "idempotency_key": key,
        "payment_id": payment,
        "amount_money": { "amount": refund.total().get(), "currency": order.currency.code() },
        "reason": reason(refund),
    });
    let call = api.create("refunds.create", "refunds", &body, key)?;
    let made = calls.run(&call, interpret::<RefundBody>).await?;
    Ok(report(made.refund))
}

/// Every refund of some payments. The wire lists refunds by time and place, but not by payment: a few are read by their
/// names, and many are looked for in the list.
pub(super) async fn of_payments(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    payments: &[Payment],
) -> Result<Vec<RefundReport>, CallError> {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    names.extend(payments.iter().flat_map(|payment| &payment.refund_ids).map(String::as_str));
    let mut reports = Vec::with_capacity(names.len());
    if names.len() > FEW {
        reports = listed(calls, api, payments, &mut names).await?;
    }
    for name in names {
        if !is_id(name) {
            return Err(unknown("the payment names a refund that cannot be read"));
        }
        let call = api.get("refunds.get", &format!("refunds/{name}"))?;
        reports.push(report(calls.run(&call, interpret::<RefundBody>).await?.refund));
    }
    Ok(reports)
}

/// Those of these names that were made since the payments, page by page; the names of the others are left.
async fn listed(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    payments: &[Payment],
    names: &mut BTreeSet<&str>,
) -> Result<Vec<RefundReport>, CallError> {
    let since = payments.iter().filter_map(|payment| payment.created_at.as_deref()).min();
    let (location, mut cursor) = (api.location()?, None::<String>);
    let mut reports = Vec::with_capacity(names.len());
    // The time of the whole call is the bound.
    while !names.is_empty() {
        let query = request::refunds(location, since, cursor.as_deref());
        let call = api.get("refunds.list", &format!("refunds?{query}"))?;
        let page = calls.run(&call, interpret::<RefundList>).await?;
        let ours = page.refunds.into_iter().flatten().filter(|refund| names.remove(refund.id.as_str()));
        reports.extend(ours.map(report));
        cursor = page.cursor.filter(|cursor| !cursor.is_empty());
        if cursor.is_none() {
            break;
        }
    }
    Ok(reports)
}

/// What the seller reads, with our name for the refund behind it.
fn reason(refund: &Refund) -> String {
    let words = match refund.terms.reason {
        Some(RefundReason::Duplicate) => "Duplicate payment",
        Some(RefundReason::Fraudulent) => "Fraudulent payment",
        Some(RefundReason::RequestedByCustomer) => "Requested by customer",
        Some(RefundReason::Other) | None => "Refund",
    };
    format!("{words} ({})", refund.id)
}

fn report(refund: types::Refund) -> RefundReport {
    let (status, failure) = match refund.status.as_deref().unwrap_or_default() {
        "COMPLETED" => (RefundStatus::Succeeded, None),
        "REJECTED" | "FAILED" => (RefundStatus::Failed, Some(Code::RefundFailed.failure())),
        // A word this version does not know is still open.
        _ => (RefundStatus::Processing, None),
    };
    let reference = refund.reason.as_deref().and_then(named);
    RefundReport { id: refund.id, reference, total: refund.amount_money.amount, status, failure }
}

/// Our name for a refund, at the end of its reason.
fn named(reason: &str) -> Option<RefundId> {
    let name = reason.strip_suffix(')')?;
    let length = RefundId::PREFIX.len() + 1 + TEXT_LENGTH;
    name.get(name.len().checked_sub(length)?..)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_refunds_are_recognized_by_their_reason() {
        let id = RefundId::from_bytes([5; 16]);
        assert_eq!(named(&format!("Requested by customer ({id})")), Some(id));
        for other in ["", ")", "Customer request", "Broken (re_1)", "é".repeat(30).as_str()] {
            assert_eq!(named(other), None, "{other}");
        }
    }

    #[test]
    fn every_state_of_a_refund() {
        for (status, expected) in [
            ("PENDING", RefundStatus::Processing),
            ("COMPLETED", RefundStatus::Succeeded),
            ("REJECTED", RefundStatus::Failed),
            ("FAILED", RefundStatus::Failed),
            ("DANCING", RefundStatus::Processing),
        ] {
            let refund =
                json!({"id": "r", "status": status, "amount_money": {"amount": 5, "currency": "USD"}});
            assert_eq!(report(serde_json::from_value(refund).unwrap()).status, expected, "{status}");
        }
    }
}
