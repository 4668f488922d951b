//! `/real_time_payments_transfers`: what can be asked of a payment.

use serde_json::Value;

use super::bank;
use super::body::{Fields, Letters};
use super::call::Call;
use super::directory::check_account_number;
use super::error::IncreaseError;
use super::objects::Rtp;
use super::state::IncreaseState;
use super::transfers::{NewTransfer, accept, destination};

/// The network's limit, in cents.
const AMOUNT_MAX: i64 = 1_000_000_000;
const KNOWN: &str = "account_number amount creditor_name debtor_name external_account_id require_approval \
    routing_number source_account_number_id ultimate_creditor_name ultimate_debtor_name \
    unstructured_remittance_information";

pub(super) fn create(state: &mut IncreaseState, call: &Call) -> Result<Value, IncreaseError> {
    let fields = Fields::of(&call.body);
    fields.allow(&[KNOWN])?;
    let source_account_number_id = fields.required("source_account_number_id", 200, Letters::Any)?;
    let amount = fields.integer("amount")?;
    if !(1..=AMOUNT_MAX).contains(&amount) {
        return Err(fields.invalid("amount", format!("must be 1 to {AMOUNT_MAX} cents")));
    }
    let on_rail = Rtp {
        source_account_number_id,
        creditor_name: fields.required("creditor_name", 140, Letters::Latin)?,
        remittance: fields.required("unstructured_remittance_information", 140, Letters::Latin)?,
        debtor_name: fields.text("debtor_name", 140, Letters::Latin)?,
        ultimate_creditor_name: fields.text("ultimate_creditor_name", 140, Letters::Latin)?,
        ultimate_debtor_name: fields.text("ultimate_debtor_name", 140, Letters::Latin)?,
        rejection: Value::Null,
    };
    let require_approval = fields.boolean("require_approval")?;
    let (account_number, routing_number) = destination(&fields, 34)?;
    check_account_number(call, &on_rail.source_account_number_id)?;
    if !bank::rails(&routing_number).is_some_and(bank::Rails::real_time) {
        return Err(fields.invalid("routing_number", "does not support Real-Time Payments transfers"));
    }
    let account_id = call.context.services.config.increase.account_id.clone();
    let new = NewTransfer { account_id, account_number, routing_number, amount, require_approval, on_rail };
    accept(state, call, new)
}
