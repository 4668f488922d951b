//! Captures, cancels, refunds, reversals, which are all answered `received`, and disputes: webhooks say what becomes of them.

use super::payments::find as find_payment;
use super::prelude::*;

/// What is asked about a payment, or a dispute about it: whatever has a reference of its own.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Modification {
    pub(crate) id: String,
    #[serde(deserialize_with = "archive::word")]
    pub(crate) kind: Word,
    pub(crate) payment: String,
    pub(crate) terms: Terms,
    /// `received`, `succeeded`, `refused`, and afterwards `failed`, for a refund also `reversed`; of a dispute the last event.
    #[serde(deserialize_with = "archive::word")]
    pub(crate) status: Word,
}

impl Kept for Modification {
    fn class(&self) -> Class {
        if self.status == "received" { Class::Open } else { Class::Closed }
    }
}

impl Modification {
    pub(super) fn new(context: &Context, payment: &Payment, kind: Word, terms: Terms) -> Self {
        Self { id: context.psp_reference(), kind, payment: payment.id.clone(), terms, status: "received" }
    }
}

/// `captures.create` makes a capture, and so on.
pub(super) fn create(state: &mut State, call: &Call) -> Answer {
    let (fields, context) = (call.fields()?, &call.context);
    let payment = find_payment(state, &call.id)?;
    let given = fields.value("amount").map(|_| fields.amount()).transpose()?;
    let amount = given.unwrap_or_else(|| payment.terms.amount.clone());
    if amount.currency != payment.terms.amount.currency {
        return Err(Error::of("138"));
    }
    let reference = fields.string("reference")?.unwrap_or(&payment.terms.reference).to_owned();
    let kind = call.operation.strip_suffix("s.create").unwrap_or_default();
    let made = Modification::new(context, &payment, kind, Terms { amount, reference, ..payment.terms });
    make(state, context, &made)?;
    Ok(call.echo(json!({ "paymentPspReference": payment.id, "pspReference": made.id, "status": "received" })))
}

/// Cancels what has a reference of the merchant's, for a day. That nothing has is no error: only the webhook tells.
pub(super) fn cancel_by_reference(state: &mut State, call: &Call) -> Answer {
    let (reference, context) = (call.fields()?.text("paymentReference")?, &call.context);
    let is_recent = |one: &&Payment| one.status == "Authorised" && one.made_at > context.now - DAY;
    let recent: Vec<_> = state.payments.labeled(Some(&reference)).filter(is_recent).cloned().collect();
    let mut id = context.psp_reference();
    for payment in recent {
        let made = Modification::new(context, &payment, "technical_cancel", payment.terms.clone());
        make(state, context, &made)?;
        id = made.id;
    }
    Ok(call.echo(json!({ "pspReference": id, "status": "received" })))
}

/// Takes a request, and where requests come to their end by themselves, ends it.
pub(super) fn make(state: &mut State, context: &Context, made: &Modification) -> Answer {
    state.modifications.put(&made.id, made.clone());
    if context.services.config.adyen_modifications_settle {
        drive(state, context, &made.id, "settle", &Value::Null)?;
    }
    Ok(json!(made))
}

/// Does to the payment what was asked for, or says why that is not possible.
fn apply(payment: &mut Payment, made: &Modification) -> Result<(), &'static str> {
    let (value, captured, is_held) = (made.terms.amount.value, payment.captured, payment.is_held());
    let left = if is_held { payment.terms.amount.value } else { captured - payment.refunded };
    match made.kind {
        "capture" if is_held && value <= left => payment.captured = value,
        "cancel" | "technical_cancel" | "reversal" if is_held => payment.status = "Cancelled",
        "refund" | "reversal" if captured > 0 && value <= left => payment.refunded += value,
        "refund" if captured == 0 => return Err("Transaction hasn't been captured, refund not possible"),
        "capture" | "refund" => return Err("Insufficient balance on payment"),
        _ => return Err("Transaction was already captured, canceled or refused"),
    }
    Ok(())
}

/// Ends a request as the payment or the acquirer has it. Later what succeeded fails, is repaired, or the money comes back.
pub(super) fn drive(state: &mut State, context: &Context, id: &str, action: &str, body: &Value) -> Answer {
    let mut made = state.modifications.get_owned(id).ok_or_else(|| Error::of("167"))?;
    let mut payment = find_payment(state, &made.payment)?;
    let (was_held, value) = (payment.is_held(), made.terms.amount.value);
    let (event, reason);
    (event, made.status, reason) = match (made.kind, made.status, action) {
        (kind, "received", "settle" | "refuse") => {
            let reason = body.get("reason").and_then(Value::as_str).unwrap_or("Refused by the acquirer");
            let outcome = if action == "refuse" { Err(reason) } else { apply(&mut payment, &made) };
            let event = match kind {
                "capture" => "CAPTURE",
                "cancel" => "CANCELLATION",
                "refund" => "REFUND",
                "reversal" => "CANCEL_OR_REFUND",
                _ => "TECHNICAL_CANCEL",
            };
            (event, if outcome.is_ok() { "succeeded" } else { "refused" }, outcome.err().unwrap_or_default())
        }
        ("capture", "succeeded", "fail") => {
            payment.captured = 0;
            ("CAPTURE_FAILED", "failed", "Capture Failed")
        }
        ("capture", "failed", "repair") => {
            payment.captured = value;
            ("CAPTURE", "succeeded", "")
        }
        ("refund" | "reversal", "succeeded", "fail") => {
            payment.refunded -= value;
            ("REFUND_FAILED", "failed", "Refund Failed")
        }
        ("refund" | "reversal", "succeeded", "reverse") => {
            payment.refunded -= value;
            ("REFUNDED_REVERSED", "reversed", "")
        }
        (_, status, _) => return Err(Error::invalid(format!("There is no {action} for what is {status}."))),
    };
    let reversed = if was_held { "cancel" } else { "refund" };
    let item = json!({
        "merchantReference": made.terms.reference, "amount": made.terms.amount, "reason": reason,
        "success": (made.status != "refused").to_string(),
        "additionalData": { "modification.action": (event == "CANCEL_OR_REFUND").then_some(reversed) },
    });
    state.tell(context, &payment, (event, id), item);
    state.payments.put(&made.payment, payment);
    state.modifications.put(id, made.clone());
    Ok(json!(made))
}

/// The events of a dispute, its status with each, and after which events each can come; `-` stands for none.
const LIFE: &str = include_str!("disputes.txt");

/// Opens a dispute about a payment. Without an event, the issuer announces a chargeback and takes the money.
pub(super) fn open_dispute(state: &mut State, context: &Context, payment: &str, body: &Value) -> Answer {
    let payment = find_payment(state, payment)?;
    if payment.captured == 0 {
        return Err(Error::invalid("The payment was not captured."));
    }
    let terms = payment.terms.of(body.get("amount").and_then(Value::as_i64).or(Some(payment.captured)));
    let dispute = Modification { status: "-", ..Modification::new(context, &payment, "dispute", terms) };
    match body.get("event").and_then(Value::as_str) {
        Some(event) => advance(state, context, dispute, &[event]),
        None => advance(state, context, dispute, &["NOTIFICATION_OF_CHARGEBACK", "CHARGEBACK"]),
    }
}

/// Does to a dispute what the issuer or the merchant would: any event by its name, or a whole ending.
pub(super) fn drive_dispute(state: &mut State, context: &Context, what: Driven<'_>, body: &Value) -> Answer {
    let dispute = state.disputes.get_owned(what.id).ok_or_else(|| Error::of("167"))?;
    let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default();
    let events: &[&str] = match (what.action, text("status"), dispute.status) {
        ("report", ..) => &[text("event")],
        ("review", ..) => &["INFORMATION_SUPPLIED"],
        ("close", "won", "CHARGEBACK_REVERSED") => &["ISSUER_RESPONSE_TIMEFRAME_EXPIRED"],
        ("close", "won", _) => &["CHARGEBACK_REVERSED", "ISSUER_RESPONSE_TIMEFRAME_EXPIRED"],
        ("close", _, "CHARGEBACK_REVERSED") => &["SECOND_CHARGEBACK"],
        ("close", _, "INFORMATION_SUPPLIED") => &["CHARGEBACK_REVERSED", "SECOND_CHARGEBACK"],
        ("close", ..) => &["DISPUTE_DEFENSE_PERIOD_ENDED"],
        (action, ..) => return Err(Error::invalid(format!("There is no action {action} on disputes."))),
    };
    advance(state, context, dispute, events)
}

fn advance(state: &mut State, context: &Context, mut made: Modification, events: &[&str]) -> Answer {
    let payment = find_payment(state, &made.payment)?;
    for event in events {
        let next = rows::<3>(LIFE).find(|[name, _, after]| name == event && is_listed(made.status, &[after]));
        let no_such = || Error::invalid(format!("After {} a dispute has no {event}.", made.status));
        let [event, status, _] = next.ok_or_else(no_such)?;
        made.status = event;
        state.disputes.put(&made.id, made.clone());
        let ends = (status == "Unresponded").then(|| time(context.now + 18 * DAY));
        let item = json!({
            "amount": made.terms.amount, "reason": "Other Fraud-Card Absent Environment",
            "additionalData": {
                "chargebackReasonCode": "10.4", "chargebackSchemeCode": payment.method(),
                "disputeStatus": Some(status).filter(|status| *status != "-"), "defensePeriodEndsAt": ends,
            },
        });
        state.tell(context, &payment, (event, &made.id), item);
    }
    Ok(json!(made))
}
