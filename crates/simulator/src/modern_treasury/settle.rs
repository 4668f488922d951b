//! The steps of a payment order after it was accepted, and those it takes by itself.

use super::prelude::*;
use crate::due::Settles;

/// What the sandbox does with an order, by the receiving account's number.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    Completes,
    /// `100XX`: returned with RXX.
    Returns(String),
    /// `11111111…`: the bank refuses it.
    Fails,
}

impl Fate {
    fn of(account_number: &str) -> Self {
        match account_number.strip_prefix("100") {
            Some(code) if code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_digit()) => {
                Self::Returns(format!("R{code}"))
            }
            _ if account_number.starts_with("11111111") => Self::Fails,
            _ => Self::Completes,
        }
    }
}

pub(super) fn must_be(order: &PaymentOrder, statuses: &[&str]) -> Answer<()> {
    if statuses.contains(&order.status) {
        return Ok(());
    }
    let message = format!("The payment order must be {}; it is {}.", statuses.join(" or "), order.status);
    Err(Error::new("conflict", message))
}

/// Hands an order to the bank, unless that has happened.
pub(super) fn send(state: &mut State, context: &Context, order: &mut PaymentOrder) -> Answer<()> {
    if order.status == "sent" {
        return Ok(());
    }
    must_be(order, &["approved", "pending"])?;
    order.status = "processing";
    state.keep(context, "begin_processing", order);
    order.status = "sent";
    state.keep(context, "finish_processing", order);
    Ok(())
}

/// The order is found on the bank's statement.
pub(super) fn complete(state: &mut State, context: &Context, order: &mut PaymentOrder) -> Answer<()> {
    send(state, context, order)?;
    order.status = "completed";
    state.keep(context, "completed", order);
    Ok(())
}

/// The receiving bank sends the money back, even after the order was completed.
pub(super) fn give_back(
    state: &mut State,
    context: &Context,
    order: &mut PaymentOrder,
    code: &str,
) -> Answer<()> {
    if order.kind != "ach" {
        return Err(Error::new("conflict", "Only ACH payment orders are returned."));
    }
    if order.status != "completed" {
        send(state, context, order)?;
    }
    record_return(state, context, order, code, &Value::Null);
    order.status = "returned";
    state.keep(context, "returned", order);
    Ok(())
}

/// The bank does not carry the order out.
pub(super) fn fail(
    state: &mut State,
    context: &Context,
    order: &mut PaymentOrder,
    reason: &str,
) -> Answer<()> {
    must_be(order, &["needs_approval", "approved", "held", "pending", "sent"])?;
    order.status = "failed";
    order.vendor_failure_reason = Some(reason.to_owned());
    state.keep(context, "failed", order);
    Ok(())
}

impl Settles for State {
    fn due(&mut self) -> &mut Due {
        &mut self.due
    }

    fn settle_due(&mut self, services: &Arc<Services>) {
        let context = &Context::new(services, false);
        while let Some(id) = self.due.take() {
            let Some(mut order) = self.orders.get_owned(&id) else { continue };
            // Those that reached another end meanwhile, or are held up, stay as they are.
            let _ = match Fate::of(&order.account_number) {
                Fate::Returns(code) => give_back(self, context, &mut order, &code),
                Fate::Fails => fail(self, context, &mut order, "Rejected by the bank."),
                Fate::Completes => complete(self, context, &mut order),
            };
        }
    }
}
