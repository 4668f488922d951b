//! What a quote costs when many routing rules stand before the default and none of them matches; also where the default is split
//! and has fallbacks.

use serde_json::{Value, json};

use crate::Fault;
use crate::load::{self, Measured, Target, Until};
use crate::product::Product;

/// How many rules are measured; the first is what the others are compared with.
pub(crate) const COUNTS: [u32; 3] = [10, 1_000, 10_000];

/// The sandbox's providers of cards.
const SPLIT: [&str; 2] = ["card_provider_a", "card_provider_b"];

/// The kinds of conditions measured. An index that helps one of them may not help the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One metadata key compared with a value of its own in each rule.
    MetadataEquals,
    /// Ranges of the amount, all above the one quoted.
    AmountRanges,
    /// One metadata key and a prefix of its own in each rule.
    MetadataStartsWith,
    /// All of the above in turn, each after a condition that does hold.
    Mixed,
    /// As the first, and the default is split by a metadata key between two providers, each with the other to fall back to.
    Split,
}

impl Shape {
    pub(crate) const ALL: [Self; 5] =
        [Self::MetadataEquals, Self::AmountRanges, Self::MetadataStartsWith, Self::Mixed, Self::Split];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::MetadataEquals => "metadata eq",
            Self::AmountRanges => "amount ranges",
            Self::MetadataStartsWith => "metadata startsWith",
            Self::Mixed => "mixed",
            Self::Split => "split and fallbacks",
        }
    }

    /// The conditions of the rule at `position`. The quote's order is `A-1001`, its amount 125000.
    fn conditions(self, position: u32) -> Vec<Value> {
        let condition =
            |field: &str, op: &str, value: Value| json!({"field": field, "op": op, "value": value});
        let lowest = 200_000 + u64::from(position) * 100;
        match self {
            Self::MetadataEquals | Self::Split => {
                vec![condition("metadata.orderId", "eq", json!(format!("B-{position}")))]
            }
            Self::AmountRanges => vec![
                condition("amountMinor", "gte", json!(lowest.to_string())),
                condition("amountMinor", "lt", json!((lowest + 100).to_string())),
            ],
            Self::MetadataStartsWith => {
                vec![condition("metadata.orderId", "startsWith", json!(format!("B-{position}-")))]
            }
            Self::Mixed => {
                let (holds, other) = match position % 4 {
                    0 => (condition("currency", "eq", json!("USD")), Self::MetadataEquals),
                    1 => (
                        condition("flow", "in", json!(["payment_component", "hosted_checkout"])),
                        Self::AmountRanges,
                    ),
                    2 => (condition("metadata.tier", "exists", json!(true)), Self::MetadataStartsWith),
                    _ => (condition("amountMinor", "gt", json!("1000")), Self::MetadataEquals),
                };
                let mut conditions = vec![holds];
                conditions.extend(other.conditions(position));
                conditions
            }
        }
    }

    /// The rules as the configuration document has them. Each condition gets an id, as an operator's would.
    fn rules(self, count: u32, target: &Value) -> Vec<Value> {
        let rule = |position| {
            let mut conditions = self.conditions(position);
            for (index, condition) in conditions.iter_mut().enumerate() {
                if let Some(fields) = condition.as_object_mut() {
                    fields.insert("id".into(), json!(format!("cond_{position}_{index}")));
                }
            }
            json!({"id": format!("rule_{position}"), "enabled": true, "conditions": conditions, "target": target})
        };
        (0..count).map(rule).collect()
    }
}

/// The quote with one number of rules of one shape.
pub(crate) struct RulesMeasured {
    pub(crate) shape: Shape,
    pub(crate) count: u32,
    /// One connection: the latency of a quote on an otherwise idle server.
    pub(crate) alone: Measured,
    /// Many connections: the throughput.
    pub(crate) together: Measured,
}

/// Measures every shape and number of rules, and puts the configuration back as it was, also after a fault.
pub(crate) async fn measure(
    product: &Product,
    quote: &Target,
    quote_body: &[u8],
    connections: u32,
    seconds: u64,
) -> Result<Vec<RulesMeasured>, Fault> {
    let original = read_document(product).await?;
    let measured = measure_all(product, quote, quote_body, connections, seconds, &original).await;
    let restored = write_document(product, &original).await;
    let measured = measured?;
    restored?;
    Ok(measured)
}

async fn measure_all(
    product: &Product,
    quote: &Target,
    quote_body: &[u8],
    connections: u32,
    seconds: u64,
    original: &Value,
) -> Result<Vec<RulesMeasured>, Fault> {
    let mut all = Vec::new();
    for shape in Shape::ALL {
        for count in COUNTS {
            eprintln!("rules: {} × {count}", shape.name());
            write_document(product, &with_rules(original, shape, count)?).await?;
            let secret_key = &product.sandbox.secret_key;
            let (answer, _) = product.call("POST", crate::QUOTE_PATH, secret_key, Some(quote_body)).await?;
            // A rule that matched would end the search early and make the measurement meaningless.
            if answer.pointer("/data/routing/fallback") != Some(&Value::Bool(true)) {
                return Err(
                    format!("{} × {count}: the quote did not fall back: {answer}", shape.name()).into()
                );
            }
            let alone = load::run(quote, 1, Until::seconds(seconds)).await?;
            let together = load::run(quote, connections, Until::seconds(seconds)).await?;
            all.push(RulesMeasured { shape, count, alone, together });
        }
    }
    Ok(all)
}

fn path(product: &Product) -> String {
    format!("/admin/v1/environments/{}/config", product.sandbox.environment_id)
}

async fn read_document(product: &Product) -> Result<Value, Fault> {
    let (mut answer, _) = product.call("GET", &path(product), &product.sandbox.admin_token, None).await?;
    answer.get_mut("data").map(Value::take).ok_or_else(|| "the configuration's answer has no data".into())
}

async fn write_document(product: &Product, document: &Value) -> Result<(), Fault> {
    let body = serde_json::to_vec(document)?;
    product.call("PUT", &path(product), &product.sandbox.admin_token, Some(&body)).await.map(drop)
}

/// The document with its card rules replaced; the rules point where the default does.
fn with_rules(original: &Value, shape: Shape, count: u32) -> Result<Value, Fault> {
    let mut document = original.clone();
    let cards = document
        .pointer_mut("/routing/web_card")
        .and_then(Value::as_object_mut)
        .ok_or("the configuration has no routing for cards")?;
    let target = cards.get("default").filter(|target| target.is_object()).cloned();
    let target = target.ok_or("the configuration has no default target for cards")?;
    let target = if shape == Shape::Split {
        let [first, second] = SPLIT.map(|provider| json!({"provider": provider, "channel": "web_card"}));
        let share = |target: &Value, weight: u32| {
            let mut share = target.clone();
            if let Some(fields) = share.as_object_mut() {
                fields.insert("weight".into(), weight.into());
            }
            share
        };
        let shares = [share(&first, 95), share(&second, 5)];
        json!({"split": shares, "splitBy": "metadata.orderId", "fallbacks": [second, first]})
    } else {
        target
    };
    cards.insert("rules".into(), Value::Array(shape.rules(count, &target)));
    cards.insert("default".into(), target);
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_card_rules_are_replaced() {
        let target = json!({"provider": "a", "channel": "web_card"});
        let original = json!({
            "routing": {"web_card": {"enabled": true, "rules": [], "default": target}, "ach": {"enabled": false}},
            "fees": [],
        });
        let changed = with_rules(&original, Shape::MetadataEquals, 2).unwrap();
        let expected = json!([
            {"id": "rule_0", "enabled": true, "target": target,
             "conditions": [{"id": "cond_0_0", "field": "metadata.orderId", "op": "eq", "value": "B-0"}]},
            {"id": "rule_1", "enabled": true, "target": target,
             "conditions": [{"id": "cond_1_0", "field": "metadata.orderId", "op": "eq", "value": "B-1"}]},
        ]);
        assert_eq!(changed.pointer("/routing/web_card/rules"), Some(&expected));
        assert_eq!(changed.pointer("/routing/ach"), original.pointer("/routing/ach"));
        assert_eq!(with_rules(&changed, Shape::Mixed, 0).unwrap(), original);
    }

    #[test]
    fn a_document_without_card_routing_is_refused() {
        assert!(with_rules(&json!({"routing": {}}), Shape::Mixed, 1).is_err());
    }

    #[test]
    fn every_shape_makes_the_asked_number_of_rules() {
        for shape in Shape::ALL {
            let rules = shape.rules(40, &Value::Null);
            assert_eq!(rules.len(), 40);
            let distinct: std::collections::HashSet<String> = rules.iter().map(Value::to_string).collect();
            assert_eq!(distinct.len(), 40);
        }
    }
}
