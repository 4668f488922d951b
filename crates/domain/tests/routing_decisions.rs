//! Tables, rule by rule: which one wins, and how it is explained.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use tollgate_domain::{
    Channel, Currency, Flow, Principal,
    metadata::{Metadata, MetadataValue},
    routing::{Condition, Facts, Field, RoutingTable, Rule, RuleOutcome, Target, Test, Unroutable},
};

fn target(provider: &str) -> Target {
    Target { provider: provider.into(), channel: Channel::WebCard }
}

fn rule(id: &str, conditions: &[(&str, Test)]) -> Rule {
    let condition = |(at, (field, test)): (usize, &(&str, Test))| {
        Condition::new(format!("{id}.{at}"), Field::parse(field).unwrap(), test.clone()).unwrap()
    };
    let conditions = conditions.iter().enumerate().map(condition).collect();
    Rule { id: id.into(), enabled: true, conditions, target: target(id).into() }
}

fn metadata() -> Metadata {
    [("tier".to_owned(), MetadataValue::Scalar("gold".to_owned()))].into_iter().collect()
}

fn payment(amount: u64, metadata: &Metadata) -> Facts<'_> {
    let amount = Principal::new(amount).unwrap();
    Facts { amount, currency: Currency::USD, flow: Some(Flow::PaymentComponent), metadata }
}

fn gold() -> (&'static str, Test) {
    ("metadata.tier", Test::Eq("gold".to_owned()))
}

#[test]
fn the_first_enabled_rule_in_order_wins() {
    let mut switched_off = rule("off", &[]);
    switched_off.enabled = false;
    let large = rule("large", &[("amountMinor", Test::Gte(1_000))]);
    let large_gold = rule("large_gold", &[gold(), ("amountMinor", Test::Gte(500))]);
    let rules = vec![switched_off, large, large_gold, rule("always", &[]), rule("never_reached", &[gold()])];
    let table = RoutingTable::new(true, rules, None);
    let (gold, nothing) = (metadata(), Metadata::default());
    for (amount, metadata, winner, conditions) in [
        (1_000, &gold, "large", vec!["large.0"]),
        (999, &gold, "large_gold", vec!["large_gold.0", "large_gold.1"]),
        (999, &nothing, "always", vec![]),
        (1, &gold, "always", vec![]),
    ] {
        let decision = table.decide(&payment(amount, metadata)).unwrap();
        let matched = decision.matched.unwrap();
        assert_eq!(&*matched.rule, winner);
        assert_eq!(matched.conditions.iter().map(|id| &**id).collect::<Vec<_>>(), conditions);
        assert_eq!(*decision.destination.target(), target(winner));
    }
}

#[test]
fn without_a_rule_the_default_decides_or_nothing_does() {
    let metadata = metadata();
    let facts = payment(1, &metadata);
    for (enabled, default, expected) in [
        (true, Some(target("fallback")), Ok(target("fallback"))),
        (true, None, Err(Unroutable::Incomplete)),
        (false, Some(target("fallback")), Err(Unroutable::Disabled)),
    ] {
        let rules = vec![rule("large", &[("amountMinor", Test::Gt(1))])];
        let table = RoutingTable::new(enabled, rules, default.map(Into::into));
        let decided = table.decide(&facts);
        assert_eq!(table.explain(&facts).decision, decided);
        assert!(decided.as_ref().is_ok_and(|decision| decision.matched.is_none()) || decided.is_err());
        assert_eq!(decided.map(|decision| decision.destination.target().clone()), expected);
    }
}

#[test]
fn an_explanation_shows_every_verdict() {
    let mut switched_off = rule("off", &[gold()]);
    switched_off.enabled = false;
    let failing = rule("failing", &[("metadata.region", Test::Exists(true)), gold()]);
    let rules = vec![switched_off, failing, rule("winner", &[gold()]), rule("behind", &[gold()])];
    let table = RoutingTable::new(true, rules, None);
    let metadata = metadata();
    let explanation = table.explain(&payment(1, &metadata));

    let outcomes: Vec<_> = explanation.rules.iter().map(|rule| (&*rule.id, rule.outcome)).collect();
    assert_eq!(
        outcomes,
        [
            ("off", RuleOutcome::Disabled),
            ("failing", RuleOutcome::Failed),
            ("winner", RuleOutcome::Matched),
            ("behind", RuleOutcome::NotTried),
        ]
    );
    let failing: Vec<_> = explanation.rules[1]
        .conditions
        .iter()
        .map(|verdict| {
            (&*verdict.id, verdict.field.as_str(), verdict.op, verdict.holds, verdict.found.as_deref())
        })
        .collect();
    assert_eq!(
        failing,
        [
            ("failing.0", "metadata.region", "exists", false, None),
            ("failing.1", "metadata.tier", "eq", true, Some("gold")),
        ]
    );
    assert!(explanation.rules[3].conditions.is_empty());
}

#[test]
fn ten_thousand_rules_that_crowd_together_still_find_the_right_one() {
    // Every rule shares its tier, and the amounts overlap, so that all are found together and only checks tell.
    let crowd = (0..10_000).map(|at| {
        let amounts = ("amountMinor", Test::Gte(10_000 - at));
        let region = ("metadata.region", Test::Ne(format!("region_{}", at % 7)));
        rule(&format!("rule_{at}"), &[gold(), amounts, region])
    });
    let table = RoutingTable::new(true, crowd.collect(), Some(target("default").into()));
    let metadata = metadata();
    for (amount, winner) in [(1, "rule_9999"), (5_000, "rule_5000"), (20_000, "rule_0")] {
        let decision = table.decide(&payment(amount, &metadata)).unwrap();
        assert_eq!(*decision.destination.target(), target(winner), "{amount}");
        assert_eq!(table.explain(&payment(amount, &metadata)).decision, Ok(decision));
    }
    let without_tier = Metadata::default();
    assert_eq!(table.decide(&payment(20_000, &without_tier)).unwrap().destination, target("default").into());
}
