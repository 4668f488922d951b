//! Configuration documents in files: TOML or JSON, told apart by the name's ending.

use std::{fs, path::Path};

use clap::ValueEnum;
use serde_json::{Map, Value};
use tollgate_configuration::parse_document;

use crate::failure::Failure;

/// How a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Easier to edit by hand.
    Toml,
    /// As the admin API has it.
    Json,
}

/// Reads a file. What goes wrong is told by its place; nothing of the text is quoted, for it may be a secret.
pub(crate) fn read(path: &Path) -> Result<Value, Failure> {
    let text = fs::read_to_string(path).map_err(|error| Failure::file("read", path, &error))?;
    let is_json = match path.extension().and_then(|ending| ending.to_str()) {
        Some("json") => true,
        Some("toml") => false,
        _ => text.trim_start().starts_with('{'),
    };
    if is_json {
        let fault = |fault| Failure::new(format!("{}: {fault}", path.display()));
        return parse_document(text.as_bytes()).map_err(fault);
    }
    let table: toml::Table = toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |span| {
            text.as_bytes().iter().take(span.start).filter(|byte| **byte == b'\n').count() + 1
        });
        // The parser's own words may quote what it found; only those about the grammar are known not to.
        Failure::new(format!("{}: the document is not valid TOML, at line {line}", path.display()))
    })?;
    Ok(to_json(toml::Value::Table(table)))
}

/// Writes a document in a format that [`read`] takes.
pub(crate) fn write(document: &Value, format: Format) -> Result<String, Failure> {
    match format {
        Format::Json => Ok(format!("{document:#}\n")),
        Format::Toml => {
            let table = to_toml(document).ok_or_else(|| {
                Failure::new("the document has a number TOML cannot represent; use --format json")
            })?;
            toml::to_string_pretty(&table)
                .map_err(|error| Failure::new(format!("cannot write TOML: {error}")))
        }
    }
}

fn to_json(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => number.into(),
        toml::Value::Boolean(flag) => flag.into(),
        // A day without quotation marks is meant as the text it looks like.
        toml::Value::Datetime(moment) => Value::String(moment.to_string()),
        toml::Value::Array(items) => items.into_iter().map(to_json).collect(),
        toml::Value::Table(table) => Value::Object(
            table.into_iter().map(|(name, value)| (name, to_json(value))).collect::<Map<_, _>>(),
        ),
    }
}

/// TOML has no null; a field that is null is left out, which the document takes for the same.
fn to_toml(value: &Value) -> Option<toml::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(flag) => toml::Value::Boolean(*flag),
        Value::Number(number) => match number.as_i64() {
            Some(number) => toml::Value::Integer(number),
            None => toml::Value::Float(number.as_f64().filter(|_| number.is_f64())?),
        },
        Value::String(text) => toml::Value::String(text.clone()),
        Value::Array(items) => {
            let items: Option<Vec<_>> = items.iter().map(to_toml).collect();
            toml::Value::Array(items?)
        }
        Value::Object(fields) => {
            let mut table = toml::Table::new();
            for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
                table.insert(name.clone(), to_toml(value)?);
            }
            toml::Value::Table(table)
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn back(document: &Value, format: Format) -> Value {
        let ending = if format == Format::Json { "json" } else { "toml" };
        let file = tempfile::Builder::new().suffix(&format!(".{ending}")).tempfile().unwrap();
        fs::write(file.path(), write(document, format).unwrap()).unwrap();
        read(file.path()).unwrap()
    }

    #[test]
    fn both_formats_carry_a_document_without_loss() {
        let document = json!({
            "providers": {"b": {"adapter": "stripe", "credentials": {"secretKey": "quote \" and \\ and \n"}}, "a": {"adapter": "square"}},
            "routing": {"ach": {"rules": [{"id": "r", "conditions": [{"id": "c", "op": "in", "value": ["1", "é", ""]}]}]}},
            "fees": [],
            "settings": {"rateLimitPerSecond": 9_007_199_254_740_993_u64, "flag": true},
        });
        assert_eq!(back(&document, Format::Json), document);
        assert_eq!(back(&document, Format::Toml), document);
        let order: Vec<_> =
            back(&document, Format::Toml)["providers"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(order, ["b", "a"], "the order is the document's");
    }

    #[test]
    fn what_is_wrong_is_told_without_quoting_it() {
        for (ending, text) in
            [("toml", "[providers]\nkey = \"sk_live_secret\n"), ("json", "{\"key\": \"sk_live_secret")]
        {
            let file = tempfile::Builder::new().suffix(&format!(".{ending}")).tempfile().unwrap();
            fs::write(file.path(), text).unwrap();
            let said = read(file.path()).unwrap_err().to_string();
            assert!(said.contains("line") && !said.contains("sk_live"), "{said}");
        }
    }

    #[test]
    fn days_without_quotation_marks_are_texts() {
        let file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
        fs::write(file.path(), "day = 2027-03-19\n").unwrap();
        assert_eq!(read(file.path()).unwrap(), json!({"day": "2027-03-19"}));
    }
}
