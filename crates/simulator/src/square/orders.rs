//! `/v2/orders`, made by payment links, or by a payment that names none.

use super::prelude::*;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) id: String,
    pub(crate) location_id: String,
    pub(crate) total: Money,
    #[serde(deserialize_with = "archive::word")]
    pub(crate) state: Word,
    pub(crate) line_items: Vec<Value>,
    pub(crate) reference_id: Option<String>,
    pub(crate) metadata: Option<Value>,
    pub(crate) tenders: Vec<Value>,
    /// Such an order stays open once it is paid: the seller completes it.
    pub(crate) is_of_link: bool,
    pub(crate) created_at: String,
    pub(crate) updated_at: String,
    pub(crate) version: u64,
}

impl Kept for Order {
    fn class(&self) -> Class {
        if self.state == "OPEN" && self.due() > 0 { Class::Open } else { Class::Closed }
    }
}

impl Order {
    pub(crate) fn due(&self) -> i64 {
        let paid = self.tenders.iter().filter_map(|tender| tender.pointer("/amount_money/amount")?.as_i64());
        if self.state == "CANCELED" { 0 } else { self.total.amount - paid.sum::<i64>() }
    }

    /// Whether nothing was paid, and something still can be.
    pub(crate) fn is_unpaid(&self) -> bool {
        self.state == "OPEN" && self.tenders.is_empty()
    }

    pub(crate) fn json(&self) -> Value {
        let zero = self.total.of(0).json();
        let due = self.due();
        let order = object!(self: id location_id line_items created_at updated_at state version;
            "total_money": self.total.json(), "total_tax_money": zero, "total_discount_money": zero,
            "total_tip_money": zero, "total_service_charge_money": zero,
            "net_amount_due_money": self.total.of(due).json(),
            "source": { "name": "Tollgate simulator" },
        );
        let given = [
            ("reference_id", json!(self.reference_id)),
            ("metadata", json!(self.metadata)),
            ("tenders", json!(Some(&self.tenders).filter(|tenders| !tenders.is_empty()))),
            ("closed_at", json!(Some(&self.updated_at).filter(|_| self.state != "OPEN"))),
        ];
        with_given(order, given)
    }
}

/// The order the provider makes for a payment that names none.
pub(super) fn order_for(context: &Context, total: &Money) -> Order {
    Order {
        id: context.id(32),
        location_id: context.location(),
        total: total.clone(),
        state: "OPEN",
        line_items: vec![line_item(context, None, "1", total)],
        reference_id: None,
        metadata: None,
        tenders: Vec::new(),
        is_of_link: false,
        created_at: context.now.clone(),
        updated_at: context.now.clone(),
        version: 1,
    }
}

pub(super) fn line_item(context: &Context, name: Option<&str>, quantity: &str, unit: &Money) -> Value {
    let total = unit.amount.saturating_mul(quantity.parse().unwrap_or(1));
    let item = json!({
        "uid": context.id(22), "quantity": quantity,
        "item_type": if name.is_some() { "ITEM" } else { "CUSTOM_AMOUNT" },
        "base_price_money": unit.json(), "total_money": unit.of(total).json(),
    });
    with_given(item, [("name", json!(name))])
}

/// Notes on the order that a payment pays for it.
pub(super) fn add_tender(state: &mut State, context: &Context, mut order: Order, payment: &Payment) {
    order.tenders.push(json!({
        "id": payment.id, "payment_id": payment.id, "location_id": payment.location_id,
        "transaction_id": order.id, "created_at": context.now, "amount_money": payment.money.json(),
        "type": "CARD",
    }));
    store(state, context, order);
}

/// A payment's own order is over what the payment is over.
pub(super) fn change_total(state: &mut State, context: &Context, payment: &Payment) {
    let Some(mut order) = state.orders.get_owned(&payment.order_id) else { return };
    order.total.clone_from(&payment.money);
    order.line_items = vec![line_item(context, None, "1", &payment.money)];
    for tender in &mut order.tenders {
        if let Some(fields) = tender.as_object_mut() {
            fields.insert("amount_money".to_owned(), payment.money.json());
        }
    }
    store(state, context, order);
}

/// An order that is paid for is complete, unless the seller has yet to fulfill it.
pub(super) fn complete(state: &mut State, context: &Context, id: &str) {
    if state.orders.get(id).is_some_and(|order| !order.is_of_link) {
        close(state, context, id, "COMPLETED");
    }
}

pub(super) fn close(state: &mut State, context: &Context, id: &str, as_state: &'static str) {
    if let Some(mut order) = state.orders.get_owned(id) {
        order.state = as_state;
        store(state, context, order);
    }
}

fn store(state: &mut State, context: &Context, mut order: Order) {
    order.version += 1;
    order.updated_at.clone_from(&context.now);
    state.orders.put(&order.id.clone(), order);
}

pub(super) fn retrieve(state: &mut State, call: &Call) -> Answer {
    let order = state.orders.get(&call.id).ok_or_else(|| Error::not_found("order", &call.id))?;
    Ok(json!({ "order": order.json() }))
}
