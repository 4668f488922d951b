//! What the endpoints of all rails' transfers do alike.

use serde_json::Value;

use super::bank;
use super::body::{Fields, Letters};
use super::call::Call;
use super::error::IncreaseError;
use super::list::{self, Known};
use super::objects::Transfer;
use super::state::{IncreaseState, StoredRail};

const FILTERS: &str = "account_id external_account_id idempotency_key status.in";

/// The account and routing number a transfer goes to.
pub(super) fn destination(fields: &Fields<'_>, length_max: usize) -> Result<(String, String), IncreaseError> {
    if let Some(id) = fields.text("external_account_id", 200, Letters::Any)? {
        if fields.has("account_number") || fields.has("routing_number") || fields.has("funding") {
            let message = "cannot be given together with account_number, routing_number or funding";
            return Err(fields.invalid("external_account_id", message));
        }
        return Err(IncreaseError::not_found("External Account", &id));
    }
    let account_number = fields.required("account_number", length_max, Letters::Alphanumeric)?;
    let routing_number = fields.required("routing_number", 9, Letters::Digits)?;
    if bank::rails(&routing_number).is_none() {
        return Err(fields.invalid("routing_number", "is not a valid routing number"));
    }
    Ok((account_number, routing_number))
}

/// What a transfer is created from.
pub(super) struct NewTransfer<R> {
    pub(super) account_id: String,
    pub(super) account_number: String,
    pub(super) routing_number: String,
    pub(super) amount: i64,
    pub(super) require_approval: bool,
    pub(super) on_rail: R,
}

/// Accepts a transfer whose fields were found good.
pub(super) fn accept<R: StoredRail>(
    state: &mut IncreaseState,
    call: &Call,
    new: NewTransfer<R>,
) -> Result<Value, IncreaseError> {
    let context = &call.context;
    state.set_aside(new.amount)?;
    let NewTransfer { account_id, account_number, routing_number, amount, require_approval, on_rail } = new;
    let transfer = Transfer {
        id: context.id(&format!("{}_", R::TYPE)),
        status: if require_approval { "pending_approval" } else { R::QUEUED },
        account_id,
        account_number,
        routing_number,
        amount,
        created_at: context.now.clone(),
        idempotency_key: call.key.clone(),
        pending_transaction_id: context.id("pending_transaction_"),
        transaction_id: None,
        approved_at: None,
        canceled_at: None,
        submission: Value::Null,
        acknowledged_at: None,
        on_rail,
    };
    state.keep(context, "created", &transfer);
    if !require_approval {
        state.settle_later(context, &transfer.id);
    }
    Ok(transfer.json())
}

pub(super) fn retrieve<R: StoredRail>(
    state: &mut IncreaseState,
    call: &Call,
) -> Result<Value, IncreaseError> {
    state.find::<R>(&call.id).map(|transfer| transfer.json())
}

pub(super) fn list<R: StoredRail>(state: &mut IncreaseState, call: &Call) -> Result<Value, IncreaseError> {
    let known = Known { parameters: FILTERS, label: Some("idempotency_key") };
    list::page(R::transfers(state), call, known, false, |transfer| {
        let fits = call.query.is("account_id", Some(&transfer.account_id))
            && call.query.is("external_account_id", None)
            && call.query.is("idempotency_key", transfer.idempotency_key.as_deref())
            && call.query.has("status.in", transfer.status);
        fits.then(|| (transfer.id.clone(), transfer.created_at.clone(), transfer.json()))
    })
}

pub(super) fn approve<R: StoredRail>(state: &mut IncreaseState, call: &Call) -> Result<Value, IncreaseError> {
    let mut transfer = state.find::<R>(&call.id)?;
    transfer.must_be(&["pending_approval"])?;
    transfer.status = R::QUEUED;
    transfer.approved_at = Some(call.context.now.clone());
    state.keep(&call.context, "updated", &transfer);
    state.settle_later(&call.context, &transfer.id);
    Ok(transfer.json())
}

pub(super) fn cancel<R: StoredRail>(state: &mut IncreaseState, call: &Call) -> Result<Value, IncreaseError> {
    let mut transfer = state.find::<R>(&call.id)?;
    transfer.must_be(&["pending_approval"])?;
    transfer.status = "canceled";
    transfer.canceled_at = Some(call.context.now.clone());
    state.put_back(transfer.amount);
    state.keep(&call.context, "updated", &transfer);
    Ok(transfer.json())
}
