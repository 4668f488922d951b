//! One JSON value, still as text: read only as far as its field's rule needs.

use std::borrow::Cow;

use serde_json::value::RawValue;

/// What a value is, with numbers kept digit by digit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JsonText<'a> {
    /// A string, unescaped.
    String(Cow<'a, str>),
    /// A string whose escapes make no text: half of a surrogate pair.
    BrokenString,
    /// A number exactly as it was written.
    Number(&'a str),
    Boolean(bool),
    Null,
    Object(&'a str),
    Array(&'a str),
}

impl<'a> JsonText<'a> {
    pub(crate) fn of(raw: &'a RawValue) -> Self {
        let text = raw.get();
        match text.as_bytes().first() {
            Some(b'"') => unescaped(text).map_or(Self::BrokenString, Self::String),
            Some(b'{') => Self::Object(text),
            Some(b'[') => Self::Array(text),
            Some(b't') => Self::Boolean(true),
            Some(b'f') => Self::Boolean(false),
            Some(b'n') | None => Self::Null,
            Some(_) => Self::Number(text),
        }
    }
}

fn unescaped(quoted: &str) -> Option<Cow<'_, str>> {
    let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str(quoted).map(Cow::Owned).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_apart_and_kept_exactly() {
        for (json, expected) in [
            (r#""a""#, JsonText::String("a".into())),
            (r#""\u0061\n""#, JsonText::String("a\n".into())),
            (r#""\ud800""#, JsonText::BrokenString),
            ("9007199254740993", JsonText::Number("9007199254740993")),
            ("-1.50e3", JsonText::Number("-1.50e3")),
            ("true", JsonText::Boolean(true)),
            ("null", JsonText::Null),
            (r#"{"a":[1]}"#, JsonText::Object(r#"{"a":[1]}"#)),
            ("[]", JsonText::Array("[]")),
        ] {
            let raw: &RawValue = serde_json::from_str(json).unwrap();
            assert_eq!(JsonText::of(raw), expected, "{json}");
        }
    }
}
