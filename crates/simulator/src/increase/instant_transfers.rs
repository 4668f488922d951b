//! `/real_time_payments_transfers` and `/fednow_transfers`: what can be asked of payments that arrive within seconds or are
//! rejected, and never come back.

use super::prelude::*;

/// Both networks' limit, in cents.
const AMOUNT_MAX: i64 = 1_000_000_000;
const RTP_KNOWN: &str = "account_number amount creditor_name debtor_name external_account_id require_approval \
    routing_number source_account_number_id ultimate_creditor_name ultimate_debtor_name \
    unstructured_remittance_information";
const FEDNOW_KNOWN: &str = "account_number amount creditor_address creditor_name debtor_address debtor_name \
    external_account_id require_approval routing_number source_account_number_id \
    unstructured_remittance_information";

pub(super) fn create_rtp(state: &mut State, call: &Call) -> Answer {
    let fields = Fields::of(&call.body);
    fields.allow(&[RTP_KNOWN])?;
    let optional = |name: &str| fields.text(name, 140, Letters::Latin);
    let own = json!({
        "creditor_name": fields.required("creditor_name", 140, Letters::Latin)?,
        "debtor_name": optional("debtor_name")?, "rejection": null,
        "source_account_number_id": fields.required("source_account_number_id", 200, Letters::Any)?,
        "ultimate_creditor_name": optional("ultimate_creditor_name")?,
        "ultimate_debtor_name": optional("ultimate_debtor_name")?,
        "unstructured_remittance_information":
            fields.required("unstructured_remittance_information", 140, Letters::Latin)?,
    });
    create(state, call, &fields, own, bank::Rails::real_time)
}

pub(super) fn create_fednow(state: &mut State, call: &Call) -> Answer {
    let fields = Fields::of(&call.body);
    fields.allow(&[FEDNOW_KNOWN])?;
    let text = |name: &str| fields.required(name, 140, Letters::Latin);
    let own = json!({
        "creditor_address": address(&fields, "creditor_address")?,
        "creditor_name": text("creditor_name")?, "debtor_address": address(&fields, "debtor_address")?,
        "debtor_name": text("debtor_name")?, "rejection": null,
        "source_account_number_id": fields.required("source_account_number_id", 200, Letters::Any)?,
        "unique_end_to_end_transaction_reference": call.context.services.ids.uuid(),
        "unstructured_remittance_information": text("unstructured_remittance_information")?,
    });
    let number = fields.text("account_number", 34, Letters::Any)?.unwrap_or_default();
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(fields.invalid("account_number", "must have digits only"));
    }
    create(state, call, &fields, own, bank::Rails::fednow)
}

fn create(
    state: &mut State,
    call: &Call,
    fields: &Fields<'_>,
    own: Value,
    takes_part: fn(bank::Rails) -> bool,
) -> Answer {
    let amount = fields.integer("amount")?;
    if !(1..=AMOUNT_MAX).contains(&amount) {
        return Err(fields.invalid("amount", format!("must be 1 to {AMOUNT_MAX} cents")));
    }
    let require_approval = fields.boolean("require_approval")?.unwrap_or(false);
    let destination = destination(fields, 34)?;
    let source = own.get("source_account_number_id").and_then(Value::as_str);
    check_account_number(call, source.unwrap_or_default())?;
    if !bank::rails(&destination.1).is_some_and(takes_part) {
        let network = call.rail.name.trim_end_matches(" Transfer");
        return Err(fields.invalid("routing_number", format!("does not support {network} transfers")));
    }
    let account_id = call.context.services.config.increase.account_id.clone();
    accept(state, call, NewTransfer { account_id, destination, amount, require_approval, own })
}

fn address(fields: &Fields<'_>, field: &str) -> Answer {
    let Some(address) = fields.object(field)? else { return Ok(Value::Null) };
    address.allow(&["city line1 postal_code state"])?;
    for (name, length_max) in [("city", 35), ("postal_code", 10), ("state", 2)] {
        address.required(name, length_max, Letters::Any)?;
    }
    address.text("line1", 70, Letters::Any)?;
    Ok(fields.raw(field))
}
