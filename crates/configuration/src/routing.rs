//! The `routing` section: for each payment method an ordered list of rules and a default.

use std::{collections::HashSet, sync::Arc};

use serde_json::{Value, json};
use tollgate_domain::{
    PaymentMethod,
    routing::{Condition, Field, RoutingTable, Rule, Test},
};

use crate::{
    destination,
    provider::{Provider, Providers},
    reader::{Node, Object},
    validation_error::ValidationErrors,
};

const MAX_RULES: usize = 20_000;
const MAX_CONDITIONS: usize = 100;
const MAX_OPERANDS: usize = 10_000;
const MAX_OPERAND_LENGTH: usize = 500;

pub(crate) fn read_all(
    node: &Node<'_>,
    providers: &Providers,
    errors: &mut ValidationErrors,
) -> (RoutingTable, RoutingTable) {
    let Some(mut object) = node.object(errors) else { return Default::default() };
    let table = |method: PaymentMethod, object: &mut Object<'_>, errors: &mut ValidationErrors| {
        let table = object.optional(method.as_str());
        table.and_then(|node| read_table(&node, method, providers, errors)).unwrap_or_default()
    };
    let web_card = table(PaymentMethod::WebCard, &mut object, errors);
    let ach = table(PaymentMethod::Ach, &mut object, errors);
    object.finish(errors);
    (web_card, ach)
}

fn read_table(
    node: &Node<'_>,
    method: PaymentMethod,
    providers: &Providers,
    errors: &mut ValidationErrors,
) -> Option<RoutingTable> {
    let mut object = node.object(errors)?;
    let enabled = object.optional("enabled");
    let rules = object.optional("rules");
    let default = object.optional("default");
    object.finish(errors);

    let enabled = enabled.map_or(Some(true), |node| node.boolean(errors)).unwrap_or_default();
    let rules = rules.map(|node| read_rules(&node, method, providers, errors)).unwrap_or_default();
    let default = default.and_then(|node| destination::read(&node, method, providers, errors));
    Some(RoutingTable::new(enabled, rules, default))
}

fn read_rules(
    node: &Node<'_>,
    method: PaymentMethod,
    providers: &Providers,
    errors: &mut ValidationErrors,
) -> Vec<Rule> {
    let items: Vec<_> = node.items(MAX_RULES, errors).collect();
    let mut seen = HashSet::new();
    items.iter().filter_map(|item| read_rule(item, method, providers, &mut seen, errors)).collect()
}

fn read_rule<'a>(
    node: &Node<'a>,
    method: PaymentMethod,
    providers: &Providers,
    seen: &mut HashSet<&'a str>,
    errors: &mut ValidationErrors,
) -> Option<Rule> {
    let mut object = node.object(errors)?;
    let id = object.required("id", errors);
    let enabled = object.optional("enabled");
    let conditions = object.optional("conditions");
    let target = object.required("target", errors);
    object.finish(errors);

    let id = id.and_then(|node| read_unique_id(&node, "rule", seen, errors));
    let enabled = enabled.map_or(Some(true), |node| node.boolean(errors)).unwrap_or_default();
    let conditions = conditions.map(|node| read_conditions(&node, errors)).unwrap_or_default();
    let target = target.and_then(|node| destination::read(&node, method, providers, errors));
    Some(Rule { id: id?, enabled, conditions, target: target? })
}

pub(crate) fn read_unique_id<'a>(
    node: &Node<'a>,
    what: &str,
    seen: &mut HashSet<&'a str>,
    errors: &mut ValidationErrors,
) -> Option<Arc<str>> {
    let id = node.name(errors)?;
    if !seen.insert(id) {
        node.fault(errors, format!("another {what} already has the ID `{id}`"));
        return None;
    }
    Some(id.into())
}

/// The provider a field names, which must be one of the same document.
pub(crate) fn known_provider<'p>(
    node: &Node<'_>,
    providers: &'p Providers,
    errors: &mut ValidationErrors,
) -> Option<&'p Provider> {
    let name = node.text(64, errors)?;
    let provider = providers.get(name);
    if provider.is_none() && !providers.is_faulty(name) {
        let known: Vec<_> = providers.iter().map(|provider| &*provider.name).collect();
        node.fault(errors, format!("unknown provider; this document has: {}", known.join(", ")));
    }
    provider
}

fn read_conditions(node: &Node<'_>, errors: &mut ValidationErrors) -> Vec<Condition> {
    let items: Vec<_> = node.items(MAX_CONDITIONS, errors).collect();
    let mut seen = HashSet::new();
    items.iter().filter_map(|item| read_condition(item, &mut seen, errors)).collect()
}

pub(crate) fn read_condition<'a>(
    node: &Node<'a>,
    seen: &mut HashSet<&'a str>,
    errors: &mut ValidationErrors,
) -> Option<Condition> {
    let mut object = node.object(errors)?;
    let id = object.required("id", errors);
    let field = object.required("field", errors);
    let op = object.required("op", errors);
    let value = object.required("value", errors);
    object.finish(errors);

    let id = id.and_then(|node| read_unique_id(&node, "condition", seen, errors));
    let field = field.and_then(|node| read_field(&node, errors));
    let test = match (op, &value) {
        (Some(op), Some(value)) => read_test(&op, value, errors),
        _ => None,
    };
    let (id, field, test, value) = (id?, field?, test?, value?);
    match Condition::new(id, field, test) {
        Ok(condition) => Some(condition),
        Err(error) => {
            value.fault(errors, error.to_string());
            None
        }
    }
}

fn read_field(node: &Node<'_>, errors: &mut ValidationErrors) -> Option<Field> {
    let read = Field::parse(node.text(MAX_OPERAND_LENGTH, errors)?);
    if read.is_none() {
        node.fault(errors, "must be `amountMinor`, `currency`, `flow` or `metadata.<key>`");
    }
    read
}

fn read_test(op: &Node<'_>, value: &Node<'_>, errors: &mut ValidationErrors) -> Option<Test> {
    match op.text(64, errors)? {
        "eq" => read_scalar(value, errors).map(Test::Eq),
        "ne" => read_scalar(value, errors).map(Test::Ne),
        "in" => read_scalars(value, errors).map(Test::In),
        "notIn" => read_scalars(value, errors).map(Test::NotIn),
        "lt" => read_number(value, errors).map(Test::Lt),
        "lte" => read_number(value, errors).map(Test::Lte),
        "gt" => read_number(value, errors).map(Test::Gt),
        "gte" => read_number(value, errors).map(Test::Gte),
        "exists" => value.boolean(errors).map(Test::Exists),
        "startsWith" => value.text(MAX_OPERAND_LENGTH, errors).map(|text| Test::StartsWith(text.to_owned())),
        _ => {
            op.fault(errors, "must be one of: eq, ne, in, notIn, lt, lte, gt, gte, exists, startsWith");
            None
        }
    }
}

/// A text, number, `true` or `false`; all are compared as text.
fn read_scalar(node: &Node<'_>, errors: &mut ValidationErrors) -> Option<String> {
    match node.value {
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::String(text) if text.is_empty() => Some(String::new()),
        _ => node.text(MAX_OPERAND_LENGTH, errors).map(str::to_owned),
    }
}

fn read_scalars(node: &Node<'_>, errors: &mut ValidationErrors) -> Option<Vec<String>> {
    let items: Vec<_> = node.items(MAX_OPERANDS, errors).collect();
    let scalars: Vec<_> = items.iter().map(|item| read_scalar(item, errors)).collect();
    scalars.into_iter().collect()
}

fn read_number(node: &Node<'_>, errors: &mut ValidationErrors) -> Option<i128> {
    let read = node.digits().and_then(|digits| digits.parse().ok());
    if read.is_none() {
        node.fault(errors, "must be an integer");
    }
    read
}

pub(crate) fn write(table: &RoutingTable) -> Value {
    let rules: Vec<_> = table.rules().iter().map(write_rule).collect();
    json!({ "enabled": table.enabled(), "rules": rules, "default": table.default_destination().map(destination::write) })
}

fn write_rule(rule: &Rule) -> Value {
    let conditions: Vec<_> = rule.conditions.iter().map(write_condition).collect();
    json!({ "id": &*rule.id, "enabled": rule.enabled, "conditions": conditions, "target": destination::write(&rule.target) })
}

pub(crate) fn write_condition(condition: &Condition) -> Value {
    let test = condition.test();
    let value = match test {
        Test::Eq(word) | Test::Ne(word) | Test::StartsWith(word) => json!(word),
        Test::In(words) | Test::NotIn(words) => json!(words),
        Test::Lt(number) | Test::Lte(number) | Test::Gt(number) | Test::Gte(number) => {
            json!(number.to_string())
        }
        Test::Exists(wanted) => json!(wanted),
    };
    json!({ "id": &**condition.id(), "field": condition.field().to_string(), "op": test.op(), "value": value })
}
