//! What the organization's own people, the bank and the receiving banks would do, done by the control interface.

use super::prelude::*;
use super::reversals::answer;
use super::settle::{complete, fail, give_back, must_be, send};

/// Where an order stands that was not handed to the bank yet.
const WAITING: [&str; 4] = ["needs_approval", "approved", "held", "pending"];

/// Does `action` to the payment order; `body` holds what the action takes.
pub(crate) fn drive(state: &mut State, services: &Arc<Services>, what: Driven<'_>, body: &Value) -> Answer {
    let Driven { kind, id, action } = what;
    if kind != "payment_orders" {
        return Err(Error::new("not_found", format!("There are no {kind}.")));
    }
    let mut order = state.order(id)?;
    let context = Context::new(services, order.is_live);
    let text = |name: &str| body.get(name).and_then(Value::as_str);
    match action {
        "send" => send(state, &context, &mut order)?,
        "complete" => complete(state, &context, &mut order)?,
        // The line of the bank's statement it was matched with was another's.
        "unreconcile" => {
            must_be(&order, &["completed"])?;
            order.status = "sent";
            state.keep(&context, "unreconciled", &mut order);
        }
        "return" => give_back(state, &context, &mut order, text("code").unwrap_or("R03"))?,
        "fail" => fail(state, &context, &mut order, text("reason").unwrap_or("Rejected by the bank."))?,
        // The bank's acknowledgments say something, and change nothing.
        "acknowledge" => state.announce(&order, "acknowledged"),
        "correct" => {
            must_be(&order, &["sent", "completed"])?;
            let corrections = json!({
                "account_number": text("account_number"), "company_id": null, "company_name": null,
                "individual_identification_number": text("individual_identification_number"),
                "routing_number": text("routing_number"), "transaction_code": null,
            });
            record_return(state, &context, &order, text("code").unwrap_or("C01"), &corrections);
        }
        "complete_reversal" => return answer(state, &context, &order, "completed"),
        "return_reversal" => return answer(state, &context, &order, "returned"),
        "require_approval" | "hold" | "release" | "deny" | "cancel" => {
            must_be(&order, &WAITING)?;
            let (status, event) = match action {
                "require_approval" => ("needs_approval", "updated"),
                "hold" => ("held", "held"),
                "release" => ("approved", "approved"),
                "deny" => ("denied", "denied"),
                _ => ("cancelled", "cancelled"),
            };
            order.status = status;
            state.keep(&context, event, &mut order);
            if action == "release" {
                state.due.add(services, id);
            }
        }
        _ => return Err(Error::new("not_found", format!("There is no action {action}."))),
    }
    Ok(state.shown(&order))
}
