//! The rules of request fields, each in one place. A request's faults are collected and answered all at once.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::{Value, value::RawValue};
use tollgate_domain::{
    Currency, PaymentMethod, Principal,
    metadata::{Metadata, MetadataValue},
};
use tollgate_vault::contains_secret_key;

use crate::{
    error::{ApiError, Detail},
    json_text::JsonText,
};

/// A field of a request body: absent, null, or a value not yet looked at.
pub(crate) type Raw<'a> = Option<&'a RawValue>;

const LARGEST_METADATA_BYTES: usize = 16 * 1024;
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

/// `metadata`: an object of at most 16 KiB without any of this service's secret keys in it.
pub(crate) fn metadata(raw: Raw<'_>, faults: &mut Faults) -> Option<Metadata> {
    const FIELD: &str = "metadata";
    let Some(raw) = raw else { return Some(Metadata::default()) };
    let JsonText::Object(text) = JsonText::of(raw) else { return faults.add(FIELD, "must be a JSON object") };
    if text.len() > LARGEST_METADATA_BYTES
        && compact_length(text).is_none_or(|length| length > LARGEST_METADATA_BYTES)
    {
        return faults.add(FIELD, "must be at most 16384 bytes of JSON");
    }
    match serde_json::from_str(text) {
        Ok(ReadMetadata { holds_secret: true, .. }) => {
            faults.add(FIELD, "holds one of this service's secret keys; take it out, and rotate that key")
        }
        Ok(ReadMetadata { pairs, .. }) => Some(pairs.into_iter().collect()),
        Err(_) => faults.add(FIELD, "is nested too deeply or holds text that is not valid Unicode"),
    }
}

/// The size without the white space between tokens.
fn compact_length(text: &str) -> Option<usize> {
    serde_json::from_str::<Value>(text).ok().map(|value| value.to_string().len())
}

struct ReadMetadata {
    pairs: Vec<(String, MetadataValue)>,
    holds_secret: bool,
}

impl<'de> Deserialize<'de> for ReadMetadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MetadataVisitor)
    }
}

struct MetadataVisitor;

impl<'de> Visitor<'de> for MetadataVisitor {
    type Value = ReadMetadata;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ReadMetadata, A::Error> {
        let mut read = ReadMetadata { pairs: Vec::new(), holds_secret: false };
        while let Some((key, raw)) = map.next_entry::<String, &RawValue>()? {
            read.holds_secret |= contains_secret_key(&key);
            let value = match JsonText::of(raw) {
                JsonText::String(text) => {
                    read.holds_secret |= contains_secret_key(&text);
                    MetadataValue::Scalar(text.into_owned())
                }
                JsonText::Number(digits) => MetadataValue::Scalar(digits.to_owned()),
                JsonText::Boolean(truth) => MetadataValue::Scalar(truth.to_string()),
                JsonText::Null => MetadataValue::Composite,
                JsonText::BrokenString => return Err(serde::de::Error::custom("not Unicode")),
                JsonText::Object(text) | JsonText::Array(text) => {
                    let value: Value = serde_json::from_str(text).map_err(serde::de::Error::custom)?;
                    read.holds_secret |= holds_secret(&value);
                    MetadataValue::Composite
                }
            };
            read.pairs.push((key, value));
        }
        Ok(read)
    }
}

/// Looks into every text of a value. The reader above bounds the depth.
fn holds_secret(value: &Value) -> bool {
    match value {
        Value::String(text) => contains_secret_key(text),
        Value::Array(items) => items.iter().any(holds_secret),
        Value::Object(map) => map.iter().any(|(key, value)| contains_secret_key(key) || holds_secret(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
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

    #[test]
    fn metadata_scalars_become_text_and_the_rest_is_merely_there() {
        let json = r#"{"a":"x","b":5,"c":true,"d":null,"e":[1],"f":1.50,"a2":"\u00fc"}"#;
        let metadata = read(json, metadata).unwrap();
        for (key, text) in [("a", "x"), ("b", "5"), ("c", "true"), ("f", "1.50"), ("a2", "ü")] {
            assert_eq!(metadata.get(key), Some(&MetadataValue::Scalar(text.to_owned())), "{key}");
        }
        for key in ["d", "e"] {
            assert_eq!(metadata.get(key), Some(&MetadataValue::Composite), "{key}");
        }
    }

    #[test]
    fn secret_keys_in_metadata_are_found_however_they_hide() {
        let name = tollgate_domain::tenant::EnvironmentName::parse("test").unwrap();
        let key =
            tollgate_vault::IssuedKey::generate(tollgate_domain::tenant::KeyKind::Secret, &name).unwrap();
        let key = key.key.expose();
        let escaped = key.replacen("sk", "\\u0073k", 1);
        for json in [
            format!(r#"{{"a":"{key}"}}"#),
            format!(r#"{{"{key}":1}}"#),
            format!(r#"{{"a":{{"b":["x {escaped}"]}}}}"#),
            format!(r#"{{"a":"{escaped}"}}"#),
        ] {
            let faults = read(&json, metadata).unwrap_err();
            assert!(faults[0].message.contains("secret keys"), "{json}");
            assert!(!faults[0].message.contains(key));
        }
    }

    #[test]
    fn metadata_is_bounded_without_its_white_space() {
        let value = "x".repeat(LARGEST_METADATA_BYTES - 8);
        let exact = format!(r#"{{"a":"{value}"}}"#);
        assert_eq!(exact.len(), LARGEST_METADATA_BYTES);
        assert!(read(&exact, metadata).is_ok());
        assert!(read(&exact.replacen(':', ":    ", 1), metadata).is_ok());
        assert!(read(&exact.replacen('x', "xx", 1), metadata).is_err());
        let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(5_000), "]".repeat(5_000));
        assert!(read(&deep, metadata).is_err());
    }
}
