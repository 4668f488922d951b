//! What the customer, the issuer, the scheme or the merchant's dashboard would do, done by the control interface.

use super::modifications::{Modification, make};
use super::prelude::*;
use super::{modifications, offers, payments};

/// Does `action` to the object; `body` holds what the action takes.
pub(crate) fn drive(state: &mut State, services: &Arc<Services>, what: Driven<'_>, body: &Value) -> Answer {
    let Driven { kind, id, action } = what;
    let context = &Context::new(services);
    let text = |name: &str| body.get(name).and_then(Value::as_str);
    match (kind, action) {
        ("sessions" | "payment_links", "pay") => {
            let typed = |name: &str, usual: &str| json!(text(name).unwrap_or(usual));
            let method = json!({
                "number": typed("number", "4111111111111111"), "expiryMonth": typed("month", "03"),
                "expiryYear": typed("year", "2030"), "cvc": typed("cvc", "737"), "holderName": text("holder"),
            });
            let offer = offers::find(state, id)?;
            let payment = offers::pay_on(state, context, offer, &method)?;
            // What the browser would receive, and ask for the result with.
            let offer = offers::find(state, id)?;
            let result = offers::take_result(state, context, &offer);
            Ok(merged(json!(payment), json!({ "sessionResult": result })))
        }
        ("sessions" | "payment_links" | "payments", "expire" | "close") => {
            offers::end(state, context, id, if action == "close" { i64::MAX } else { 0 });
            Ok(json!({ "id": id }))
        }
        ("payments", "settle" | "authenticate") => {
            let mut payment = payments::find(state, id)?;
            let is_refused = text("status") == Some("refused");
            let usual = payment.refusal.filter(|_| action == "settle");
            payment.refusal = is_refused.then_some("2").or(usual);
            state.payments.put(id, payment);
            payments::resume(state, context, id).map(|payment| json!(payment))
        }
        ("payments", "capture" | "cancel" | "refund") => {
            let payment = payments::find(state, id)?;
            let kinds = ["capture", "cancel", "refund"].into_iter().find(|kind| *kind == action);
            let rest = (action == "refund").then_some(payment.captured - payment.refunded);
            let terms = payment.terms.of(body.get("amount").and_then(Value::as_i64).or(rest));
            make(state, context, &Modification::new(context, &payment, kinds.unwrap_or_default(), terms))
        }
        ("payments", "dispute") => modifications::open_dispute(state, context, id, body),
        ("disputes", _) => modifications::drive_dispute(state, context, what, body),
        ("modifications", _) => modifications::drive(state, context, id, action, body),
        _ => Err(Error::invalid(format!("There is no action {action} on {kind}."))),
    }
}
