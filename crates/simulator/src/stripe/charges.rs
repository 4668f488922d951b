//! `/v1/charges`.

use serde_json::Value;

use super::call::Call;
use super::error::StripeError;
use super::list;
use super::objects::Charge;
use super::state::StripeState;

pub(super) fn retrieve(state: &mut StripeState, call: &Call) -> Result<Value, StripeError> {
    call.params.allow(&["expand[#]"])?;
    let is_its = |charge: &Charge| state.account_of_intent(&charge.intent) == call.context.account;
    let charge = state.charges.get(&call.id).filter(|charge| is_its(charge));
    charge.map(|charge| charge.json()).ok_or_else(|| StripeError::not_found("charge", &call.id, "id"))
}

pub(super) fn list(state: &mut StripeState, call: &Call) -> Result<Value, StripeError> {
    call.params.allow(&list::with(&["payment_intent", "customer", "created", "created[*]"]))?;
    let intent = call.params.text("payment_intent");
    list::page(&state.charges, &call.params, "/v1/charges", Charge::json, |charge| {
        intent.is_none_or(|intent| charge.intent == intent)
            && list::created_fits(&call.params, charge.created)
            && state.account_of_intent(&charge.intent) == call.context.account
    })
}
