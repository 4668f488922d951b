//! `/real_time_payments_transfers`.

use serde_json::Value;

use super::ach_transfers::{FILTERS, destination};
use super::bank;
use super::body::{Fields, Letters};
use super::call::Call;
use super::directory::check_account_number;
use super::error::IncreaseError;
use super::list;
use super::rtp::{RtpTransfer, find, keep};
use super::state::IncreaseState;

/// The network's limit, in cents.
const AMOUNT_MAX: i64 = 1_000_000_000;
const KNOWN: [&str; 11] = [
    "account_number",
    "amount",
    "creditor_name",
    "debtor_name",
    "external_account_id",
    "require_approval",
    "routing_number",
    "source_account_number_id",
    "ultimate_creditor_name",
    "ultimate_debtor_name",
    "unstructured_remittance_information",
];

pub(super) fn create(state: &mut IncreaseState, call: &Call) -> Result<Value, IncreaseError> {
    let context = &call.context;
    let fields = Fields::of(&call.body);
    fields.allow(&KNOWN)?;
    let source = fields.required("source_account_number_id", 200, Letters::Any)?;
    let amount = fields.integer("amount")?;
    if !(1..=AMOUNT_MAX).contains(&amount) {
        return Err(fields.invalid("amount", format!("must be 1 to {AMOUNT_MAX} cents")));
    }
    let creditor_name = fields.required("creditor_name", 140, Letters::Latin)?;
    let remittance = fields.required("unstructured_remittance_information", 140, Letters::Latin)?;
    let debtor_name = fields.text("debtor_name", 140, Letters::Latin)?;
    let ultimate_creditor_name = fields.text("ultimate_creditor_name", 140, Letters::Latin)?;
    let ultimate_debtor_name = fields.text("ultimate_debtor_name", 140, Letters::Latin)?;
    let require_approval = fields.boolean("require_approval")?;
    let (account_number, routing_number) = destination(&fields, 34)?;
    check_account_number(call, &source)?;
    if !bank::rails(&routing_number).is_some_and(bank::Rails::instant) {
        return Err(fields.invalid("routing_number", "does not support Real-Time Payments transfers"));
    }
    let transfer = RtpTransfer {
        id: context.id("real_time_payments_transfer_"),
        status: if require_approval { "pending_approval" } else { "pending_submission" },
        account_id: context.simulator.config().increase.account_id.clone(),
        source_account_number_id: source,
        account_number,
        routing_number,
        amount,
        created_at: context.now.clone(),
        idempotency_key: call.key.clone(),
        creditor_name,
        debtor_name,
        ultimate_creditor_name,
        ultimate_debtor_name,
        remittance,
        pending_transaction_id: context.id("pending_transaction_"),
        transaction_id: None,
        approved_at: None,
        canceled_at: None,
        submission: Value::Null,
        acknowledged_at: None,
        rejection: Value::Null,
    };
    state.set_aside(amount);
    keep(state, context, "created", &transfer);
    if !require_approval {
        state.settle_later(context, &transfer.id);
    }
    Ok(transfer.json())
}

pub(super) fn retrieve(state: &mut IncreaseState, call: &Call) -> Result<Value, IncreaseError> {
    find(state, &call.id).map(|transfer| transfer.json())
}

pub(super) fn list(state: &mut IncreaseState, call: &Call) -> Result<Value, IncreaseError> {
    list::page(&state.rtp, call, &FILTERS, false, |transfer| {
        let fits = call.query_is("account_id", Some(&transfer.account_id))
            && call.query_is("external_account_id", None)
            && call.query_is("idempotency_key", transfer.idempotency_key.as_deref())
            && call.query_has("status.in", transfer.status);
        fits.then(|| (transfer.id.clone(), transfer.created_at.clone(), transfer.json()))
    })
}

pub(super) fn approve(state: &mut IncreaseState, call: &Call) -> Result<Value, IncreaseError> {
    let mut transfer = find(state, &call.id)?;
    transfer.must_be(&["pending_approval"])?;
    transfer.status = "pending_submission";
    transfer.approved_at = Some(call.context.now.clone());
    keep(state, &call.context, "updated", &transfer);
    state.settle_later(&call.context, &transfer.id);
    Ok(transfer.json())
}

pub(super) fn cancel(state: &mut IncreaseState, call: &Call) -> Result<Value, IncreaseError> {
    let mut transfer = find(state, &call.id)?;
    transfer.must_be(&["pending_approval"])?;
    transfer.status = "canceled";
    transfer.canceled_at = Some(call.context.now.clone());
    state.put_back(transfer.amount);
    keep(state, &call.context, "updated", &transfer);
    Ok(transfer.json())
}
