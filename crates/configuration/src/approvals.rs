//! The `approvals` section: what waits for people.

use std::collections::HashSet;

use serde_json::{Value, json};
use tollgate_domain::{
    approval::{ApprovalCondition, ApprovalRule},
    ledger::Cause,
    routing::Field,
};

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
    /// Which refunds do.
    pub refunds: Vec<ApprovalRule>,
    /// Which movements of money into and out of wallets do.
    pub funds: Vec<ApprovalRule>,
    /// Whether changes of the configuration do.
    pub configuration: bool,
}

impl Approvals {
    /// Whether anything but the configuration waits.
    pub fn has_rules(&self) -> bool {
        !(self.transfers.is_empty() && self.refunds.is_empty() && self.funds.is_empty())
    }
}

/// What a rule is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum About {
    Transfers,
    Refunds,
    Funds,
}

pub(crate) fn read(node: &Node<'_>, errors: &mut ValidationErrors) -> Approvals {
    let Some(mut object) = node.object(errors) else { return Approvals::default() };
    let (transfers, refunds) = (object.optional("transfers"), object.optional("refunds"));
    let (funds, configuration) = (object.optional("funds"), object.optional("configuration"));
    object.finish(errors);
    Approvals {
        transfers: read_rules(transfers, About::Transfers, errors),
        refunds: read_rules(refunds, About::Refunds, errors),
        funds: read_rules(funds, About::Funds, errors),
        configuration: configuration.and_then(|node| node.boolean(errors)).unwrap_or(false),
    }
}

fn read_rules(node: Option<Node<'_>>, about: About, errors: &mut ValidationErrors) -> Vec<ApprovalRule> {
    let rules: Vec<_> = node.map(|node| node.items(MAX_RULES, errors).collect()).unwrap_or_default();
    let mut seen = HashSet::new();
    rules.iter().filter_map(|rule| read_rule(rule, about, &mut seen, errors)).collect()
}

fn read_rule<'a>(
    node: &Node<'a>,
    about: About,
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
    let conditions: Vec<_> =
        items.iter().map(|item| read_condition(item, about, &mut seen, errors)).collect();
    // Without a faulty condition the rule would apply to more than was meant.
    let conditions = conditions.into_iter().collect::<Option<_>>();
    Some(ApprovalRule { id: id?, conditions: conditions?, count: u32::try_from(count?).ok()? })
}

fn read_condition<'a>(
    node: &Node<'a>,
    about: About,
    seen: &mut HashSet<&'a str>,
    errors: &mut ValidationErrors,
) -> Option<ApprovalCondition> {
    let own = match node.value.get("field").and_then(Value::as_str) {
        Some(ApprovalRule::FIRST_TO_ACCOUNT) if about == About::Transfers => ApprovalRule::FIRST_TO_ACCOUNT,
        Some(ApprovalRule::CAUSE) if about == About::Funds => ApprovalRule::CAUSE,
        _ => {
            let condition = routing::read_condition(node, seen, errors)?;
            // What a wallet movement does not have would never be met, and nothing would wait.
            if about == About::Funds && !matches!(condition.field(), Field::Amount | Field::Currency) {
                node.fault(errors, "must be about `amountMinor`, `currency` or `cause`");
                return None;
            }
            return Some(ApprovalCondition::Payment(condition));
        }
    };
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
        op.fault(errors, format!("must be `eq` for `{own}`"));
    }
    let value = value?;
    if own == ApprovalRule::FIRST_TO_ACCOUNT {
        let expected = value.boolean(errors);
        return Some(ApprovalCondition::FirstToAccount { id: id?, expected: expected? });
    }
    let expected = Cause::parse(value.text(64, errors)?);
    if expected.is_none() {
        value.fault(errors, "must be `fund` or `withdraw`");
    }
    Some(ApprovalCondition::Cause { id: id?, expected: expected? })
}

pub(crate) fn write(approvals: &Approvals) -> Value {
    let rule = |rule: &ApprovalRule| {
        let conditions: Vec<_> = rule.conditions.iter().map(write_condition).collect();
        json!({ "id": &*rule.id, "conditions": conditions, "count": rule.count })
    };
    let rules = |rules: &[ApprovalRule]| rules.iter().map(rule).collect::<Value>();
    let mut written =
        json!({ "transfers": rules(&approvals.transfers), "configuration": approvals.configuration });
    // Nodes of an earlier version can read a document that has none.
    for (name, list) in [("refunds", &approvals.refunds), ("funds", &approvals.funds)] {
        if let (false, Some(written)) = (list.is_empty(), written.as_object_mut()) {
            written.insert(name.to_owned(), rules(list));
        }
    }
    written
}

fn write_condition(condition: &ApprovalCondition) -> Value {
    match condition {
        ApprovalCondition::Payment(condition) => routing::write_condition(condition),
        ApprovalCondition::FirstToAccount { id, expected } => {
            json!({ "id": &**id, "field": ApprovalRule::FIRST_TO_ACCOUNT, "op": "eq", "value": expected })
        }
        ApprovalCondition::Cause { id, expected } => {
            json!({ "id": &**id, "field": ApprovalRule::CAUSE, "op": "eq", "value": expected.as_str() })
        }
    }
}
