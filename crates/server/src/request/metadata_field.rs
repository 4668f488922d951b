//! The caller's `metadata`: read once, together with the body around it.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use tollgate_domain::{
    card_number::holds_card_number,
    metadata::{Metadata, MetadataValue},
};
use tollgate_vault::contains_secret_key;

use crate::{
    json::{
        compact::{JsonError, compact, is_in_range},
        text::JsonText,
    },
    request::fields::{FieldErrors, Raw, SECRET_KEY_RULE},
};

const FIELD: &str = "metadata";
const MAX_BYTES: usize = 16 * 1024;

/// What stands under `metadata`. What is wrong with it is kept until all fields are judged.
pub(crate) enum MetadataField {
    /// The pairs of an object.
    Object {
        pairs: Vec<(String, MetadataValue)>,
        holds_secret: bool,
        holds_card_number: bool,
        fault: Option<JsonError>,
    },
    Other,
}

/// An object of at most 16 KiB without any of this service's secret keys or a card number in it; `body` is what it was read from.
pub(crate) fn metadata(
    field: Option<MetadataField>,
    body: &[u8],
    errors: &mut FieldErrors,
) -> Option<Metadata> {
    // A body that is no larger than the bound has no larger metadata in it.
    if body.len() > MAX_BYTES && is_too_large(body) {
        return errors.add(FIELD, "must be at most 16384 bytes of JSON");
    }
    match field {
        None => Some(Metadata::default()),
        Some(MetadataField::Other) => errors.add(FIELD, "must be a JSON object"),
        Some(MetadataField::Object { holds_secret: true, .. }) => errors.add(FIELD, SECRET_KEY_RULE),
        Some(MetadataField::Object { holds_card_number: true, .. }) => errors.add_card_number(FIELD),
        Some(MetadataField::Object { fault: Some(fault), .. }) => errors.add(FIELD, fault.to_string()),
        Some(MetadataField::Object { pairs, .. }) => {
            let given = pairs.len();
            let metadata: Metadata = pairs.into_iter().collect();
            if metadata.iter().count() < given {
                return errors.add(FIELD, JsonError::RepeatedKey.to_string());
            }
            Some(metadata)
        }
    }
}

/// The same for a field that was left as it came.
pub(crate) fn read(raw: Raw<'_>, body: &[u8], errors: &mut FieldErrors) -> Option<Metadata> {
    let field = raw.map(|raw| serde_json::from_str(raw.get()).unwrap_or(MetadataField::Other));
    metadata(field, body, errors)
}

/// The metadata as text to keep, once [`read`] has found no fault with it.
pub(crate) fn metadata_text(raw: Raw<'_>) -> String {
    raw.and_then(|raw| compact(raw.get()).ok()).map_or_else(|| "{}".to_owned(), |compact| compact.text)
}

/// As it would be kept: white space between tokens is not the caller's data.
fn is_too_large(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Body<'a> {
        #[serde(borrow)]
        metadata: Raw<'a>,
    }
    let Ok(Body { metadata: Some(raw) }) = serde_json::from_slice(body) else { return false };
    raw.get().len() > MAX_BYTES && compact(raw.get()).is_ok_and(|compact| compact.text.len() > MAX_BYTES)
}

impl<'de> Deserialize<'de> for MetadataField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FieldVisitor)
    }
}

struct FieldVisitor;

impl<'de> Visitor<'de> for FieldVisitor {
    type Value = MetadataField;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<MetadataField, A::Error> {
        let (mut pairs, mut holds_secret, mut holds_card, mut fault) = (Vec::new(), false, false, None);
        while let Some((key, raw)) = map.next_entry::<String, &RawValue>()? {
            holds_secret |= contains_secret_key(&key);
            holds_card |= holds_card_number(&key);
            let value = match JsonText::of(raw) {
                JsonText::String(text) => {
                    holds_secret |= contains_secret_key(&text);
                    holds_card |= holds_card_number(&text);
                    MetadataValue::Scalar(text.into_owned())
                }
                JsonText::Number(digits) => {
                    holds_card |= holds_card_number(digits);
                    if !is_in_range(digits) {
                        fault = Some(JsonError::Number);
                    }
                    MetadataValue::Scalar(digits.to_owned())
                }
                JsonText::Boolean(truth) => MetadataValue::Scalar(truth.to_string()),
                JsonText::Null => MetadataValue::Composite,
                JsonText::BrokenString => {
                    fault = Some(JsonError::Unicode);
                    MetadataValue::Composite
                }
                JsonText::Object(text) | JsonText::Array(text) => {
                    match compact(text) {
                        Ok(compact) => {
                            holds_secret |= compact.holds_secret;
                            holds_card |= compact.holds_card_number;
                        }
                        Err(found) => fault = Some(found),
                    }
                    MetadataValue::Composite
                }
            };
            pairs.push((key, value));
        }
        Ok(MetadataField::Object { pairs, holds_secret, holds_card_number: holds_card, fault })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<MetadataField, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(MetadataField::Other)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<MetadataField, E> {
        Ok(MetadataField::Other)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<MetadataField, E> {
        Ok(MetadataField::Other)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<MetadataField, E> {
        Ok(MetadataField::Other)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<MetadataField, E> {
        Ok(MetadataField::Other)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<MetadataField, E> {
        Ok(MetadataField::Other)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[derive(Deserialize)]
    struct Body {
        metadata: Option<MetadataField>,
    }

    /// The metadata, or what is said of it.
    fn read(json: &str) -> Result<Metadata, String> {
        let body = format!(r#"{{"metadata":{json}}}"#);
        let Body { metadata: field } = serde_json::from_str(&body).unwrap();
        let mut errors = FieldErrors::default();
        metadata(field, body.as_bytes(), &mut errors).ok_or_else(|| format!("{errors:?}"))
    }

    #[test]
    fn metadata_scalars_become_text_and_the_rest_is_merely_there() {
        let json = r#"{"a":"x","b":5,"c":true,"d":null,"e":[1],"f":1.50,"a2":"\u00fc"}"#;
        let metadata = read(json).unwrap();
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
            let said = read(&json).unwrap_err();
            assert!(said.contains("secret keys") && !said.contains(key), "{json}: {said}");
        }
    }

    #[test]
    fn card_numbers_in_metadata_are_found_however_they_hide() {
        for json in [
            r#"{"a":"4111 1111 1111 1111"}"#,
            r#"{"a":4111111111111111}"#,
            r#"{"4111-1111-1111-1111":1}"#,
            r#"{"a":{"b":["x 411111111111\u0031111"]}}"#,
            r#"{"a":[4111111111111111]}"#,
            r#"{"a":{"4111111111111111":null}}"#,
        ] {
            let said = read(json).unwrap_err();
            assert!(said.contains("a card number") && !said.contains("1111"), "{json}: {said}");
        }
        assert!(read(r#"{"a":"order_4111111111111112","b":4111111111111112}"#).is_ok());
    }

    #[test]
    fn metadata_is_bounded_without_its_white_space() {
        let value = "x".repeat(MAX_BYTES - 8);
        let exact = format!(r#"{{"a":"{value}"}}"#);
        assert_eq!(exact.len(), MAX_BYTES);
        assert!(read(&exact).is_ok());
        assert!(read(&exact.replacen(':', ":    ", 1)).is_ok());
        assert!(read(&exact.replacen('x', "xx", 1)).is_err());
        let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(5_000), "]".repeat(5_000));
        assert!(read(&deep).is_err());
    }

    #[test]
    fn escapes_count_as_what_they_stand_for() {
        let value = "ä".repeat(4_000);
        let escaped = value.replace('ä', "\\u00e4");
        let json = format!(r#"{{"a":"{escaped}"}}"#);
        assert!(json.len() > MAX_BYTES);
        assert!(read(&json).is_ok());
        let raw: &RawValue = serde_json::from_str(&json).unwrap();
        assert_eq!(metadata_text(Some(raw)), format!(r#"{{"a":"{value}"}}"#));
        // What is kept is what counts: digits are kept.
        assert!(read(&format!(r#"{{"a":0.1{}}}"#, "0".repeat(MAX_BYTES))).is_err());
    }

    #[test]
    fn what_cannot_be_given_back_is_said() {
        for (json, said) in [
            (r#"{"a":1,"b":2,"a":1}"#, "same key twice"),
            (r#"{"a":{"b":1,"b":2}}"#, "same key twice"),
            (r#"{"a":1e400}"#, "out of range"),
            (r#"{"a":[1e400]}"#, "out of range"),
            (r#"{"a":["\ud800"]}"#, "invalid Unicode"),
        ] {
            assert!(read(json).unwrap_err().contains(said), "{json}");
        }
    }

    #[test]
    fn what_is_not_an_object_is_said_to_be_none() {
        for json in ["5", "-5", "1.5", "1e400", "\"x\"", "true", "[1,[2]]"] {
            assert!(
                serde_json::from_str::<Value>(json).is_err()
                    || read(json).unwrap_err().contains("must be a JSON object"),
                "{json}"
            );
        }
        assert!(read("null").unwrap().is_empty());
        assert!(read(r#"{"a":"\ud800"}"#).unwrap_err().contains("invalid Unicode"));
    }
}
