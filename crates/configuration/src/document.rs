//! Reading a document's JSON strictly: a name given twice is a fault, not a silent choice of the last.

use std::{
    cell::{Cell, RefCell},
    fmt,
};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

/// Two times twenty thousand rules have fewer values. Each costs memory many times its text.
const MAX_VALUES: usize = 1_000_000;

/// Why a text is not a document at all. Says where, and quotes nothing of the text but a field's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// Not JSON.
    #[error("the document is not valid JSON, at line {line}, column {column}")]
    NotJson {
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
    },
    /// A field stands twice in one object.
    #[error("the field `{name}` is duplicated, at line {line}, column {column}")]
    Duplicate {
        /// The field.
        name: String,
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
    },
    /// More than any document has.
    #[error(
        "the document has more than {MAX_VALUES} values; send fewer rules, or split them between environments"
    )]
    TooManyValues,
}

/// Reads a JSON text in which no object has a field twice.
pub fn parse_document(text: &[u8]) -> Result<Value, DocumentError> {
    let (duplicate, values) = (RefCell::new(None), Cell::new(0));
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let read = Strict { duplicate: &duplicate, values: &values }.deserialize(&mut deserializer);
    let read = read.and_then(|value| deserializer.end().map(|()| value));
    read.map_err(|error| {
        let (line, column) = (error.line(), error.column());
        if values.get() > MAX_VALUES {
            return DocumentError::TooManyValues;
        }
        match duplicate.take() {
            Some(name) => DocumentError::Duplicate { name, line, column },
            None => DocumentError::NotJson { line, column },
        }
    })
}

#[derive(Clone, Copy)]
struct Strict<'a> {
    duplicate: &'a RefCell<Option<String>>,
    values: &'a Cell<usize>,
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.values.set(self.values.get().saturating_add(1));
        if self.values.get() > MAX_VALUES {
            return Err(D::Error::custom("too many values"));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            if map.contains_key(&name) {
                *self.duplicate.borrow_mut() = Some(name);
                return Err(A::Error::custom("a field is duplicated"));
            }
            let value = entries.next_value_seed(self)?;
            map.insert(name, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_json_is_read_as_it_is() {
        let text = r#"{"a":[1,-2,1.5,"x",true,null,{"b":18446744073709551615}]}"#;
        assert_eq!(parse_document(text.as_bytes()).unwrap().to_string(), text);
    }

    #[test]
    fn a_repeated_field_is_named() {
        let fault = parse_document(br#"{"providers":{"a":1,"a":2}}"#).unwrap_err();
        assert!(fault.to_string().starts_with("the field `a` is duplicated, at line 1"), "{fault}");
    }

    #[test]
    fn a_document_of_too_many_values_is_given_up() {
        let list = |count: usize| format!("[{}0]", "0,".repeat(count - 2));
        assert!(parse_document(list(MAX_VALUES).as_bytes()).is_ok());
        let fault = parse_document(list(MAX_VALUES + 1).as_bytes()).unwrap_err();
        assert_eq!(fault, DocumentError::TooManyValues);
    }

    #[test]
    fn what_is_not_json_is_told_by_its_place() {
        for text in ["", "{", "{]", "{} {}", "nul", &"[".repeat(1_000)] {
            assert!(matches!(parse_document(text.as_bytes()), Err(DocumentError::NotJson { .. })), "{text}");
        }
    }
}
