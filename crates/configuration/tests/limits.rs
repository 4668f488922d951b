//! The `limits` section: what is read, what is refused, and what comes back.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use serde_json::{Value, json};
use tollgate_configuration::Configuration;

fn read(limits: &Value) -> Result<Configuration, Vec<(String, String)>> {
    let read = Configuration::read(&json!({ "limits": limits }), &Configuration::default());
    read.map_err(|errors| errors.iter().map(|it| (it.field.clone(), it.message.clone())).collect())
}

fn limit() -> Value {
    json!({"id": "daily", "paymentMethod": "ach", "per": "customer", "windowSeconds": 86_400, "maxCount": 3,
           "maxAmountMinor": "100000", "action": "refuse"})
}

#[test]
fn a_limit_goes_round() {
    let configuration = read(&json!([limit()])).unwrap();
    assert_eq!(configuration.limits[0].max_amount.map(tollgate_domain::Minor::get), Some(100_000));
    assert_eq!(configuration.to_public()["limits"], json!([limit()]));
    assert_eq!(Configuration::default().to_public()["limits"], json!([]));
    let mut open = limit();
    open["maxCount"] = Value::Null;
    assert_eq!(read(&json!([open.clone()])).unwrap().to_public()["limits"], json!([open]));
}

#[test]
fn every_fault_is_named_at_its_place() {
    for (field, value, words) in [
        ("per", json!("card"), "before the card is charged"),
        ("per", json!("country"), "must be one of"),
        ("action", json!("log"), "must be `refuse` or `review`"),
        ("windowSeconds", json!(0), "from 1 to"),
        ("maxCount", json!(0), "from 1 to"),
        ("maxAmountMinor", json!("0"), "from 1 to"),
        ("maxAmountMinor", json!("1.50"), "from 1 to"),
        ("paymentMethod", json!("wire"), "must be one of"),
        ("id", json!("a limit"), "letters"),
        ("currency", json!("USD"), "not a known field"),
    ] {
        let mut wrong = limit();
        wrong[field] = value.clone();
        let errors = read(&json!([wrong])).unwrap_err();
        assert_eq!(errors.len(), 1, "{field} {value}: {errors:?}");
        assert_eq!(errors[0].0, format!("limits[0].{field}"));
        assert!(errors[0].1.contains(words), "{errors:?}");
    }
    let mut card = limit();
    card["paymentMethod"] = json!("web_card");
    card["per"] = json!("account");
    assert!(read(&json!([card.clone()])).unwrap_err()[0].1.contains("no bank account"));
    card["per"] = json!("customer");
    card["action"] = json!("review");
    assert!(read(&json!([card])).unwrap_err()[0].1.contains("cannot wait for a person"));
    let mut reviewed = limit();
    reviewed["action"] = json!("review");
    assert_eq!(read(&json!([reviewed.clone()])).unwrap().to_public()["limits"], json!([reviewed]));
    let boundless = json!({"id": "a", "paymentMethod": "ach", "per": "customer", "windowSeconds": 60});
    assert!(read(&json!([boundless])).unwrap_err()[0].1.contains("`maxCount`, `maxAmountMinor` or both"));
    let twice = read(&json!([limit(), limit()])).unwrap_err();
    assert!(twice[0].1.contains("another limit"), "{twice:?}");
}
