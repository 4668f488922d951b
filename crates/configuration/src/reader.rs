//! Walking a JSON document with the path in hand and every fault noted.

use serde_json::{Map, Value};

use crate::validation_error::ValidationErrors;

/// A value and where it stands in the document.
#[derive(Debug, Clone)]
pub(crate) struct Node<'a> {
    pub(crate) value: &'a Value,
    pub(crate) path: String,
}

/// An object whose fields are asked for by name; those nobody asked for are faults.
pub(crate) struct Object<'a> {
    map: &'a Map<String, Value>,
    path: String,
    known: Vec<&'static str>,
}

impl<'a> Node<'a> {
    pub(crate) fn root(value: &'a Value) -> Self {
        Self { value, path: String::new() }
    }

    pub(crate) fn fault(&self, errors: &mut ValidationErrors, message: impl Into<String>) {
        let path = if self.path.is_empty() { "(document)" } else { &self.path };
        errors.add(path, message);
    }

    pub(crate) fn object(&self, errors: &mut ValidationErrors) -> Option<Object<'a>> {
        let map = self.map(errors)?;
        Some(Object { map, path: self.path.clone(), known: Vec::new() })
    }

    /// The pairs of an object whose keys are names of the operator's choosing.
    pub(crate) fn entries(&self, errors: &mut ValidationErrors) -> impl Iterator<Item = (&'a str, Node<'a>)> {
        let path = self.path.clone();
        self.map(errors)
            .into_iter()
            .flatten()
            .map(move |(name, value)| (name.as_str(), Node { value, path: join(&path, name) }))
    }

    /// The items of a list of at most `most`.
    pub(crate) fn items(&self, most: usize, errors: &mut ValidationErrors) -> impl Iterator<Item = Node<'a>> {
        let items = match self.value {
            Value::Array(items) if items.len() <= most => items.as_slice(),
            Value::Array(items) => {
                self.fault(errors, format!("has {} entries; at most {most} are allowed", items.len()));
                &[]
            }
            other => {
                self.fault(errors, format!("must be a list, not {}", kind(other)));
                &[]
            }
        };
        let path = self.path.clone();
        items.iter().enumerate().map(move |(place, value)| Node { value, path: format!("{path}[{place}]") })
    }

    pub(crate) fn boolean(&self, errors: &mut ValidationErrors) -> Option<bool> {
        let read = self.value.as_bool();
        if read.is_none() {
            self.fault(errors, format!("must be true or false, not {}", kind(self.value)));
        }
        read
    }

    /// A text of 1 to `most` characters.
    pub(crate) fn text(&self, most: usize, errors: &mut ValidationErrors) -> Option<&'a str> {
        let Some(text) = self.value.as_str() else {
            self.fault(errors, format!("must be a string, not {}", kind(self.value)));
            return None;
        };
        let length = text.chars().count();
        if length == 0 {
            self.fault(errors, "must not be empty; omit the field instead");
            return None;
        }
        if length > most {
            self.fault(errors, format!("has {length} characters; at most {most} are allowed"));
            return None;
        }
        Some(text)
    }

    /// A name: letters, digits, `_`, `-` and `.`, at most 64.
    pub(crate) fn name(&self, errors: &mut ValidationErrors) -> Option<&'a str> {
        let text = self.text(64, errors)?;
        if is_name(text) {
            return Some(text);
        }
        self.fault(errors, NAME_RULE);
        None
    }

    /// A whole number within bounds.
    pub(crate) fn integer(&self, least: u64, most: u64, errors: &mut ValidationErrors) -> Option<u64> {
        let read = self.value.as_u64().filter(|number| (least..=most).contains(number));
        if read.is_none() {
            self.fault(errors, format!("must be an integer from {least} to {most}"));
        }
        read
    }

    /// The text of a whole number, given as a text or as a JSON integer.
    pub(crate) fn digits(&self) -> Option<String> {
        match self.value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) if !number.is_f64() => Some(number.to_string()),
            _ => None,
        }
    }

    fn map(&self, errors: &mut ValidationErrors) -> Option<&'a Map<String, Value>> {
        let map = self.value.as_object();
        if map.is_none() {
            self.fault(errors, format!("must be an object, not {}", kind(self.value)));
        }
        map
    }
}

impl<'a> Object<'a> {
    /// A field that may be left out or null.
    pub(crate) fn optional(&mut self, name: &'static str) -> Option<Node<'a>> {
        self.known.push(name);
        let value = self.map.get(name).filter(|value| !value.is_null())?;
        Some(Node { value, path: join(&self.path, name) })
    }

    /// A field that must be there.
    pub(crate) fn required(&mut self, name: &'static str, errors: &mut ValidationErrors) -> Option<Node<'a>> {
        let node = self.optional(name);
        if node.is_none() {
            errors.add(join(&self.path, name), "is required");
        }
        node
    }

    /// Faults for the fields nobody asked for.
    pub(crate) fn finish(self, errors: &mut ValidationErrors) {
        for name in self.map.keys().filter(|name| !self.known.contains(&name.as_str())) {
            let known = match self.known.as_slice() {
                [] => "none".to_owned(),
                known => format!("`{}`", known.join("`, `")),
            };
            errors.add(join(&self.path, name), format!("is not a known field; known here: {known}"));
        }
    }
}

pub(crate) const NAME_RULE: &str = "must be 1 to 64 letters, digits, `_`, `-` or `.`";

pub(crate) fn is_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    !text.is_empty() && text.len() <= 64 && text.bytes().all(plain)
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
