//! What changes between two documents, by the path of each field, in words for a person.
//!
//! Entries of a list are told apart by what names them (a rule by its id, a fee by what it is for), so that a rule put in
//! front of others is one addition and not a change of all.

use serde_json::Value;

/// A field that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where, such as `fees[card_provider_a, web_card, none, USD].platform.percentFeeBps`.
    pub path: String,
    /// What stands there now; `None` where there is nothing.
    pub before: Option<String>,
    /// What will stand there; `None` where nothing will.
    pub after: Option<String>,
}

/// Every difference between two documents, in the order of the first, what is new last.
pub fn diff(before: &Value, after: &Value) -> Vec<Change> {
    let mut changes = Vec::new();
    compare(String::new(), before, after, &mut changes);
    changes
}

fn compare(path: String, before: &Value, after: &Value, changes: &mut Vec<Change>) {
    if before == after {
        return;
    }
    let children = named(before).zip(named(after));
    let Some((old, new)) = children.filter(|_| before.is_array() == after.is_array()) else {
        changes.push(Change { path, before: Some(text(before)), after: Some(text(after)) });
        return;
    };
    let is_list = before.is_array();
    for (name, value) in &old {
        let path = joined(&path, name, is_list);
        match new.iter().find(|(other, _)| other == name) {
            Some((_, other)) => compare(path, value, other, changes),
            None => changes.push(Change { path, before: Some(text(value)), after: None }),
        }
    }
    for (name, value) in &new {
        if !old.iter().any(|(other, _)| other == name) {
            let path = joined(&path, name, is_list);
            changes.push(Change { path, before: None, after: Some(text(value)) });
        }
    }
    // The order counts where the first match wins.
    let order = |list: &[(String, &Value)], others: &[(String, &Value)]| {
        let common = list.iter().filter(|(name, _)| others.iter().any(|(other, _)| other == name));
        common.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let (before, after) = (order(&old, &new), order(&new, &old));
    if is_list && before != after {
        changes.push(Change { path: format!("{path} (order)"), before: Some(before), after: Some(after) });
    }
}

/// The parts of an object or a list with their names; `None` for anything else, or where a list's entries have no names of
/// their own.
fn named(value: &Value) -> Option<Vec<(String, &Value)>> {
    match value {
        Value::Object(fields) => Some(fields.iter().map(|(name, value)| (name.clone(), value)).collect()),
        Value::Array(items) => {
            let mut parts: Vec<(String, &Value)> = Vec::with_capacity(items.len());
            for item in items {
                let name = name_of(item)?;
                if parts.iter().any(|(other, _)| *other == name) {
                    return None;
                }
                parts.push((name, item));
            }
            Some(parts)
        }
        _ => None,
    }
}

fn name_of(item: &Value) -> Option<String> {
    if let Some(id) = item.get("id").and_then(Value::as_str) {
        return Some(id.to_owned());
    }
    let parts = ["provider", "paymentMethod", "channel", "currency"];
    let parts: Vec<&str> = parts.iter().filter_map(|part| item.get(part).and_then(Value::as_str)).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn joined(path: &str, name: &str, is_list: bool) -> String {
    if is_list {
        format!("{path}[{name}]")
    } else if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lines(before: &Value, after: &Value) -> Vec<String> {
        let side = |side: Option<String>| side.unwrap_or_else(|| "-".to_owned());
        diff(before, after)
            .into_iter()
            .map(|change| format!("{}: {} > {}", change.path, side(change.before), side(change.after)))
            .collect()
    }

    #[test]
    fn fields_are_told_by_their_path() {
        let before = json!({"settings": {"a": 1, "b": true}, "fees": [
            {"provider": "p", "currency": "USD", "platform": {"percentFeeBps": 290}}]});
        let after = json!({"settings": {"a": 2, "c": null}, "fees": [
            {"provider": "p", "currency": "USD", "platform": {"percentFeeBps": 300}},
            {"provider": "p", "currency": "EUR"}]});
        assert_eq!(
            lines(&before, &after),
            [
                "settings.a: 1 > 2",
                "settings.b: true > -",
                "settings.c: - > null",
                "fees[p, USD].platform.percentFeeBps: 290 > 300",
                "fees[p, EUR]: - > {\"provider\":\"p\",\"currency\":\"EUR\"}",
            ]
        );
    }

    #[test]
    fn a_rule_in_front_is_one_addition_and_an_order_is_seen() {
        let rules =
            |ids: &[&str]| json!({"rules": ids.iter().map(|id| json!({"id": id})).collect::<Vec<_>>()});
        assert_eq!(lines(&rules(&["a", "b"]), &rules(&["x", "a", "b"])), ["rules[x]: - > {\"id\":\"x\"}"]);
        assert_eq!(lines(&rules(&["a", "b"]), &rules(&["b", "a"])), ["rules (order): a, b > b, a"]);
        assert_eq!(lines(&rules(&["a"]), &rules(&["a"])), Vec::<String>::new());
    }

    #[test]
    fn plain_lists_are_shown_whole() {
        assert_eq!(lines(&json!({"v": ["a"]}), &json!({"v": ["a", "b"]})), ["v: [\"a\"] > [\"a\",\"b\"]"]);
        assert_eq!(lines(&json!({"v": {}}), &json!({"v": 1})), ["v: {} > 1"]);
    }
}
