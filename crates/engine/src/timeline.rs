//! The lines of a timeline, written the same way for every kind of payment. Nothing secret stands in them.

use serde_json::{Value, json};
use tollgate_domain::{
    Timestamp,
    approval::Approval,
    card::Discrepancy,
    card_fee::CardDecision,
    hold::HoldAction,
    id::{EntryId, ExceptionId},
    refund::Refund,
    routing::RouteAttempt,
    transaction::{Failure, Status, TransactionState},
};
use tollgate_vault::RandomnessUnavailable;

use crate::{
    engine::Engine,
    ports::{CallLog, Entry, NewException, StoreError},
};

/// A line that has no id yet.
pub(crate) type Line = (Timestamp, &'static str, Value);

impl From<RandomnessUnavailable> for StoreError {
    /// Without randomness there are no ids, and without ids nothing is stored.
    fn from(error: RandomnessUnavailable) -> Self {
        Self::Unavailable(error.to_string())
    }
}

impl Engine {
    /// Gives lines their ids: one behind the other, so that a store needs to keep only the first.
    pub(crate) fn entries(&self, lines: Vec<Line>, request: Option<&str>) -> Result<Vec<Entry>, StoreError> {
        if lines.is_empty() {
            return Ok(Vec::new());
        }
        let mut next = self.new_id(EntryId::new)?;
        let mut entries = Vec::with_capacity(lines.len());
        for (at, kind, detail) in lines {
            let id = next;
            next = id.next();
            entries.push(Entry {
                id,
                at,
                kind: kind.to_owned(),
                request: request.map(str::to_owned),
                detail: detail.to_string(),
            });
        }
        Ok(entries)
    }

    /// Gives discrepancies their ids; each comes with how it came to our notice.
    pub(crate) fn exceptions_of(
        &self,
        discrepancies: Vec<(Discrepancy, String)>,
        at: Timestamp,
    ) -> Result<Vec<NewException>, StoreError> {
        let mut exceptions = Vec::with_capacity(discrepancies.len());
        for (Discrepancy { kind, expected, found }, source) in discrepancies {
            let id = self.new_id(ExceptionId::new)?;
            exceptions.push(NewException { id, kind, expected, found, source, at });
        }
        Ok(exceptions)
    }
}

/// The targets of a route that did not get the payment.
pub(crate) fn route(attempts: &[RouteAttempt], at: Timestamp) -> impl Iterator<Item = Line> {
    attempts.iter().map(move |attempt| {
        let (outcome, reason) = (attempt.outcome.as_str(), &attempt.reason);
        (at, "route", json!({ "provider": attempt.provider, "outcome": outcome, "reason": reason }))
    })
}

/// What was decided about the fee for a card, and why.
pub(crate) fn card_fee(decided: &CardDecision) -> Value {
    let decision = &decided.decision;
    let reasons = decision.reasons.iter().map(|reason| reason.code.as_str());
    let card = decided.instrument.card().map(|card| {
        json!({
            "brand": card.brand.as_str(),
            "funding": card.funding.as_str(),
            "country": card.country.map(|country| country.to_string()),
        })
    });
    json!({
        "kind": decision.kind.as_str(),
        "card": card,
        "payer": decided.payer.map(|payer| payer.to_string()),
        "feeMinor": decided.amounts.fee.to_string(),
        "totalDebitMinor": decided.amounts.total_debit.to_string(),
        "reasons": reasons.collect::<Vec<_>>(),
        "rulesVersion": &*decision.rules_version,
    })
}

/// What was asked of a provider; a call is told at the moment of its first try.
pub(crate) fn calls(logs: &[CallLog], provider: &str, now: Timestamp) -> Vec<Line> {
    let line = |log: &CallLog| {
        let at = log.tries.first().map_or(now, |first| first.at);
        let tries = log.tries.iter().map(|exchange| {
            json!({
                "afterMs": exchange.at.unix_millis().saturating_sub(at.unix_millis()),
                "tookMs": u64::try_from(exchange.took.as_millis()).unwrap_or(u64::MAX),
                "status": exchange.status,
                "providerRequestId": exchange.provider_request,
                "outcome": exchange.outcome,
            })
        });
        let detail = json!({
            "operation": log.operation,
            "provider": provider,
            "idempotencyKey": log.idempotency_key,
            "tries": tries.collect::<Vec<_>>(),
        });
        (at, "provider_call", detail)
    };
    logs.iter().map(line).collect()
}

/// What changed between two states of a transaction.
pub(crate) fn moves(
    before: Option<&TransactionState>,
    after: &TransactionState,
) -> Vec<(&'static str, Value)> {
    let mut lines = Vec::new();
    let mut status_before = before.map(|state| state.status);
    if let Some(missed) = after.missed_success(status_before) {
        lines.push(("status", status_line(status_before, &missed)));
        status_before = Some(missed.status);
    }
    if status_before != Some(after.status) {
        lines.push(("status", status_line(status_before, after)));
    }
    let dispute_before = before.and_then(|state| state.dispute.as_ref());
    if let Some(dispute) = after.dispute.as_ref().filter(|dispute| dispute_before != Some(*dispute)) {
        let detail = json!({
            "disputeId": dispute.id,
            "status": dispute.status,
            "reason": dispute.reason,
            "amountMinor": dispute.amount.map(|amount| amount.to_string()),
            "currency": dispute.currency,
            "withdrawnMinor": dispute.withdrawn.map(|amount| amount.to_string()),
        });
        lines.push(("dispute", detail));
    }
    lines
}

/// A transaction's status, and what it was before.
pub(crate) fn status_line(before: Option<Status>, after: &TransactionState) -> Value {
    json!({
        "from": before.map(Status::as_str),
        "to": after.status.as_str(),
        "failure": after.failure.as_ref().map(failure),
        "providerReference": after.provider_reference,
    })
}

/// What something waits for.
pub(crate) fn approval_required(approval: &Approval) -> Value {
    json!({ "approvalId": approval.id.to_string(), "count": approval.count, "reasons": approval.reasons })
}

/// A refund as it is from now on.
pub(crate) fn refund(refund: &Refund) -> Value {
    json!({
        "refundReference": refund.id.to_string(),
        "status": refund.status.as_str(),
        "amountMinor": refund.principal.to_string(),
        "feeMinor": refund.fee.to_string(),
        "totalRefundMinor": refund.total().to_string(),
        "origin": refund.origin.as_str(),
        "providerReference": refund.provider_reference,
        "failure": refund.failure.as_ref().map(failure),
    })
}

/// A capture or void as it is from now on.
pub(crate) fn hold_action(action: &HoldAction) -> Value {
    json!({
        "status": action.status.as_str(),
        "amountMinor": action.asked.map(|asked| asked.to_string()),
        "failure": action.failure.as_ref().map(failure),
    })
}

/// A discrepancy, and how it came to our notice.
pub(crate) fn exception(discrepancy: &Discrepancy, source: &str) -> Value {
    json!({
        "kind": discrepancy.kind.as_str(),
        "expected": discrepancy.expected,
        "found": discrepancy.found,
        "source": source,
    })
}

/// The failure that the latest line of this kind tells.
pub(crate) fn latest_failure(entries: &[Entry], kind: &str) -> Option<Failure> {
    entries.iter().rev().filter(|entry| entry.kind == kind).find_map(|entry| {
        let detail: Value = serde_json::from_str(&entry.detail).ok()?;
        let failure = detail.get("failure")?;
        let text = |name: &str| failure.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Failure { code: text("code")?, message: text("message")? })
    })
}

/// A failure's code and sentence.
pub(crate) fn failure(failure: &Failure) -> Value {
    json!({ "code": failure.code, "message": failure.message })
}
