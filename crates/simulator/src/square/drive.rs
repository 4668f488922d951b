//! What the issuer or the merchant's dashboard would do, done by the control interface.

use super::charge::{cancel, complete};
use super::links::pay_part;
use super::payments::{find, not_approved};
use super::prelude::*;
use super::refunds::{finish, refund};

/// Does `action` to the object; `body` holds what the action takes.
pub(crate) fn drive(state: &mut State, services: &Arc<Services>, what: Driven<'_>, body: &Value) -> Answer {
    let Driven { kind, id, action } = what;
    let context = Context::new(services);
    match (kind, action) {
        ("payments", "refund") => {
            let payment = find(state, id)?;
            let rest = payment.money.amount - payment.refunded;
            let money = payment.money.of(body.get("amount").and_then(Value::as_i64).unwrap_or(rest));
            let reason = body.get("reason").and_then(Value::as_str).map(str::to_owned);
            refund(state, &context, payment, money, reason, None).map(|refund| refund.json())
        }
        ("payments", "dispute") => {
            let reason = body.get("reason").and_then(Value::as_str).unwrap_or("NO_KNOWLEDGE");
            disputes::open(state, &context, id, reason)
        }
        ("disputes", "review") => disputes::advance(state, &context, id, "PROCESSING"),
        ("disputes", "close") => {
            let to = match body.get("status").and_then(Value::as_str) {
                Some("won") => "WON",
                Some("accepted") => "ACCEPTED",
                _ => "LOST",
            };
            disputes::advance(state, &context, id, to)
        }
        ("payments", "complete" | "cancel" | "lapse") => {
            let mut payment = find(state, id)?;
            if payment.status != "APPROVED" {
                return Err(not_approved(&payment, action));
            }
            if let Some(amount) = body.get("amount").and_then(Value::as_i64) {
                payment.money = payment.money.of(amount);
            }
            if action == "lapse" {
                payment.delayed_until.clone_from(&context.now);
            }
            let done = if action == "complete" { complete } else { cancel };
            Ok(done(state, &context, payment).json())
        }
        ("payment_links", "pay") => {
            let part = body.get("amount").and_then(Value::as_i64);
            pay_part(state, &context, id, part, Card::named("5858", Behavior::Approve))
                .map(|payment| payment.json())
        }
        ("refunds", "complete") => finish(state, &context, id, "COMPLETED").map(|refund| refund.json()),
        ("refunds", "reject") => finish(state, &context, id, "REJECTED").map(|refund| refund.json()),
        ("refunds", "fail") => finish(state, &context, id, "FAILED").map(|refund| refund.json()),
        _ => Err(Error::bad_request(format!("There is no action {action} on {kind}."))),
    }
}
