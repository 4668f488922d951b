//! Charging a card, and what becomes of the payment.

use super::prelude::*;
use super::source::Source;

/// Nothing was tried, and the same request may be sent again under the same key.
pub(super) const TEMPORARY: &str = "TEMPORARY_ERROR";

#[derive(Debug)]
pub(super) struct PaymentParams {
    pub(super) money: Money,
    pub(super) complete_now: bool,
    /// For how many seconds the money is held where it is not completed at once.
    pub(super) delay_seconds: i64,
    pub(super) order: Option<Order>,
    pub(super) idempotency_key: Option<String>,
    pub(super) reference_id: Option<String>,
    pub(super) note: Option<String>,
    pub(super) buyer_email: Option<String>,
    pub(super) customer_id: Option<String>,
    pub(super) statement: Option<String>,
}

/// Charges a card. A decline leaves a failed payment behind and is an error that shows it.
pub(super) fn charge(
    state: &mut State,
    context: &Context,
    wish: PaymentParams,
    source: Source,
) -> Answer<Payment> {
    let order = wish.order.unwrap_or_else(|| orders::order_for(context, &wish.money));
    let mut payment = Payment {
        id: context.id(32),
        money: wish.money,
        status: "APPROVED",
        idempotency_key: wish.idempotency_key,
        order_id: order.id.clone(),
        reference_id: wish.reference_id,
        refunded: 0,
        buyer_email: wish.buyer_email,
        card: source.card,
        card_status: "AUTHORIZED",
        created_at: context.now.clone(),
        customer_id: wish.customer_id,
        delay_duration: format!("PT{}H", wish.delay_seconds / 3_600),
        delayed_until: calendar::rfc3339_in_seconds(wish.delay_seconds),
        errors: Vec::new(),
        location_id: context.location(),
        note: wish.note,
        refund_ids: Vec::new(),
        statement: wish.statement,
        updated_at: context.now.clone(),
        version: 1,
    };
    if let Some(code) = source.decline {
        let error = Error::declined(code);
        if code == TEMPORARY {
            return Err(error);
        }
        (payment.status, payment.card_status) = ("FAILED", "FAILED");
        payment.errors.push(error.entry());
        state.orders.put(&order.id.clone(), order);
        keep(state, context, &payment, "payment.created");
        return Err(error.beside(payment.json()));
    }
    orders::add_tender(state, context, order, &payment);
    keep(state, context, &payment, "payment.created");
    if wish.complete_now { Ok(complete(state, context, payment)) } else { Ok(payment) }
}

pub(super) fn complete(state: &mut State, context: &Context, mut payment: Payment) -> Payment {
    (payment.status, payment.card_status) = ("COMPLETED", "CAPTURED");
    orders::complete(state, context, &payment.order_id);
    changed(state, context, payment)
}

/// Captures every payment of an order that is paid in full.
pub(super) fn complete_order(state: &mut State, context: &Context, order: &str) {
    let tenders = state.orders.get(order).map(|order| order.tenders.clone()).unwrap_or_default();
    for tender in tenders {
        let id = tender.get("payment_id").and_then(Value::as_str).unwrap_or_default();
        if let Some(payment) = state.payments.get_owned(id).filter(|payment| payment.status == "APPROVED") {
            complete(state, context, payment);
        }
    }
}

pub(super) fn cancel(state: &mut State, context: &Context, mut payment: Payment) -> Payment {
    (payment.status, payment.card_status) = ("CANCELED", "VOIDED");
    orders::close(state, context, &payment.order_id, "CANCELED");
    changed(state, context, payment)
}

/// Cancels a payment that nobody completed in time.
pub(super) fn lapse(state: &mut State, context: &Context, id: &str) {
    let payment = state.payments.get_owned(id).filter(|payment| payment.status == "APPROVED");
    if let Some(payment) = payment.filter(|payment| payment.delayed_until <= context.now) {
        cancel(state, context, payment);
    }
}

pub(super) fn changed(state: &mut State, context: &Context, mut payment: Payment) -> Payment {
    payment.version += 1;
    payment.updated_at.clone_from(&context.now);
    keep(state, context, &payment, "payment.updated");
    payment
}

fn keep(state: &mut State, context: &Context, payment: &Payment, event: &str) {
    state.payments.put(&payment.id, payment.clone());
    state.emit(context, event, "payment", &payment.id, &payment.json());
}
