//! A notice as it is kept while it waits to be applied. Nothing in it is secret: the event's body is not kept.

use serde_json::{Value, json};
use tollgate_domain::{
    Minor, Timestamp,
    transaction::{Dispute, DisputeReport},
};

use crate::ports::WebhookNotice;

/// What is not there is left out: there are several notices for each payment.
pub(super) fn write(notice: &WebhookNotice) -> String {
    let dispute = notice.dispute.as_ref().map(|DisputeReport { dispute, currency }| {
        json!({
            "id": dispute.id,
            "status": dispute.status,
            "reason": dispute.reason,
            "amountMinor": dispute.amount.map(|amount| amount.to_string()),
            "currency": currency,
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
            Some(kept) => Some(DisputeReport {
                dispute: Dispute {
                    id: words(kept, "id")?,
                    status: words(kept, "status")?,
                    reason: words(kept, "reason"),
                    amount: minor(kept, "amountMinor"),
                    respond_by: kept
                        .get("respondBy")
                        .and_then(Value::as_i64)
                        .map(Timestamp::from_unix_millis),
                    withdrawn: minor(kept, "withdrawnMinor"),
                },
                currency: words(kept, "currency"),
            }),
            None => None,
        },
        names_only: words(&value, "namesOnly"),
        is_creation: value.get("isCreation").and_then(Value::as_bool).unwrap_or_default(),
        account: words(&value, "account"),
        taken_back: words(&value, "takenBack"),
        is_ping: value.get("isPing").and_then(Value::as_bool).unwrap_or_default(),
    })
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
            dispute: Some(DisputeReport {
                dispute: Dispute {
                    id: "dp_1".to_owned(),
                    status: "needs_response".to_owned(),
                    reason: None,
                    amount: Minor::new(9_007_199_254_740_993),
                    respond_by: Some(Timestamp::from_unix_millis(1_790_000_000_000)),
                    withdrawn: Minor::new(9_007_199_254_740_991),
                },
                currency: Some("USD".to_owned()),
            }),
            names_only: Some("dp_1".to_owned()),
            account: Some("acct_1".to_owned()),
            is_creation: true,
            taken_back: Some("unreconciled".to_owned()),
            is_ping: false,
        };
        for notice in [full, WebhookNotice::default()] {
            assert_eq!(read(&write(&notice)), Some(notice));
        }
        assert_eq!(read("{}"), None);
    }
}
