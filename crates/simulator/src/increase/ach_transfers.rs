//! `/ach_transfers`: what can be asked of an entry to or, with a negative amount, from a bank account.

use super::directory::check_account;
use super::prelude::*;

const AMOUNT_MAX: i64 = 9_999_999_999;
pub(super) const FUNDINGS: &str = "checking savings loan general_ledger";
const ENTRY_CLASSES: &str = "corporate_credit_or_debit corporate_trade_exchange prearranged_payments_and_deposit \
    internet_initiated";
const KNOWN: &str = "account_id account_number addenda amount company_descriptive_date \
    company_discretionary_data company_entry_description company_name destination_account_holder \
    external_account_id funding individual_id individual_name preferred_effective_date require_approval \
    routing_number standard_entry_class_code statement_descriptor transaction_timing";

pub(super) fn create(state: &mut State, call: &Call) -> Answer {
    let fields = Fields::of(&call.body);
    fields.allow(&[KNOWN])?;
    let account_id = fields.required("account_id", 200, Letters::Any)?;
    let amount = fields.integer("amount")?;
    if amount == 0 || amount.unsigned_abs() > AMOUNT_MAX.unsigned_abs() {
        return Err(fields.invalid("amount", format!("must be 1 to {AMOUNT_MAX} cents, either way")));
    }
    let own = read_entry(&fields)?;
    let require_approval = fields.boolean("require_approval")?.unwrap_or(false);
    fields.word("transaction_timing", "synchronous asynchronous")?;
    let destination = destination(&fields, 17)?;
    check_account(call, &account_id)?;
    if !bank::rails(&destination.1).is_some_and(bank::Rails::ach) {
        return Err(fields.invalid("routing_number", "does not support ACH transfers"));
    }
    accept(state, call, NewTransfer { account_id, destination, amount, require_approval, own })
}

fn read_entry(fields: &Fields<'_>) -> Answer {
    let text = |field: &str, length_max: usize| fields.text(field, length_max, Letters::Printable);
    let entry_class = fields.word("standard_entry_class_code", ENTRY_CLASSES)?;
    let entry_class = entry_class.unwrap_or("corporate_credit_or_debit");
    check_addenda(fields, entry_class)?;
    let holder = fields.word("destination_account_holder", "business individual unknown")?;
    Ok(json!({
        "addenda": fields.raw("addenda"),
        "company_descriptive_date": text("company_descriptive_date", 6)?,
        "company_discretionary_data": text("company_discretionary_data", 20)?,
        "company_entry_description": text("company_entry_description", 10)?, "company_id": "1234987601",
        "company_name": text("company_name", 16)?,
        "destination_account_holder": holder.unwrap_or("unknown"),
        "funding": fields.word("funding", FUNDINGS)?.unwrap_or("checking"), "inbound_funds_hold": null,
        "individual_id": text("individual_id", 15)?, "individual_name": text("individual_name", 22)?,
        "network": "ach", "notifications_of_change": [],
        "preferred_effective_date": effective_date(fields)?, "return": null, "settlement": null,
        "standard_entry_class_code": entry_class,
        "statement_descriptor": fields.required("statement_descriptor", 200, Letters::Printable)?,
    }))
}

/// Each addendum has its length, and only one class of entries has more than one.
fn check_addenda(fields: &Fields<'_>, entry_class: &str) -> Answer<()> {
    let Some(addenda) = fields.object("addenda")? else { return Ok(()) };
    addenda.allow(&["category", "freeform", "payment_order_remittance_advice"])?;
    let category = addenda.word("category", "freeform payment_order_remittance_advice")?;
    if category.ok_or_else(|| addenda.missing("category"))? != "freeform" {
        return Ok(());
    }
    let freeform = addenda.object("freeform")?.ok_or_else(|| addenda.missing("freeform"))?;
    freeform.value("entries").ok_or_else(|| freeform.missing("entries"))?;
    let entries = freeform.objects("entries")?;
    if entries.len() > 1 && entry_class != "corporate_trade_exchange" {
        return Err(freeform.invalid("entries", "can have more than one addendum only with CTX"));
    }
    for entry in entries {
        entry.required("payment_related_information", 80, Letters::Printable)?;
    }
    Ok(())
}

/// Either a date or a schedule; the same day unless something else is asked for.
fn effective_date(fields: &Fields<'_>) -> Answer {
    let Some(preference) = fields.object("preferred_effective_date")? else {
        return Ok(json!({ "date": null, "settlement_schedule": "same_day" }));
    };
    preference.allow(&["date", "settlement_schedule"])?;
    let date = preference.text("date", 10, Letters::Printable)?;
    let schedule = preference.word("settlement_schedule", "same_day future_dated")?;
    if date.is_some() == schedule.is_some() {
        let message = "must have exactly one of date and settlement_schedule";
        return Err(fields.invalid("preferred_effective_date", message));
    }
    let wrong = |_| preference.invalid("date", "must be an ISO 8601 date");
    let date = date.map(|date| date.parse::<jiff::civil::Date>().map_err(wrong)).transpose()?;
    Ok(json!({ "date": date.map(|date| date.to_string()), "settlement_schedule": schedule }))
}
