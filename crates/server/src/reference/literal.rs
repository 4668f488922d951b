//! JSON as a value in a program, broken into lines where it is long.

use serde_json::Value;

/// What fits beside the call around it.
const LINE_MAX: usize = 48;

/// How a language writes values. Strings are the same in all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Literal {
    Json,
    TypeScript,
    Python,
}

impl Literal {
    /// The value as it stands in a line that is indented by so many levels.
    pub(crate) fn write(self, value: &Value, level: usize) -> String {
        let one_line = self.in_one_line(value);
        if one_line.len() <= LINE_MAX || !(value.is_object() || value.is_array()) {
            return one_line;
        }
        let (open, close) = if value.is_object() { ('{', '}') } else { ('[', ']') };
        let unit = if self == Self::Python { "    " } else { "  " };
        let (outer, inner) = (unit.repeat(level), unit.repeat(level + 1));
        let parts: Vec<_> = match value {
            Value::Object(fields) => {
                let field = |(name, value): (&String, &Value)| {
                    format!("{inner}{}: {}", self.name(name), self.write(value, level + 1))
                };
                fields.iter().map(field).collect()
            }
            Value::Array(items) => {
                items.iter().map(|item| format!("{inner}{}", self.write(item, level + 1))).collect()
            }
            _ => Vec::new(),
        };
        let last = if self == Self::Json { "" } else { "," };
        format!("{open}\n{}{last}\n{outer}{close}", parts.join(",\n"))
    }

    fn in_one_line(self, value: &Value) -> String {
        match value {
            Value::Object(fields) => {
                let field = |(name, value): (&String, &Value)| {
                    format!("{}: {}", self.name(name), self.in_one_line(value))
                };
                let fields: Vec<_> = fields.iter().map(field).collect();
                let space = if self == Self::TypeScript && !fields.is_empty() { " " } else { "" };
                format!("{{{space}{}{space}}}", fields.join(", "))
            }
            Value::Array(items) => {
                let items: Vec<_> = items.iter().map(|item| self.in_one_line(item)).collect();
                format!("[{}]", items.join(", "))
            }
            Value::Null if self == Self::Python => "None".to_owned(),
            Value::Bool(true) if self == Self::Python => "True".to_owned(),
            Value::Bool(false) if self == Self::Python => "False".to_owned(),
            plain => plain.to_string(),
        }
    }

    fn name(self, name: &str) -> String {
        let is_plain = name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.chars().all(|it| it.is_ascii_alphanumeric());
        if self == Self::TypeScript && is_plain { name.to_owned() } else { Value::from(name).to_string() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Literal::{Json, Python, TypeScript};

    #[test]
    fn short_values_take_one_line_and_long_ones_a_line_for_each_part() {
        let short = json!({"is new": true, "of": [1, null, "a\"b"]});
        assert_eq!(Json.write(&short, 0), r#"{"is new": true, "of": [1, null, "a\"b"]}"#);
        assert_eq!(TypeScript.write(&short, 0), r#"{ "is new": true, of: [1, null, "a\"b"] }"#);
        assert_eq!(Python.write(&short, 0), r#"{"is new": True, "of": [1, None, "a\"b"]}"#);
        let long = json!({"description": "x".repeat(80), "customer": {}, "of": [false]});
        let text = "x".repeat(80);
        assert_eq!(
            TypeScript.write(&long, 1),
            format!("{{\n    description: \"{text}\",\n    customer: {{}},\n    of: [false],\n  }}")
        );
        assert_eq!(
            Python.write(&long, 0),
            format!(
                "{{\n    \"description\": \"{text}\",\n    \"customer\": {{}},\n    \"of\": [False],\n}}"
            )
        );
        assert_eq!(Json.write(&json!([text]), 0), format!("[\n  \"{text}\"\n]"));
    }
}
