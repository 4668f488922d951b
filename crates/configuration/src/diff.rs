//! What differs between two configuration documents, by path. Lists of rules, conditions and fees are compared by what
//! their entries are called, not by their place, so that one rule put in front does not show as all of them changed.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

/// One difference.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Where, such as `fees[card_provider_a web_card none USD].platform.percentFeeBps`.
    pub path: String,
    /// How.
    pub what: Difference,
}

/// How a place differs.
#[derive(Debug, Clone, PartialEq)]
pub enum Difference {
    /// This stands where nothing stood.
    Added(Value),
    /// Nothing stands where this stood.
    Removed(Value),
    /// The second stands where the first stood.
    Changed(Value, Value),
    /// The entries of a list stand in this order, which was another; for rules that decides who wins.
    Reordered(Vec<String>),
    /// A secret becomes another one that looks the same under its mask.
    OtherSecret,
}

/// Every difference, in the order of the newer document. `replaced_secrets` are the places of secrets that become others:
/// the masks need not tell.
pub fn diff<'a>(
    before: &Value,
    after: &Value,
    replaced_secrets: impl IntoIterator<Item = &'a str>,
) -> Vec<Change> {
    let mut changes = Vec::new();
    values(String::new(), before, after, &mut changes);
    for place in replaced_secrets {
        if !changes.iter().any(|change| change.path == place) {
            changes.push(Change { path: place.to_owned(), what: Difference::OtherSecret });
        }
    }
    changes
}

fn values(path: String, before: &Value, after: &Value, changes: &mut Vec<Change>) {
    match (before, after) {
        _ if before == after => {}
        (Value::Null, added) => leaves(path, added, Difference::Added, changes),
        (removed, Value::Null) => leaves(path, removed, Difference::Removed, changes),
        (Value::Object(before), Value::Object(after)) => objects(&path, before, after, changes),
        (Value::Array(before), Value::Array(after)) => lists(path, before, after, changes),
        _ => changes.push(Change { path, what: Difference::Changed(before.clone(), after.clone()) }),
    }
}

fn objects(path: &str, before: &Map<String, Value>, after: &Map<String, Value>, changes: &mut Vec<Change>) {
    for (name, value) in before.iter().filter(|(name, _)| !after.contains_key(*name)) {
        values(below(path, name), value, &Value::Null, changes);
    }
    for (name, value) in after {
        values(below(path, name), before.get(name).unwrap_or(&Value::Null), value, changes);
    }
}

fn lists(path: String, before: &[Value], after: &[Value], changes: &mut Vec<Change>) {
    let (Some(names_before), Some(names_after)) = (names(before), names(after)) else {
        changes.push(Change { path, what: Difference::Changed(before.into(), after.into()) });
        return;
    };
    let old: HashMap<&String, &Value> = names_before.iter().zip(before).collect();
    let new: HashSet<&String> = names_after.iter().collect();
    for (name, value) in names_before.iter().zip(before).filter(|(name, _)| !new.contains(name)) {
        values(format!("{path}[{name}]"), value, &Value::Null, changes);
    }
    for (name, value) in names_after.iter().zip(after) {
        values(format!("{path}[{name}]"), old.get(name).copied().unwrap_or(&Value::Null), value, changes);
    }
    let stayed = names_before.iter().filter(|name| new.contains(name));
    if !stayed.eq(names_after.iter().filter(|name| old.contains_key(name))) {
        changes.push(Change { path, what: Difference::Reordered(names_after) });
    }
}

/// What a list's entries are called; `None` if one has no name, or two have the same.
fn names(items: &[Value]) -> Option<Vec<String>> {
    let names: Vec<String> = items.iter().map(name_of).collect::<Option<_>>()?;
    let different: HashSet<&String> = names.iter().collect();
    (different.len() == names.len()).then_some(names)
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
fn leaves(path: String, value: &Value, what: fn(Value) -> Difference, changes: &mut Vec<Change>) {
    match value {
        Value::Null => {}
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                leaves(below(&path, name), value, what, changes);
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

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lines(before: &Value, after: &Value) -> Vec<String> {
        let line = |Change { path, what }| match what {
            Difference::Added(value) => format!("+ {path} = {value}"),
            Difference::Removed(value) => format!("- {path} = {value}"),
            Difference::Changed(before, after) => format!("~ {path}: {before} -> {after}"),
            Difference::Reordered(names) => format!("~ {path}: {}", names.join(", ")),
            Difference::OtherSecret => format!("~ {path}: another secret"),
        };
        diff(before, after, []).into_iter().map(line).collect()
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
                "~ rules: b, a, d",
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
        assert!(diff(&json!({"a": null, "b": 1}), &json!({"b": 1}), []).is_empty());
        assert_eq!(lines(&json!({"a": null}), &json!({"a": [1, 2]})), ["+ a = [1,2]"]);
        assert_eq!(lines(&json!({"a": "x"}), &json!({"a": null})), ["- a = \"x\""]);
        assert_eq!(lines(&json!({"a": [1]}), &json!({"a": [2]})), ["~ a: [1] -> [2]"]);
    }

    #[test]
    fn a_secret_is_told_once() {
        let (before, after) = (json!({"s": "********abcd"}), json!({"s": "********wxyz"}));
        assert_eq!(diff(&before, &after, ["s"]).len(), 1);
        let told = diff(&before, &before, ["s"]);
        assert_eq!(told, [Change { path: "s".to_owned(), what: Difference::OtherSecret }]);
    }
}
