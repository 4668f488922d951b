//! Charging an intent: approval, decline, proof of identity, capture.

use super::prelude::*;

/// Tries a method on an intent. A decline is an error that carries the intent, which can be tried again.
pub(super) fn attempt(
    state: &mut State,
    context: &Context,
    mut intent: Intent,
    method: &Method,
) -> Answer<Intent> {
    if !intent.method_types.iter().any(|name| name == method.kind()) {
        let message = format!(
            "The PaymentMethod provided ({}) is not allowed for this PaymentIntent. Please attach a PaymentMethod of \
             one of the following types: {}.",
            method.kind(),
            intent.method_types.join(", ")
        );
        return Err(Error::invalid(message).code("payment_intent_incompatible_payment_method"));
    }
    intent.surcharge.check(intent.amount, method)?;
    intent.show_surcharge(context, Some(method));
    intent.method = Some(method.id.clone());
    intent.next_action = None;
    intent.last_payment_error = None;
    match method.kind.timing {
        Timing::Now => {}
        Timing::Debit => {
            intent.status = "processing";
            let charge = new_charge(context, &intent, method, "pending");
            intent.latest_charge = Some(charge.id.clone());
            state.charges.put(&charge.id.clone(), charge);
            let intent = keep(state, context, intent, "payment_intent.processing");
            complete(state, context, &intent);
            return Ok(intent);
        }
        Timing::Voucher(days) => {
            intent.next_action = Some(method_types::voucher(context, method.kind, days));
            intent.status = "requires_action";
            let intent = keep(state, context, intent, "payment_intent.requires_action");
            complete(state, context, &intent);
            return Ok(intent);
        }
    }
    match method.card.behavior {
        Behavior::Approve | Behavior::RefundLater => Ok(approve(state, context, intent, method, false)),
        Behavior::Dispute => {
            let intent = approve(state, context, intent, method, false);
            if intent.status == "succeeded" {
                disputes::open(state, context, &intent.id, "fraudulent", &disputes::Claim::default())?;
            }
            Ok(intent)
        }
        Behavior::Decline(reason) => Err(decline(state, context, intent, method, reason)),
        Behavior::Authenticate => {
            let url = format!("{}/authenticate/{}", context.services.base_url(Wire::Stripe), intent.id);
            intent.next_action = Some(json!({
                "type": "redirect_to_url",
                "redirect_to_url": { "url": url, "return_url": intent.return_url },
            }));
            intent.status = "requires_action";
            Ok(keep(state, context, intent, "payment_intent.requires_action"))
        }
    }
}

/// Takes the money, or holds it where the intent wants to be captured.
pub(super) fn approve(
    state: &mut State,
    context: &Context,
    mut intent: Intent,
    method: &Method,
    authenticated: bool,
) -> Intent {
    let mut charge = Charge { authenticated, ..new_charge(context, &intent, method, "succeeded") };
    if !intent.manual_capture {
        charge.captured = true;
        charge.amount_captured = charge.amount;
    }
    intent.latest_charge = Some(charge.id.clone());
    intent.next_action = None;
    state.emit(context, "charge.succeeded", charge.json());
    state.charges.put(&charge.id.clone(), charge);
    if intent.manual_capture {
        intent.status = "requires_capture";
        intent.amount_capturable = intent.amount;
        keep(state, context, intent, "payment_intent.amount_capturable_updated")
    } else {
        succeed(state, context, intent)
    }
}

fn succeed(state: &mut State, context: &Context, mut intent: Intent) -> Intent {
    intent.status = "succeeded";
    intent.amount_received = intent.amount;
    intent.amount_capturable = 0;
    let intent = keep(state, context, intent, "payment_intent.succeeded");
    complete(state, context, &intent);
    intent
}

/// The session an intent belongs to is complete once the customer has nothing more to do on its page. Where the money came
/// later, or did not, that is another event.
pub(super) fn complete(state: &mut State, context: &Context, intent: &Intent) {
    let Some(mut session) = intent.session.as_ref().and_then(|id| state.sessions.get_owned(id)) else {
        return;
    };
    let was_open = session.is_open();
    session.status = "complete";
    session.paid = intent.status == "succeeded";
    let event = match (was_open, session.paid) {
        (true, _) => "checkout.session.completed",
        (false, true) => "checkout.session.async_payment_succeeded",
        (false, false) => "checkout.session.async_payment_failed",
    };
    state.sessions.put(&session.id, session.clone());
    state.emit(context, event, session.json());
}

pub(super) fn decline(
    state: &mut State,
    context: &Context,
    mut intent: Intent,
    method: &Method,
    reason: Reason,
) -> Error {
    let error = Error::declined(reason);
    let field = |name: &str| error.fields.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut charge = new_charge(context, &intent, method, "failed");
    charge.failure = Some((field("code"), field("decline_code"), field("message")));
    let error = error.with("charge", charge.id.as_str()).with("payment_method", method.json());
    intent.latest_charge = Some(charge.id.clone());
    state.emit(context, "charge.failed", charge.json());
    state.charges.put(&charge.id.clone(), charge);
    let intent = fail(state, context, intent, error.fields.clone().into());
    error.with("payment_intent", intent.json())
}

/// Sends an intent back to wait for another method.
fn fail(state: &mut State, context: &Context, mut intent: Intent, error: Value) -> Intent {
    intent.status = "requires_payment_method";
    intent.last_payment_error = Some(error);
    intent.next_action = None;
    intent.method = None;
    keep(state, context, intent, "payment_intent.payment_failed")
}

/// The customer proved who they are, or could not.
pub(super) fn authenticated(state: &mut State, context: &Context, id: &str, proven: bool) -> Answer<Intent> {
    let (intent, method) = waiting(state, id, "requires_action", |timing| timing == Timing::Now)?;
    if proven {
        return Ok(approve(state, context, intent, &method, true));
    }
    let message = "We are unable to authenticate your payment method.";
    let error = Error::invalid(message).code("payment_intent_authentication_failure");
    Ok(fail(state, context, intent, error.with("payment_method", method.json()).fields.into()))
}

/// A bank debit came through, or did not; a voucher was paid, or has expired.
pub(super) fn settled(state: &mut State, context: &Context, id: &str, paid: bool) -> Answer<Intent> {
    let is_voucher = |timing| matches!(timing, Timing::Voucher(_));
    let (intent, method) = waiting(state, id, "requires_action", is_voucher)
        .or_else(|_| waiting(state, id, "processing", |timing| timing == Timing::Debit))?;
    let charge = intent.latest_charge.as_ref().and_then(|charge| state.charges.get_owned(charge));
    let mut charge = charge.unwrap_or_else(|| new_charge(context, &intent, &method, "pending"));
    if paid {
        (charge.status, charge.captured, charge.amount_captured) = ("succeeded", true, charge.amount);
        state.emit(context, "charge.succeeded", charge.json());
        state.charges.put(&charge.id.clone(), charge);
        return Ok(succeed(state, context, intent));
    }
    let error = if is_voucher(method.kind.timing) {
        let message = "The payment attempt expired: the customer did not pay the voucher in time.";
        Error::invalid(message).code("payment_intent_payment_attempt_expired")
    } else {
        charge.status = "failed";
        state.emit(context, "charge.failed", charge.json());
        state.charges.put(&charge.id.clone(), charge);
        let message = "The customer's bank returned the payment.";
        Error::invalid(message).code("payment_intent_payment_attempt_failed")
    };
    let intent = fail(state, context, intent, error.fields.into());
    complete(state, context, &intent);
    Ok(intent)
}

fn waiting(
    state: &State,
    id: &str,
    status: &'static str,
    fits: impl Fn(Timing) -> bool,
) -> Answer<(Intent, Method)> {
    let intent =
        state.intents.get_owned(id).ok_or_else(|| Error::not_found("payment_intent", id, "intent"))?;
    let method = intent.method.as_ref().and_then(|method| state.methods.get_owned(method));
    match method {
        Some(method) if intent.status == status && fits(method.kind.timing) => Ok((intent, method)),
        _ => Err(Error::unexpected_state(format!(
            "The PaymentIntent has a status of {}, not {}.",
            intent.status, status
        ))),
    }
}

/// Captures what is held, whole or in part.
pub(super) fn capture(state: &mut State, context: &Context, mut intent: Intent, amount: i64) -> Intent {
    if let Some(mut charge) = intent.latest_charge.as_ref().and_then(|id| state.charges.get_owned(id)) {
        charge.captured = true;
        charge.amount_captured = amount;
        state.emit(context, "charge.captured", charge.json());
        state.charges.put(&charge.id.clone(), charge);
    }
    intent.status = "succeeded";
    intent.amount_received = amount;
    intent.amount_capturable = 0;
    let intent = keep(state, context, intent, "payment_intent.succeeded");
    // The page was complete when the money was held; now it is paid.
    if let Some(mut session) = intent.session.as_ref().and_then(|id| state.sessions.get_owned(id)) {
        session.paid = true;
        state.sessions.put(&session.id.clone(), session);
    }
    intent
}

/// Stores an intent and says what happened to it.
pub(super) fn keep(state: &mut State, context: &Context, intent: Intent, event: &str) -> Intent {
    state.intents.put(&intent.id, intent.clone());
    state.emit(context, event, intent.json());
    intent
}

fn new_charge(context: &Context, intent: &Intent, method: &Method, status: &'static str) -> Charge {
    let id = context.id("ch_");
    Charge {
        receipt_url: format!("{}/receipts/{id}", context.services.base_url(Wire::Stripe)),
        id,
        amount: intent.amount,
        amount_refunded: 0,
        intent: intent.id.clone(),
        status,
        amount_captured: 0,
        captured: false,
        created: context.now,
        currency: intent.currency.clone(),
        description: intent.description.clone(),
        disputed: false,
        failure: None,
        metadata: intent.metadata.clone(),
        method: method.clone(),
        receipt_email: intent.receipt_email.clone(),
        authenticated: false,
    }
}
