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
    let Approvals { transfers, configuration, .. } = plain.approvals;
    assert_eq!((transfers[0].count, transfers[0].conditions.len(), configuration), (1, 0, false));
}

#[test]
fn refunds_and_funds_have_rules_of_their_own() {
    let amount = json!({ "id": "amount", "field": "amountMinor", "op": "gt", "value": "5000" });
    let metadata = json!({ "id": "shop", "field": "metadata.shop", "op": "eq", "value": "1" });
    let out = json!({ "id": "out", "field": "cause", "op": "eq", "value": "withdraw" });
    let given = json!({
        "transfers": [],
        "refunds": [{ "id": "large", "conditions": [amount, metadata], "count": 1 }],
        "funds": [{ "id": "out", "conditions": [amount, out], "count": 2 }],
        "configuration": false,
    });
    let configuration = read(&given).unwrap();
    assert_eq!(configuration.to_public()["approvals"], given);
    assert!(configuration.approvals.has_rules());

    let first = rule()["conditions"][1].clone();
    let unknown = json!({ "id": "out", "field": "cause", "op": "eq", "value": "spend" });
    for (section, condition, path) in [
        ("refunds", &first, "approvals.refunds[0].conditions[0].field"),
        ("refunds", &out, "approvals.refunds[0].conditions[0].field"),
        ("transfers", &out, "approvals.transfers[0].conditions[0].field"),
        ("funds", &first, "approvals.funds[0].conditions[0].field"),
        ("funds", &metadata, "approvals.funds[0].conditions[0]"),
        ("funds", &unknown, "approvals.funds[0].conditions[0].value"),
    ] {
        let errors = read(&json!({ section: [{ "id": "r", "conditions": [condition] }] })).unwrap_err();
        assert_eq!((errors.len(), errors[0].0.as_str()), (1, path), "{errors:?}");
    }
}

#[test]
fn rules_that_one_person_can_take_away_are_warned_of() {
    let warned = |approvals: Value| {
        let warnings = read(&approvals)
            .unwrap()
            .warnings(&EnvironmentName::parse("production").unwrap(), jiff::civil::date(2026, 11, 18));
        warnings.iter().any(|warning| warning.kind == WarningKind::Approval)
    };
    assert!(warned(json!({ "transfers": [rule()] })));
    assert!(warned(json!({ "refunds": [{ "id": "all" }] })) && warned(json!({ "funds": [{ "id": "all" }] })));
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
