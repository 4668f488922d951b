//! `/ach_transfers`.

use serde_json::Value;

use super::ach::{AchTransfer, Wording, find, keep};
use super::bank;
use super::body::{Fields, Letters};
use super::call::Call;
use super::directory::check_account;
use super::error::IncreaseError;
use super::list;
use super::state::IncreaseState;

const AMOUNT_MAX: i64 = 9_999_999_999;
pub(super) const FUNDINGS: [&str; 4] = ["checking", "savings", "loan", "general_ledger"];
const ENTRY_CLASSES: [&str; 4] = [
    "corporate_credit_or_debit",
    "corporate_trade_exchange",
    "prearranged_payments_and_deposit",
    "internet_initiated",
];
const KNOWN: [&str; 19] = [
    "account_id",
    "account_number",
    "addenda",
    "amount",
    "company_descriptive_date",
    "company_discretionary_data",
    "company_entry_description",
    "company_name",
    "destination_account_holder",
    "external_account_id",
    "funding",
    "individual_id",
    "individual_name",
    "preferred_effective_date",
    "require_approval",
    "routing_number",
    "standard_entry_class_code",
    "statement_descriptor",
    "transaction_timing",
];

pub(super) fn create(state: &mut IncreaseState, call: &Call) -> Result<Value, IncreaseError> {
    let context = &call.context;
    let fields = Fields::of(&call.body);
    fields.allow(&KNOWN)?;
    let account_id = fields.required("account_id", 200, Letters::Any)?;
    let amount = fields.integer("amount")?;
    if amount == 0 || amount.unsigned_abs() > AMOUNT_MAX.unsigned_abs() {
        return Err(fields.invalid("amount", format!("must be 1 to {AMOUNT_MAX} cents, either way")));
    }
    let wording = wording(&fields)?;
    let (preferred_date, preferred_schedule) = effective_date(&fields)?;
    let require_approval = fields.boolean("require_approval")?;
    fields.word("transaction_timing", &["synchronous", "asynchronous"])?;
    let (account_number, routing_number) = destination(&fields, 17)?;
    check_account(call, &account_id)?;
    if !bank::rails(&routing_number).is_some_and(bank::Rails::ach) {
        return Err(fields.invalid("routing_number", "does not support ACH transfers"));
    }
    let transfer = AchTransfer {
        id: context.id("ach_transfer_"),
        status: if require_approval { "pending_approval" } else { "pending_submission" },
        account_id,
        account_number,
        routing_number,
        amount,
        created_at: context.now.clone(),
        idempotency_key: call.key.clone(),
        preferred_date,
        preferred_schedule,
        wording,
        pending_transaction_id: context.id("pending_transaction_"),
        transaction_id: None,
        approved_at: None,
        canceled_at: None,
        submission: Value::Null,
        acknowledged_at: None,
        settled_at: None,
        returned: Value::Null,
        notifications_of_change: Vec::new(),
    };
    state.set_aside(amount);
    keep(state, context, "created", &transfer);
    if !require_approval {
        state.settle_later(context, &transfer.id);
    }
    Ok(transfer.json())
}

fn wording(fields: &Fields<'_>) -> Result<Wording, IncreaseError> {
    let text = |field: &str, length_max: usize| fields.text(field, length_max, Letters::Printable);
    fields.object("addenda")?;
    Ok(Wording {
        addenda: fields.raw("addenda"),
        company_descriptive_date: text("company_descriptive_date", 6)?,
        company_discretionary_data: text("company_discretionary_data", 20)?,
        company_entry_description: text("company_entry_description", 10)?,
        company_name: text("company_name", 16)?,
        destination_account_holder: fields
            .word("destination_account_holder", &["business", "individual", "unknown"])?
            .unwrap_or("unknown"),
        funding: fields.word("funding", &FUNDINGS)?.unwrap_or("checking"),
        individual_id: text("individual_id", 15)?,
        individual_name: text("individual_name", 22)?,
        standard_entry_class_code: fields
            .word("standard_entry_class_code", &ENTRY_CLASSES)?
            .unwrap_or("corporate_credit_or_debit"),
        statement_descriptor: fields.required("statement_descriptor", 200, Letters::Printable)?,
    })
}

type Preference = (Option<jiff::civil::Date>, Option<&'static str>);

/// Either a date or a schedule; the same day unless something else is asked for.
fn effective_date(fields: &Fields<'_>) -> Result<Preference, IncreaseError> {
    let Some(preference) = fields.object("preferred_effective_date")? else {
        return Ok((None, Some("same_day")));
    };
    preference.allow(&["date", "settlement_schedule"])?;
    let date = preference.text("date", 10, Letters::Printable)?;
    let schedule = preference.word("settlement_schedule", &["same_day", "future_dated"])?;
    if date.is_some() == schedule.is_some() {
        let message = "must have exactly one of date and settlement_schedule";
        return Err(fields.invalid("preferred_effective_date", message));
    }
    let wrong = |_| preference.invalid("date", "must be an ISO 8601 date");
    Ok((date.map(|date| date.parse().map_err(wrong)).transpose()?, schedule))
}

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

pub(super) fn retrieve(state: &mut IncreaseState, call: &Call) -> Result<Value, IncreaseError> {
    find(state, &call.id).map(|transfer| transfer.json())
}

pub(super) const FILTERS: [&str; 4] = ["account_id", "external_account_id", "idempotency_key", "status.in"];

pub(super) fn list(state: &mut IncreaseState, call: &Call) -> Result<Value, IncreaseError> {
    list::page(&state.ach, call, &FILTERS, false, |transfer| {
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
