//! Refunds: made under our own key, and recognized by our own name for them.

use tollgate_domain::refund::{Refund, RefundReason, RefundReport, RefundStatus};
use tollgate_engine::ports::{CallError, RejectionKind};

use super::{
    call::{ApiClient, Keyed, every_key_spent, interpret, interpret_keyed, keys},
    form::Form,
    types,
};
use crate::{
    failure::{Code, refused, still_in_doubt, unknown},
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
    for key in keys(&refund.id.to_string()) {
        let call = api.post("refunds.create", "refunds", form.clone(), Some(key))?;
        let call = ApiCall { makes: true, ..call };
        if let Keyed::Answer(made) = calls.run(&call, interpret_keyed).await? {
            return Ok(report(made));
        }
        // What is repeated has come to its end: the refund was made, or will never be under this key.
        let all = list(calls, api, intent).await.map_err(still_in_doubt)?;
        if let Some(made) = all.into_iter().map(report).find(|made| made.reference == Some(refund.id)) {
            return Ok(made);
        }
    }
    Err(every_key_spent())
}

/// Every refund of a charge: those that came with it, or all of them where there are more.
pub(super) async fn of_charge(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    charge: Option<types::Charge>,
    intent: &str,
) -> Result<Vec<RefundReport>, CallError> {
    let Some(refunds) = charge.and_then(|charge| charge.refunds) else { return Ok(Vec::new()) };
    let all = if refunds.has_more { list(calls, api, intent).await? } else { refunds.data };
    Ok(all.into_iter().map(report).collect())
}

/// All of them, page by page; the time of the whole call is the bound.
async fn list(
    calls: &mut CallSession<'_>,
    api: ApiClient<'_>,
    intent: &str,
) -> Result<Vec<types::Refund>, CallError> {
    let mut all: Vec<types::Refund> = Vec::new();
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
            return Ok(all);
        }
    }
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
