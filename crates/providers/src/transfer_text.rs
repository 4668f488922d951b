//! What an order says in words, as a bank's file can carry it. Shared by the providers of bank transfers.

use serde_json::Value;
use tollgate_domain::ach::TransferOrder;

use crate::ascii::ascii;

/// What a statement says where the caller said nothing.
const NEUTRAL_TEXT: &str = "Transfer";

pub(crate) fn description(order: &TransferOrder, length_max: usize) -> String {
    let text = order.description.as_deref().map(|text| ascii(text, length_max));
    text.filter(|text| !text.is_empty()).unwrap_or_else(|| NEUTRAL_TEXT.to_owned())
}

/// Who the money is for: the account's holder, or else the customer.
pub(crate) fn holder(order: &TransferOrder, length_max: usize) -> Option<String> {
    let names = [&order.account_name, &order.customer_name];
    names.into_iter().map(|name| ascii(name, length_max)).find(|name| !name.is_empty())
}

/// The remittance information: text is cut to the length the rail carries, anything else is sent only if all of it fits.
pub(crate) fn remittance(order: &TransferOrder, length_max: usize) -> Option<String> {
    let told: Value = serde_json::from_str(order.remittance.as_deref()?).ok()?;
    let text = match told {
        Value::String(text) => ascii(&text, length_max),
        Value::Null => return None,
        other => Some(ascii(&other.to_string(), usize::MAX)).filter(|text| text.len() <= length_max)?,
    };
    (!text.is_empty()).then_some(text)
}
