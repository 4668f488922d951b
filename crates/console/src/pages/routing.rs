//! Routing and fees as they are in force, and changing one fee or switching one rule.
//!
//! Every change makes a whole new document, which is shown as a difference before it is saved.

use askama::Template;
use axum::response::Response;
use serde_json::{Map, Value, json};
use tollgate_configuration::ConfigWarning;
use tollgate_domain::{
    Currency, PaymentMethod,
    card_fee::FeeKind,
    routing::{Destination, Rule, RuleOutcome, RuleResult, Target, Test},
};

use crate::{
    layout::{
        format::{amount, money, read_amount, shortened},
        frame::Frame,
        page::{self, Page, PageError},
    },
    pages::{
        config as config_pages,
        config_words::{condition_text, condition_words},
    },
    request::{signed_in::SignedIn, submitted::Submitted},
};

/// A rule and, where a payment was tried on it, its outcome.
pub(crate) struct RuleView {
    pub(crate) id: String,
    pub(crate) outcome: &'static str,
    pub(crate) tone: &'static str,
    pub(crate) target: String,
    pub(crate) conditions: Vec<ConditionView>,
}

pub(crate) struct ConditionView {
    pub(crate) text: String,
    pub(crate) holds: bool,
    pub(crate) found: Option<String>,
}

impl RuleView {
    /// Verdicts, each beside its rule.
    pub(crate) fn all(verdicts: &[RuleResult], rules: &[Rule]) -> Vec<Self> {
        let view = |(verdict, rule): (&RuleResult, &Rule)| {
            let (outcome, tone) = match verdict.outcome {
                RuleOutcome::Matched => ("matched", "good"),
                RuleOutcome::Failed => ("did not match", "bad"),
                RuleOutcome::Disabled => ("disabled", ""),
                RuleOutcome::NotTried => ("skipped: an earlier rule matched", ""),
            };
            let conditions =
                verdict.conditions.iter().zip(&rule.conditions).map(|(verdict, condition)| ConditionView {
                    text: condition_words(&verdict.field, verdict.op, &wanted(condition.test())),
                    holds: verdict.holds,
                    found: verdict.found.clone().or_else(|| (!verdict.holds).then(|| "missing".to_owned())),
                });
            Self {
                id: verdict.id.to_string(),
                outcome,
                tone,
                target: destination_text(&rule.target),
                conditions: conditions.collect(),
            }
        };
        verdicts.iter().zip(rules).map(view).collect()
    }
}

struct TableView {
    method: &'static str,
    title: &'static str,
    is_enabled: bool,
    rules: Vec<RuleRow>,
    default: Option<String>,
    hidden: usize,
}

struct RuleRow {
    id: String,
    is_enabled: bool,
    conditions: Vec<String>,
    target: String,
}

struct FeeRow {
    place: usize,
    name: String,
    platform: String,
    organization: String,
}

struct LimitRow {
    id: String,
    method: &'static str,
    allows: String,
}

#[derive(Template)]
#[template(path = "routing.html")]
struct RoutingPage {
    frame: Frame,
    version: u64,
    tables: Vec<TableView>,
    fees: Vec<FeeRow>,
    limits: Vec<LimitRow>,
    warnings: Vec<ConfigWarning>,
}

/// What a test compares with.
fn wanted(test: &Test) -> String {
    match test {
        Test::Eq(text) | Test::Ne(text) | Test::StartsWith(text) => text.clone(),
        Test::In(texts) | Test::NotIn(texts) => shortened(&texts.join(", "), 200),
        Test::Lt(number) | Test::Lte(number) | Test::Gt(number) | Test::Gte(number) => number.to_string(),
        Test::Exists(is_there) => is_there.to_string(),
    }
}

/// A table of thousands of rules is edited as a document; the page shows its beginning.
const MAX_RULES: usize = 200;

pub(crate) async fn show(signed_in: SignedIn) -> Page {
    let environment = signed_in.environment()?;
    let frame = signed_in.frame("Routing and fees", "routing").await?;
    let _turn = signed_in.config_read_turn().await?;
    let read = signed_in.console.engine.config_document(environment, None).await?;
    let document = read.document;
    let table = |method: &'static str, title: &'static str| {
        let table = document.pointer(&format!("/routing/{method}")).cloned().unwrap_or_default();
        let rules = table.get("rules").and_then(Value::as_array).cloned().unwrap_or_default();
        TableView {
            method,
            title,
            is_enabled: table.get("enabled").and_then(Value::as_bool).unwrap_or_default(),
            hidden: rules.len().saturating_sub(MAX_RULES),
            rules: rules.iter().take(MAX_RULES).map(rule_row).collect(),
            default: table.get("default").filter(|target| !target.is_null()).map(target_text),
        }
    };
    let tables = vec![table("web_card", "Cards"), table("ach", "ACH")];
    let fees = document.get("fees").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let fees = fees.iter().enumerate().map(|(place, entry)| FeeRow {
        place,
        name: fee_name(entry),
        platform: layer_text(entry, "platform"),
        organization: layer_text(entry, "organization"),
    });
    let view = signed_in.view(environment)?;
    let today = signed_in.console.engine.clock().now().utc_date();
    let warnings = view.configuration.warnings(&view.environment.name, today);
    let limits = view.configuration.limits.iter().map(|limit| LimitRow {
        id: limit.id.to_string(),
        method: limit.method.as_str(),
        allows: limit.to_string(),
    });
    page::render(&RoutingPage {
        version: read.version,
        tables,
        fees: fees.collect(),
        limits: limits.collect(),
        warnings,
        frame,
    })
}

fn rule_row(rule: &Value) -> RuleRow {
    let conditions = rule.get("conditions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    RuleRow {
        id: text(rule, "id"),
        is_enabled: rule.get("enabled").and_then(Value::as_bool).unwrap_or(true),
        conditions: conditions.iter().map(condition_text).collect(),
        target: rule.get("target").map(target_text).unwrap_or_default(),
    }
}

/// As [`destination_text`], of a document.
pub(crate) fn target_text(target: &Value) -> String {
    let one = |target: &Value| format!("{}, {}", text(target, "provider"), text(target, "channel"));
    let list = |name: &str| target.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let shares = list("split");
    let said = if shares.is_empty() {
        one(target)
    } else {
        let shares = shares.iter().map(|share| (one(share), share.get("weight").and_then(Value::as_u64)));
        shares_text(shares.map(|(target, weight)| (target, weight.unwrap_or(0))), &text(target, "splitBy"))
    };
    with_fallbacks(said, list("fallbacks").iter().map(one))
}

/// Where a rule sends payments.
pub(crate) fn destination_text(destination: &Destination) -> String {
    let one = |target: &Target| format!("{}, {}", target.provider, target.channel.as_str());
    let said = match destination.shares() {
        None => one(destination.target()),
        Some(split) => {
            let by = split.by().map(|key| format!("metadata.{key}")).unwrap_or_default();
            shares_text(split.iter().map(|share| (one(&share.target), share.weight.into())), &by)
        }
    };
    with_fallbacks(said, destination.fallbacks().iter().map(one))
}

fn with_fallbacks(said: String, fallbacks: impl Iterator<Item = String>) -> String {
    fallbacks.fold(said, |said, fallback| format!("{said}, else {fallback}"))
}

/// The shares of a split in percent.
fn shares_text(shares: impl Iterator<Item = (String, u64)>, by: &str) -> String {
    let shares: Vec<_> = shares.collect();
    let total = shares.iter().fold(0_u64, |sum, (_, weight)| sum.saturating_add(*weight)).max(1);
    let share = |(target, weight): &(String, u64)| {
        let tenths = weight.saturating_mul(1_000).saturating_add(total / 2) / total;
        format!("{}.{} % {target}", tenths / 10, tenths % 10)
    };
    let said = shares.iter().map(share).collect::<Vec<_>>().join("; ");
    if by.is_empty() { said } else { format!("{said} (by {by})") }
}

fn fee_name(entry: &Value) -> String {
    let parts = ["provider", "channel", "currency"].map(|part| text(entry, part));
    parts.into_iter().filter(|part| part != "none").collect::<Vec<_>>().join(", ")
}

fn layer_text(entry: &Value, scope: &str) -> String {
    if is_enabled(entry, scope) { layer_amounts(entry, scope) } else { "disabled".to_owned() }
}

/// As [`layer_text`], with what a disabled layer would cost.
pub(crate) fn layer_words(entry: &Value, scope: &str) -> String {
    let amounts = layer_amounts(entry, scope);
    if is_enabled(entry, scope) { amounts } else { format!("disabled ({amounts})") }
}

fn is_enabled(entry: &Value, scope: &str) -> bool {
    entry.get(scope).and_then(|layer| layer.get("enabled")) == Some(&Value::Bool(true))
}

fn layer_amounts(entry: &Value, scope: &str) -> String {
    let currency = Currency::parse(&text(entry, "currency")).unwrap_or(Currency::USD);
    let layer = entry.get(scope).cloned().unwrap_or_default();
    let amount_of = |field: &str| {
        let minor = layer.get(field).and_then(Value::as_str)?.parse::<i128>().ok()?;
        Some(money(minor, currency))
    };
    let bps = layer.get("percentFeeBps").and_then(Value::as_u64).unwrap_or(0);
    let fixed = amount_of("fixedFeeMinor").unwrap_or_else(|| money(0, currency));
    let kind = Some(text(&layer, "feeKind")).filter(|kind| !kind.is_empty());
    let kind = kind.map(|kind| format!("{kind} ")).unwrap_or_default();
    let mut said = format!("{kind}{}.{:02} % + {fixed}", bps / 100, bps % 100);
    if let Some(minimum) = amount_of("minimumFeeMinor") {
        said = format!("{said}, min {minimum}");
    }
    if let Some(cap) = amount_of("capFeeMinor") {
        said = format!("{said}, max {cap}");
    }
    said
}

/// A field as it is written, without quotes.
pub(crate) fn text(value: &Value, field: &str) -> String {
    match value.get(field) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// A layer's fields, as they are typed.
#[derive(Default)]
struct LayerFields {
    scope: &'static str,
    title: &'static str,
    /// What kind of card fee it is; empty where it says nothing.
    kind: String,
    is_enabled: bool,
    fixed: String,
    percent: String,
    minimum: String,
    cap: String,
}

#[derive(Template)]
#[template(path = "fee.html")]
struct FeePage {
    frame: Frame,
    place: usize,
    version: u64,
    name: String,
    currency: String,
    is_card: bool,
    kinds: [FeeKind; 4],
    layers: Vec<LayerFields>,
    errors: Vec<String>,
}

pub(crate) async fn edit_fee(signed_in: SignedIn) -> Page {
    let environment = signed_in.environment()?;
    let place: usize = signed_in.query("fee").and_then(|text| text.parse().ok()).ok_or(PageError::Missing)?;
    let _turn = signed_in.config_read_turn().await?;
    let read = signed_in.console.engine.config_document(environment, None).await?;
    let document = read.document;
    let entry = document.pointer(&format!("/fees/{place}")).ok_or(PageError::Missing)?;
    let layers = vec![
        layer_fields(entry, "platform", "Platform"),
        layer_fields(entry, "organization", "Organization"),
    ];
    fee_page(&signed_in, place, read.version, entry, layers, Vec::new()).await
}

async fn fee_page(
    signed_in: &SignedIn,
    place: usize,
    version: u64,
    entry: &Value,
    layers: Vec<LayerFields>,
    errors: Vec<String>,
) -> Page {
    let frame = signed_in.frame("Edit a fee", "routing").await?;
    let (name, currency) = (fee_name(entry), text(entry, "currency"));
    let is_card = text(entry, "paymentMethod") == PaymentMethod::WebCard.as_str();
    let kinds = FeeKind::ALL;
    page::render(&FeePage { frame, place, version, name, currency, is_card, kinds, layers, errors })
}

fn layer_fields(entry: &Value, scope: &'static str, title: &'static str) -> LayerFields {
    let currency = Currency::parse(&text(entry, "currency")).unwrap_or(Currency::USD);
    let layer = entry.get(scope).cloned().unwrap_or_default();
    let money = |field: &str| {
        let minor = layer.get(field).and_then(Value::as_str).and_then(|text| text.parse::<i128>().ok());
        minor.map(|minor| amount(minor, currency).replace(',', "")).unwrap_or_default()
    };
    let bps = layer.get("percentFeeBps").and_then(Value::as_u64).unwrap_or(0);
    LayerFields {
        scope,
        title,
        kind: text(&layer, "feeKind"),
        is_enabled: layer.get("enabled") == Some(&Value::Bool(true)),
        fixed: money("fixedFeeMinor"),
        percent: format!("{}.{:02}", bps / 100, bps % 100),
        minimum: money("minimumFeeMinor"),
        cap: money("capFeeMinor"),
    }
}

pub(crate) async fn review_fee(form: Submitted) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    let environment = signed_in.environment()?;
    let place: usize = form.field("fee").parse().map_err(|_| PageError::Missing)?;
    let _turn = signed_in.config_read_turn().await?;
    let read = signed_in.console.engine.config_document(environment, None).await?;
    let mut document = read.document;
    let entry = document.pointer(&format!("/fees/{place}")).cloned().ok_or(PageError::Missing)?;
    let is_current = form.field("version").parse() == Ok(read.version);
    let mut errors = Vec::new();
    if !is_current {
        errors.push("The configuration has changed; review the current fee.".to_owned());
    }
    let currency = Currency::parse(&text(&entry, "currency")).unwrap_or(Currency::USD);
    let mut changed = entry.clone();
    let mut layers = Vec::new();
    for (scope, title) in [("platform", "Platform"), ("organization", "Organization")] {
        let field = |name: &str| form.field(&format!("{scope}.{name}")).to_owned();
        let fields = LayerFields {
            scope,
            title,
            kind: field("kind"),
            is_enabled: form.is_ticked(&format!("{scope}.enabled")),
            fixed: field("fixed"),
            percent: field("percent"),
            minimum: field("minimum"),
            cap: field("cap"),
        };
        if let Some(layer) = read_layer(&fields, currency, &mut errors)
            && let Some(entry) = changed.as_object_mut()
        {
            entry.insert(scope.to_owned(), layer);
        }
        layers.push(fields);
    }
    if !errors.is_empty() {
        if !is_current {
            layers = vec![
                layer_fields(&entry, "platform", "Platform"),
                layer_fields(&entry, "organization", "Organization"),
            ];
        }
        return fee_page(signed_in, place, read.version, &entry, layers, errors).await;
    }
    if let Some(fee) = document.pointer_mut(&format!("/fees/{place}")) {
        *fee = changed;
    }
    config_pages::show_review(signed_in, environment, document, Some(read.version), "routing").await
}

fn read_layer(fields: &LayerFields, currency: Currency, errors: &mut Vec<String>) -> Option<Value> {
    let mut layer = Map::new();
    if !fields.kind.is_empty() {
        layer.insert("feeKind".to_owned(), fields.kind.as_str().into());
    }
    layer.insert("enabled".to_owned(), Value::Bool(fields.is_enabled));
    let mut money = |name: &str, text: &str, is_optional: bool| {
        if text.is_empty() && is_optional {
            return Some(Value::Null);
        }
        let read = read_amount(text, currency);
        if read.is_none() {
            errors.push(format!("{}: {name} must be an amount in {currency}, such as 0.30.", fields.title));
        }
        read.map(|minor| Value::String(minor.to_string()))
    };
    let fixed = money("the fixed part", &fields.fixed, false);
    let minimum = money("the minimum", &fields.minimum, true);
    let cap = money("the cap", &fields.cap, true);
    let bps = read_percent(&fields.percent);
    if bps.is_none() {
        errors.push(format!(
            "{}: the percentage must be from 0 to 100 with two places, such as 2.90.",
            fields.title
        ));
    }
    layer.insert("fixedFeeMinor".to_owned(), fixed?);
    layer.insert("percentFeeBps".to_owned(), json!(bps?));
    layer.insert("minimumFeeMinor".to_owned(), minimum?);
    layer.insert("capFeeMinor".to_owned(), cap?);
    Some(Value::Object(layer))
}

/// Hundredths of a percent.
pub(crate) fn read_percent(text: &str) -> Option<u64> {
    // The dollar has two places, too.
    read_amount(text.trim_end_matches('%').trim(), Currency::USD).filter(|bps| *bps <= 10_000)
}

pub(crate) async fn switch_rule(form: Submitted) -> Result<Response, PageError> {
    let signed_in = &form.signed_in;
    let environment = signed_in.environment()?;
    let _turn = signed_in.config_read_turn().await?;
    let read = signed_in.console.engine.config_document(environment, None).await?;
    let mut document = read.document;
    let (method, id) = (form.field("method"), form.field("rule"));
    if !["web_card", "ach"].contains(&method) {
        return Err(PageError::Missing);
    }
    let rules = document.pointer_mut(&format!("/routing/{method}/rules")).and_then(Value::as_array_mut);
    let rule = rules.into_iter().flatten().find(|rule| rule.get("id").and_then(Value::as_str) == Some(id));
    let rule = rule.and_then(Value::as_object_mut).ok_or(PageError::Missing)?;
    let is_enabled = rule.get("enabled").and_then(Value::as_bool).unwrap_or(true);
    rule.insert("enabled".to_owned(), Value::Bool(!is_enabled));
    config_pages::show_review(signed_in, environment, document, Some(read.version), "routing").await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_is_shown_in_percent() {
        let target = json!({"split": [
            {"provider": "a", "channel": "web_card", "weight": 2}, {"provider": "b", "channel": "web_card", "weight": 1}
        ], "splitBy": "metadata.customer", "fallbacks": [{"provider": "c", "channel": "web_card"}]});
        let expected = "66.7 % a, web_card; 33.3 % b, web_card (by metadata.customer), else c, web_card";
        assert_eq!(target_text(&target), expected);
        let share = |provider: &str, weight| tollgate_domain::routing::Share {
            target: Target { provider: provider.into(), channel: tollgate_domain::Channel::WebCard },
            weight,
        };
        let split = Destination::split(vec![share("a", 2), share("b", 1)], Some("customer".into())).unwrap();
        let split = split.with_fallbacks(vec![share("c", 1).target]);
        assert_eq!(destination_text(&split), expected);
        assert_eq!(target_text(&json!({"provider": "a", "channel": "web_card"})), "a, web_card");
    }

    #[test]
    fn percentages_are_exact() {
        for (text, bps) in [
            ("2.9", Some(290)),
            ("2.90 %", Some(290)),
            ("0", Some(0)),
            ("100", Some(10_000)),
            ("100.01", None),
            ("2.905", None),
            ("", None),
        ] {
            assert_eq!(read_percent(text), bps, "{text}");
        }
    }

    #[test]
    fn a_layer_goes_round() {
        let entry = json!({"provider": "p", "channel": "none", "currency": "USD", "platform":
            {"enabled": true, "fixedFeeMinor": "30", "percentFeeBps": 290, "minimumFeeMinor": null, "capFeeMinor": "500000"}});
        let fields = layer_fields(&entry, "platform", "Platform");
        assert_eq!(
            (fields.fixed.as_str(), fields.percent.as_str(), fields.minimum.as_str(), fields.cap.as_str()),
            ("0.30", "2.90", "", "5000.00")
        );
        let mut errors = Vec::new();
        assert_eq!(read_layer(&fields, Currency::USD, &mut errors).as_ref(), entry.get("platform"));
        assert!(errors.is_empty());
        assert_eq!(layer_text(&entry, "platform"), "2.90 % + 0.30 USD, max 5,000.00 USD");
        let broken =
            LayerFields { fixed: "x".to_owned(), percent: "1000".to_owned(), ..LayerFields::default() };
        assert!(read_layer(&broken, Currency::USD, &mut errors).is_none());
        assert_eq!(errors.len(), 2);
    }
}
