//! Amounts as the adapters write them: whole minor units. Anything else makes the whole answer unreadable, because an amount
//! that cannot be read cannot be compared.

use serde::{Deserialize as _, Deserializer, de::Error as _};
use tollgate_domain::Minor;

pub(crate) fn minor<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Minor, D::Error> {
    let amount = u64::deserialize(deserializer)?;
    Minor::new(amount).ok_or_else(|| D::Error::custom("an amount is too large"))
}

pub(crate) fn maybe_minor<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Minor>, D::Error> {
    let amount = Option::<u64>::deserialize(deserializer)?;
    let read = |amount| Minor::new(amount).ok_or_else(|| D::Error::custom("an amount is too large"));
    amount.map(read).transpose()
}
