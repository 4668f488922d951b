//! Disputes, opened and closed by the control interface in the issuer's place.

use serde_json::{Map, Value};

use super::call::Call;
use super::error::StripeError;
use super::list;
use super::objects::Dispute;
use super::refunds::charge_of;
use super::state::{Context, StripeState};

/// Contests an intent's charge: the money is withdrawn at once.
pub(super) fn open(
    state: &mut StripeState,
    context: &Context,
    intent: &str,
    reason: &str,
) -> Result<Value, StripeError> {
    let mut charge = charge_of(state, intent)?;
    let is_open = |dispute: &Dispute| matches!(dispute.status, "needs_response" | "under_review");
    if state
        .disputes
        .labeled(Some(&charge.id))
        .any(|dispute| dispute.charge == charge.id && is_open(&dispute))
    {
        return Err(StripeError::invalid(format!("Charge {} is already disputed.", charge.id)));
    }
    charge.disputed = true;
    let dispute = Dispute {
        id: context.id("dp_"),
        amount: charge.amount_captured,
        charge: charge.id.clone(),
        created: context.now,
        currency: charge.currency.clone(),
        intent: intent.to_owned(),
        reason: reason.to_owned(),
        status: "needs_response",
    };
    state.charges.put(&charge.id.clone(), charge);
    state.disputes.put(&dispute.id, dispute.clone());
    state.emit(context, "charge.dispute.created", dispute.json());
    state.emit(context, "charge.dispute.funds_withdrawn", dispute.json());
    Ok(dispute.json())
}

/// The merchant has sent its evidence, and the issuer looks at it.
pub(super) fn review(state: &mut StripeState, context: &Context, id: &str) -> Result<Value, StripeError> {
    let mut dispute = find(state, id)?;
    if dispute.status != "needs_response" {
        return Err(StripeError::invalid(format!("The dispute is {} already.", dispute.status)));
    }
    let before = status_before(&dispute);
    dispute.status = "under_review";
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

/// Decides a dispute: `won` returns the money, `lost` does not.
pub(super) fn close(
    state: &mut StripeState,
    context: &Context,
    id: &str,
    won: bool,
) -> Result<Value, StripeError> {
    let mut dispute = find(state, id)?;
    if !matches!(dispute.status, "needs_response" | "under_review") {
        return Err(StripeError::invalid(format!("The dispute was {} already.", dispute.status)));
    }
    let before = status_before(&dispute);
    dispute.status = if won { "won" } else { "lost" };
    state.disputes.put(&dispute.id, dispute.clone());
    if won {
        state.emit(context, "charge.dispute.funds_reinstated", dispute.json());
    }
    state.emit_change(context, "charge.dispute.closed", dispute.json(), Some(before));
    Ok(dispute.json())
}
