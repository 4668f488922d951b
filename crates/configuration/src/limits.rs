//! The `limits` section: how much may be paid within a window of time.

use std::{collections::HashSet, time::Duration};

use serde_json::{Value, json};
use tollgate_domain::{
    Minor, PaymentMethod,
    limit::{Limit, LimitAction, LimitScope},
};

use crate::{reader::Node, routing::read_unique_id, validation_error::ValidationErrors};

const MAX_LIMITS: usize = 50;
const MAX_COUNT: u64 = 1_000_000_000;
/// A year and a day: everything that counts is kept for so long.
const MAX_WINDOW_SECONDS: u64 = 31_622_400;

pub(crate) fn read_all(node: &Node<'_>, errors: &mut ValidationErrors) -> Vec<Limit> {
    let items: Vec<_> = node.items(MAX_LIMITS, errors).collect();
    let mut seen = HashSet::new();
    items.iter().filter_map(|item| read(item, &mut seen, errors)).collect()
}

fn read<'a>(node: &Node<'a>, seen: &mut HashSet<&'a str>, errors: &mut ValidationErrors) -> Option<Limit> {
    let mut object = node.object(errors)?;
    let id = object.required("id", errors);
    let method = object.required("paymentMethod", errors);
    let per = object.required("per", errors);
    let window = object.required("windowSeconds", errors);
    let count = object.optional("maxCount");
    let amount = object.optional("maxAmountMinor");
    let action = object.optional("action");
    object.finish(errors);

    if count.is_none() && amount.is_none() {
        node.fault(errors, "must have `maxCount`, `maxAmountMinor` or both");
    }
    let id = id.and_then(|node| read_unique_id(&node, "limit", seen, errors));
    let method = method.and_then(|node| {
        let method = PaymentMethod::parse(node.text(20, errors)?);
        if method.is_none() {
            node.fault(errors, "must be one of: web_card, ach");
        }
        method
    });
    let action = action.map_or(Some(LimitAction::Refuse), |node| read_action(&node, method, errors));
    let per = per.and_then(|node| read_scope(&node, method, errors));
    let window = window.and_then(|node| node.integer(1, MAX_WINDOW_SECONDS, errors));
    let max_count = count.map(|node| node.integer(1, MAX_COUNT, errors));
    let max_amount = amount.map(|node| {
        let amount = node.digits().and_then(|text| Minor::parse_configured(&text));
        let amount = amount.filter(|amount| *amount > Minor::ZERO);
        if amount.is_none() {
            node.fault(errors, "must be minor units from 1 to 10^18, as digits");
        }
        amount
    });
    Some(Limit {
        id: id?,
        method: method?,
        per: per?,
        window: Duration::from_secs(window?),
        // A bound that was given and is wrong is a fault, never no bound.
        max_count: max_count.map_or(Some(None), |count| count.map(Some))?,
        max_amount: max_amount.map_or(Some(None), |amount| amount.map(Some))?,
        action: action?,
    })
}

fn read_action(
    node: &Node<'_>,
    method: Option<PaymentMethod>,
    errors: &mut ValidationErrors,
) -> Option<LimitAction> {
    let action = LimitAction::parse(node.text(20, errors)?);
    match (action, method) {
        (None, _) => node.fault(errors, "must be `refuse` or `review`"),
        (Some(LimitAction::Review), Some(PaymentMethod::WebCard)) => {
            node.fault(
                errors,
                "a card payment cannot wait for a person while its customer does; use `refuse`",
            );
        }
        _ => {}
    }
    action
}

fn read_scope(
    node: &Node<'_>,
    method: Option<PaymentMethod>,
    errors: &mut ValidationErrors,
) -> Option<LimitScope> {
    let scope = LimitScope::parse(node.text(20, errors)?);
    match (scope, method) {
        (None, _) => node.fault(errors, "must be one of: environment, customer, account"),
        (Some(LimitScope::Card), _) => {
            node.fault(
                errors,
                "no provider says which card it is before the card is charged, so that it cannot be limited; use \
                 `customer` here, and the provider's own rules for cards",
            );
            return None;
        }
        (Some(LimitScope::Account), Some(PaymentMethod::WebCard)) => {
            node.fault(errors, "card payments have no bank account; use `environment` or `customer`");
            return None;
        }
        _ => {}
    }
    scope
}

pub(crate) fn write(limits: &[Limit]) -> Value {
    let limit = |limit: &Limit| {
        json!({
            "id": &*limit.id,
            "paymentMethod": limit.method.as_str(),
            "per": limit.per.as_str(),
            "windowSeconds": limit.window.as_secs(),
            "maxCount": limit.max_count,
            "maxAmountMinor": limit.max_amount.map(|amount| amount.to_string()),
            "action": limit.action.as_str(),
        })
    };
    limits.iter().map(limit).collect()
}
