//! Objects of JSON with fields that are often absent.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A value as its text, which is several times smaller: there are many, and few are read again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Packed(Box<str>);

impl From<Value> for Packed {
    fn from(value: Value) -> Self {
        Self(value.to_string().into())
    }
}

impl Packed {
    pub(crate) fn value(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }
}

/// An object with more fields, which hold nothing here. Their names are separated by spaces.
pub(crate) fn with_unset(object: Value, names: &str) -> Value {
    with(object, names.split_whitespace().map(|name| (name, Value::Null)))
}

/// An object with more fields, or other values in them.
pub(crate) fn with<N: Into<String>>(mut object: Value, more: impl IntoIterator<Item = (N, Value)>) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.extend(more.into_iter().map(|(name, value)| (name.into(), value)));
    }
    object
}

/// The same, without those that are null.
pub(crate) fn with_given<N: Into<String>>(
    object: Value,
    more: impl IntoIterator<Item = (N, Value)>,
) -> Value {
    with(object, more.into_iter().filter(|(_, value)| !value.is_null()))
}

/// An object with the fields of another, and those of the objects inside it, but for what is null there.
pub(crate) fn merged(mut object: Value, more: Value) -> Value {
    if let (Some(fields), Value::Object(more)) = (object.as_object_mut(), more) {
        for (name, value) in more.into_iter().filter(|(_, value)| !value.is_null()) {
            let known = fields.remove(&name).filter(|known| known.is_object() && value.is_object());
            fields.insert(name, known.map_or_else(|| value.clone(), |known| merged(known, value.clone())));
        }
    }
    object
}

/// An object with fields of a struct under their own names, and others: `object!(self: id amount; "object": "charge")`.
macro_rules! object {
    ($of:ident: $($own:ident)*; $($more:tt)*) => {
        serde_json::json!({ $((stringify!($own)): $of.$own,)* $($more)* })
    };
}
pub(crate) use object;
