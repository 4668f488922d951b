//! The steps of a payment order after it was accepted, and those it takes by itself.

use serde_json::Value;
use tokio::time::{Duration, Instant};

use super::call::ModernTreasury;
use super::error::ModernTreasuryError;
use super::objects::PaymentOrder;
use super::reversals::record_return;
use super::state::{Context, ModernTreasuryState};
use crate::api::Api;

/// The shortest pause between two looks at what is due.
const PAUSE_MIN: Duration = Duration::from_millis(10);
/// The longest, which leaves room for a reset in between.
const PAUSE_MAX: Duration = Duration::from_secs(1);

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

pub(super) fn must_be(order: &PaymentOrder, statuses: &[&str]) -> Result<(), ModernTreasuryError> {
    if statuses.contains(&order.status) {
        return Ok(());
    }
    let message = format!("The payment order must be {}; it is {}.", statuses.join(" or "), order.status);
    Err(ModernTreasuryError::new("conflict", message))
}

/// Hands an order to the bank, unless that has happened.
pub(super) fn send(
    state: &mut ModernTreasuryState,
    context: &Context,
    order: &mut PaymentOrder,
) -> Result<(), ModernTreasuryError> {
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
pub(super) fn complete(
    state: &mut ModernTreasuryState,
    context: &Context,
    order: &mut PaymentOrder,
) -> Result<(), ModernTreasuryError> {
    send(state, context, order)?;
    order.status = "completed";
    state.keep(context, "completed", order);
    Ok(())
}

/// The receiving bank sends the money back, even after the order was completed.
pub(super) fn give_back(
    state: &mut ModernTreasuryState,
    context: &Context,
    order: &mut PaymentOrder,
    code: &str,
) -> Result<(), ModernTreasuryError> {
    if order.kind != "ach" {
        return Err(ModernTreasuryError::new("conflict", "Only ACH payment orders are returned."));
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
    state: &mut ModernTreasuryState,
    context: &Context,
    order: &mut PaymentOrder,
    reason: &str,
) -> Result<(), ModernTreasuryError> {
    must_be(order, &["needs_approval", "approved", "held", "pending", "sent"])?;
    order.status = "failed";
    order.vendor_failure_reason = Some(reason.to_owned());
    state.keep(context, "failed", order);
    Ok(())
}

/// Brings every order to its end at its time, until the simulator stops.
pub(crate) async fn settle_forever(api: Api<ModernTreasury>, after: Duration) {
    let pause = after.clamp(PAUSE_MIN, PAUSE_MAX);
    loop {
        // Whatever is accepted during the pause is due after it, so nothing can be missed for longer than a pause.
        let next = api.state().due.first().map(|(due, _)| *due);
        let wake = Instant::now() + pause;
        tokio::select! {
            () = api.services().stopped() => return,
            () = tokio::time::sleep_until(next.map_or(wake, |due| due.min(wake))) => {}
        }
        api.change_and_announce(|state| settle_due(state, &Context::new(api.services(), false))).await;
    }
}

fn settle_due(state: &mut ModernTreasuryState, context: &Context) {
    let now = Instant::now();
    while state.due.first().is_some_and(|(due, _)| *due <= now) {
        let Some((_, id)) = state.due.pop_first() else { return };
        let Some(mut order) = state.orders.get_owned(&id) else { continue };
        // Those that reached another end meanwhile, or are held up, stay as they are.
        let _ = match Fate::of(&order.account_number) {
            Fate::Returns(code) => give_back(state, context, &mut order, &code),
            Fate::Fails => fail(state, context, &mut order, "Rejected by the bank."),
            Fate::Completes => complete(state, context, &mut order),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sandboxs_account_numbers() {
        for (number, expected) in [
            ("10003", Fate::Returns("R03".to_owned())),
            ("10051", Fate::Returns("R51".to_owned())),
            ("100031", Fate::Completes),
            ("1000a", Fate::Completes),
            ("1111111110", Fate::Fails),
            ("11111111", Fate::Fails),
            ("1111111", Fate::Completes),
            ("123456789", Fate::Completes),
        ] {
            assert_eq!(Fate::of(number), expected, "{number}");
        }
    }
}
