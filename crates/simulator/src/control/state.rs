//! What was accepted, for tests that ask whether a customer was charged at most once.

use crate::{call_handler::json_response, collection::Class, providers::Providers};
use axum::extract::{Request, State};
use axum::response::Response;
use http::StatusCode;
use serde_json::{Value, json};

/// How many objects of each kind are shown unless `?limit=` asks for more or fewer.
const SHOWN: usize = 1_000;

pub(super) async fn show(State(providers): State<Providers>, request: Request) -> Response {
    let query = request.uri().query().unwrap_or_default();
    let limit = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "limit");
    let limit = limit.and_then(|(_, value)| value.parse().ok()).unwrap_or(SHOWN);
    let body = json!({
        "calls": providers.services.calls(),
        "webhooks": providers.services.queue.tally(),
        "stripe": stripe(&providers, limit),
        "square": square(&providers, limit),
        "increase": increase(&providers, limit),
        "modern_treasury": modern_treasury(&providers, limit),
    });
    json_response(StatusCode::OK, &body)
}

fn stripe(providers: &Providers, limit: usize) -> Value {
    let state = providers.stripe.state();
    let intents = state.intents.newest_first().take(limit).map(|intent| {
        json!({
            "id": intent.id,
            "amount": intent.amount,
            "amount_received": intent.amount_received,
            "currency": intent.currency,
            "status": intent.status.word(),
            "idempotency_key": intent.idempotency_key,
            "metadata": intent.metadata,
        })
    });
    let charges = state.charges.newest_first().take(limit).map(|charge| {
        json!({
            "id": charge.id,
            "amount": charge.amount,
            "amount_captured": charge.amount_captured,
            "amount_refunded": charge.amount_refunded,
            "captured": charge.captured,
            "payment_intent": charge.intent,
            "status": charge.status,
        })
    });
    let refunds = state.refunds.newest_first().take(limit).map(|refund| {
        json!({
            "id": refund.id,
            "amount": refund.amount,
            "currency": refund.currency,
            "charge": refund.charge,
            "payment_intent": refund.intent,
            "status": refund.status,
            "idempotency_key": refund.idempotency_key,
        })
    });
    let sessions = state.sessions.newest_first().take(limit).map(|session| {
        json!({
            "id": session.id,
            "amount": session.amount,
            "currency": session.currency,
            "status": session.status,
            "payment_intent": session.intent,
            "idempotency_key": session.idempotency_key,
            "metadata": session.metadata,
        })
    });
    json!({
        "counts": {
            "payment_intents": state.intents.created(),
            "charges": state.charges.created(),
            "charges_succeeded": state.charges.count(Class::Done),
            "refunds": state.refunds.created(),
            "checkout_sessions": state.sessions.created(),
        },
        "payment_intents": intents.collect::<Vec<_>>(),
        "charges": charges.collect::<Vec<_>>(),
        "refunds": refunds.collect::<Vec<_>>(),
        "checkout_sessions": sessions.collect::<Vec<_>>(),
    })
}

fn square(providers: &Providers, limit: usize) -> Value {
    let state = providers.square.state();
    let payments = state.payments.newest_first().take(limit).map(|payment| {
        json!({
            "id": payment.id,
            "amount": payment.money.amount,
            "currency": payment.money.currency,
            "status": payment.status,
            "refunded": payment.refunded,
            "idempotency_key": payment.idempotency_key,
            "order_id": payment.order_id,
            "reference_id": payment.reference_id,
            "order_reference_id": state.orders.get(&payment.order_id).and_then(|order| order.reference_id.clone()),
        })
    });
    let refunds = state.refunds.newest_first().take(limit).map(|refund| {
        json!({
            "id": refund.id,
            "amount": refund.money.amount,
            "currency": refund.money.currency,
            "payment_id": refund.payment_id,
            "status": refund.status,
            "idempotency_key": refund.idempotency_key,
        })
    });
    let links = state.links.newest_first().take(limit).map(|link| {
        json!({
            "id": link.id,
            "order_id": link.order_id,
            "idempotency_key": link.idempotency_key,
            "checkout_options": link.checkout_options,
        })
    });
    json!({
        "counts": {
            "payments": state.payments.created(),
            "payments_charged": state.payments.count(Class::Done),
            "refunds": state.refunds.created(),
            "payment_links": state.links.created(),
        },
        "payments": payments.collect::<Vec<_>>(),
        "refunds": refunds.collect::<Vec<_>>(),
        "payment_links": links.collect::<Vec<_>>(),
    })
}

fn increase(providers: &Providers, limit: usize) -> Value {
    let state = providers.increase.state();
    let ach = state.ach.newest_first().take(limit).map(|transfer| transfer.summary());
    let rtp = state.rtp.newest_first().take(limit).map(|transfer| transfer.summary());
    let fednow = state.fednow.newest_first().take(limit).map(|transfer| transfer.summary());
    json!({
        "counts": {
            "ach_transfers": state.ach.created(),
            "ach_transfers_settled": state.ach.count(Class::Done),
            "ach_transfers_returned": state.ach.count(Class::Returned),
            "real_time_payments_transfers": state.rtp.created(),
            "real_time_payments_transfers_complete": state.rtp.count(Class::Done),
            "fednow_transfers": state.fednow.created(),
        },
        "ach_transfers": ach.collect::<Vec<_>>(),
        "real_time_payments_transfers": rtp.collect::<Vec<_>>(),
        "fednow_transfers": fednow.collect::<Vec<_>>(),
    })
}

fn modern_treasury(providers: &Providers, limit: usize) -> Value {
    let state = providers.modern_treasury.state();
    let orders = state.orders.newest_first().take(limit).map(|order| order.summary());
    json!({
        "counts": {
            "payment_orders": state.orders.created(),
            "payment_orders_completed": state.orders.count(Class::Done),
            "payment_orders_returned": state.orders.count(Class::Returned),
        },
        "payment_orders": orders.collect::<Vec<_>>(),
    })
}
