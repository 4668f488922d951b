//! One routing rule as a form: its conditions, where it leads, and where payments go if that provider is not available.

use askama::Template;
use axum::response::Response;
use serde_json::{Value, json};
use tollgate_domain::{Channel, PaymentMethod};
use tollgate_engine::ConfigureError;

use crate::{
    layout::{
        frame::Frame,
        page::{self, Page, PageError},
    },
    pages::{config as config_pages, config_words::OPERATORS, routing::text},
    request::{signed_in::SignedIn, submitted::Submitted},
};

/// Rows to fill in beside those there are.
const SPARE_ROWS: usize = 2;

#[derive(Default, Clone, PartialEq, Eq, Debug)]
struct ConditionFields {
    id: String,
    field: String,
    operator: String,
    value: String,
}

/// A target as `provider, channel`, and its share of the payments.
#[derive(Default, Clone, PartialEq, Eq, Debug)]
struct ShareFields {
    target: String,
    weight: String,
}

/// A rule as it is typed.
#[derive(Default, Clone, PartialEq, Eq, Debug)]
struct RuleFields {
    id: String,
    is_enabled: bool,
    conditions: Vec<ConditionFields>,
    shares: Vec<ShareFields>,
    split_by: String,
    fallbacks: Vec<String>,
}

#[derive(Template)]
#[template(path = "rule.html")]
struct RulePage {
    frame: Frame,
    version: u64,
    method: &'static str,
    /// The rule's ID before the change; empty for a new one.
    original: String,
    /// Which rule it is, from 1.
    place: usize,
    rule: RuleFields,
    targets: Vec<String>,
    errors: Vec<String>,
}

pub(crate) async fn edit(signed_in: SignedIn) -> Page {
    let environment = signed_in.environment()?;
    let method = method_of(signed_in.query("method").unwrap_or_default())?;
    let _turn = signed_in.config_read_turn().await?;
    let read = signed_in.console.engine.config_document(environment, None).await?;
    let rules = rules_of(&read.document, method);
    let (original, place, rule) = if let Some(id) = signed_in.query("rule") {
        let place = place_of(rules, id).ok_or(PageError::Missing)?;
        let rule = rules.get(place).ok_or(PageError::Missing)?;
        let fields = RuleFields::of(rule);
        if fields.read().as_ref() != Ok(rule) {
            let why = "This rule has something that the form cannot show, such as a list whose values have commas. Edit it as JSON.";
            return Err(PageError::Refused(why.to_owned()));
        }
        (id.to_owned(), place.saturating_add(1), fields)
    } else {
        let rule = RuleFields { is_enabled: true, ..RuleFields::default() };
        (String::new(), rules.len().saturating_add(1), rule)
    };
    show(&signed_in, method, read.version, original, place, rule, Vec::new()).await
}

async fn show(
    signed_in: &SignedIn,
    method: PaymentMethod,
    version: u64,
    original: String,
    place: usize,
    mut rule: RuleFields,
    errors: Vec<String>,
) -> Page {
    let view = signed_in.view(signed_in.environment()?)?;
    let providers = view.configuration.providers.iter().filter(|one| one.adapter.method() == method);
    let targets = providers.flat_map(|provider| {
        let is_card = method == PaymentMethod::WebCard;
        let channels = Channel::ALL.into_iter().filter(move |one| (*one == Channel::WebCard) == is_card);
        channels.map(|channel| format!("{}, {}", provider.name, channel.as_str()))
    });
    let targets = targets.collect();
    rule.add_spare_rows();
    let title = if original.is_empty() { "New rule".to_owned() } else { format!("Rule {original}") };
    let frame = signed_in.frame(&title, "routing").await?;
    page::render(&RulePage {
        frame,
        version,
        method: method.as_str(),
        original,
        place,
        rule,
        targets,
        errors,
    })
}

pub(crate) async fn review(form: Submitted) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    let environment = signed_in.environment()?;
    let method = method_of(form.field("method"))?;
    let engine = &signed_in.console.engine;
    let _turn = signed_in.config_read_turn().await?;
    let read = engine.config_document(environment, None).await?;
    let original = form.field("original").to_owned();
    let place: usize = form.field("place").parse().unwrap_or(usize::MAX);
    let fields = RuleFields::submitted(&form);
    let mut errors = Vec::new();
    if form.field("version").parse() != Ok(read.version) {
        errors.push("The configuration has changed meanwhile; check the rule against it.".to_owned());
    }
    let mut document = read.document;
    let path = format!("/routing/{}/rules", method.as_str());
    let rules = document.pointer_mut(&path).and_then(Value::as_array_mut).ok_or(PageError::Missing)?;
    if !original.is_empty() {
        let place = place_of(rules, &original).ok_or(PageError::Missing)?;
        rules.remove(place);
    }
    if form.field("do") == "remove" {
        return config_pages::show_review(signed_in, environment, document, Some(read.version), "routing")
            .await;
    }
    let place = place.clamp(1, rules.len().saturating_add(1));
    match fields.read() {
        Ok(rule) => rules.insert(place.saturating_sub(1), rule),
        Err(faults) => errors.extend(faults),
    }
    if errors.is_empty() {
        match engine.check_config(environment, document.clone()).await {
            Ok(_) => {
                return config_pages::show_review(
                    signed_in,
                    environment,
                    document,
                    Some(read.version),
                    "routing",
                )
                .await;
            }
            Err(ConfigureError::Faulty(faults)) => {
                errors.extend(faults.into_iter().map(|fault| format!("{}: {}", fault.field, fault.message)));
            }
            Err(error) => return Err(error.into()),
        }
    }
    show(signed_in, method, read.version, original, place, fields, errors).await
}

impl RuleFields {
    fn of(rule: &Value) -> Self {
        let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
        let target = rule.get("target").cloned().unwrap_or_default();
        let split = list(target.get("split"));
        let shares = if split.is_empty() { vec![target.clone()] } else { split };
        let share = |share: &Value| ShareFields { target: target_text(share), weight: text(share, "weight") };
        let condition = |condition: &Value| ConditionFields {
            id: text(condition, "id"),
            field: text(condition, "field"),
            operator: text(condition, "op"),
            value: match condition.get("value") {
                Some(Value::Array(values)) => values.iter().map(plain).collect::<Vec<_>>().join(", "),
                value => value.map(plain).unwrap_or_default(),
            },
        };
        Self {
            id: text(rule, "id"),
            is_enabled: rule.get("enabled").and_then(Value::as_bool).unwrap_or(true),
            conditions: list(rule.get("conditions")).iter().map(condition).collect(),
            shares: shares.iter().map(share).collect(),
            split_by: text(&target, "splitBy"),
            fallbacks: list(target.get("fallbacks")).iter().map(target_text).collect(),
        }
    }

    fn submitted(form: &Submitted) -> Self {
        let column = |name: &'static str| form.all(name).map(str::to_owned).collect::<Vec<_>>();
        let conditions = column("condition.id").into_iter().zip(column("condition.field"));
        let tests = column("condition.op").into_iter().zip(column("condition.value"));
        let shares = column("share.target").into_iter().zip(column("share.weight"));
        Self {
            id: form.field("id").to_owned(),
            is_enabled: form.is_ticked("enabled"),
            conditions: conditions
                .zip(tests)
                .map(|((id, field), (operator, value))| ConditionFields { id, field, operator, value })
                .filter(|condition| !condition.field.is_empty())
                .collect(),
            shares: shares
                .map(|(target, weight)| ShareFields { target, weight })
                .filter(|share| !share.target.is_empty())
                .collect(),
            split_by: form.field("splitBy").to_owned(),
            fallbacks: column("fallback").into_iter().filter(|target| !target.is_empty()).collect(),
        }
    }

    fn add_spare_rows(&mut self) {
        self.conditions.extend(vec![ConditionFields::default(); SPARE_ROWS]);
        self.shares.extend(vec![ShareFields::default(); SPARE_ROWS]);
        self.fallbacks.extend(vec![String::new(); SPARE_ROWS]);
    }

    /// The rule as the document has it; otherwise what is to be corrected.
    fn read(&self) -> Result<Value, Vec<String>> {
        let mut errors = Vec::new();
        let mut shares = Vec::new();
        for ShareFields { target, weight } in &self.shares {
            let mut share = target_value(target);
            if self.shares.len() > 1 {
                match (weight.parse::<u32>(), share.as_object_mut()) {
                    (Ok(weight), Some(share)) => drop(share.insert("weight".to_owned(), json!(weight))),
                    _ => errors.push(format!("The share of {target} must be a whole number, such as 95.")),
                }
            }
            shares.push(share);
        }
        let mut target = match shares.len() {
            0 => {
                errors.push("Choose a provider that the rule leads to.".to_owned());
                Value::Null
            }
            1 => shares.remove(0),
            _ => json!({ "split": shares }),
        };
        if let Some(target) = target.as_object_mut() {
            if !self.split_by.is_empty() {
                target.insert("splitBy".to_owned(), json!(self.split_by));
            }
            if !self.fallbacks.is_empty() {
                let fallbacks = self.fallbacks.iter().map(|one| target_value(one));
                target.insert("fallbacks".to_owned(), fallbacks.collect());
            }
        }
        let conditions: Vec<_> =
            (1..).zip(&self.conditions).map(|(number, condition)| condition.read(number)).collect();
        if errors.is_empty() {
            Ok(json!({"id": self.id, "enabled": self.is_enabled, "conditions": conditions, "target": target}))
        } else {
            Err(errors)
        }
    }
}

impl ConditionFields {
    fn read(&self, number: usize) -> Value {
        let value = match self.operator.as_str() {
            "in" | "notIn" => self.value.split(',').map(str::trim).filter(|part| !part.is_empty()).collect(),
            "exists" => json!(self.value != "false"),
            _ => json!(self.value),
        };
        let id = if self.id.is_empty() { format!("cond_{number}") } else { self.id.clone() };
        json!({"id": id, "field": self.field, "op": self.operator, "value": value})
    }
}

fn method_of(name: &str) -> Result<PaymentMethod, PageError> {
    PaymentMethod::parse(name).ok_or(PageError::Missing)
}

fn rules_of(document: &Value, method: PaymentMethod) -> &[Value] {
    let rules = document.pointer(&format!("/routing/{}/rules", method.as_str()));
    rules.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn place_of(rules: &[Value], id: &str) -> Option<usize> {
    rules.iter().position(|rule| rule.get("id").and_then(Value::as_str) == Some(id))
}

fn target_text(target: &Value) -> String {
    format!("{}, {}", text(target, "provider"), text(target, "channel"))
}

fn target_value(text: &str) -> Value {
    let (provider, channel) = text.split_once(", ").unwrap_or((text, ""));
    json!({ "provider": provider, "channel": channel })
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use tollgate_configuration::Configuration;

    use super::*;

    #[test]
    fn a_rule_comes_out_of_the_form_as_it_went_in() {
        for rule in [
            json!({"id": "rule_1", "enabled": true, "conditions": [], "target": {"provider": "a", "channel": "web_card"}}),
            json!({"id": "rule_2", "enabled": false, "conditions": [
                    {"id": "c", "field": "amountMinor", "op": "gte", "value": "100000"},
                    {"id": "d", "field": "currency", "op": "notIn", "value": ["USD", "EUR"]},
                    {"id": "e", "field": "metadata.vip", "op": "exists", "value": false}],
                "target": {"split": [{"provider": "a", "channel": "web_card", "weight": 95},
                    {"provider": "b", "channel": "web_card", "weight": 5}], "splitBy": "metadata.customer",
                    "fallbacks": [{"provider": "c", "channel": "web_card"}]}}),
        ] {
            assert_eq!(RuleFields::of(&rule).read(), Ok(rule));
        }
    }

    #[test]
    fn every_comparison_of_the_form_is_one_of_the_document() {
        for (operator, _) in OPERATORS {
            let condition = ConditionFields {
                field: "metadata.shop".to_owned(),
                operator: operator.to_owned(),
                value: "1".to_owned(),
                ..ConditionFields::default()
            };
            let target = json!({"provider": "a", "channel": "web_card"});
            let rule = json!({"id": "rule", "conditions": [condition.read(1)], "target": target});
            let document = json!({"providers": {"a": {"adapter": "stripe"}}, "routing": {"web_card": {"rules": [rule]}}});
            let read = Configuration::read(&document, &Configuration::default());
            assert!(read.is_ok(), "{operator}: {:?}", read.err());
        }
    }

    #[test]
    fn a_rule_that_the_form_would_change_is_noticed() {
        let rule = json!({"id": "rule_1", "enabled": true, "target": {"provider": "a", "channel": "web_card"},
            "conditions": [{"id": "c", "field": "metadata.shop", "op": "in", "value": ["Berlin, Mitte"]}]});
        assert_ne!(RuleFields::of(&rule).read(), Ok(rule));
    }

    #[test]
    fn what_cannot_be_a_rule_is_named() {
        let nothing = RuleFields::default();
        assert_eq!(nothing.read(), Err(vec!["Choose a provider that the rule leads to.".to_owned()]));
        let share =
            |weight: &str| ShareFields { target: "a, web_card".to_owned(), weight: weight.to_owned() };
        let split = RuleFields { shares: vec![share("95"), share("five")], ..RuleFields::default() };
        assert_eq!(split.read().map_err(|errors| errors.len()), Err(1));
    }
}
