//! What the document says of properties whose types say nothing of them. Most fields mean the same wherever they stand, so
//! `descriptions.txt` has them by name, and by `Schema.name` where they do not.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

const TABLE: &str = include_str!("descriptions.txt");

pub(crate) fn table() -> BTreeMap<&'static str, &'static str> {
    TABLE.lines().filter_map(|line| line.split_once(": ")).collect()
}

/// Describes every property that has no description of its own.
pub(crate) fn describe(schemas: &mut Map<String, Value>) {
    let table = table();
    for (schema, definition) in schemas {
        let properties = definition.get_mut("properties").and_then(Value::as_object_mut);
        for (name, property) in properties.into_iter().flatten() {
            let Some(property) = property.as_object_mut().filter(|property| !is_described(property)) else {
                continue;
            };
            let known = table.get(format!("{schema}.{name}").as_str()).or_else(|| table.get(name.as_str()));
            // The half of the envelope that is not used.
            let known = if property.get("type").is_some_and(|it| it == "null") {
                Some(&"Always null.")
            } else {
                known
            };
            if let Some(known) = known {
                property.insert("description".to_owned(), (*known).into());
            }
        }
    }
}

/// Where a property may be null, its description stands with what it is otherwise.
pub(crate) fn is_described(property: &Map<String, Value>) -> bool {
    let others = property.get("oneOf").and_then(Value::as_array);
    property.contains_key("description")
        || others.into_iter().flatten().any(|other| other.get("description").is_some())
}
