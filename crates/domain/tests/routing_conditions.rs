//! Conditions, one by one: what can be written, and what holds when.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use tollgate_domain::{
    Currency, Flow, Principal,
    metadata::{Metadata, MetadataValue},
    routing::{Condition, Facts, Field, InvalidTest, Test},
};

fn text(text: &str) -> String {
    text.to_owned()
}

fn texts(all: &[&str]) -> Vec<String> {
    all.iter().copied().map(text).collect()
}

fn condition(field: &str, test: Test) -> Result<Condition, InvalidTest> {
    Condition::new("condition", Field::parse(field).unwrap(), test)
}

/// Checks the condition against a payment of 100 minor units in USD by hosted checkout.
fn check(field: &str, test: Test, expected: bool) {
    let scalar = |value: &str| MetadataValue::Scalar(text(value));
    let pairs = [
        ("tier", scalar("gold")),
        ("count", scalar("007")),
        ("debt", scalar("-12")),
        ("plus", scalar("+5")),
        ("price", scalar("5.0")),
        ("huge", scalar("170141183460469231731687303715884105728")),
        ("empty", scalar("")),
        ("a.b", scalar("true")),
        ("cart", MetadataValue::Composite),
    ];
    let metadata: Metadata = pairs.into_iter().map(|(key, value)| (text(key), value)).collect();
    let amount = Principal::new(100).unwrap();
    let facts =
        Facts { amount, currency: Currency::USD, flow: Some(Flow::HostedCheckout), metadata: &metadata };
    let condition = condition(field, test).unwrap();
    assert_eq!(condition.holds(&facts), expected, "{condition:?}");
}

#[test]
fn fields_read_back_as_written() {
    for name in [
        "amountMinor",
        "currency",
        "flow",
        "metadata.tier",
        "metadata.a.b",
        "metadata.metadata.",
        "metadata. ",
    ] {
        assert_eq!(Field::parse(name).unwrap().to_string(), name);
    }
    assert_eq!(Field::parse("metadata.a.b"), Some(Field::Metadata("a.b".into())));
    for name in ["", "amount", "AmountMinor", "metadata", "metadata.", " currency", "Metadata.tier"] {
        assert_eq!(Field::parse(name), None, "{name:?}");
    }
}

#[test]
fn amounts() {
    let field = "amountMinor";
    check(field, Test::Eq(text("100")), true);
    check(field, Test::Eq(text("10")), false);
    check(field, Test::Ne(text("100")), false);
    check(field, Test::In(texts(&["1", "100"])), true);
    check(field, Test::NotIn(texts(&["1", "100"])), false);
    check(field, Test::NotIn(texts(&["1", "10"])), true);
    check(field, Test::Lt(100), false);
    check(field, Test::Lte(100), true);
    check(field, Test::Gt(100), false);
    check(field, Test::Gte(100), true);
    check(field, Test::Gt(99), true);
    check(field, Test::Exists(true), true);
    check(field, Test::Exists(false), false);
}

#[test]
fn currencies_and_flows() {
    check("currency", Test::Eq(text("usd")), true);
    check("currency", Test::Ne(text("usd")), false);
    check("currency", Test::In(texts(&["eur", "uSd"])), true);
    check("currency", Test::StartsWith(text("us")), true);
    check("currency", Test::StartsWith(text("E")), false);
    check("currency", Test::Exists(true), true);
    check("flow", Test::Eq(text("hosted_checkout")), true);
    check("flow", Test::NotIn(texts(&["payment_component"])), true);
    check("flow", Test::StartsWith(text("hosted")), true);
    check("flow", Test::Exists(false), false);
}

#[test]
fn metadata_scalars_are_compared_as_text() {
    check("metadata.tier", Test::Eq(text("gold")), true);
    check("metadata.tier", Test::Eq(text("Gold")), false);
    check("metadata.tier", Test::StartsWith(text("go")), true);
    check("metadata.tier", Test::StartsWith(text("golden")), false);
    check("metadata.tier", Test::StartsWith(text("")), true);
    check("metadata.count", Test::Eq(text("7")), false);
    check("metadata.a.b", Test::Eq(text("true")), true);
    check("metadata.empty", Test::Eq(text("")), true);
    check("metadata.empty", Test::Exists(true), true);
}

#[test]
fn metadata_order_needs_a_whole_number() {
    check("metadata.count", Test::Lt(8), true);
    check("metadata.count", Test::Gte(7), true);
    check("metadata.debt", Test::Lt(0), true);
    check("metadata.debt", Test::Gt(-12), false);
    for field in ["metadata.tier", "metadata.plus", "metadata.price", "metadata.huge", "metadata.empty"] {
        check(field, Test::Gte(i128::MIN), false);
        check(field, Test::Lte(i128::MAX), false);
    }
}

#[test]
fn missing_and_composite_values_equal_nothing() {
    for (field, there) in [("metadata.none", false), ("metadata.cart", true)] {
        check(field, Test::Ne(text("x")), true);
        check(field, Test::NotIn(texts(&["x"])), true);
        check(field, Test::Exists(true), there);
        check(field, Test::Exists(false), !there);
        check(field, Test::Eq(text("")), false);
        check(field, Test::In(texts(&["", "null"])), false);
        check(field, Test::StartsWith(text("")), false);
        check(field, Test::Lte(i128::MAX), false);
        check(field, Test::Gte(i128::MIN), false);
    }
}

#[test]
fn a_missing_flow_is_a_missing_field() {
    let metadata = Metadata::default();
    let amount = Principal::new(1).unwrap();
    let facts = Facts { amount, currency: Currency::USD, flow: None, metadata: &metadata };
    for (test, expected) in [
        (Test::Ne(text("hosted_checkout")), true),
        (Test::NotIn(texts(&["hosted_checkout"])), true),
        (Test::Exists(false), true),
        (Test::Exists(true), false),
        (Test::Eq(text("hosted_checkout")), false),
        (Test::StartsWith(text("")), false),
    ] {
        assert_eq!(condition("flow", test.clone()).unwrap().holds(&facts), expected, "{test:?}");
    }
}

#[test]
fn operands_are_normalised() {
    let kept = condition("currency", Test::In(texts(&["usd", "Eur"]))).unwrap();
    assert_eq!(kept.test(), &Test::In(texts(&["USD", "EUR"])));
    assert_eq!(kept.test().op(), "in");
    assert_eq!(
        condition("currency", Test::StartsWith(text("u"))).unwrap().test(),
        &Test::StartsWith(text("U"))
    );
}

#[test]
fn what_makes_no_sense_is_refused_with_advice() {
    for (field, test, advice) in [
        (
            "amountMinor",
            Test::StartsWith(text("1")),
            "`amountMinor` does not support `startsWith`; use one of eq, ne, in",
        ),
        ("amountMinor", Test::Eq(text("0")), "`0` is not an amount; use digits only"),
        ("amountMinor", Test::In(texts(&["1", "1.5"])), "`1.5` is not an amount"),
        ("amountMinor", Test::Ne(text("1000000000000000001")), "is not an amount"),
        ("amountMinor", Test::Lt(-1), "`-1` is out of range"),
        ("amountMinor", Test::Gte(1_000_000_000_000_000_001), "is out of range"),
        ("currency", Test::Eq(text("US")), "`US` is not an active currency"),
        ("currency", Test::NotIn(texts(&["USD", "XAU"])), "`XAU` is not an active currency"),
        ("currency", Test::Gt(1), "`currency` does not support `gt`"),
        (
            "flow",
            Test::Eq(text("hosted")),
            "`hosted` is not a flow; use `payment_component` or `hosted_checkout`",
        ),
        ("flow", Test::Lte(1), "`flow` does not support `lte`"),
        ("metadata.tier", Test::In(vec![]), "`in` needs a list of at least one value"),
        ("flow", Test::NotIn(vec![]), "`notIn` needs a list of at least one value"),
    ] {
        let sentence = condition(field, test).unwrap_err().to_string();
        assert!(sentence.contains(advice), "{sentence}");
    }
    for bound in [0, 1_000_000_000_000_000_000] {
        assert!(condition("amountMinor", Test::Lt(bound)).is_ok());
    }
}
