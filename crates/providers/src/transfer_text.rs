//! What an order says in words, as a bank's file can carry it. Shared by the providers of bank transfers.

use serde_json::Value;
use tollgate_domain::ach::TransferOrder;
use tollgate_engine::ports::OrderFault;

use crate::ascii::{ascii, is_spelled};

/// What a statement says where the caller said nothing.
const NEUTRAL_TEXT: &str = "Transfer";
/// What an entry's description has room for.
pub(crate) const ENTRY_DESCRIPTION_MAX: usize = 10;

pub(crate) fn description(order: &TransferOrder, length_max: usize) -> String {
    let texts = [&order.statement_descriptor, &order.description];
    let mut texts = texts.into_iter().flatten().map(|text| ascii(text, length_max));
    texts.find(|text| !text.is_empty()).unwrap_or_else(|| NEUTRAL_TEXT.to_owned())
}

/// The description of an ACH entry, where there has to be a certain one. What the network's rules want goes before what the
/// caller wants.
pub(crate) fn entry_description(order: &TransferOrder) -> Option<String> {
    let wanted = order.purpose.map(|purpose| purpose.entry_description().to_owned());
    let own = || order.statement_descriptor.as_deref().map(|text| ascii(text, ENTRY_DESCRIPTION_MAX));
    wanted.or_else(own).filter(|text| !text.is_empty())
}

/// Who the money is for: the account's holder, or else the customer.
pub(crate) fn holder(order: &TransferOrder, length_max: usize) -> Option<String> {
    let names = [&order.account_name, &order.customer_name];
    names.into_iter().map(|name| ascii(name, length_max)).find(|name| !name.is_empty())
}

/// The remittance information, whole: an order that has more than its rail carries was refused before it was recorded. One
/// recorded by an earlier release is still sent as that release would have: a text is cut, anything else left out.
pub(crate) fn remittance(order: &TransferOrder, length_max: usize) -> Option<String> {
    let text = match told(order)? {
        Value::String(text) => ascii(&text, length_max),
        other => Some(ascii(&other.to_string(), usize::MAX)).filter(|text| text.len() <= length_max)?,
    };
    (!text.is_empty()).then_some(text)
}

/// Refuses remittance information that the rail cannot carry whole.
pub(crate) fn check_remittance(order: &TransferOrder, length_max: usize) -> Result<(), OrderFault> {
    let Some(told) = told(order) else { return Ok(()) };
    let text = told.as_str().map_or_else(|| told.to_string(), str::to_owned);
    let written = ascii(&text, usize::MAX);
    if written.len() <= length_max && text.chars().all(is_spelled) {
        return Ok(());
    }
    let channel = order.channel.label();
    let carries = format!(
        "{channel} carries at most {length_max} Latin letters, digits and punctuation marks (an object counts as its JSON text)"
    );
    let message = if written.len() > length_max {
        let length = written.len();
        format!("does not fit: {carries}, and this has {length}. Shorten it, or put a reference in its place")
    } else {
        format!("has characters that cannot be sent: {carries}. Replace them")
    };
    Err(OrderFault { field: "remittanceData", message })
}

fn told(order: &TransferOrder) -> Option<Value> {
    let told: Value = serde_json::from_str(order.remittance.as_deref()?).ok()?;
    (!told.is_null()).then_some(told)
}
