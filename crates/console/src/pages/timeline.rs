//! The lines of a payment's timeline as sentences a support person can read.

use std::collections::HashMap;

use serde_json::Value;
use tollgate_domain::{Currency, Timestamp};
use tollgate_engine::ports::Entry;

use crate::layout::format::{moment, money, shortened};

/// A line.
pub(crate) struct Line {
    pub(crate) at: String,
    pub(crate) tone: &'static str,
    pub(crate) title: String,
    pub(crate) sentences: Vec<String>,
    /// Whether it says how rather than what: shown on request only.
    pub(crate) is_technical: bool,
    /// The request it happened in.
    pub(crate) request: Option<String>,
    /// As it was written down.
    pub(crate) raw: String,
    /// How it came to this, where it took several steps: when and what.
    pub(crate) steps: Vec<(String, String)>,
}

/// A payment's timeline. What becomes of a refund is one line, which unfolds.
pub(crate) fn lines(entries: &[Entry], currency: Currency) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::with_capacity(entries.len());
    let mut refunds: HashMap<String, usize> = HashMap::new();
    for entry in entries {
        let (line, refund) = Line::of_entry(entry, currency);
        let place = refund.as_ref().and_then(|refund| refunds.get(refund).copied());
        if let Some(earlier) = place.and_then(|place| lines.get_mut(place)) {
            earlier.follow(line);
        } else {
            refunds.extend(refund.map(|refund| (refund, lines.len())));
            lines.push(line);
        }
    }
    lines
}

impl Line {
    pub(crate) fn new(
        at: Timestamp,
        tone: &'static str,
        title: impl Into<String>,
        sentences: Vec<String>,
    ) -> Self {
        Self {
            at: moment(at),
            tone,
            title: title.into(),
            sentences,
            is_technical: false,
            request: None,
            raw: String::new(),
            steps: Vec::new(),
        }
    }

    /// A line, and the refund that it is about.
    fn of_entry(entry: &Entry, currency: Currency) -> (Self, Option<String>) {
        let detail: Value = serde_json::from_str(&entry.detail).unwrap_or_default();
        let (tone, title, sentences) = told(&entry.kind, &detail, currency);
        let refund = optional(&detail, "refundReference").filter(|_| entry.kind == "refund");
        let line = Self {
            at: moment(entry.at),
            tone,
            title,
            sentences,
            is_technical: matches!(entry.kind.as_str(), "provider_call" | "webhook"),
            request: entry.request.clone(),
            raw: serde_json::to_string_pretty(&detail).unwrap_or_default(),
            steps: Vec::new(),
        };
        (line, refund)
    }

    /// Says from now on what the later line says, and keeps what it said itself as a step. It stays in its place.
    fn follow(&mut self, later: Self) {
        if self.steps.is_empty() {
            self.steps.push((self.at.clone(), self.title.clone()));
        }
        self.steps.push((later.at, later.title.clone()));
        self.tone = later.tone;
        self.title = later.title;
        self.sentences = later.sentences;
        self.raw = later.raw;
    }
}

fn card_fee(detail: &Value, currency: Currency) -> (&'static str, String, Vec<String>) {
    let reasons = detail.get("reasons").and_then(Value::as_array).into_iter().flatten();
    let reasons: Vec<_> = reasons.filter_map(Value::as_str).collect();
    let card = detail.get("card").filter(|card| !card.is_null());
    let funding = card.map(|card| text(card, "funding"));
    let said = format!(
        "{} for this card ({}), total {}: {}. Rules {}.",
        amount(detail, "feeMinor", currency),
        funding.as_deref().unwrap_or("no card"),
        amount(detail, "totalDebitMinor", currency),
        reasons.join(", "),
        text(detail, "rulesVersion"),
    );
    ("", "Card fee decided".to_owned(), vec![said])
}

fn exception(detail: &Value) -> (&'static str, String, Vec<String>) {
    let said = format!(
        "{}: expected {}, provider reports {}. Source: {}.",
        text(detail, "kind"),
        text(detail, "expected"),
        text(detail, "found"),
        text(detail, "source")
    );
    ("bad", "Discrepancy with the provider".to_owned(), vec![said])
}

/// How it looks, what it is, and what there is to say.
fn told(kind: &str, detail: &Value, currency: Currency) -> (&'static str, String, Vec<String>) {
    match kind {
        "provider_call" => provider_call(detail),
        "status" => status(detail),
        "preparation" => preparation(detail),
        "webhook" => {
            let mut said = vec![format!("Received {} ({}).", text(detail, "type"), text(detail, "eventId"))];
            said.extend(optional(detail, "note"));
            ("cool", "Webhook".to_owned(), said)
        }
        "confirm" => {
            let attempt = detail.get("attempt").map(|number| format!("Attempt {number}."));
            let client = optional(detail, "clientStatus")
                .map(|status| format!("The browser reported {status}; checked with the provider."));
            ("", "Confirmed by the caller".to_owned(), attempt.into_iter().chain(client).collect())
        }
        "refund" => {
            // What was recorded before refunds were records of their own says only how much there was in total.
            if detail.get("refundReference").is_none() {
                let said = format!("{} refunded in total.", amount(detail, "refundedMinor", currency));
                return ("warn", "Refund".to_owned(), vec![said]);
            }
            let said = format!(
                "{} of {}, including {} fee.",
                text(detail, "refundReference"),
                amount(detail, "totalRefundMinor", currency),
                amount(detail, "feeMinor", currency)
            );
            let status = text(detail, "status");
            let tone = match status.as_str() {
                "succeeded" => "good",
                "failed" | "canceled" => "bad",
                _ => "warn",
            };
            (tone, format!("Refund {status}"), with_failure(said, detail))
        }
        "capture" | "void" => {
            let part = amount(detail, "amountMinor", currency);
            let said = match (kind, optional(detail, "amountMinor")) {
                ("capture", Some(_)) => vec![format!("{part} of the principal.")],
                ("capture", None) => vec!["All that was authorized.".to_owned()],
                _ => Vec::new(),
            };
            let failure = with_failure(String::new(), detail).into_iter().filter(|said| !said.is_empty());
            let said = said.into_iter().chain(failure).collect();
            ("cool", format!("{} {}", capitalized(kind), text(detail, "status")), said)
        }
        "erased" => {
            let said = format!("By {}. Everything before this line was erased, too.", text(detail, "by"));
            ("warn", "Personal data erased".to_owned(), vec![said])
        }
        "cancel_requested" => {
            let by = optional(detail, "actor").map(|actor| format!("By {actor}."));
            ("", "Cancellation requested".to_owned(), by.into_iter().collect())
        }
        "note" => ("note", format!("Note by {}", text(detail, "actor")), vec![whole_text(detail, "text")]),
        "approval_required" => approval_required(detail),
        "approved" => ("cool", "Approved".to_owned(), vec![format!("By {}.", text(detail, "actor"))]),
        "denied" => ("bad", "Denied".to_owned(), vec![format!("By {}.", text(detail, "actor"))]),
        "unanswered" => ("warn", "The provider did not answer".to_owned(), vec![text(detail, "reason")]),
        "cancel_rejected" => {
            let said = "The provider can no longer cancel it; it goes on.".to_owned();
            ("warn", "Cancellation rejected".to_owned(), vec![said])
        }
        "hold_requested" => {
            let what = capitalized(&text(detail, "action"));
            ("", format!("{what} requested"), vec![format!("By {}.", text(detail, "actor"))])
        }
        "refund_requested" => {
            ("", "Refund requested".to_owned(), vec![format!("By {}.", text(detail, "actor"))])
        }
        "dispute" => dispute(detail, currency),
        "card_fee" => card_fee(detail, currency),
        "consent" => ("cool", "The payer agreed".to_owned(), vec![text(detail, "text")]),
        "exception" => exception(detail),
        "waiting" => {
            ("warn", "Waiting".to_owned(), vec![format!("{}.", capitalized(&text(detail, "reason")))])
        }
        "refused" => {
            let said = "Whether an earlier request was accepted is being looked up.".to_owned();
            ("warn", "Refused by the provider".to_owned(), with_failure(said, detail))
        }
        "account_revealed" => {
            let said = format!("{} was shown the corrected account number.", text(detail, "actor"));
            ("", "Corrected account revealed".to_owned(), vec![said])
        }
        "route" => {
            let said = format!("{}.", capitalized(&text(detail, "reason")));
            ("warn", format!("{} {}", text(detail, "provider"), text(detail, "outcome")), vec![said])
        }
        "trouble" => ("warn", "Problem".to_owned(), vec![format!("{}.", text(detail, "reason"))]),
        "notification_of_change" => {
            let mut said = corrections(detail);
            said.push("Correct the details before the next transfer; this one did not fail.".to_owned());
            ("warn", "Notification of change".to_owned(), said)
        }
        other => ("", capitalized(&other.replace('_', " ")), Vec::new()),
    }
}

/// What was made for the customer to pay.
fn preparation(detail: &Value) -> (&'static str, String, Vec<String>) {
    let (tone, title) = match text(detail, "to").as_str() {
        "prepared" => ("cool", "Checkout page created".to_owned()),
        "refused" => ("bad", "Checkout page refused by the provider".to_owned()),
        "withdrawn" => ("", "Checkout page withdrawn".to_owned()),
        "expired" => ("", "Checkout page expired".to_owned()),
        other => ("", format!("Checkout page {other}")),
    };
    let was = optional(detail, "from").map(|from| format!("Was {from}."));
    let failure = with_failure(String::new(), detail).into_iter().filter(|said| !said.is_empty());
    (tone, title, was.into_iter().chain(failure).collect())
}

fn approval_required(detail: &Value) -> (&'static str, String, Vec<String>) {
    let reasons = detail.get("reasons").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let reasons: Vec<_> = reasons.iter().filter_map(Value::as_str).collect();
    ("warn", "Waiting for approval".to_owned(), vec![format!("Reason: {}.", reasons.join(", "))])
}

fn dispute(detail: &Value, currency: Currency) -> (&'static str, String, Vec<String>) {
    let mut said = vec![format!("{} is {}.", text(detail, "disputeId"), text(detail, "status"))];
    said.extend(optional(detail, "reason").map(|reason| format!("Reason: {reason}.")));
    if detail.get("amountMinor").is_some_and(|amount| !amount.is_null()) {
        said.push(format!("Disputed: {}.", amount(detail, "amountMinor", currency)));
    }
    ("bad", "Dispute".to_owned(), said)
}

fn provider_call(detail: &Value) -> (&'static str, String, Vec<String>) {
    let tries = detail.get("tries").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut said = Vec::new();
    for (number, exchange) in (1_u32..).zip(tries) {
        let status = exchange.get("status").and_then(Value::as_u64);
        let status = status.map_or_else(|| "no response".to_owned(), |status| format!("HTTP {status}"));
        let took = exchange.get("tookMs").and_then(Value::as_u64).unwrap_or(0);
        let which = if tries.len() > 1 { format!("Attempt {number}: ") } else { String::new() };
        said.push(format!("{which}{status}, {} in {took} ms.", text(exchange, "outcome")));
    }
    if let Some(key) = optional(detail, "idempotencyKey") {
        said.push(format!("Idempotency key {key}."));
    }
    let failed = tries
        .last()
        .is_some_and(|last| last.get("status").and_then(Value::as_u64).is_none_or(|status| status >= 400));
    let tone = if failed { "warn" } else { "cool" };
    (tone, format!("Request to {}: {}", text(detail, "provider"), text(detail, "operation")), said)
}

fn status(detail: &Value) -> (&'static str, String, Vec<String>) {
    let to = text(detail, "to");
    let tone = match to.as_str() {
        "succeeded" => "good",
        "failed" => "bad",
        "pending" => "warn",
        "processing" | "authorized" => "cool",
        _ => "",
    };
    let mut said: Vec<String> =
        optional(detail, "from").map(|from| format!("Was {from}.")).into_iter().collect();
    said.extend(optional(detail, "providerReference").map(|name| format!("Provider payment ID: {name}.")));
    let title = format!("Payment {to}");
    match detail.get("failure").filter(|failure| !failure.is_null()) {
        None => (tone, title, said),
        Some(failure) => {
            said.push(format!("{} ({})", text(failure, "message"), text(failure, "code")));
            (tone, title, said)
        }
    }
}

fn with_failure(said: String, detail: &Value) -> Vec<String> {
    let failure = detail.get("failure").filter(|failure| !failure.is_null());
    let failure = failure.map(|failure| format!("{} ({})", text(failure, "message"), text(failure, "code")));
    std::iter::once(said).chain(failure).collect()
}

fn text(detail: &Value, field: &str) -> String {
    match detail.get(field) {
        None | Some(Value::Null) => "–".to_owned(),
        Some(Value::String(text)) => shortened(text, 400),
        Some(other) => other.to_string(),
    }
}

/// A text that a person wrote, in full.
fn whole_text(detail: &Value, field: &str) -> String {
    detail.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn optional(detail: &Value, field: &str) -> Option<String> {
    detail.get(field).filter(|value| !value.is_null()).map(|_| text(detail, field))
}

fn amount(detail: &Value, field: &str, currency: Currency) -> String {
    let minor = detail.get(field).and_then(Value::as_str).and_then(|text| text.parse::<i128>().ok());
    minor.map_or_else(|| text(detail, field), |minor| money(minor, currency))
}

/// What a receiving bank wants corrected, a sentence for each notification. No account number in them is whole.
pub(crate) fn corrections(notifications: &Value) -> Vec<String> {
    let sentence = |notification: &Value| {
        let code = capitalized(&text(notification, "change_code").replace('_', " "));
        let fields = notification.as_object().into_iter().flatten();
        let corrected: Vec<_> = fields
            .filter_map(|(name, value)| {
                Some(format!("{} {}", name.strip_prefix("corrected_")?.replace('_', " "), value.as_str()?))
            })
            .collect();
        if corrected.is_empty() { format!("{code}.") } else { format!("{code}: {}.", corrected.join(", ")) }
    };
    notifications.as_array().into_iter().flatten().map(sentence).collect()
}

pub(crate) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tollgate_domain::id::EntryId;

    use super::*;

    #[test]
    fn what_becomes_of_a_refund_is_one_line_with_its_steps() {
        let entry = |number: u8, kind: &str, detail: Value| Entry {
            id: EntryId::from_bytes([number; 16]),
            at: Timestamp::from_unix_millis(i64::from(number) * 1_000),
            kind: kind.to_owned(),
            request: None,
            detail: detail.to_string(),
        };
        let refund = |number, reference: &str, status: &str| {
            let detail = json!({"refundReference": reference, "status": status, "totalRefundMinor": "515", "feeMinor": "15"});
            entry(number, "refund", detail)
        };
        let told = lines(
            &[
                refund(1, "re_1", "pending"),
                entry(2, "webhook", json!({"type": "refund.updated", "eventId": "evt_1"})),
                refund(3, "re_2", "pending"),
                refund(4, "re_1", "processing"),
                refund(5, "re_1", "succeeded"),
                entry(6, "note", json!({"text": "Called back.", "actor": "ann"})),
            ],
            Currency::USD,
        );
        let titles: Vec<_> =
            told.iter().map(|line| (line.title.as_str(), line.tone, line.steps.len())).collect();
        assert_eq!(
            titles,
            [
                ("Refund succeeded", "good", 3),
                ("Webhook", "cool", 0),
                ("Refund pending", "warn", 0),
                ("Note by ann", "note", 0)
            ]
        );
        assert_eq!(told[0].at, "1970-01-01 00:00:01.000", "it stays where it began");
        assert_eq!(told[0].sentences, ["re_1 of 5.15 USD, including 0.15 USD fee."]);
        assert_eq!(told[0].steps[1], ("1970-01-01 00:00:04.000".to_owned(), "Refund processing".to_owned()));
        assert_eq!(told[3].sentences, ["Called back."]);
    }

    #[test]
    fn lines_are_told_in_sentences() {
        let usd = Currency::USD;
        let (tone, title, said) = told(
            "status",
            &json!({"from": "pending", "to": "failed", "failure": {"code": "card_declined", "message": "The card was declined."}, "providerReference": null}),
            usd,
        );
        assert_eq!((tone, title.as_str()), ("bad", "Payment failed"));
        assert_eq!(said, ["Was pending.", "The card was declined. (card_declined)"]);
        let (tone, title, said) = told(
            "provider_call",
            &json!({"operation": "x.create", "provider": "p", "idempotencyKey": "k", "tries": [{"tookMs": 12, "status": null, "outcome": "timed out"}, {"tookMs": 3, "status": 200, "outcome": "ok"}]}),
            usd,
        );
        assert_eq!((tone, title.as_str()), ("cool", "Request to p: x.create"));
        assert_eq!(
            said,
            [
                "Attempt 1: no response, timed out in 12 ms.",
                "Attempt 2: HTTP 200, ok in 3 ms.",
                "Idempotency key k."
            ]
        );
        assert_eq!(told("refund", &json!({"refundedMinor": "150"}), usd).2, ["1.50 USD refunded in total."]);
        assert_eq!(told("something_new", &json!({}), usd).1, "Something new");
        let held = json!({"reason": "waiting for a person to approve it in the provider's dashboard"});
        assert_eq!(
            told("waiting", &held, usd).2,
            ["Waiting for a person to approve it in the provider's dashboard."]
        );
        assert_eq!(
            told("account_revealed", &json!({"actor": "ann"}), usd).2,
            ["ann was shown the corrected account number."]
        );
        let changes = json!([
            {"change_code": "incorrect_account_number", "corrected_account_number": "****4321", "created_at": "2026-11-04T10:00:00Z"},
            {"change_code": "incorrect_transaction_code"},
        ]);
        assert_eq!(
            told("notification_of_change", &changes, usd).2,
            [
                "Incorrect account number: account number ****4321.",
                "Incorrect transaction code.",
                "Correct the details before the next transfer; this one did not fail.",
            ]
        );
    }
}
