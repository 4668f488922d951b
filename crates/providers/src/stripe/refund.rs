//! Refunds: made under our own key, and recognized by our own name for them.

use tollgate_domain::{
    Minor,
    refund::{Refund, RefundReason, RefundReport, RefundStatus},
};
use tollgate_engine::ports::{CallError, RejectionKind};

use super::{
    call::{ApiClient, interpret},
    form::Form,
    types,
};
use crate::{
    failure::{Code, refused, unknown},
    retry::{ApiCall, CallSession},
    text::is_id,
};

/// Under this name the provider keeps which of our refunds it is.
const REFUND: &str = "tollgate_refund";
/// As many as a page holds.
const PAGE: usize = 100;

pub(super) async fn make(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    intent: &str,
    refund: &Refund,
) -> Result<RefundReport, CallError> {
    if !is_id(intent) {
        return Err(refused(RejectionKind::Missing, Code::ProviderObjectMissing));
    }
    let reason = refund.terms.reason.filter(|reason| *reason != RefundReason::Other);
    let form = Form::new()
        .with("payment_intent", intent)
        .with("amount", &refund.total().to_string())
        .with_some("reason", reason.map(RefundReason::as_str))
        .with_all("metadata", &[(REFUND, refund.id.to_string())]);
    let call = api.post("refunds.create", "refunds", form, Some(refund.id.to_string()))?;
    let call = ApiCall { makes: true, ..call };
    let made = calls.run(&call, interpret::<types::Refund>).await?;
    Ok(report(made))
}

/// Every refund of a charge: those that came with it, or all of them where there are more.
pub(super) async fn of_charge(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    charge: Option<types::Charge>,
    intent: &str,
) -> Result<Vec<RefundReport>, CallError> {
    // What is held and released again is listed as a refund, though nothing was ever taken.
    let Some(charge) = charge.filter(|charge| !charge.is_uncaptured()) else { return Ok(Vec::new()) };
    let released = charge.amount.zip(charge.amount_captured);
    let released = released.and_then(|(held, captured)| held.checked_sub(captured));
    let Some(refunds) = charge.refunds else { return Ok(Vec::new()) };
    if !refunds.has_more {
        return Ok(without_release(refunds.data, released));
    }
    let mut all: Vec<types::Refund> = Vec::new();
    // The time of the whole call is the bound.
    loop {
        let query = Form::new()
            .with("payment_intent", intent)
            .with("limit", &PAGE.to_string())
            .with_some("starting_after", all.last().map(|refund| refund.id.as_str()));
        let call = api.get("refunds.list", "refunds", query)?;
        let page = calls.run(&call, interpret::<types::RefundList>).await?;
        if page.has_more && page.data.is_empty() {
            return Err(unknown("the provider's list of refunds does not end"));
        }
        all.extend(page.data);
        if !page.has_more {
            return Ok(without_release(all, released));
        }
    }
}

/// Every refund but what a partial capture has released: the first one on its charge, which moves no balance.
fn without_release(mut newest_first: Vec<types::Refund>, released: Option<Minor>) -> Vec<RefundReport> {
    let is_ours = |refund: &types::Refund| {
        refund.metadata.as_ref().is_some_and(|metadata| metadata.tollgate_refund.is_some())
    };
    newest_first.pop_if(|oldest| {
        let is_release = Some(oldest.amount) == released && oldest.balance_transaction.is_none();
        is_release && !is_ours(oldest)
    });
    newest_first.into_iter().map(report).collect()
}

fn report(refund: types::Refund) -> RefundReport {
    let reference = refund.metadata.and_then(|metadata| metadata.tollgate_refund?.parse().ok());
    let waits_for_funds = refund.pending_reason.as_deref() == Some("insufficient_funds");
    let (status, failure) = match refund.status.as_deref().unwrap_or("succeeded") {
        "succeeded" => (RefundStatus::Succeeded, None),
        "failed" => (RefundStatus::Failed, Some(failure(refund.failure_reason.as_deref()).failure())),
        "canceled" => (RefundStatus::Canceled, None),
        "pending" if waits_for_funds => (RefundStatus::Pending, Some(Code::ProviderFunds.failure())),
        // A word this version does not know is still open.
        _ => (RefundStatus::Processing, None),
    };
    RefundReport { id: refund.id, reference, total: refund.amount, status, failure }
}

fn failure(reason: Option<&str>) -> Code {
    match reason {
        Some("expired_or_canceled_card" | "lost_or_stolen_card") => Code::RefundCardClosed,
        Some("insufficient_funds") => Code::ProviderFunds,
        _ => Code::RefundFailed,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_a_partial_capture_releases_is_no_refund() {
        let refund = |amount: u64, moves: bool, ours: bool| {
            let reference = ours.then_some("re_00000000000000000000000000");
            let balance = moves.then_some("txn_1");
            let refund = json!({
                "id": format!("re_{amount}"), "amount": amount, "status": "succeeded",
                "balance_transaction": balance, "metadata": { "tollgate_refund": reference },
            });
            serde_json::from_value::<types::Refund>(refund).unwrap()
        };
        for (newest_first, left) in [
            (vec![], 0),
            (vec![refund(600, false, false)], 0),
            (vec![refund(100, true, false), refund(600, false, false)], 1),
            (vec![refund(600, true, false)], 1),
            (vec![refund(600, false, true)], 1),
            (vec![refund(599, false, false)], 1),
        ] {
            assert_eq!(without_release(newest_first, Minor::new(600)).len(), left);
        }
    }

    #[test]
    fn every_state_of_a_refund() {
        for (fields, status, failure) in [
            (json!({"status": "succeeded"}), RefundStatus::Succeeded, None),
            (json!({"status": null}), RefundStatus::Succeeded, None),
            (json!({"status": "pending"}), RefundStatus::Processing, None),
            (json!({"status": "requires_action"}), RefundStatus::Processing, None),
            (json!({"status": "dancing"}), RefundStatus::Processing, None),
            (json!({"status": "canceled"}), RefundStatus::Canceled, None),
            (
                json!({"status": "pending", "pending_reason": "insufficient_funds"}),
                RefundStatus::Pending,
                Some("provider_funds"),
            ),
            (
                json!({"status": "failed", "failure_reason": "lost_or_stolen_card"}),
                RefundStatus::Failed,
                Some("refund_card_closed"),
            ),
            (json!({"status": "failed"}), RefundStatus::Failed, Some("refund_failed")),
        ] {
            let mut refund: Value = json!({"id": "re_1", "amount": 5, "metadata": {}});
            refund.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            let seen = report(serde_json::from_value(refund).unwrap());
            let code = seen.failure.map(|failure| failure.code);
            assert_eq!((seen.status, code.as_deref()), (status, failure), "{fields}");
        }
    }
}
