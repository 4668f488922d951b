//! What differs between two configurations, in the words of the pages and forms.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};
use tollgate_configuration::{Change, Configuration, Difference, diff};

use crate::{
    layout::format::{count, shortened},
    pages::routing::{layer_words, target_text, text},
};

/// How a condition compares, as the document and as people say it.
pub(crate) const OPERATORS: [(&str, &str); 10] = [
    ("eq", "is"),
    ("ne", "is not"),
    ("in", "is one of"),
    ("notIn", "is none of"),
    ("startsWith", "starts with"),
    ("lt", "is less than"),
    ("lte", "is at most"),
    ("gt", "is more than"),
    ("gte", "is at least"),
    ("exists", "exists (true or false)"),
];
/// Differences in words that a page shows; the others are there field by field.
const SHOWN: usize = 200;
/// Lines of a summary.
const SUMMARY_LINES: usize = 3;
const LINE_LENGTH: usize = 160;
const VALUE_LENGTH: usize = 2_000;
/// What stands for a field without a value.
const NOT_SET: &str = "not set";

/// Everything that differs.
pub(crate) struct Described {
    pub(crate) words: Vec<ChangeWords>,
    /// Differences in words beyond those.
    pub(crate) unlisted: usize,
    /// The same field by field, as the document has it.
    pub(crate) fields: Vec<ChangeRow>,
}

/// One difference. Without `before` it is new, without `after` it is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChangeWords {
    pub(crate) what: String,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
}

/// A field that differs, as two texts.
pub(crate) struct ChangeRow {
    pub(crate) path: String,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
}

impl Described {
    /// Takes time with thousands of rules: not for a thread that serves requests.
    pub(crate) fn of(before: &Configuration, after: &Configuration) -> Self {
        let (old, new) = (before.to_public(), after.to_public());
        let replaced = after.providers.replaced_secrets(&before.providers);
        let fields = diff(&old, &new, replaced.iter().map(String::as_str));
        let mut words = in_words(&old, &new, &replaced);
        let unlisted = words.len().saturating_sub(SHOWN);
        words.truncate(SHOWN);
        Self { words, unlisted, fields: fields.into_iter().map(ChangeRow::of).collect() }
    }

    /// In a few lines.
    pub(crate) fn summary(&self) -> Vec<String> {
        let total = self.words.len().saturating_add(self.unlisted);
        let mut lines: Vec<_> = self.words.iter().take(SUMMARY_LINES).map(ChangeWords::line).collect();
        match total.saturating_sub(SUMMARY_LINES) {
            0 if total == 0 => lines.push("No changes".to_owned()),
            0 => {}
            1 => lines.push("1 more change".to_owned()),
            more => lines.push(format!("{} more changes", count(u64::try_from(more).unwrap_or(u64::MAX)))),
        }
        lines
    }
}

impl ChangeWords {
    fn line(&self) -> String {
        let line = match (&self.before, &self.after) {
            (None, _) => format!("{} added", self.what),
            (_, None) => format!("{} removed", self.what),
            (Some(before), Some(after)) => format!("{}: {before} → {after}", self.what),
        };
        shortened(&line, LINE_LENGTH)
    }
}

impl ChangeRow {
    fn of(Change { path, what }: Change) -> Self {
        let (before, after) = match what {
            Difference::Added(value) => (None, Some(value_text(&value))),
            Difference::Removed(value) => (Some(value_text(&value)), None),
            Difference::Changed(before, after) => (Some(value_text(&before)), Some(value_text(&after))),
            Difference::Reordered(names) => {
                (Some("different order".to_owned()), Some(shortened(&names.join(", "), VALUE_LENGTH)))
            }
            Difference::OtherSecret => {
                (Some("current secret".to_owned()), Some("different secret".to_owned()))
            }
        };
        Self { path, before, after }
    }
}

/// A condition as people say it.
pub(crate) fn condition_words(field: &str, operator: &str, value: &str) -> String {
    match (operator, value) {
        ("exists", "false") => format!("{field} does not exist"),
        ("exists", _) => format!("{field} exists"),
        _ => {
            let known = OPERATORS.iter().find(|(name, _)| *name == operator);
            format!("{field} {} {value}", known.map_or(operator, |(_, words)| *words))
        }
    }
}

/// The condition of a document.
pub(crate) fn condition_text(condition: &Value) -> String {
    let value = match condition.get("value") {
        Some(Value::Array(values)) => values.iter().map(value_text).collect::<Vec<_>>().join(", "),
        value => value.map(value_text).unwrap_or_default(),
    };
    condition_words(&text(condition, "field"), &text(condition, "op"), &shortened(&value, 200))
}

/// A field's name as people write it: `accountNumberId` is `Account number ID`.
pub(crate) fn label_of(name: &str) -> String {
    if !name.chars().all(char::is_alphanumeric) {
        return name.to_owned();
    }
    let mut words: Vec<String> = Vec::new();
    for letter in name.chars() {
        match words.last_mut() {
            Some(word) if !letter.is_ascii_uppercase() => word.push(letter),
            _ => words.push(letter.to_ascii_lowercase().to_string()),
        }
    }
    for (place, word) in words.iter_mut().enumerate() {
        match word.as_str() {
            "id" | "url" | "api" | "ach" | "bps" => *word = word.to_ascii_uppercase(),
            _ if place == 0 => {
                if let Some(first) = word.get_mut(..1) {
                    first.make_ascii_uppercase();
                }
            }
            _ => {}
        }
    }
    words.join(" ")
}

/// An entry of a section and what it is called.
type Named<'a> = (String, &'a Value);

fn in_words(old: &Value, new: &Value, replaced_secrets: &[String]) -> Vec<ChangeWords> {
    let mut changes = Vec::new();
    providers(old, new, replaced_secrets, &mut changes);
    for (method, title) in [("web_card", "Card"), ("ach", "ACH")] {
        routing(old, new, method, title, &mut changes);
    }
    fees(old, new, &mut changes);
    limits(old, new, &mut changes);
    approvals(old, new, &mut changes);
    settings(old.get("settings"), new.get("settings"), &mut changes);
    changes
}

/// Compares entries by what they are called, in the order of the newer document.
fn entries(
    old: &[Named<'_>],
    new: &[Named<'_>],
    in_words: impl Fn(&Value) -> String,
    changed: impl Fn(&str, &Value, &Value, &mut Vec<ChangeWords>),
    changes: &mut Vec<ChangeWords>,
) {
    let before: HashMap<&str, &Value> = old.iter().map(|(what, value)| (what.as_str(), *value)).collect();
    let after: HashSet<&str> = new.iter().map(|(what, _)| what.as_str()).collect();
    for (what, value) in old.iter().filter(|(what, _)| !after.contains(what.as_str())) {
        changes.push(ChangeWords { what: what.clone(), before: Some(in_words(value)), after: None });
    }
    for (what, value) in new {
        match before.get(what.as_str()) {
            None => {
                changes.push(ChangeWords { what: what.clone(), before: None, after: Some(in_words(value)) });
            }
            Some(known) if *known != *value => changed(what, known, value, changes),
            Some(_) => {}
        }
    }
}

fn named(list: Option<&Value>, name: impl Fn(&Value) -> String) -> Vec<Named<'_>> {
    let items = list.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    items.iter().map(|item| (name(item), item)).collect()
}

fn providers(old: &Value, new: &Value, replaced_secrets: &[String], changes: &mut Vec<ChangeWords>) {
    let all =
        |document: &Value| document.get("providers").and_then(Value::as_object).cloned().unwrap_or_default();
    let (old, new) = (all(old), all(new));
    entries(&by_name(&old), &by_name(&new), provider_text, |_, _, _, _| {}, changes);
    for (name, value) in &new {
        let Some(known) = old.get(name) else { continue };
        let prefix = format!("providers.{name}.");
        let secrets = replaced_secrets.iter().filter_map(|place| place.strip_prefix(prefix.as_str()));
        let secrets: Vec<_> = secrets.collect();
        for Change { path, what } in diff(known, value, secrets.iter().copied()) {
            let (before, after) = if secrets.contains(&path.as_str()) {
                ("current secret".to_owned(), "new secret".to_owned())
            } else {
                texts(what)
            };
            let field = label_of(path.rsplit('.').next().unwrap_or_default());
            let what = format!("Provider {name}, {field}");
            changes.push(ChangeWords { what, before: Some(before), after: Some(after) });
        }
    }
}

fn by_name(providers: &Map<String, Value>) -> Vec<Named<'_>> {
    providers.iter().map(|(name, value)| (format!("Provider {name}"), value)).collect()
}

fn provider_text(provider: &Value) -> String {
    let parts = ["adapter", "environment", "baseUrl"].map(|part| text(provider, part));
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

fn routing(old: &Value, new: &Value, method: &str, title: &str, changes: &mut Vec<ChangeWords>) {
    let table = |document: &Value| document.pointer(&format!("/routing/{method}")).cloned();
    let (old, new) = (table(old).unwrap_or_default(), table(new).unwrap_or_default());
    let default = |table: &Value| {
        let target = table.get("default").filter(|target| !target.is_null());
        target.map_or_else(|| "no route".to_owned(), target_text)
    };
    changed_text(format!("{title} routing"), state(&old), state(&new), changes);
    changed_text(format!("{title} payments that match no rule"), default(&old), default(&new), changes);
    let rules = |table: &Value| table.get("rules").cloned().unwrap_or_default();
    let (old, new) = (rules(&old), rules(&new));
    let name = |rule: &Value| format!("{title} rule {}", text(rule, "id"));
    let (before, after) = (named(Some(&old), name), named(Some(&new), name));
    let in_words = |rule: &Value| {
        let off = if state(rule) == "enabled" { "" } else { " (disabled)" };
        format!("{} → {}{off}", conditions_text(rule), target_of(rule))
    };
    let changed = |what: &str, old: &Value, new: &Value, changes: &mut Vec<ChangeWords>| {
        changed_text(what.to_owned(), state(old), state(new), changes);
        if old.get("conditions") != new.get("conditions") {
            let (before, after) = (Some(conditions_text(old)), Some(conditions_text(new)));
            changes.push(ChangeWords { what: format!("{what}, conditions"), before, after });
        }
        changed_text(format!("{what}, provider"), target_of(old), target_of(new), changes);
    };
    entries(&before, &after, in_words, changed, changes);
    // A new rule shows where it stands, too: the first that matches wins.
    let id = |rule: &Value| text(rule, "id");
    let (before, after) = (named(Some(&old), id), named(Some(&new), id));
    let known: HashSet<&str> = before.iter().map(|(id, _)| id.as_str()).collect();
    let kept: HashSet<&str> =
        after.iter().map(|(id, _)| id.as_str()).filter(|id| known.contains(id)).collect();
    let is_kept = |(id, _): &&Named<'_>| kept.contains(id.as_str());
    let stays =
        before.iter().filter(is_kept).map(|(id, _)| id).eq(after.iter().filter(is_kept).map(|(id, _)| id));
    let is_appended = after.iter().skip(kept.len()).all(|(id, _)| !known.contains(id.as_str()));
    if !stays || !is_appended {
        let ids = |rules: &[Named<'_>]| {
            let ids: Vec<_> = rules.iter().map(|(id, _)| id.as_str()).collect();
            Some(shortened(&ids.join(", "), VALUE_LENGTH))
        };
        let what = format!("Order of the {title} rules");
        changes.push(ChangeWords { what, before: ids(&before), after: ids(&after) });
    }
}

fn fees(old: &Value, new: &Value, changes: &mut Vec<ChangeWords>) {
    let name = |fee: &Value| {
        let title = if text(fee, "paymentMethod") == "ach" { "ACH" } else { "Card" };
        let channel = Some(text(fee, "channel")).filter(|channel| channel != "none");
        let channel = channel.map(|channel| format!(" ({channel})")).unwrap_or_default();
        format!("{title} fee of {}{channel} in {}", text(fee, "provider"), text(fee, "currency"))
    };
    let in_words = |fee: &Value| {
        format!(
            "platform {}; organization {}",
            layer_words(fee, "platform"),
            layer_words(fee, "organization")
        )
    };
    let changed = |what: &str, old: &Value, new: &Value, changes: &mut Vec<ChangeWords>| {
        for scope in ["platform", "organization"] {
            changed_text(
                format!("{what}, {scope}"),
                layer_words(old, scope),
                layer_words(new, scope),
                changes,
            );
        }
    };
    entries(&named(old.get("fees"), name), &named(new.get("fees"), name), in_words, changed, changes);
}

fn limits(old: &Value, new: &Value, changes: &mut Vec<ChangeWords>) {
    let name = |limit: &Value| format!("Limit {}", text(limit, "id"));
    let in_words = |limit: &Value| {
        let parts = [("maxCount", "payments"), ("maxAmountMinor", "minor units")];
        let parts = parts.map(|(field, unit)| (text(limit, field), unit));
        let parts = parts.iter().filter(|(number, _)| !number.is_empty());
        let parts: Vec<_> = parts.map(|(number, unit)| format!("{number} {unit}")).collect();
        let (method, per) = (text(limit, "paymentMethod"), text(limit, "per"));
        let (seconds, action) = (text(limit, "windowSeconds"), text(limit, "action"));
        format!(
            "{method}: at most {} in {seconds} seconds for each {per}, else {action}",
            parts.join(" and ")
        )
    };
    let changed = |what: &str, old: &Value, new: &Value, changes: &mut Vec<ChangeWords>| {
        changed_text(what.to_owned(), in_words(old), in_words(new), changes);
    };
    entries(&named(old.get("limits"), name), &named(new.get("limits"), name), in_words, changed, changes);
}

fn approvals(old: &Value, new: &Value, changes: &mut Vec<ChangeWords>) {
    let needed = |document: &Value| {
        let is_needed = document.pointer("/approvals/configuration") == Some(&Value::Bool(true));
        if is_needed { "required" } else { "not required" }.to_owned()
    };
    changed_text("Approval of configuration changes".to_owned(), needed(old), needed(new), changes);
    let in_words = |rule: &Value| {
        let (conditions, count) = (conditions_text(rule), text(rule, "count"));
        format!("{conditions}: {count} {}", if count == "1" { "person" } else { "people" })
    };
    let changed = |what: &str, old: &Value, new: &Value, changes: &mut Vec<ChangeWords>| {
        let (before, after) = (Some(in_words(old)), Some(in_words(new)));
        changes.push(ChangeWords { what: what.to_owned(), before, after });
    };
    for (section, what) in [
        ("transfers", "Approval rule"),
        ("refunds", "Refund approval rule"),
        ("funds", "Wallet approval rule"),
    ] {
        let name = |rule: &Value| format!("{what} {}", text(rule, "id"));
        let all = |document: &Value| {
            document.pointer(&format!("/approvals/{section}")).cloned().unwrap_or_default()
        };
        let (old, new) = (all(old), all(new));
        entries(&named(Some(&old), name), &named(Some(&new), name), in_words, changed, changes);
    }
}

fn settings(old: Option<&Value>, new: Option<&Value>, changes: &mut Vec<ChangeWords>) {
    let none = Value::Null;
    for Change { path, what } in diff(old.unwrap_or(&none), new.unwrap_or(&none), []) {
        let (mut before, mut after) = texts(what);
        let what = if let Some(provider) = path.strip_prefix("circuit.forced.") {
            for state in [&mut before, &mut after] {
                *state = if *state == NOT_SET { "automatic".to_owned() } else { format!("forced {state}") };
            }
            format!("Circuit of {provider}")
        } else if let Some((id, field)) =
            path.strip_prefix("feeProgram.overrides[").and_then(|rest| rest.split_once("]."))
        {
            format!("Fee override {id}, {}", label_of(field))
        } else if let Some(field) = path.strip_prefix("feeProgram.") {
            format!("Fee program, {}", field.split('.').map(label_of).collect::<Vec<_>>().join(", "))
        } else {
            format!("Setting {}", path.split('.').map(label_of).collect::<Vec<_>>().join(", "))
        };
        changes.push(ChangeWords { what, before: Some(before), after: Some(after) });
    }
}

fn changed_text(what: String, before: String, after: String, changes: &mut Vec<ChangeWords>) {
    if before != after {
        changes.push(ChangeWords { what, before: Some(before), after: Some(after) });
    }
}

fn state(of: &Value) -> String {
    let is_enabled = of.get("enabled").and_then(Value::as_bool).unwrap_or_default();
    if is_enabled { "enabled" } else { "disabled" }.to_owned()
}

fn target_of(rule: &Value) -> String {
    rule.get("target").map(target_text).unwrap_or_default()
}

fn conditions_text(rule: &Value) -> String {
    let conditions = rule.get("conditions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let said: Vec<_> = conditions.iter().map(condition_text).collect();
    if said.is_empty() { "every payment".to_owned() } else { shortened(&said.join(" and "), VALUE_LENGTH) }
}

fn texts(what: Difference) -> (String, String) {
    let ChangeRow { before, after, .. } = ChangeRow::of(Change { path: String::new(), what });
    let text = |text: Option<String>| text.unwrap_or_else(|| NOT_SET.to_owned());
    (text(before), text(after))
}

/// A value as it is written, without quotes.
fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) if !values.iter().any(Value::is_object) => {
            values.iter().map(value_text).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lines(before: &Value, after: &Value, secrets: &[&str]) -> Vec<String> {
        let secrets: Vec<_> = secrets.iter().map(|place| (*place).to_owned()).collect();
        in_words(before, after, &secrets).iter().map(ChangeWords::line).collect()
    }

    fn rule(id: &str, amount: &str) -> Value {
        json!({"id": id, "enabled": true, "target": {"provider": "a", "channel": "web_card"},
            "conditions": [{"id": "c", "field": "amountMinor", "op": "gte", "value": amount}]})
    }

    fn rules(rules: &[Value]) -> Value {
        json!({"routing": {"web_card": {"enabled": true, "rules": rules}}})
    }

    #[test]
    fn a_fee_program_is_told_as_people_write_it() {
        let program = |notice: Value, overrides: Value| json!({"settings": {"feeProgram": {"noticeGivenOn": notice, "overrides": overrides}}});
        let given = json!([{"id": "US-TX", "reason": "opinion of counsel"}]);
        let told = lines(&program(json!(null), json!([])), &program(json!("2026-06-01"), given), &[]);
        assert_eq!(
            told,
            [
                "Fee program, Notice given on: not set → 2026-06-01",
                "Fee override US-TX, ID: not set → US-TX",
                "Fee override US-TX, Reason: not set → opinion of counsel",
            ]
        );
        let kind = |kind: &str| {
            json!({"fees": [{"provider": "a", "paymentMethod": "web_card", "channel": "none", "currency": "USD",
                "platform": {"enabled": true, "feeKind": kind, "fixedFeeMinor": "0", "percentFeeBps": 300}}]})
        };
        assert_eq!(
            lines(&kind("surcharge"), &kind("neutral"), &[]),
            ["Card fee of a in USD, platform: surcharge 3.00 % + 0.00 USD → neutral 3.00 % + 0.00 USD"]
        );
    }

    #[test]
    fn a_fee_is_told_as_people_write_it() {
        let fee = |bps: u32, is_enabled: bool| {
            json!({"fees": [{"provider": "stripe_main", "paymentMethod": "web_card", "channel": "none", "currency": "USD",
                "platform": {"enabled": is_enabled, "fixedFeeMinor": "30", "percentFeeBps": bps}}]})
        };
        let what = "Card fee of stripe_main in USD";
        assert_eq!(
            lines(&fee(290, true), &fee(270, true), &[]),
            [format!("{what}, platform: 2.90 % + 0.30 USD → 2.70 % + 0.30 USD")]
        );
        assert_eq!(
            lines(&fee(290, false), &fee(270, false), &[]),
            [format!("{what}, platform: disabled (2.90 % + 0.30 USD) → disabled (2.70 % + 0.30 USD)")]
        );
        assert_eq!(lines(&json!({}), &fee(290, true), &[]), [format!("{what} added")]);
    }

    #[test]
    fn rules_are_told_by_their_names_and_their_order() {
        let [a, b, c] = ["a", "b", "c"].map(|id| rule(id, "100"));
        let before = rules(&[a.clone(), b.clone()]);
        assert_eq!(lines(&before, &rules(&[a.clone(), b.clone(), c.clone()]), &[]), ["Card rule c added"]);
        assert_eq!(
            lines(&before, &rules(&[c, a.clone(), b.clone()]), &[]),
            ["Card rule c added", "Order of the Card rules: a, b → c, a, b"]
        );
        assert_eq!(lines(&before, &rules(&[b.clone(), a]), &[]), ["Order of the Card rules: a, b → b, a"]);
        assert_eq!(
            lines(&before, &rules(&[rule("a", "200")]), &[]),
            [
                "Card rule b removed",
                "Card rule a, conditions: amountMinor is at least 100 → amountMinor is at least 200"
            ]
        );
    }

    #[test]
    fn a_secret_is_told_without_its_mask() {
        let provider = |mask: &str| json!({"providers": {"p": {"adapter": "stripe", "credentials": {"secretKey": mask}}}});
        let place = "providers.p.credentials.secretKey";
        let expected = ["Provider p, Secret key: current secret → new secret"];
        assert_eq!(lines(&provider("****abcd"), &provider("****wxyz"), &[place]), expected);
        assert_eq!(lines(&provider("****abcd"), &provider("****abcd"), &[place]), expected);
        assert_eq!(lines(&json!({}), &provider("****abcd"), &[]), ["Provider p added"]);
        assert_eq!(lines(&provider("****abcd"), &json!({}), &[]), ["Provider p removed"]);
    }

    #[test]
    fn settings_are_told_by_their_names() {
        let before = json!({"settings": {"rateLimitPerSecond": null, "circuit": {"openSeconds": 30}}});
        let after = json!({"settings": {"rateLimitPerSecond": 5, "circuit": {"openSeconds": 60}}});
        assert_eq!(
            lines(&before, &after, &[]),
            ["Setting Rate limit per second: not set → 5", "Setting Circuit, Open seconds: 30 → 60"]
        );
        let forced = json!({"settings": {"circuit": {"openSeconds": 30, "forced": {"p.1": "open"}}}});
        assert_eq!(lines(&before, &forced, &[]), ["Circuit of p.1: automatic → forced open"]);
        assert_eq!(label_of("accountNumberId"), "Account number ID");
        assert_eq!(label_of("baseUrl"), "Base URL");
    }

    #[test]
    fn every_difference_of_a_document_has_words() {
        let full = json!({
            "providers": {"p": {"adapter": "stripe"}},
            "routing": {"ach": {"enabled": true, "rules": [rule("r", "1")], "default": {"provider": "p", "channel": "ach"}}},
            "fees": [{"provider": "p", "paymentMethod": "ach", "channel": "same_day_ach", "currency": "USD"}],
            "limits": [{"id": "l", "paymentMethod": "ach", "per": "customer", "windowSeconds": 60, "maxCount": 5, "action": "reject"}],
            "approvals": {"configuration": true, "transfers": [{"id": "t", "conditions": [], "count": 2}]},
            "settings": {"requestLogDays": 9},
        });
        let told = lines(&json!({}), &full, &[]);
        for words in [
            "Provider p",
            "ACH routing",
            "ACH payments that match no rule",
            "ACH rule r",
            "Limit l",
            "ACH fee of p (same_day_ach) in USD",
            "Approval of configuration changes",
            "Approval rule t",
            "Setting Request log days",
        ] {
            assert!(told.iter().any(|line| line.starts_with(words)), "{words}: {told:#?}");
        }
    }

    #[test]
    fn a_summary_is_short() {
        let change =
            |name: &str| ChangeWords { what: name.to_owned(), before: None, after: Some(String::new()) };
        let summary = |names: &[&str]| {
            let words = names.iter().map(|name| change(name)).collect();
            Described { words, unlisted: 0, fields: Vec::new() }.summary()
        };
        assert_eq!(summary(&[]), ["No changes"]);
        assert_eq!(summary(&["a", "b", "c"]), ["a added", "b added", "c added"]);
        assert_eq!(summary(&["a", "b", "c", "d", "e"]).last().map(String::as_str), Some("2 more changes"));
    }
}
