//! What the issuer, the customer's bank or the merchant's dashboard would do, done by the control interface.

use super::prelude::*;
use super::{attempt, intents, refunds, sessions, state::Destination};

/// Does `action` to the object; `body` holds what the action takes.
pub(crate) fn drive(state: &mut State, services: &Arc<Services>, what: Driven<'_>, body: &Value) -> Answer {
    let Driven { kind, id, action } = what;
    let context = Context::without_call(services);
    let word = |name: &str| body.get(name).and_then(Value::as_str);
    let flag = |name: &str| body.get(name).and_then(Value::as_bool);
    match (kind, action) {
        ("payment_intents", "authenticate" | "fail_authentication") => {
            let proven = action == "authenticate";
            attempt::authenticated(state, &context, id, proven).map(|intent| intent.json())
        }
        ("payment_intents", "settle" | "fail") => {
            attempt::settled(state, &context, id, action == "settle").map(|intent| intent.json())
        }
        ("payment_intents", "refund") => {
            let charge = refunds::charge_of(state, id)?.clone();
            let amount = body.get("amount").and_then(Value::as_i64);
            let reason = word("reason").map(str::to_owned);
            refunds::refund(state, &context, charge, amount, reason, Map::new()).map(|refund| refund.json())
        }
        ("payment_intents", "capture") => {
            let intent = intents::held(state, id)?;
            let amount = body.get("amount").and_then(Value::as_i64).unwrap_or(intent.amount);
            Ok(attempt::capture(state, &context, intent, amount).json())
        }
        ("payment_intents", "cancel") => {
            let intent = intents::held(state, id)?;
            Ok(intents::cancel_intent(state, &context, intent, None).json())
        }
        ("confirmation_tokens", "expire") => confirmation_tokens::expire(state, &context, id),
        ("payment_intents", "lapse") => intents::lapse(state, &context, id).map(|intent| intent.json()),
        ("payment_intents", "dispute") => {
            let claim = disputes::Claim {
                status: word("status"),
                withdraws: flag("withdraws"),
                amount: body.get("amount").and_then(Value::as_i64),
                currency: word("currency"),
            };
            disputes::open(state, &context, id, word("reason").unwrap_or("fraudulent"), &claim)
        }
        ("checkout_sessions", "present") => {
            let amount = body.get("amount").and_then(Value::as_i64).unwrap_or_default();
            let currency = word("currency").unwrap_or("eur").to_owned();
            let mut session = sessions::find(state, id)?;
            session.presentment = Some((amount, currency));
            state.sessions.put(&session.id, session.clone());
            Ok(session.json())
        }
        ("payment_methods", "switch_off" | "switch_on") => {
            if action == "switch_off" {
                state.switched_off.insert(id.to_owned());
            } else {
                state.switched_off.remove(id);
            }
            Ok(json!({ "id": id, "is_on": action == "switch_on" }))
        }
        ("event_destinations", "configure") => {
            let is_thin = word("payload") == Some("thin");
            state.destination = Destination { is_thin, version: word("api_version").map(str::to_owned) };
            Ok(json!({ "id": id, "payload": if is_thin { "thin" } else { "snapshot" } }))
        }
        ("event_destinations", "ping") => {
            let destination = json!({ "id": id, "object": "v2.core.event_destination" });
            state.emit_thin(&context, "v2.core.event_destination.ping", &destination);
            Ok(destination)
        }
        ("keys", "create") => {
            let permissions: Permissions = serde_json::from_value(body.clone())
                .map_err(|error| Error::invalid(format!("permissions: {error}")))?;
            state.keys.insert(id.to_owned(), permissions);
            Ok(json!({ "id": id }))
        }
        ("disputes", "review") => disputes::review(state, &context, id),
        ("disputes", "close") => {
            let end = (word("status") == Some("won"), flag("reinstates").unwrap_or(true));
            disputes::close(state, &context, id, end)
        }
        ("disputes", "reinstate") => disputes::reinstate(state, &context, id),
        ("balances", "drain" | "fill") => {
            state.is_drained = action == "drain";
            refunds::repay(state, &context)?;
            Ok(json!({ "object": "balance", "is_drained": state.is_drained }))
        }
        ("refunds", "succeed" | "fail") => {
            refunds::finish(state, &context, id, action == "succeed").map(|refund| refund.json())
        }
        _ => Err(Error::invalid(format!("There is no action {action} on {kind}."))),
    }
}
