//! A notice as it is kept while it waits to be applied. Nothing in it is secret: the event's body is not kept.

use serde_json::{Value, json};
use tollgate_domain::{
    Minor, Timestamp,
    refund::{RefundReport, RefundStatus},
    transaction::{Dispute, Failure},
};

use crate::ports::{SignedReport, SignedStep, WebhookNotice};

/// What is not there is left out: there are several notices for each payment.
pub(super) fn write(notice: &WebhookNotice) -> String {
    let dispute = notice.dispute.as_ref().map(|dispute| {
        json!({
            "id": dispute.id,
            "status": dispute.status,
            "reason": dispute.reason,
            "amountMinor": dispute.amount.map(|amount| amount.to_string()),
            "currency": dispute.currency,
            "respondBy": dispute.respond_by.map(Timestamp::unix_millis),
            "withdrawnMinor": dispute.withdrawn.map(|amount| amount.to_string()),
        })
    });
    let mut text = json!({
        "event": notice.event,
        "kind": notice.kind,
        "relevant": notice.relevant,
        "objects": notice.objects,
        "payment": notice.payment,
        "reference": notice.reference,
        "account": notice.account,
        "dispute": dispute,
        "namesOnly": notice.names_only,
        "isCreation": notice.is_creation.then_some(true),
        "takenBack": notice.taken_back,
        "isPing": notice.is_ping.then_some(true),
        "signed": notice.signed.as_ref().map(write_signed),
    });
    if let Value::Object(fields) = &mut text {
        fields.retain(|_, value| !value.is_null());
    }
    text.to_string()
}

/// `None` for a text this version did not write.
pub(super) fn read(text: &str) -> Option<WebhookNotice> {
    let value: Value = serde_json::from_str(text).ok()?;
    let dispute = value.get("dispute").filter(|dispute| !dispute.is_null());
    let objects = value.get("objects")?.as_array()?;
    Some(WebhookNotice {
        event: words(&value, "event")?,
        kind: words(&value, "kind")?,
        relevant: value.get("relevant")?.as_bool()?,
        objects: objects.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect(),
        payment: words(&value, "payment"),
        reference: words(&value, "reference"),
        dispute: match dispute {
            Some(kept) => Some(Dispute {
                id: words(kept, "id")?,
                status: words(kept, "status")?,
                reason: words(kept, "reason"),
                amount: minor(kept, "amountMinor"),
                currency: words(kept, "currency"),
                respond_by: kept.get("respondBy").and_then(Value::as_i64).map(Timestamp::from_unix_millis),
                withdrawn: minor(kept, "withdrawnMinor"),
            }),
            None => None,
        },
        names_only: words(&value, "namesOnly"),
        is_creation: value.get("isCreation").and_then(Value::as_bool).unwrap_or_default(),
        account: words(&value, "account"),
        taken_back: words(&value, "takenBack"),
        is_ping: value.get("isPing").and_then(Value::as_bool).unwrap_or_default(),
        // One that is there and cannot be read must not be taken for none.
        signed: match value.get("signed") {
            Some(signed) => Some(read_signed(signed)?),
            None => None,
        },
    })
}

fn write_signed(signed: &SignedReport) -> Value {
    let SignedReport { step, amount, currency } = signed;
    let (name, failure, action, refund) = match step {
        SignedStep::Approved => ("approved", None, None, None),
        SignedStep::Declined(failure) => ("declined", Some(failure), None, None),
        SignedStep::Captured => ("captured", None, None, None),
        SignedStep::Released => ("released", None, None, None),
        SignedStep::Expired => ("expired", None, None, None),
        SignedStep::Closed => ("closed", None, None, None),
        SignedStep::HoldActionFailed(action, failure) => ("hold_action_failed", Some(failure), *action, None),
        SignedStep::CaptureFailed => ("capture_failed", None, None, None),
        SignedStep::Refund(refund) => ("refund", refund.failure.as_ref(), None, Some(refund)),
        SignedStep::Disputed => ("disputed", None, None, None),
        SignedStep::Unclear => ("unclear", None, None, None),
    };
    json!({
        "step": name,
        "amountMinor": amount.to_string(),
        "currency": currency,
        "failure": failure.map(|failure| json!({ "code": failure.code, "message": failure.message })),
        "action": action.map(|action| action.to_string()),
        "refund": refund.map(|refund| json!({
            "id": refund.id,
            "reference": refund.reference.map(|reference| reference.to_string()),
            "totalMinor": refund.total.to_string(),
            "status": refund.status.as_str(),
        })),
    })
}

fn read_signed(value: &Value) -> Option<SignedReport> {
    let failure = value.get("failure").and_then(|failure| {
        Some(Failure { code: words(failure, "code")?, message: words(failure, "message")? })
    });
    let step = match value.get("step")?.as_str()? {
        "approved" => SignedStep::Approved,
        "declined" => SignedStep::Declined(failure?),
        "captured" => SignedStep::Captured,
        "released" => SignedStep::Released,
        "expired" => SignedStep::Expired,
        "closed" => SignedStep::Closed,
        "hold_action_failed" => {
            let action = words(value, "action").and_then(|action| action.parse().ok());
            SignedStep::HoldActionFailed(action, failure?)
        }
        "capture_failed" => SignedStep::CaptureFailed,
        "refund" => {
            let refund = value.get("refund")?;
            SignedStep::Refund(RefundReport {
                id: words(refund, "id")?,
                reference: words(refund, "reference").and_then(|reference| reference.parse().ok()),
                total: minor(refund, "totalMinor")?,
                status: RefundStatus::parse(&words(refund, "status")?)?,
                failure,
            })
        }
        "disputed" => SignedStep::Disputed,
        "unclear" => SignedStep::Unclear,
        _ => return None,
    };
    Some(SignedReport { step, amount: minor(value, "amountMinor")?, currency: words(value, "currency")? })
}

fn words(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).map(str::to_owned)
}

fn minor(value: &Value, name: &str) -> Option<Minor> {
    value.get(name).and_then(Value::as_str)?.parse().ok().and_then(Minor::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_goes_round() {
        let full = WebhookNotice {
            event: "evt_1".to_owned(),
            kind: "charge.dispute.created".to_owned(),
            relevant: true,
            objects: vec!["pi_1".to_owned(), "ch_1".to_owned()],
            payment: Some("pi_1".to_owned()),
            reference: Some("pay_1".to_owned()),
            dispute: Some(Dispute {
                id: "dp_1".to_owned(),
                status: "needs_response".to_owned(),
                reason: None,
                amount: Minor::new(9_007_199_254_740_993),
                currency: Some("USD".to_owned()),
                respond_by: Some(Timestamp::from_unix_millis(1_790_000_000_000)),
                withdrawn: Minor::new(9_007_199_254_740_991),
            }),
            names_only: Some("dp_1".to_owned()),
            account: Some("acct_1".to_owned()),
            is_creation: true,
            taken_back: Some("unreconciled".to_owned()),
            is_ping: false,
            signed: None,
        };
        for notice in [full, WebhookNotice::default()] {
            assert_eq!(read(&write(&notice)), Some(notice));
        }
        let failure = Failure { code: "card_declined".to_owned(), message: "Declined.".to_owned() };
        let refund = RefundReport {
            id: "refund_1".to_owned(),
            reference: Some(tollgate_domain::id::RefundId::from_bytes([7; 16])),
            total: Minor::new(9_007_199_254_740_993).unwrap(),
            status: RefundStatus::Failed,
            failure: Some(failure.clone()),
        };
        let action = tollgate_domain::id::HoldActionId::from_bytes([9; 16]);
        for step in [
            SignedStep::Approved,
            SignedStep::Declined(failure.clone()),
            SignedStep::Captured,
            SignedStep::Released,
            SignedStep::Expired,
            SignedStep::Closed,
            SignedStep::HoldActionFailed(Some(action), failure.clone()),
            SignedStep::HoldActionFailed(None, failure),
            SignedStep::CaptureFailed,
            SignedStep::Refund(refund),
            SignedStep::Disputed,
            SignedStep::Unclear,
        ] {
            let signed = Some(SignedReport { step, amount: Minor::ZERO, currency: "USD".to_owned() });
            let notice = WebhookNotice { signed, ..WebhookNotice::default() };
            assert_eq!(read(&write(&notice)), Some(notice));
        }
        let unknown = r#"{"event":"e","kind":"k","relevant":true,"objects":[],"signed":{"step":"later"}}"#;
        assert_eq!(read(unknown), None);
        assert_eq!(read("{}"), None);
    }
}
