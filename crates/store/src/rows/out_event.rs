//! Events that callers are notified, with the transaction as it was.

use serde::{Deserialize, Serialize};
use tollgate_domain::{
    Currency, Minor, PaymentMethod, ServiceReference, Timestamp,
    approval::{Proposal, ProposalNotice},
    audit_log::AuditHead,
    circuit::CircuitNotice,
    event::EventKind,
    id::{ApprovalId, EventId},
    ledger::Cause,
    refund::{FeeRefund, Refund, RefundOrigin, RefundReason, RefundStatus, RefundTerms},
    transaction::{Dispute, Failure, Status, TransactionState},
};
use tollgate_engine::ports::{ConfigChange, Event, EventsFrom, FundRequest, MoveOrder, NewEvent};

use super::{approval, card::StoredCard, fee::StoredFee, hold::StoredHold};
use crate::prelude::*;

/// The columns that [`read`] takes, of out_events as `e`.
macro_rules! out_event_columns {
    () => {
        "e.id, e.kind, e.method, e.reference, e.at, e.state"
    };
}

pub(crate) use out_event_columns;

pub(crate) fn read(cells: &mut Cells<'_>) -> Result<Event, Fault> {
    let id = EventId::from_bytes(cells.id()?);
    let kind = cells.word("kind of event", EventKind::parse)?;
    let (method, bytes, at) = (cells.text()?, cells.id()?, cells.moment()?);
    let stored = cells.text_or_none()?;
    let bare = Event {
        id,
        kind,
        reference: None,
        at,
        revision: 0,
        state: None,
        refund: None,
        circuit: None,
        proposal: None,
        audit_head: None,
    };
    let told = stored.as_deref().unwrap_or_default();
    match method.as_str() {
        PROVIDER => Ok(Event { circuit: Some(Box::new(read_circuit(told, kind)?)), ..bare }),
        AUDIT_LOG => Ok(Event { audit_head: Some(read_audit_head(told)?), ..bare }),
        CONFIGURATION | FUNDS => Ok(Event { proposal: Some(Box::new(read_proposal(told, bytes)?)), ..bare }),
        method => {
            let method = PaymentMethod::parse(method).ok_or(CorruptRow("payment method"))?;
            let reference = Some(ServiceReference::from_bytes(method, bytes));
            let Some(told) = stored.map(|stored| read_told(&stored)).transpose()? else {
                return Ok(Event { reference, ..bare });
            };
            let revision = told.revision;
            if kind == EventKind::PaymentPrepared {
                return Ok(Event { reference, revision, ..bare });
            }
            let (state, refund) = told.read()?;
            Ok(Event { reference, revision, state: Some(state), refund: refund.map(Box::new), ..bare })
        }
    }
}

/// What stands for the method of an event about a provider.
pub(crate) const PROVIDER: &str = "provider";

/// What stands for the method of an event about a proposed configuration, whose reference is the approval's ID.
pub(crate) const CONFIGURATION: &str = "configuration";

/// The same of an event about a wallet movement.
pub(crate) const FUNDS: &str = "funds";

/// What stands for the method of an event about the end of the audit log, whose reference is [`NO_REFERENCE`].
pub(crate) const AUDIT_LOG: &str = "audit_log";
pub(crate) const NO_REFERENCE: [u8; 16] = [0; 16];

/// What stands in the place of words that were erased.
const ERASED: &str = "erased";

/// Why a unit's events cannot be written.
pub(crate) const NO_STATE: &str = "an event about a transaction came with no transaction";

/// What an event holds of the transaction it is about, as JSON; `Err` if there is none to hold.
pub(crate) fn event_state_json(
    event: &NewEvent,
    state: Option<&TransactionState>,
) -> Result<Option<String>, &'static str> {
    match (event.kind, state) {
        (EventKind::PaymentPrepared, _) => Ok(write_preparation(event.revision)),
        (_, Some(state)) => Ok(Some(write_state(state, event.revision, event.refund.as_deref()))),
        (_, None) => Err(NO_STATE),
    }
}

/// How a kind is found in a stored filter.
pub(crate) fn in_filter(kind: EventKind) -> String {
    format!(" {kind} ")
}

/// A payment's revision and its transaction's state; what is not there is left out.
#[derive(Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct StoredState {
    #[serde(default, skip_serializing_if = "is_zero")]
    revision: u64,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provider_reference: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure: Option<StoredFailure>,
    #[serde(default, skip_serializing_if = "is_zero")]
    refunded_minor: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dispute: Option<StoredDispute>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hold: Option<StoredHold>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    card: Option<StoredCard>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    charged: Option<StoredFee>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refund: Option<StoredRefund>,
}

#[derive(Serialize, Deserialize)]
struct StoredFailure {
    code: String,
    message: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredDispute {
    id: String,
    status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    amount_minor: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    currency: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    respond_by: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    withdrawn_minor: Option<u64>,
}

/// A refund as it was when its event was written.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredRefund {
    id: String,
    principal_minor: u64,
    fee_minor: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asked_minor: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fee_refund: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    metadata: String,
    origin: String,
    status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provider_reference: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure: Option<StoredFailure>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<String>,
    /// The approval's ID, its state, and the rest of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    approval: Option<(String, String, String)>,
    created_at: i64,
    updated_at: i64,
}

impl StoredRefund {
    fn of(refund: &Refund) -> Self {
        let terms = &refund.terms;
        Self {
            id: refund.id.to_string(),
            principal_minor: refund.principal.get(),
            fee_minor: refund.fee.get(),
            asked_minor: terms.amount.map(Minor::get),
            fee_refund: terms.fee_refund.map(|it| it.as_str().to_owned()),
            reason: terms.reason.map(|it| it.as_str().to_owned()),
            description: terms.description.clone(),
            metadata: terms.metadata.clone(),
            origin: refund.origin.as_str().to_owned(),
            status: refund.status.as_str().to_owned(),
            provider_reference: refund.provider_reference.clone(),
            failure: refund
                .failure
                .clone()
                .map(|failure| StoredFailure { code: failure.code, message: failure.message }),
            request: refund.request.clone(),
            approval: refund.approval.as_ref().map(|approval| {
                let stored = approval::write(approval).unwrap_or_default();
                (approval.id.to_string(), approval.state.as_str().to_owned(), stored)
            }),
            created_at: refund.created_at.unix_millis(),
            updated_at: refund.updated_at.unix_millis(),
        }
    }

    fn read(self) -> Result<Refund, CorruptRow> {
        let damaged = CorruptRow("refund of an event");
        let amount = |minor| Minor::new(minor).ok_or(damaged);
        let fee_refund = self.fee_refund.map(|text| FeeRefund::parse(&text).ok_or(damaged)).transpose()?;
        let reason = self.reason.map(|text| RefundReason::parse(&text).ok_or(damaged)).transpose()?;
        let approval = self
            .approval
            .map(|(id, state, stored)| approval::parse(id.parse().map_err(|_| damaged)?, &state, &stored));
        Ok(Refund {
            id: self.id.parse().map_err(|_| damaged)?,
            terms: RefundTerms {
                amount: self.asked_minor.map(amount).transpose()?,
                fee_refund,
                reason,
                description: self.description,
                metadata: self.metadata,
            },
            principal: amount(self.principal_minor)?,
            fee: amount(self.fee_minor)?,
            origin: RefundOrigin::parse(&self.origin).ok_or(damaged)?,
            status: RefundStatus::parse(&self.status).ok_or(damaged)?,
            provider_reference: self.provider_reference,
            failure: self.failure.map(|failure| Failure { code: failure.code, message: failure.message }),
            request: self.request,
            approval: approval.transpose()?,
            created_at: Timestamp::from_unix_millis(self.created_at),
            updated_at: Timestamp::from_unix_millis(self.updated_at),
        })
    }
}

/// A provider's circuit; whether it is open, the kind of the event says.
#[derive(Serialize, Deserialize)]
struct StoredCircuit {
    provider: String,
    since: i64,
    forced: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

pub(crate) fn write_circuit(notice: &CircuitNotice) -> String {
    let stored = StoredCircuit {
        provider: notice.provider.clone(),
        since: notice.since.unix_millis(),
        forced: notice.is_forced,
        reason: notice.reason.clone(),
    };
    serde_json::to_string(&stored).unwrap_or_default()
}

fn read_circuit(stored: &str, kind: EventKind) -> Result<CircuitNotice, CorruptRow> {
    let stored: StoredCircuit =
        serde_json::from_str(stored).map_err(|_| CorruptRow("circuit of an event"))?;
    Ok(CircuitNotice {
        provider: stored.provider,
        is_open: kind == EventKind::CircuitOpened,
        since: Timestamp::from_unix_millis(stored.since),
        is_forced: stored.forced,
        reason: stored.reason,
    })
}

/// Who asked for something, and for what.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredProposal {
    proposed_by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from_version: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    funds: Option<StoredFunds>,
}

#[derive(Serialize, Deserialize)]
struct StoredFunds {
    cause: String,
    minor: u64,
    currency: String,
    reference: String,
}

pub(crate) fn write_proposal(change: &ConfigChange) -> String {
    let (proposed_by, from_version) = (change.actor.clone(), Some(change.from_version));
    serde_json::to_string(&StoredProposal { proposed_by, from_version, funds: None }).unwrap_or_default()
}

pub(crate) fn write_funds(request: &FundRequest) -> String {
    let MoveOrder { currency, cause, amount, reference } = &request.order;
    let funds = StoredFunds {
        cause: cause.as_str().to_owned(),
        minor: amount.get(),
        currency: currency.to_string(),
        reference: reference.clone(),
    };
    let (proposed_by, funds) = (request.actor.clone(), Some(funds));
    serde_json::to_string(&StoredProposal { proposed_by, from_version: None, funds }).unwrap_or_default()
}

fn read_proposal(stored: &str, approval: [u8; 16]) -> Result<ProposalNotice, CorruptRow> {
    const DAMAGED: CorruptRow = CorruptRow("proposal of an event");
    let stored: StoredProposal = serde_json::from_str(stored).map_err(|_| DAMAGED)?;
    let what = match (stored.from_version, stored.funds) {
        (Some(from_version), None) => Proposal::Configuration { from_version },
        (None, Some(funds)) => Proposal::Funds {
            cause: Cause::parse(&funds.cause).ok_or(DAMAGED)?,
            amount: Minor::new(funds.minor).ok_or(DAMAGED)?,
            currency: Currency::parse(&funds.currency).ok_or(DAMAGED)?,
            reference: funds.reference,
        },
        _ => return Err(DAMAGED),
    };
    let approval = ApprovalId::from_bytes(approval);
    Ok(ProposalNotice { approval, proposed_by: stored.proposed_by, what })
}

#[derive(Serialize, Deserialize)]
struct StoredAuditHead {
    entries: u64,
    hash: [u8; 32],
}

pub(crate) fn write_audit_head(head: AuditHead) -> String {
    let stored = StoredAuditHead { entries: head.entries, hash: head.hash };
    serde_json::to_string(&stored).unwrap_or_default()
}

fn read_audit_head(stored: &str) -> Result<AuditHead, CorruptRow> {
    let damaged = |_| CorruptRow("audit log head of an event");
    let StoredAuditHead { entries, hash } = serde_json::from_str(stored).map_err(damaged)?;
    Ok(AuditHead { entries, hash })
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(amount: &u64) -> bool {
    *amount == 0
}

/// What is kept of a payment that has no transaction yet.
fn write_preparation(revision: u64) -> Option<String> {
    let stored = StoredState { revision, ..StoredState::default() };
    (revision > 0).then(|| serde_json::to_string(&stored).unwrap_or_default())
}

pub(crate) fn write_state(state: &TransactionState, revision: u64, refund: Option<&Refund>) -> String {
    let stored = StoredState {
        revision,
        status: state.status.as_str().to_owned(),
        provider_reference: state.provider_reference.clone(),
        failure: state
            .failure
            .clone()
            .map(|failure| StoredFailure { code: failure.code, message: failure.message }),
        refunded_minor: state.refunded.get(),
        dispute: state.dispute.clone().map(|dispute| StoredDispute {
            id: dispute.id,
            status: dispute.status,
            reason: dispute.reason,
            amount_minor: dispute.amount.map(Minor::get),
            currency: dispute.currency,
            respond_by: dispute.respond_by.map(Timestamp::unix_millis),
            withdrawn_minor: dispute.withdrawn.map(Minor::get),
        }),
        hold: state.hold.as_ref().map(StoredHold::of),
        card: state.card.as_deref().map(StoredCard::of),
        charged: state.charged.as_deref().map(StoredFee::of),
        refund: refund.map(StoredRefund::of),
    };
    // Texts and numbers under fixed names always make JSON.
    serde_json::to_string(&stored).unwrap_or_default()
}

/// The state without what callers and providers wrote in their own words; `None` if there is nothing of that in it.
pub(crate) fn erased_state(stored: &str) -> Result<Option<String>, CorruptRow> {
    let mut state = read_told(stored)?;
    if let Some(failure) = &mut state.failure {
        ERASED.clone_into(&mut failure.message);
    }
    if let Some(card) = &mut state.card {
        card.erase();
    }
    if let Some(refund) = &mut state.refund {
        refund.description = None;
        "{}".clone_into(&mut refund.metadata);
        if let Some(failure) = &mut refund.failure {
            ERASED.clone_into(&mut failure.message);
        }
    }
    let erased = serde_json::to_string(&state).unwrap_or_default();
    Ok(Some(erased).filter(|erased| erased != stored))
}

fn read_told(stored: &str) -> Result<StoredState, CorruptRow> {
    serde_json::from_str(stored).map_err(|_| CorruptRow("state of a transaction"))
}

impl StoredState {
    fn read(self) -> Result<(TransactionState, Option<Refund>), CorruptRow> {
        let damaged = CorruptRow("state of a transaction");
        let amount = |minor| Minor::new(minor).ok_or(damaged);
        let refund = self.refund.map(StoredRefund::read).transpose()?;
        let state = TransactionState {
            status: Status::parse(&self.status).ok_or(damaged)?,
            provider_reference: self.provider_reference,
            failure: self.failure.map(|failure| Failure { code: failure.code, message: failure.message }),
            refunded: amount(self.refunded_minor)?,
            dispute: self
                .dispute
                .map(|dispute| {
                    Ok::<_, CorruptRow>(Dispute {
                        id: dispute.id,
                        status: dispute.status,
                        reason: dispute.reason,
                        amount: dispute.amount_minor.map(amount).transpose()?,
                        currency: dispute.currency,
                        respond_by: dispute.respond_by.map(Timestamp::from_unix_millis),
                        withdrawn: dispute.withdrawn_minor.map(amount).transpose()?,
                    })
                })
                .transpose()?,
            hold: self.hold.map(StoredHold::read).transpose()?,
            card: self.card.map(StoredCard::read).transpose()?.map(Box::new),
            charged: self.charged.map(StoredFee::read).transpose()?.map(Box::new),
        };
        Ok((state, refund))
    }
}

/// A slice of the events: sequence numbers from one to another, both included, and whether the newest come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slice {
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) newest_first: bool,
}

impl Slice {
    /// The slice that begins at `from`, whose event has the number `cursor`; `None` if it names one that has no number.
    pub(crate) const fn new(from: EventsFrom, cursor: Option<i64>) -> Option<Self> {
        let (first, last, newest_first) = match (from, cursor) {
            (EventsFrom::Newest, _) => (1, i64::MAX, true),
            (EventsFrom::Oldest, _) => (1, i64::MAX, false),
            (EventsFrom::Before(_), Some(cursor)) => (1, cursor.saturating_sub(1), true),
            (EventsFrom::After(_), Some(cursor)) => (cursor.saturating_add(1), i64::MAX, false),
            (EventsFrom::Before(_) | EventsFrom::After(_), None) => return None,
        };
        Some(Self { first, last, newest_first })
    }

    /// The word behind `ORDER BY sequence`.
    pub(crate) const fn direction(self) -> &'static str {
        if self.newest_first { "DESC" } else { "ASC" }
    }
}

#[cfg(test)]
mod tests {
    use tollgate_domain::{
        Principal,
        card_fee::FeeKind,
        fee::FeeEntry,
        hold::{Hold, HoldActionKind},
        payment_card::{CardChecks, CheckResult, PaymentCard},
    };

    use super::*;

    #[test]
    fn states_go_round_and_stay_short() {
        let pending = TransactionState::pending();
        assert_eq!(write_state(&pending, 0, None), r#"{"status":"pending"}"#);
        assert_eq!(write_state(&pending, 7, None), r#"{"revision":7,"status":"pending"}"#);
        let read_state = |stored: &str| read_told(stored).and_then(StoredState::read);
        let full = TransactionState {
            status: Status::Failed,
            provider_reference: Some("pi_\u{0}\"\u{1F9FE}".to_owned()),
            failure: Some(Failure { code: "card_declined".to_owned(), message: "No.".to_owned() }),
            refunded: Minor::MAX,
            dispute: Some(Dispute {
                currency: Some("EUR".to_owned()),
                id: "dp".to_owned(),
                status: "lost".to_owned(),
                reason: None,
                amount: Some(Minor::MAX),
                respond_by: Some(Timestamp::from_unix_millis(i64::MAX)),
                withdrawn: Some(Minor::MAX),
            }),
            hold: Some(Hold {
                capture_before: Some(Timestamp::from_unix_millis(i64::MAX)),
                pending: Some(HoldActionKind::Void),
                captured: Some(FeeEntry::default().assess(Principal::new(7).unwrap())),
            }),
            card: Some(Box::new(PaymentCard {
                brand: Some("visa".to_owned()),
                last_four: Some("4242".to_owned()),
                funding: Some("debit".to_owned()),
                country: Some("US".to_owned()),
                expiry_month: Some(12),
                expiry_year: Some(2034),
                three_d_secure: Some("authenticated".to_owned()),
                checks: CardChecks {
                    address: Some(CheckResult::Unavailable),
                    postal_code: Some(CheckResult::Fail),
                    cvc: Some(CheckResult::Pass),
                },
            })),
            charged: Some(Box::new(FeeEntry::default().assess(Principal::new(7).unwrap()).with_fees(
                FeeKind::Surcharge,
                Minor::new(1).unwrap(),
                Minor::ZERO,
            ))),
        };
        for state in [pending, full] {
            assert_eq!(read_state(&write_state(&state, 7, None)), Ok((state, None)));
        }
        for damaged in ["", "{}", r#"{"status":"gone"}"#, r#"{"status":"failed","refundedMinor":-1}"#] {
            assert!(read_state(damaged).is_err(), "{damaged}");
        }
    }

    #[test]
    fn only_a_preparation_is_told_of_without_a_transaction() {
        let event = |kind| NewEvent { id: EventId::from_bytes([1; 16]), kind, revision: 3, refund: None };
        let state = TransactionState::pending();
        let prepared = event_state_json(&event(EventKind::PaymentPrepared), Some(&state)).unwrap().unwrap();
        assert_eq!((prepared.as_str(), erased_state(&prepared)), (r#"{"revision":3}"#, Ok(None)));
        let pending = event(EventKind::Transaction(Status::Pending));
        assert_eq!(event_state_json(&pending, Some(&state)), Ok(Some(write_state(&state, 3, None))));
        assert_eq!(event_state_json(&pending, None), Err(NO_STATE));
    }

    #[test]
    fn slices_leave_out_the_event_named() {
        let id = EventId::from_bytes([5; 16]);
        let bounds = |from, cursor| {
            Slice::new(from, cursor).map(|slice| (slice.first, slice.last, slice.newest_first))
        };
        assert_eq!(bounds(EventsFrom::Newest, None), Some((1, i64::MAX, true)));
        assert_eq!(bounds(EventsFrom::Oldest, None), Some((1, i64::MAX, false)));
        assert_eq!(bounds(EventsFrom::Before(id), Some(5)), Some((1, 4, true)));
        assert_eq!(bounds(EventsFrom::After(id), Some(5)), Some((6, i64::MAX, false)));
        assert_eq!(bounds(EventsFrom::Before(id), None), None);
        assert_eq!(bounds(EventsFrom::After(id), None), None);
    }
}
