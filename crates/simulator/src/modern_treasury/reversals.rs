//! Reversals of payment orders, and `/returns`.

use super::prelude::*;

/// A request to the receiving bank to give an order's money back.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Reversal {
    pub(crate) id: String,
    #[serde(deserialize_with = "archive::word")]
    pub(crate) status: Word,
    pub(crate) payment_order_id: String,
    pub(crate) internal_account_id: String,
    #[serde(deserialize_with = "archive::word")]
    pub(crate) reason: Word,
    pub(crate) is_live: bool,
    pub(crate) created_at: String,
    pub(crate) updated_at: String,
}

impl Kept for Reversal {
    fn label(&self) -> Option<&str> {
        Some(&self.payment_order_id)
    }
}

impl Reversal {
    pub(crate) fn json(&self) -> Value {
        object!(self: created_at id internal_account_id payment_order_id reason status updated_at;
            "ledger_transaction_id": null, "live_mode": self.is_live, "metadata": {},
            "object": "reversal",
            "reconciliation_status": if self.status == "completed" { "reconciled" } else { "unreconciled" },
            "transaction_ids": [],
        )
    }
}

/// What a receiving bank sent back or wants corrected, as it is shown.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Return(pub(crate) Value);

impl Return {
    pub(crate) fn text(&self, field: &str) -> Option<&str> {
        self.0.get(field).and_then(Value::as_str)
    }
}

impl Kept for Return {
    fn label(&self) -> Option<&str> {
        self.text("returnable_id")
    }
}

const REASONS: &str = "duplicate incorrect_amount incorrect_receiving_account date_earlier_than_intended \
    date_later_than_intended";

/// Sends a reversal. The order is `reversed` from then on, whatever the receiving bank does with it.
pub(super) fn create(state: &mut State, call: &Call) -> Answer {
    let fields = Fields::of(&call.body);
    fields.allow(&["reason metadata"])?;
    let reason = fields.word("reason", REASONS)?.ok_or_else(|| fields.missing("reason"))?;
    let mut order = state.order(&call.id)?;
    if order.kind != "ach" || !["sent", "completed"].contains(&order.status) {
        let message = format!("A payment order that is {} cannot be reversed.", order.status);
        return Err(Error::new("parameter_invalid", message));
    }
    let context = &call.context;
    let reversal = Reversal {
        id: context.services.ids.uuid(),
        status: "pending",
        payment_order_id: order.id.clone(),
        internal_account_id: order.originating_account_id.clone(),
        reason,
        is_live: context.is_live,
        created_at: context.now.clone(),
        updated_at: context.now.clone(),
    };
    state.reversals.put(&reversal.id, reversal.clone());
    state.emit("reversal", "created", &reversal.json());
    order.status = "reversed";
    state.keep(context, "reversed", &mut order);
    Ok(reversal.json())
}

pub(super) fn list(state: &mut State, call: &Call) -> Answer {
    let order = state.order(&call.id)?;
    let all = state.reversals.labeled(Some(&order.id));
    let of_order = all.filter(|known| known.payment_order_id == order.id);
    Ok(of_order.map(Reversal::json).collect())
}

/// The receiving bank answers an order's reversals.
pub(super) fn answer(
    state: &mut State,
    context: &Context,
    order: &PaymentOrder,
    status: &'static str,
) -> Answer {
    let open = state.reversals.labeled(Some(&order.id)).find(|known| {
        known.payment_order_id == order.id && ["pending", "processing", "sent"].contains(&known.status)
    });
    let Some(mut reversal) = open.cloned() else {
        return Err(Error::new("conflict", "The payment order has no open reversal."));
    };
    reversal.status = status;
    reversal.updated_at.clone_from(&context.now);
    state.reversals.put(&reversal.id, reversal.clone());
    state.emit("reversal", status, &reversal.json());
    Ok(reversal.json())
}

/// What a receiving bank sends back, or wants corrected where `corrections` says what.
pub(super) fn record_return(
    state: &mut State,
    context: &Context,
    order: &PaymentOrder,
    code: &str,
    corrections: &Value,
) {
    let id = context.services.ids.uuid();
    let shown = with_unset(
        json!({
            "amount": if corrections.is_null() { order.amount } else { 0 }, "code": code,
            "corrections": corrections, "created_at": context.now, "currency": order.currency, "id": id,
            "internal_account_id": order.originating_account_id, "live_mode": order.is_live,
            "object": "return", "reconciliation_status": "unreconciled", "reference_numbers": [],
            "returnable_id": order.id, "returnable_type": "payment_order", "role": "receiving",
            "status": "completed",
            "type": if corrections.is_null() { "ach" } else { "ach_noc" }, "updated_at": context.now,
        }),
        "additional_information current_return data date_of_death discarded_at \
         failure_reason ledger_transaction_id reason transaction_id \
         transaction_line_item_id",
    );
    state.emit("return", "created", &shown);
    state.returns.put(&id, Return(shown));
}

pub(super) fn list_returns(state: &mut State, call: &Call) -> Answer {
    let known = "after_cursor per_page internal_account_id counterparty_id returnable_id returnable_type";
    if let Some(unknown) = call.query.unknown(&[known]) {
        return Err(Error::invalid(unknown, "is not a known parameter"));
    }
    let fits = |one: &&Return| {
        ["returnable_id", "returnable_type", "internal_account_id"]
            .iter()
            .all(|name| call.query.is(name, one.text(name)))
    };
    let all = state.returns.labeled(call.query.get("returnable_id"));
    Ok(all.filter(fits).take(25).map(|one| one.0.clone()).collect())
}

pub(super) fn retrieve_return(state: &mut State, call: &Call) -> Answer {
    let found = state.returns.get_owned(&call.id);
    found.map(|found| found.0).ok_or_else(|| Error::not_found("Return"))
}
