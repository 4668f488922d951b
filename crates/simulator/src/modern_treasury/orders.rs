//! `/payment_orders`.

use super::directory::{account_exists, is_routing_number, originates, payment_types};
use super::prelude::*;

/// Money on its way from an internal account to somebody's bank account.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PaymentOrder {
    pub(crate) id: String,
    #[serde(deserialize_with = "archive::word")]
    pub(crate) status: Word,
    #[serde(deserialize_with = "archive::word")]
    pub(crate) kind: Word,
    #[serde(deserialize_with = "archive::optional_word")]
    pub(crate) subtype: Option<Word>,
    #[serde(deserialize_with = "archive::word")]
    pub(crate) priority: Word,
    #[serde(deserialize_with = "archive::word")]
    pub(crate) direction: Word,
    pub(crate) amount: u64,
    pub(crate) currency: String,
    pub(crate) originating_account_id: String,
    pub(crate) receiving_account_id: String,
    /// Not shown by the API; the account's number decides what becomes of the order.
    pub(crate) account_number: String,
    pub(crate) routing_number: String,
    pub(crate) party_name: Option<String>,
    #[serde(deserialize_with = "archive::optional_word")]
    pub(crate) party_type: Option<Word>,
    pub(crate) external_id: Option<String>,
    pub(crate) effective_date: String,
    pub(crate) description: Option<String>,
    pub(crate) statement_descriptor: Option<String>,
    pub(crate) remittance_information: Option<String>,
    pub(crate) originating_party_name: Option<String>,
    pub(crate) metadata: Map<String, Value>,
    pub(crate) vendor_failure_reason: Option<String>,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) is_live: bool,
    pub(crate) created_at: String,
    pub(crate) updated_at: String,
    /// How often it was kept; makes two deliveries about it differ.
    pub(crate) revision: u64,
}

impl Kept for PaymentOrder {
    fn label(&self) -> Option<&str> {
        self.external_id.as_deref()
    }

    fn class(&self) -> Class {
        match self.status {
            "completed" => Class::Done,
            "returned" => Class::Returned,
            "failed" | "denied" | "cancelled" | "reversed" => Class::Closed,
            _ => Class::Open,
        }
    }
}

impl PaymentOrder {
    pub(crate) fn json(&self, current_return: Option<&Value>) -> Value {
        with_unset(
            object!(self: amount created_at currency description direction effective_date external_id id
                metadata originating_account_id originating_party_name priority receiving_account_id
                remittance_information statement_descriptor status subtype updated_at
                vendor_failure_reason;
                "accounting": {}, "current_return": current_return, "live_mode": self.is_live,
                "nsf_protected": false, "object": "payment_order",
                "originating_account_type": "internal_account",
                "receiving_account_type": "external_account",
                "reconciliation_status": if self.status == "completed" { "reconciled" } else { "unreconciled" },
                "reference_numbers": [], "transaction_ids": [], "type": self.kind,
                "ultimate_receiving_party_name": self.party_name,
            ),
            "accounting_category_id accounting_ledger_class_id batch_id charge_bearer \
             counterparty_id current_hold expires_at foreign_exchange_contract \
             foreign_exchange_indicator foreign_exchange_rate ledger_transaction_id \
             originating_party_address process_after purpose send_remittance_advice \
             ultimate_originating_account ultimate_originating_account_id \
             ultimate_originating_account_type ultimate_originating_party_identifier \
             ultimate_originating_party_name ultimate_receiving_party_identifier \
             vendor_attributes",
        )
    }

    /// What the control interface shows: enough to tell orders apart, and no account number.
    pub(crate) fn summary(&self) -> Value {
        let kept = self.account_number.chars().count().saturating_sub(4);
        object!(self: id subtype priority amount currency status external_id idempotency_key
            routing_number party_name party_type statement_descriptor remittance_information
            originating_party_name;
            "type": self.kind,
            "account_number_last4": self.account_number.chars().skip(kept).collect::<String>(),
        )
    }
}

const EXTERNAL_ID_MAX: usize = 180;
const ACH_DESCRIPTOR_MAX: usize = 10;
const CREATE: &str = "type subtype amount direction priority originating_account_id receiving_account_id \
    receiving_account currency effective_date description statement_descriptor remittance_information \
    process_after purpose metadata charge_bearer nsf_protected originating_party_name send_remittance_advice \
    external_id fallback_type line_items ultimate_receiving_party_name";
const RECEIVER: &str = "account_type party_type party_address name account_details routing_details external_id \
    metadata party_name party_identifier contact_details";
const FILTERS: &str = "after_cursor per_page type priority counterparty_id originating_account_id \
    transaction_id external_id status direction";

pub(super) fn create(state: &mut State, call: &Call) -> Answer {
    let fields = Fields::of(&call.body);
    fields.allow(&[CREATE])?;
    let kind = fields.word("type", "ach rtp")?.ok_or_else(|| fields.missing("type"))?;
    let direction = fields.word("direction", "credit debit")?;
    let direction = direction.ok_or_else(|| fields.missing("direction"))?;
    let originating_account_id = fields.required("originating_account_id", 36)?;
    let amount = fields.amount("amount")?;
    let external_id = fields.text("external_id", EXTERNAL_ID_MAX)?;
    let receiver = fields.object("receiving_account")?.ok_or_else(|| fields.missing("receiving_account"))?;
    let (account_number, routing_number) = destination(&receiver, kind)?;
    let descriptor_max = if kind == "ach" { ACH_DESCRIPTOR_MAX } else { 140 };
    let today = calendar::banking_day(calendar::today());
    let priority = fields.word("priority", "high normal")?.unwrap_or("normal");
    let effective =
        if kind == "rtp" || priority == "high" { today } else { calendar::next_banking_day(today) };
    let ids = &call.context.services.ids;
    let mut order = PaymentOrder {
        id: ids.uuid(),
        status: "approved",
        kind,
        subtype: fields.word("subtype", "CCD PPD CTX WEB TEL CIE IAT")?,
        priority,
        direction,
        amount,
        currency: fields.text("currency", 3)?.unwrap_or_else(|| "USD".to_owned()),
        originating_account_id,
        receiving_account_id: ids.uuid(),
        account_number,
        routing_number,
        party_name: receiver.text("party_name", 200)?,
        party_type: receiver.word("party_type", "individual business")?,
        external_id,
        effective_date: fields.text("effective_date", 10)?.unwrap_or_else(|| effective.to_string()),
        description: fields.text("description", 1_000)?,
        statement_descriptor: fields.text("statement_descriptor", descriptor_max)?,
        remittance_information: fields.text("remittance_information", 1_000)?,
        originating_party_name: fields.text("originating_party_name", 1_000)?,
        metadata: metadata(&fields)?,
        vendor_failure_reason: None,
        idempotency_key: call.key.clone(),
        is_live: call.context.is_live,
        created_at: call.context.now.clone(),
        updated_at: String::new(),
        revision: 0,
    };
    account_exists(call, &order.originating_account_id)?;
    if !originates(&order.originating_account_id).contains(&(kind, direction)) {
        return Err(fields.invalid("type", format!("{kind} is not enabled for this internal account")));
    }
    if order.currency != "USD" {
        return Err(fields.invalid("currency", "is not supported for this payment type"));
    }
    // Unique in the whole organization, whatever became of the order.
    if order.external_id.is_some()
        && state
            .orders
            .labeled(order.external_id.as_deref())
            .any(|known| known.external_id == order.external_id)
    {
        return Err(fields.invalid("external_id", "has already been taken"));
    }
    state.keep(&call.context, "created", &mut order);
    state.due.add(&call.context.services, &order.id);
    Ok(state.shown(&order))
}

fn destination(receiver: &Fields<'_>, kind: &str) -> Answer<(String, String)> {
    receiver.allow(&[RECEIVER])?;
    receiver.word("account_type", "checking savings other loan general_ledger")?;
    let account = receiver.first("account_details")?;
    account.allow(&["account_number account_number_type"])?;
    let account_number = account.required("account_number", 100)?;
    if kind == "ach" && account_number.chars().count() > 17 {
        return Err(account.invalid("account_number", "is too long for ACH (maximum is 17 characters)"));
    }
    let bank = receiver.first("routing_details")?;
    bank.allow(&["routing_number routing_number_type payment_type"])?;
    let routing_number = bank.required("routing_number", 100)?;
    bank.word("routing_number_type", "aba")?.ok_or_else(|| bank.missing("routing_number_type"))?;
    bank.word("payment_type", "ach rtp wire")?;
    if !is_routing_number(&routing_number) || !payment_types(&routing_number).contains(&kind) {
        return Err(bank.invalid("routing_number", format!("{routing_number} does not support {kind}")));
    }
    Ok((account_number, routing_number))
}

fn metadata(fields: &Fields<'_>) -> Answer<Map<String, Value>> {
    match fields.raw("metadata") {
        Value::Null => Ok(Map::new()),
        Value::Object(pairs) if pairs.values().all(Value::is_string) => Ok(pairs),
        _ => Err(fields.invalid("metadata", "must have strings as values")),
    }
}

pub(super) fn retrieve(state: &mut State, call: &Call) -> Answer {
    state.order(&call.id).map(|order| state.shown(&order))
}

/// Newest first, one page: what comes after it is not shown here.
pub(super) fn list(state: &mut State, call: &Call) -> Answer {
    if let Some(unknown) = call.query.unknown(&[FILTERS]) {
        return Err(Error::invalid(unknown, "is not a known parameter"));
    }
    let per_page = call.query.get("per_page").map_or(Some(25), |text| text.parse().ok());
    let per_page = per_page.filter(|rows| (1..=100).contains(rows));
    let per_page = per_page.ok_or_else(|| Error::invalid("per_page", "must be between 1 and 100"))?;
    let fits = |order: &&PaymentOrder| {
        call.query.is("external_id", order.external_id.as_deref())
            && call.query.is("status", Some(order.status))
            && call.query.is("type", Some(order.kind))
            && call.query.is("direction", Some(order.direction))
            && call.query.is("priority", Some(order.priority))
            && call.query.is("originating_account_id", Some(&order.originating_account_id))
            && call.query.is("counterparty_id", None)
            && call.query.is("transaction_id", None)
    };
    let all = state.orders.labeled(call.query.get("external_id"));
    Ok(all.filter(fits).take(per_page).map(|order| state.shown(order)).collect())
}

/// What a person does in the dashboard: approving, denying and canceling what has not been sent.
pub(super) fn update(state: &mut State, call: &Call) -> Answer {
    let fields = Fields::of(&call.body);
    fields.allow(&["status metadata description"])?;
    let mut order = state.order(&call.id)?;
    let to = fields.word("status", "approved denied cancelled")?;
    let allowed = match to {
        None => true,
        Some("cancelled") => ["needs_approval", "approved", "held", "pending"].contains(&order.status),
        Some(_) => order.status == "needs_approval",
    };
    if !allowed {
        let message = format!("A payment order that is {} cannot be changed so.", order.status);
        return Err(Error::new("conflict", message));
    }
    if let Some(description) = fields.text("description", 1_000)? {
        order.description = Some(description);
    }
    if let Some(to) = to {
        order.status = to;
    }
    state.keep(&call.context, to.unwrap_or("updated"), &mut order);
    if to == Some("approved") {
        state.due.add(&call.context.services, &order.id);
    }
    Ok(state.shown(&order))
}
