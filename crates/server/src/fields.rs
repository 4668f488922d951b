//! The rules of request fields, each in one place. A request's faults are collected and answered all at once.

use std::borrow::Cow;

use serde_json::value::RawValue;
use tollgate_domain::{Currency, PaymentMethod, Principal};

use crate::{
    error::{ApiError, Detail},
    json_text::JsonText,
};

/// A field of a request body: absent, null, or a value not yet looked at.
pub(crate) type Raw<'a> = Option<&'a RawValue>;

const AMOUNT_RULE: &str = "must be a whole number of minor units from 1 to 1000000000000000000, as digits without sign, point or leading zero";

/// Collects what is wrong with a request.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<Detail>);

impl Faults {
    /// Notes a fault; the `None` stands in for the value that could not be read.
    pub(crate) fn add<T>(&mut self, field: &'static str, message: impl Into<Cow<'static, str>>) -> Option<T> {
        self.0.push(Detail { field: field.into(), message: message.into() });
        None
    }

    /// The error to answer, once every field has been looked at.
    pub(crate) fn into_error(self) -> ApiError {
        ApiError::invalid(self.0)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Every value was read, or the faults say why not.
pub(crate) fn complete<T>(faults: Faults, value: Option<T>) -> Result<T, ApiError> {
    match value {
        Some(value) if faults.is_empty() => Ok(value),
        _ => Err(faults.into_error()),
    }
}

/// `amountMinor`: a JSON integer or a string of digits; exact beyond 2^53.
pub(crate) fn amount(field: &'static str, raw: Raw<'_>, faults: &mut Faults) -> Option<Principal> {
    let Some(raw) = raw else { return faults.add(field, "is required") };
    let read = match JsonText::of(raw) {
        JsonText::String(digits) => Principal::parse(&digits),
        JsonText::Number(digits) => Principal::parse(digits),
        _ => None,
    };
    read.or_else(|| faults.add(field, AMOUNT_RULE))
}

/// `currency`: three letters, active, and USD for ACH.
pub(crate) fn currency(raw: Raw<'_>, method: Option<PaymentMethod>, faults: &mut Faults) -> Option<Currency> {
    const FIELD: &str = "currency";
    let Some(raw) = raw else { return faults.add(FIELD, "is required") };
    let read = match JsonText::of(raw) {
        JsonText::String(code) => Currency::parse(&code),
        _ => None,
    };
    match read {
        None => faults.add(FIELD, "must be an active three-letter ISO 4217 code, such as USD"),
        Some(currency) if method == Some(PaymentMethod::Ach) && currency != Currency::USD => {
            faults.add(FIELD, "must be USD for ach")
        }
        read => read,
    }
}

/// One of a few words; `default` where the field is left out.
pub(crate) fn word<T>(
    field: &'static str,
    raw: Raw<'_>,
    default: T,
    parse: impl FnOnce(&str) -> Option<T>,
    known: &'static str,
    faults: &mut Faults,
) -> Option<T> {
    let Some(raw) = raw else { return Some(default) };
    let read = match JsonText::of(raw) {
        JsonText::String(text) => parse(&text),
        _ => None,
    };
    read.or_else(|| faults.add(field, format!("must be one of: {known}")))
}

/// A required text of 1 to `most` characters that is not only white space and holds no control characters, which
/// some databases do not take and no list shows.
pub(crate) fn required_text(
    field: &'static str,
    raw: Raw<'_>,
    most: usize,
    faults: &mut Faults,
) -> Option<String> {
    let Some(raw) = raw else { return faults.add(field, "is required") };
    let is_right = |text: &str| {
        !text.trim().is_empty() && text.chars().count() <= most && !text.chars().any(char::is_control)
    };
    match JsonText::of(raw) {
        JsonText::String(text) if is_right(&text) => Some(text.into_owned()),
        _ => faults
            .add(field, format!("must be a text of 1 to {most} characters, none of them control characters")),
    }
}

/// A whole number within bounds; `default` where the field is left out.
pub(crate) fn whole_number(
    field: &'static str,
    raw: Raw<'_>,
    default: u64,
    most: u64,
    faults: &mut Faults,
) -> Option<u64> {
    let Some(raw) = raw else { return Some(default) };
    let read = match JsonText::of(raw) {
        JsonText::Number(digits) => digits.parse().ok().filter(|number| *number <= most),
        _ => None,
    };
    read.or_else(|| faults.add(field, format!("must be a whole number from 0 to {most}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T>(json: &str, reader: impl FnOnce(Raw<'_>, &mut Faults) -> Option<T>) -> Result<T, Vec<Detail>> {
        let raw: &RawValue = serde_json::from_str(json).unwrap();
        let mut faults = Faults::default();
        reader(Some(raw), &mut faults).ok_or(faults.0)
    }

    #[test]
    fn amounts_are_exact_in_both_forms() {
        for json in ["9007199254740993", "\"9007199254740993\"", "\"900719925474099\\u0033\""] {
            let amount = read(json, |raw, faults| amount("amountMinor", raw, faults)).unwrap();
            assert_eq!(amount.minor(), 9_007_199_254_740_993);
        }
        for json in [
            "0",
            "-1",
            "1.0",
            "1e2",
            "\"\"",
            "\"1.0\"",
            "\" 1\"",
            "\"01\"",
            "true",
            "[1]",
            "{}",
            "10000000000000000000000",
        ] {
            assert!(read(json, |raw, faults| amount("amountMinor", raw, faults)).is_err(), "{json}");
        }
    }
}
