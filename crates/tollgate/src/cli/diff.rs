//! What differs between two configuration documents, by path. Lists of rules, conditions and fees are compared by what
//! their entries are called, not by their place, so that one rule put in front does not show as all of them changed.

use serde_json::{Map, Value, json};

use super::output::{Paint, Style, printable};

/// One difference.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Change {
    pub(crate) path: String,
    pub(crate) what: What,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum What {
    Added(Value),
    Removed(Value),
    Changed(Value, Value),
    /// The entries of a list stand in another order; for rules that decides who wins.
    Reordered(Vec<String>),
    /// A secret becomes another one; the masks need not tell.
    OtherSecret,
}

/// Every difference, in the order of the newer document.
pub(crate) fn compare(before: &Value, after: &Value) -> Vec<Change> {
    let mut changes = Vec::new();
    values(String::new(), before, after, &mut changes);
    changes
}

fn values(path: String, before: &Value, after: &Value, changes: &mut Vec<Change>) {
    match (before, after) {
        _ if before == after => {}
        (Value::Null, added) => leaves(path, added, What::Added, changes),
        (removed, Value::Null) => leaves(path, removed, What::Removed, changes),
        (Value::Object(before), Value::Object(after)) => objects(&path, before, after, changes),
        (Value::Array(before), Value::Array(after)) => lists(path, before, after, changes),
        _ => changes.push(Change { path, what: What::Changed(before.clone(), after.clone()) }),
    }
}

fn objects(path: &str, before: &Map<String, Value>, after: &Map<String, Value>, changes: &mut Vec<Change>) {
    let at = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    for (name, value) in before.iter().filter(|(name, _)| !after.contains_key(*name)) {
        values(at(name), value, &Value::Null, changes);
    }
    for (name, value) in after {
        values(at(name), before.get(name).unwrap_or(&Value::Null), value, changes);
    }
}

fn lists(path: String, before: &[Value], after: &[Value], changes: &mut Vec<Change>) {
    let named = |items: &[Value]| -> Option<Vec<String>> {
        let names: Option<Vec<_>> = items.iter().map(name_of).collect();
        let mut unique = names.clone()?;
        unique.sort_unstable();
        unique.dedup();
        names.filter(|names| names.len() == unique.len())
    };
    let (Some(names_before), Some(names_after)) = (named(before), named(after)) else {
        changes.push(Change { path, what: What::Changed(before.into(), after.into()) });
        return;
    };
    let find = |names: &[String], items: &[Value], name: &String| {
        let place = names.iter().position(|known| known == name);
        place.and_then(|place| items.get(place)).cloned().unwrap_or_default()
    };
    let at = |name: &str| format!("{path}[{name}]");
    for (name, value) in names_before.iter().zip(before).filter(|(name, _)| !names_after.contains(name)) {
        values(at(name), value, &Value::Null, changes);
    }
    for (name, value) in names_after.iter().zip(after) {
        values(at(name), &find(&names_before, before, name), value, changes);
    }
    let stayed = names_before.iter().filter(|name| names_after.contains(name));
    if !stayed.eq(names_after.iter().filter(|name| names_before.contains(name))) {
        changes.push(Change { path, what: What::Reordered(names_after) });
    }
}

/// What an entry of a list is called: its `id`, or what a fee is for.
fn name_of(item: &Value) -> Option<String> {
    let part = |name: &str| item.get(name).and_then(Value::as_str);
    if let Some(id) = part("id") {
        return Some(id.to_owned());
    }
    let parts: Option<Vec<_>> =
        ["provider", "paymentMethod", "channel", "currency"].iter().map(|name| part(name)).collect();
    parts.map(|parts| parts.join(" "))
}

/// A whole thing that came or went, leaf by leaf.
fn leaves(path: String, value: &Value, what: fn(Value) -> What, changes: &mut Vec<Change>) {
    match value {
        Value::Null => {}
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                leaves(path, value, what, changes);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (place, item) in items.iter().enumerate() {
                let name = name_of(item).unwrap_or_else(|| place.to_string());
                leaves(format!("{path}[{name}]"), item, what, changes);
            }
        }
        other => changes.push(Change { path, what: what(other.clone()) }),
    }
}

impl Change {
    /// `{"path","change","before","after"}`.
    pub(crate) fn to_json(&self) -> Value {
        let (change, before, after) = match &self.what {
            What::Added(value) => ("added", Value::Null, value.clone()),
            What::Removed(value) => ("removed", value.clone(), Value::Null),
            What::Changed(before, after) => ("changed", before.clone(), after.clone()),
            What::Reordered(names) => ("reordered", Value::Null, json!(names)),
            What::OtherSecret => ("secret_replaced", Value::Null, Value::Null),
        };
        json!({ "path": self.path, "change": change, "before": before, "after": after })
    }

    /// One line.
    pub(crate) fn line(&self, style: Style) -> String {
        let path = &self.path;
        let (paint, line) = match &self.what {
            What::Added(value) => (Paint::Good, format!("+ {path} = {value}")),
            What::Removed(value) => (Paint::Bad, format!("- {path} = {value}")),
            What::Changed(before, after) => (Paint::Notice, format!("~ {path}: {before} -> {after}")),
            What::Reordered(names) => {
                (Paint::Notice, format!("~ {path}: now in the order {}", names.join(", ")))
            }
            What::OtherSecret => (Paint::Notice, format!("~ {path}: another secret that ends alike")),
        };
        style.paint(paint, &printable(&line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(before: &Value, after: &Value) -> Vec<String> {
        let style = crate::cli::output::Output::new(false).style;
        compare(before, after).iter().map(|change| change.line(style)).collect()
    }

    #[test]
    fn entries_are_known_by_their_names() {
        let rule = |id: &str, value: &str| json!({"id": id, "conditions": [{"id": "c", "value": value}]});
        let before = json!({"rules": [rule("a", "1"), rule("b", "1"), rule("c", "1")]});
        let after = json!({"rules": [rule("b", "2"), rule("a", "1"), rule("d", "1")]});
        assert_eq!(
            lines(&before, &after),
            [
                "- rules[c].id = \"c\"",
                "- rules[c].conditions[c].id = \"c\"",
                "- rules[c].conditions[c].value = \"1\"",
                "~ rules[b].conditions[c].value: \"1\" -> \"2\"",
                "+ rules[d].id = \"d\"",
                "+ rules[d].conditions[c].id = \"c\"",
                "+ rules[d].conditions[c].value = \"1\"",
                "~ rules: now in the order b, a, d",
            ]
        );
    }

    #[test]
    fn fees_are_known_by_what_they_are_for() {
        let fee = |currency: &str, fixed: &str| {
            json!({"provider": "p", "paymentMethod": "web_card", "channel": "none", "currency": currency,
                   "platform": {"fixedFeeMinor": fixed}})
        };
        let changed = lines(
            &json!({"fees": [fee("EUR", "1"), fee("USD", "1")]}),
            &json!({"fees": [fee("EUR", "1"), fee("USD", "2")]}),
        );
        assert_eq!(changed, ["~ fees[p web_card none USD].platform.fixedFeeMinor: \"1\" -> \"2\""]);
    }

    #[test]
    fn null_and_missing_are_the_same() {
        assert!(compare(&json!({"a": null, "b": 1}), &json!({"b": 1})).is_empty());
        assert_eq!(lines(&json!({"a": null}), &json!({"a": [1, 2]})), ["+ a = [1,2]"]);
        assert_eq!(lines(&json!({"a": "x"}), &json!({"a": null})), ["- a = \"x\""]);
        assert_eq!(lines(&json!({"a": [1]}), &json!({"a": [2]})), ["~ a: [1] -> [2]"]);
    }
}
