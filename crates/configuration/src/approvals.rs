//! The `approvals` section: what waits for people.

use std::collections::HashSet;

use serde_json::{Value, json};
use tollgate_domain::approval::{ApprovalCondition, ApprovalRule};

use crate::{
    reader::Node,
    routing::{self, read_unique_id},
    validation_error::ValidationErrors,
};

const MAX_RULES: usize = 100;
const MAX_CONDITIONS: usize = 100;
const MAX_PEOPLE: u64 = 10;

/// What waits for people.
#[derive(Debug, Clone, Default)]
pub struct Approvals {
    /// Which transfers do.
    pub transfers: Vec<ApprovalRule>,
    /// Whether changes of the configuration do.
    pub configuration: bool,
}

pub(crate) fn read(node: &Node<'_>, errors: &mut ValidationErrors) -> Approvals {
    let Some(mut object) = node.object(errors) else { return Approvals::default() };
    let transfers = object.optional("transfers");
    let configuration = object.optional("configuration");
    object.finish(errors);
    let configuration = configuration.and_then(|node| node.boolean(errors)).unwrap_or(false);
    let rules: Vec<_> = transfers.map(|node| node.items(MAX_RULES, errors).collect()).unwrap_or_default();
    let mut seen = HashSet::new();
    let transfers = rules.iter().filter_map(|rule| read_rule(rule, &mut seen, errors)).collect();
    Approvals { transfers, configuration }
}

fn read_rule<'a>(
    node: &Node<'a>,
    seen: &mut HashSet<&'a str>,
    errors: &mut ValidationErrors,
) -> Option<ApprovalRule> {
    let mut object = node.object(errors)?;
    let id = object.required("id", errors);
    let conditions = object.optional("conditions");
    let count = object.optional("count");
    object.finish(errors);

    let id = id.and_then(|node| read_unique_id(&node, "approval rule", seen, errors));
    let count = count.map_or(Some(1), |node| node.integer(1, MAX_PEOPLE, errors));
    let items: Vec<_> =
        conditions.map(|node| node.items(MAX_CONDITIONS, errors).collect()).unwrap_or_default();
    let mut seen = HashSet::new();
    let conditions: Vec<_> = items.iter().map(|item| read_condition(item, &mut seen, errors)).collect();
    // Without a faulty condition the rule would apply to more than was meant.
    let conditions = conditions.into_iter().collect::<Option<_>>();
    Some(ApprovalRule { id: id?, conditions: conditions?, count: u32::try_from(count?).ok()? })
}

fn read_condition<'a>(
    node: &Node<'a>,
    seen: &mut HashSet<&'a str>,
    errors: &mut ValidationErrors,
) -> Option<ApprovalCondition> {
    let is_first = node.value.get("field").and_then(Value::as_str) == Some(ApprovalRule::FIRST_TO_ACCOUNT);
    if !is_first {
        return routing::read_condition(node, seen, errors).map(ApprovalCondition::Payment);
    }
    let mut object = node.object(errors)?;
    let id = object.required("id", errors);
    object.required("field", errors);
    let op = object.required("op", errors);
    let value = object.required("value", errors);
    object.finish(errors);
    let id = id.and_then(|node| read_unique_id(&node, "condition", seen, errors));
    if let Some(op) = op
        && op.text(64, errors).is_some_and(|op| op != "eq")
    {
        op.fault(errors, "must be `eq` for `firstToAccount`");
    }
    let expected = value.and_then(|node| node.boolean(errors));
    Some(ApprovalCondition::FirstToAccount { id: id?, expected: expected? })
}

pub(crate) fn write(approvals: &Approvals) -> Value {
    let rule = |rule: &ApprovalRule| {
        let conditions: Vec<_> = rule.conditions.iter().map(write_condition).collect();
        json!({ "id": &*rule.id, "conditions": conditions, "count": rule.count })
    };
    let transfers: Vec<_> = approvals.transfers.iter().map(rule).collect();
    json!({ "transfers": transfers, "configuration": approvals.configuration })
}

fn write_condition(condition: &ApprovalCondition) -> Value {
    match condition {
        ApprovalCondition::Payment(condition) => routing::write_condition(condition),
        ApprovalCondition::FirstToAccount { id, expected } => {
            json!({ "id": &**id, "field": ApprovalRule::FIRST_TO_ACCOUNT, "op": "eq", "value": expected })
        }
    }
}
