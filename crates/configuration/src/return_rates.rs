//! `settings.returnRates`: from which share of returned transfers on operators are warned.

use serde_json::{Value, json};
use tollgate_domain::{BasisPoints, ach::ReturnThresholds};

use crate::{reader::Node, validation_error::ValidationErrors};

const MAX_TRANSFERS: u64 = 1_000_000;

pub(crate) fn read(node: &Node<'_>, errors: &mut ValidationErrors) -> ReturnThresholds {
    let usual = ReturnThresholds::default();
    let Some(mut object) = node.object(errors) else { return usual };
    let administrative = object.optional("administrativeBps");
    let unauthorized = object.optional("unauthorizedBps");
    let transfers = object.optional("minimumTransfers");
    object.finish(errors);
    let mut number = |node: Option<Node<'_>>, least: u64, most: u64, usual: u64| {
        node.and_then(|node| node.integer(least, most, errors)).unwrap_or(usual)
    };
    let whole = u64::from(BasisPoints::WHOLE);
    ReturnThresholds {
        administrative_bps: number(administrative, 0, whole, usual.administrative_bps),
        unauthorized_bps: number(unauthorized, 0, whole, usual.unauthorized_bps),
        minimum_transfers: number(transfers, 1, MAX_TRANSFERS, usual.minimum_transfers),
    }
}

pub(crate) fn write(thresholds: &ReturnThresholds) -> Value {
    json!({
        "administrativeBps": thresholds.administrative_bps,
        "unauthorizedBps": thresholds.unauthorized_bps,
        "minimumTransfers": thresholds.minimum_transfers,
    })
}
