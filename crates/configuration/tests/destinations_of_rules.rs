//! Where rules send payments: splits, and every mistake in them at its path.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

use serde_json::{Value, json};
use tollgate_configuration::Configuration;
use tollgate_domain::tenant::EnvironmentName;

fn document(default: &Value) -> Value {
    json!({
        "providers": {
            "a": {"adapter": "stripe", "credentials": {}},
            "b": {"adapter": "square", "credentials": {}, "environment": "sandbox"},
            "bank": {"adapter": "increase", "credentials": {}},
        },
        "routing": {"web_card": {"default": default}},
    })
}

fn read(default: &Value) -> Result<Configuration, Vec<(String, String)>> {
    let read = Configuration::read(&document(default), &Configuration::default());
    read.map_err(|errors| errors.into_iter().map(|error| (error.field, error.message)).collect())
}

fn share(provider: &str, weight: impl Into<Value>) -> Value {
    json!({"provider": provider, "channel": "web_card", "weight": weight.into()})
}

#[test]
fn a_split_is_read_and_written_back() {
    let default = json!({"split": [share("a", 70), share("b", 30)], "splitBy": "metadata.customer.id"});
    let read = read(&default).unwrap();
    assert_eq!(read.to_public()["routing"]["web_card"]["default"], default);
    let destination = read.web_card.default_destination().unwrap();
    assert_eq!(&*destination.target().provider, "a");
    assert_eq!(destination.shares().unwrap().by(), Some("customer.id"));
    let without_key = json!({"split": [share("a", 1)], "splitBy": null});
    let written = self::read(&without_key).unwrap().to_public();
    assert_eq!(written["routing"]["web_card"]["default"], json!({"split": [share("a", 1)]}));
}

#[test]
fn fallbacks_are_read_and_written_back() {
    let fallback = json!({"provider": "b", "channel": "web_card"});
    for default in [
        json!({"provider": "a", "channel": "web_card", "fallbacks": [fallback]}),
        json!({"split": [share("a", 1), share("b", 1)], "fallbacks": [fallback]}),
    ] {
        let read = read(&default).unwrap();
        assert_eq!(read.to_public()["routing"]["web_card"]["default"], default);
        let fallbacks = read.web_card.default_destination().unwrap().fallbacks();
        assert_eq!(fallbacks.iter().map(|target| &*target.provider).collect::<Vec<_>>(), ["b"]);
    }
    let none = json!({"provider": "a", "channel": "web_card", "fallbacks": []});
    let written = read(&none).unwrap().to_public();
    assert_eq!(written["routing"]["web_card"]["default"], json!({"provider": "a", "channel": "web_card"}));
}

#[test]
fn every_mistake_is_named_at_its_path() {
    let fallback = |provider: &str| json!({"provider": provider, "channel": "web_card"});
    for (default, mistakes) in [
        (
            json!({"provider": "a", "channel": "web_card", "fallbacks": [fallback("a"), fallback("bank"), {}]}),
            &[
                ("fallbacks[0]", "name another"),
                ("fallbacks[1].provider", "does not support"),
                ("fallbacks[2].provider", "required"),
                ("fallbacks[2].channel", "required"),
            ][..],
        ),
        (
            json!({"provider": "a", "channel": "web_card", "fallbacks": [fallback("b"), fallback("b")]}),
            &[("fallbacks[1]", "only once")],
        ),
        (json!({"provider": "a", "channel": "web_card", "fallbacks": {}}), &[("fallbacks", "list")]),
        (
            json!({"split": [share("a", 0)], "fallbacks": [{"provider": "b"}]}),
            &[("split[0].weight", "integer"), ("fallbacks[0].channel", "required")],
        ),
        (json!({}), &[("provider", "required"), ("channel", "required")]),
        (json!({"split": []}), &[("split", "at least one")]),
        (json!({"split": {}}), &[("split", "list")]),
        (json!({"provider": "a", "channel": "web_card", "splitBy": "metadata.x"}), &[("splitBy", "`split`")]),
        (
            json!({"provider": "a", "channel": "web_card", "split": [share("b", 1)]}),
            &[("provider", "beside `split`"), ("channel", "beside `split`")],
        ),
        (json!({"split": [share("a", 1)], "splitBy": "currency"}), &[("splitBy", "metadata.<key>")]),
        (
            json!({"split": [share("a", 0), share("b", 1_000_001), share("nobody", 1), share("bank", "1")]}),
            &[
                ("split[0].weight", "integer"),
                ("split[1].weight", "integer"),
                ("split[2].provider", "unknown provider"),
                ("split[3].provider", "does not support"),
                ("split[3].weight", "integer"),
            ],
        ),
        (
            json!({"split": [share("a", 1), {"provider": "b", "channel": "instant", "share": 1}]}),
            &[
                ("split[1].weight", "required"),
                ("split[1].channel", "web_card"),
                ("split[1].share", "not a known field"),
            ],
        ),
        (json!({"split": [share("a", 1), share("b", 1), share("a", 2)]}), &[("split[2]", "same provider")]),
        (json!({"split": vec![share("a", 1); 21]}), &[("split", "at most 20")]),
    ] {
        let found = read(&default).unwrap_err();
        for (path, words) in mistakes {
            let path = format!("routing.web_card.default.{path}");
            assert!(
                found.iter().any(|(field, message)| *field == path && message.contains(words)),
                "{default}: {path} {words}, found {found:?}"
            );
        }
        assert_eq!(found.len(), mistakes.len(), "{default}: {found:?}");
    }
}

#[test]
fn circuits_are_read_and_written_back() {
    let read = |circuit: Value| {
        let mut document = document(&json!({"provider": "a", "channel": "web_card"}));
        document["settings"] = json!({ "circuit": circuit });
        Configuration::read(&document, &Configuration::default())
            .map(|read| read.to_public()["settings"]["circuit"].clone())
            .map_err(|errors| errors.into_iter().map(|error| error.field).collect::<Vec<_>>())
    };
    let usual = json!({
        "enabled": true, "windowSeconds": 60, "minimumCalls": 20, "failurePercent": 50, "openSeconds": 30
    });
    assert_eq!(read(Value::Null), Ok(usual.clone()));
    assert_eq!(read(json!({})), Ok(usual));
    let own = json!({
        "enabled": false, "windowSeconds": 5, "minimumCalls": 1, "failurePercent": 100, "openSeconds": 9,
        "forced": {"a": "open", "b": "closed"}
    });
    assert_eq!(read(own.clone()), Ok(own));
    let faulty = json!({
        "enabled": 1, "windowSeconds": 0, "minimumCalls": 0, "failurePercent": 101, "openSeconds": "1", "x": 1,
        "forced": {"a": "ajar", "nobody": "open"}
    });
    let mut found = read(faulty).unwrap_err();
    found.sort();
    let expected = [
        "enabled",
        "failurePercent",
        "forced.a",
        "forced.nobody",
        "minimumCalls",
        "openSeconds",
        "windowSeconds",
        "x",
    ];
    assert_eq!(found, expected.map(|field| format!("settings.circuit.{field}")));
}

#[test]
fn every_target_of_a_split_needs_a_fee() {
    let mut document = document(&json!({"split": [share("a", 1), share("b", 1)]}));
    document["fees"] =
        json!([{"provider": "a", "paymentMethod": "web_card", "channel": "none", "currency": "USD"}]);
    let read = Configuration::read(&document, &Configuration::default()).unwrap();
    let warnings = read.warnings(&EnvironmentName::parse("test").unwrap(), jiff::civil::date(2026, 11, 18));
    assert!(
        warnings
            .iter()
            .any(|it| it.path == "routing.web_card.default.split[1]" && it.message.contains("b has no fee")),
        "{warnings:?}"
    );
}
