//! What was accepted, for tests that ask whether a customer was charged at most once.

use crate::call_handler::json_response;
use crate::increase::Transfer;
use crate::modern_treasury::PaymentOrder;
use crate::prelude::*;
use crate::query::Query;
use axum::extract::State;

const SHOWN: usize = 1_000;

pub(super) async fn show(State(all): State<Providers>, request: Request) -> Response {
    let query = Query::parse(request.uri().query().unwrap_or_default());
    let limit = query.get("limit").and_then(|limit| limit.parse().ok()).unwrap_or(SHOWN);
    let body = json!({
        "calls": all.services.calls(), "webhooks": all.services.queue.tally(),
        "stripe": stripe(&all, limit), "square": square(&all, limit), "increase": increase(&all, limit),
        "modern_treasury": modern_treasury(&all, limit), "adyen": adyen(&all, limit),
    });
    json_response(StatusCode::OK, &body)
}

fn rows<T: Kept>(collection: &Collection<T>, limit: usize, row: impl Fn(&T) -> Value) -> Vec<Value> {
    collection.newest_first().take(limit).map(row).collect()
}

fn stripe(all: &Providers, limit: usize) -> Value {
    let state = all.stripe.state();
    json!({
        "counts": {
            "payment_intents": state.intents.created(), "charges": state.charges.created(),
            "charges_succeeded": state.charges.count(Class::Done), "refunds": state.refunds.created(),
            "checkout_sessions": state.sessions.created(),
        },
        "payment_intents": rows(&state.intents, limit, |intent| {
            object!(intent: id amount amount_received currency status idempotency_key metadata;)
        }),
        "charges": rows(&state.charges, limit, |charge| {
            object!(charge: id amount amount_captured amount_refunded captured status; "payment_intent": charge.intent)
        }),
        "refunds": rows(&state.refunds, limit, |refund| {
            object!(refund: id amount currency charge status idempotency_key; "payment_intent": refund.intent)
        }),
        "checkout_sessions": rows(&state.sessions, limit, |session| {
            object!(session: id amount currency status idempotency_key metadata; "payment_intent": session.intent)
        }),
    })
}

fn square(all: &Providers, limit: usize) -> Value {
    let state = all.square.state();
    let of_order = |id: &str| state.orders.get(id).and_then(|order| order.reference_id.clone());
    json!({
        "counts": {
            "payments": state.payments.created(), "payments_charged": state.payments.count(Class::Done),
            "refunds": state.refunds.created(), "payment_links": state.links.created(),
        },
        "payments": rows(&state.payments, limit, |payment| {
            let shown = object!(payment: id status refunded idempotency_key order_id reference_id;);
            let reference = json!(of_order(&payment.order_id));
            let (amount, currency) = (json!(payment.money.amount), json!(payment.money.currency));
            with(shown, [("amount", amount), ("currency", currency), ("order_reference_id", reference)])
        }),
        "refunds": rows(&state.refunds, limit, |refund| {
            let money = [("amount", json!(refund.money.amount)), ("currency", json!(refund.money.currency))];
            with(object!(refund: id payment_id status idempotency_key;), money)
        }),
        "payment_links": rows(&state.links, limit, |link| {
            object!(link: id order_id idempotency_key checkout_options;)
        }),
    })
}

fn increase(all: &Providers, limit: usize) -> Value {
    let state = all.increase.state();
    json!({
        "counts": {
            "ach_transfers": state.ach.created(), "ach_transfers_settled": state.ach.count(Class::Done),
            "ach_transfers_returned": state.ach.count(Class::Returned),
            "real_time_payments_transfers": state.rtp.created(),
            "real_time_payments_transfers_complete": state.rtp.count(Class::Done),
            "fednow_transfers": state.fednow.created(),
        },
        "ach_transfers": rows(&state.ach, limit, Transfer::summary),
        "real_time_payments_transfers": rows(&state.rtp, limit, Transfer::summary),
        "fednow_transfers": rows(&state.fednow, limit, Transfer::summary),
    })
}

fn modern_treasury(all: &Providers, limit: usize) -> Value {
    let state = all.modern_treasury.state();
    json!({
        "counts": {
            "payment_orders": state.orders.created(),
            "payment_orders_completed": state.orders.count(Class::Done),
            "payment_orders_returned": state.orders.count(Class::Returned),
        },
        "payment_orders": rows(&state.orders, limit, PaymentOrder::summary),
    })
}

fn adyen(all: &Providers, limit: usize) -> Value {
    let state = all.adyen.state();
    json!({
        "counts": {
            "sessions": state.sessions.created(), "payment_links": state.links.created(),
            "payments": state.payments.created(), "payments_authorised": state.payments.count(Class::Done),
            "modifications": state.modifications.created(),
        },
        "sessions": rows(&state.sessions, limit, |session| {
            session.terms.beside(object!(session: id status expires_at;))
        }),
        "payment_links": rows(&state.links, limit, |link| {
            link.terms.beside(object!(link: id status expires_at;))
        }),
        "payments": rows(&state.payments, limit, |payment| {
            payment.terms.beside(object!(payment: id of status captured refunded;))
        }),
        "modifications": rows(&state.modifications, limit, |made| {
            made.terms.beside(object!(made: id kind payment status;))
        }),
        "disputes": rows(&state.disputes, limit, |dispute| {
            dispute.terms.beside(object!(dispute: id payment; "last": dispute.status))
        }),
    })
}
