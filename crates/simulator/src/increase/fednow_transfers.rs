//! `/fednow_transfers`: what can be asked of a payment.

use serde_json::Value;

use super::bank;
use super::body::{Fields, Letters};
use super::call::Call;
use super::directory::check_account_number;
use super::error::IncreaseError;
use super::objects::FedNow;
use super::state::IncreaseState;
use super::transfers::{NewTransfer, accept, destination};

/// The network's limit, in cents.
const AMOUNT_MAX: i64 = 1_000_000_000;
const KNOWN: &str = "account_number amount creditor_address creditor_name debtor_address debtor_name \
    external_account_id require_approval routing_number source_account_number_id \
    unstructured_remittance_information";

pub(super) fn create(state: &mut IncreaseState, call: &Call) -> Result<Value, IncreaseError> {
    let fields = Fields::of(&call.body);
    fields.allow(&[KNOWN])?;
    let amount = fields.integer("amount")?;
    if !(1..=AMOUNT_MAX).contains(&amount) {
        return Err(fields.invalid("amount", format!("must be 1 to {AMOUNT_MAX} cents")));
    }
    let on_rail = FedNow {
        source_account_number_id: fields.required("source_account_number_id", 200, Letters::Any)?,
        creditor_name: fields.required("creditor_name", 140, Letters::Latin)?,
        creditor_address: address(&fields, "creditor_address")?,
        debtor_name: fields.required("debtor_name", 140, Letters::Latin)?,
        debtor_address: address(&fields, "debtor_address")?,
        remittance: fields.required("unstructured_remittance_information", 140, Letters::Latin)?,
        reference: call.context.services.ids.uuid(),
        rejection: Value::Null,
    };
    let require_approval = fields.boolean("require_approval")?;
    let (account_number, routing_number) = destination(&fields, 34)?;
    if !account_number.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(fields.invalid("account_number", "must have digits only"));
    }
    check_account_number(call, &on_rail.source_account_number_id)?;
    if !bank::rails(&routing_number).is_some_and(bank::Rails::fednow) {
        return Err(fields.invalid("routing_number", "does not support FedNow transfers"));
    }
    let account_id = call.context.services.config.increase.account_id.clone();
    let new = NewTransfer { account_id, account_number, routing_number, amount, require_approval, on_rail };
    accept(state, call, new)
}

fn address(fields: &Fields<'_>, field: &str) -> Result<Value, IncreaseError> {
    let Some(address) = fields.object(field)? else { return Ok(Value::Null) };
    address.allow(&["city line1 postal_code state"])?;
    for (name, length_max) in [("city", 35), ("postal_code", 10), ("state", 2)] {
        address.required(name, length_max, Letters::Any)?;
    }
    address.text("line1", 70, Letters::Any)?;
    Ok(fields.raw(field))
}
