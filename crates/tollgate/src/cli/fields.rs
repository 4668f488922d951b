//! Reading the API's answers leniently: what is missing shows as nothing rather than ending the command.

use serde_json::Value;

/// Fields by their name, or by a JSON pointer such as `/routing/provider`.
pub(crate) trait Fields {
    fn field(&self, name: &str) -> Option<&Value>;

    /// A text; empty if there is none.
    fn text(&self, name: &str) -> &str {
        self.field(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// A text that may be missing.
    fn optional_text(&self, name: &str) -> Option<&str> {
        self.field(name).and_then(Value::as_str)
    }

    /// A text or a number as it is written; a dash if there is none.
    fn word(&self, name: &str) -> String {
        match self.field(name) {
            None | Some(Value::Null) => "-".to_owned(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        }
    }

    fn number(&self, name: &str) -> u64 {
        self.field(name).and_then(Value::as_u64).unwrap_or_default()
    }

    fn flag(&self, name: &str) -> bool {
        self.field(name).and_then(Value::as_bool).unwrap_or_default()
    }

    fn list(&self, name: &str) -> &[Value] {
        self.field(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// The texts of a list, with commas between.
    fn joined(&self, name: &str) -> String {
        let texts: Vec<_> = self.list(name).iter().filter_map(Value::as_str).collect();
        texts.join(", ")
    }
}

impl Fields for Value {
    fn field(&self, name: &str) -> Option<&Value> {
        if name.starts_with('/') { self.pointer(name) } else { self.get(name) }
    }
}
