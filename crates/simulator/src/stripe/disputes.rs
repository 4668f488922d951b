//! Disputes, opened and closed by the control interface in the issuer's place.

use serde_json::{Map, Value};

use super::call::Call;
use super::error::StripeError;
use super::list;
use super::objects::{Dispute, Movement};
use super::refunds::charge_of;
use super::state::{Context, StripeState};

/// Nothing is decided yet.
const OPEN: [&str; 4] = ["needs_response", "under_review", "warning_needs_response", "warning_under_review"];

/// How a dispute begins, and whether its money is withdrawn at once.
const BEGINNINGS: [(&str, bool); 3] =
    [("needs_response", true), ("warning_needs_response", false), ("prevented", false)];

/// What a dispute begins with.
#[derive(Default)]
pub(super) struct Claim<'a> {
    /// `needs_response` if none is given.
    pub(super) status: Option<&'a str>,
    /// Whether the money is taken at once, where that does not follow from the status.
    pub(super) withdraws: Option<bool>,
    /// Where it is not about the whole charge in the charge's currency.
    pub(super) amount: Option<i64>,
    pub(super) currency: Option<&'a str>,
}

/// Contests an intent's charge.
pub(super) fn open(
    state: &mut StripeState,
    context: &Context,
    intent: &str,
    reason: &str,
    claim: &Claim<'_>,
) -> Result<Value, StripeError> {
    let mut charge = charge_of(state, intent)?;
    let status = claim.status.unwrap_or("needs_response");
    let beginning = BEGINNINGS.into_iter().find(|(beginning, _)| *beginning == status);
    let (status, usually_withdraws) =
        beginning.ok_or_else(|| StripeError::invalid(format!("No dispute begins as {status}.")))?;
    if state
        .disputes
        .labeled(Some(&charge.id))
        .any(|dispute| dispute.charge == charge.id && OPEN.contains(&dispute.status))
    {
        return Err(StripeError::invalid(format!("Charge {} is already disputed.", charge.id)));
    }
    charge.disputed = true;
    let mut dispute = Dispute {
        id: context.id("dp_"),
        amount: claim.amount.unwrap_or(charge.amount_captured),
        charge: charge.id.clone(),
        created: context.now,
        currency: claim.currency.unwrap_or(&charge.currency).to_owned(),
        intent: intent.to_owned(),
        reason: reason.to_owned(),
        status,
        movements: Vec::new(),
    };
    state.charges.put(&charge.id.clone(), charge);
    if claim.withdraws.unwrap_or(usually_withdraws) {
        let (id, amount) = (context.id("txn_"), -dispute.amount);
        dispute.movements.push(Movement { id, amount, created: context.now });
    }
    state.disputes.put(&dispute.id, dispute.clone());
    state.emit(context, "charge.dispute.created", dispute.json());
    if dispute.is_withdrawn() {
        state.emit(context, "charge.dispute.funds_withdrawn", dispute.json());
    }
    Ok(dispute.json())
}

/// The merchant has sent its evidence, and the issuer looks at it.
pub(super) fn review(state: &mut StripeState, context: &Context, id: &str) -> Result<Value, StripeError> {
    let mut dispute = find(state, id)?;
    let before = status_before(&dispute);
    dispute.status = match dispute.status {
        "needs_response" => "under_review",
        "warning_needs_response" => "warning_under_review",
        other => return Err(StripeError::invalid(format!("The dispute is {other} already."))),
    };
    state.disputes.put(&dispute.id, dispute.clone());
    state.emit_change(context, "charge.dispute.updated", dispute.json(), Some(before));
    Ok(dispute.json())
}

fn find(state: &StripeState, id: &str) -> Result<Dispute, StripeError> {
    state.disputes.get_owned(id).ok_or_else(|| StripeError::not_found("dispute", id, "dispute"))
}

fn status_before(dispute: &Dispute) -> Map<String, Value> {
    let mut before = Map::new();
    before.insert("status".to_owned(), dispute.status.into());
    before
}

pub(super) fn retrieve(state: &mut StripeState, call: &Call) -> Result<Value, StripeError> {
    call.params.allow(&["expand[#]"])?;
    let is_its = |dispute: &Dispute| state.account_of_intent(&dispute.intent) == call.context.account;
    let missing = || StripeError::not_found("dispute", &call.id, "dispute");
    let dispute = state.disputes.get(&call.id).filter(|dispute| is_its(dispute));
    dispute.map(|dispute| dispute.json()).ok_or_else(missing)
}

pub(super) fn list(state: &mut StripeState, call: &Call) -> Result<Value, StripeError> {
    call.params.allow(&list::with(&["payment_intent", "charge", "created", "created[*]"]))?;
    let (intent, charge) = (call.params.text("payment_intent"), call.params.text("charge"));
    list::page(&state.disputes, &call.params, "/v1/disputes", Dispute::json, |dispute| {
        intent.is_none_or(|intent| dispute.intent == intent)
            && charge.is_none_or(|charge| dispute.charge == charge)
            && list::created_fits(&call.params, dispute.created)
            && state.account_of_intent(&dispute.intent) == call.context.account
    })
}

/// Decides a dispute: `won` gives the money back, at once or by [`reinstate`] later, `lost` does not. An inquiry ends with
/// `warning_closed`.
pub(super) fn close(
    state: &mut StripeState,
    context: &Context,
    id: &str,
    (won, reinstates): (bool, bool),
) -> Result<Value, StripeError> {
    let mut dispute = find(state, id)?;
    if !OPEN.contains(&dispute.status) {
        return Err(StripeError::invalid(format!("The dispute was {} already.", dispute.status)));
    }
    let before = status_before(&dispute);
    dispute.status = match (dispute.is_withdrawn(), won) {
        (false, _) => "warning_closed",
        (true, true) => "won",
        (true, false) => "lost",
    };
    state.disputes.put(&dispute.id, dispute.clone());
    if dispute.status == "won" && reinstates {
        reinstate(state, context, id)?;
    }
    let dispute = find(state, id)?;
    state.emit_change(context, "charge.dispute.closed", dispute.json(), Some(before));
    Ok(dispute.json())
}

/// The money of a dispute that was won comes back.
pub(super) fn reinstate(state: &mut StripeState, context: &Context, id: &str) -> Result<Value, StripeError> {
    let mut dispute = find(state, id)?;
    if dispute.status != "won" || !dispute.is_withdrawn() {
        return Err(StripeError::invalid("There is nothing to give back."));
    }
    let (id, amount) = (context.id("txn_"), dispute.amount);
    dispute.movements.push(Movement { id, amount, created: context.now });
    state.disputes.put(&dispute.id, dispute.clone());
    state.emit(context, "charge.dispute.funds_reinstated", dispute.json());
    Ok(dispute.json())
}
