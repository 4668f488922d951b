//! The `approvals` section: read, written back, and every fault at its place.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use serde_json::{Value, json};
use tollgate_configuration::{Approvals, Configuration, WarningKind};
use tollgate_domain::tenant::EnvironmentName;

fn read(approvals: &Value) -> Result<Configuration, Vec<(String, String)>> {
    Configuration::read(&json!({ "approvals": approvals }), &Configuration::default())
        .map_err(|errors| errors.iter().map(|error| (error.field.clone(), error.message.clone())).collect())
}

fn rule() -> Value {
    json!({
        "id": "large",
        "conditions": [
            { "id": "amount", "field": "amountMinor", "op": "gte", "value": "100000" },
            { "id": "first", "field": "firstToAccount", "op": "eq", "value": true },
        ],
        "count": 2,
    })
}

#[test]
fn rules_go_round() {
    let configuration = read(&json!({ "transfers": [rule()], "configuration": true })).unwrap();
    assert_eq!(configuration.approvals.transfers[0].count, 2);
    assert!(configuration.approvals.transfers[0].asks_for_account() && configuration.approvals.configuration);
    let written = json!({ "transfers": [rule()], "configuration": true });
    assert_eq!(configuration.to_public()["approvals"], written);
    let plain = read(&json!({ "transfers": [{ "id": "all" }] })).unwrap();
    let Approvals { transfers, configuration } = plain.approvals;
    assert_eq!((transfers[0].count, transfers[0].conditions.len(), configuration), (1, 0, false));
}

#[test]
fn rules_that_one_person_can_take_away_are_warned_of() {
    let warned = |approvals: Value| {
        let warnings = read(&approvals).unwrap().warnings(&EnvironmentName::parse("production").unwrap());
        warnings.iter().any(|warning| warning.kind == WarningKind::Approval)
    };
    assert!(warned(json!({ "transfers": [rule()] })));
    assert!(!warned(json!({ "transfers": [rule()], "configuration": true })) && !warned(json!({})));
}

#[test]
fn every_fault_is_named_at_its_place() {
    let with = |field: &str, value: Value| {
        let mut wrong = rule();
        wrong[field] = value;
        json!({ "transfers": [wrong] })
    };
    let condition = |field: &str, value: Value| {
        let mut wrong = rule();
        wrong["conditions"][1][field] = value;
        json!({ "transfers": [wrong] })
    };
    for (wrong, path, words) in [
        (with("count", json!(0)), "approvals.transfers[0].count", "from 1 to"),
        (with("id", json!("two words")), "approvals.transfers[0].id", "letters"),
        (with("target", json!({})), "approvals.transfers[0].target", "not a known field"),
        (condition("op", json!("ne")), "approvals.transfers[0].conditions[1].op", "must be `eq`"),
        (condition("value", json!("yes")), "approvals.transfers[0].conditions[1].value", "true"),
        (condition("id", json!("amount")), "approvals.transfers[0].conditions[1].id", "another condition"),
        (json!({ "transfers": [rule(), rule()] }), "approvals.transfers[1].id", "another approval rule"),
        (json!({ "configuration": "yes" }), "approvals.configuration", "true"),
    ] {
        let errors = read(&wrong).unwrap_err();
        assert_eq!((errors.len(), errors[0].0.as_str()), (1, path), "{errors:?}");
        assert!(errors[0].1.contains(words), "{errors:?}");
    }
}
