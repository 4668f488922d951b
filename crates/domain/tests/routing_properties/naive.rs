//! Rules and payments as plain text, and routing read off the documentation word by word.

use num_bigint::BigInt;
use tollgate_domain::{
    Channel, Currency, Flow, Principal,
    metadata::{Metadata, MetadataValue},
    routing::{Condition, Facts, Field, RoutingTable, Rule, Target, Test},
};

use crate::draw::Draw;

const KEYS: [&str; 4] = ["metadata.a", "metadata.b", "metadata.a.b", "metadata.é"];
/// Few enough to collide often; neighbors in byte order, prefixes of one another, numbers and near-numbers.
const TEXTS: [&str; 20] = [
    "",
    "a",
    "ab",
    "abc",
    "a\0",
    "b",
    "gold",
    "goldfish",
    "10",
    "010",
    "11",
    "-5",
    "-0",
    "+5",
    "5.0",
    "1e3",
    "é",
    "\u{10FFFF}",
    "170141183460469231731687303715884105727",
    "170141183460469231731687303715884105728",
];
const PREFIXES: [&str; 8] = ["", "a", "ab", "gold", "1", "é", "\u{10FFFF}", "zz"];
const BOUNDS: [&str; 9] = [
    "-5",
    "-1",
    "0",
    "5",
    "10",
    "11",
    "12",
    "170141183460469231731687303715884105727",
    "-170141183460469231731687303715884105728",
];
const AMOUNTS: [&str; 7] = ["1", "2", "99", "100", "101", "999999999999999999", "1000000000000000000"];
const AMOUNT_BOUNDS: [&str; 7] = ["0", "1", "2", "99", "100", "101", "1000000000000000000"];
const CURRENCIES: [&str; 5] = ["USD", "EUR", "JPY", "usd", "Eur"];
const CURRENCY_PREFIXES: [&str; 5] = ["", "U", "us", "EUR", "X"];
const FLOWS: [&str; 2] = ["payment_component", "hosted_checkout"];
const EQUALITIES: [&str; 4] = ["eq", "ne", "in", "notIn"];
const ORDERS: [&str; 4] = ["lt", "lte", "gt", "gte"];

#[derive(Debug)]
pub(crate) struct NaiveTable {
    pub(crate) enabled: bool,
    pub(crate) rules: Vec<NaiveRule>,
    has_default: bool,
}

#[derive(Debug)]
pub(crate) struct NaiveRule {
    pub(crate) id: String,
    pub(crate) enabled: bool,
    pub(crate) conditions: Vec<NaiveCondition>,
    pub(crate) provider: String,
}

#[derive(Debug)]
pub(crate) struct NaiveCondition {
    pub(crate) id: String,
    pub(crate) field: String,
    pub(crate) op: &'static str,
    values: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct NaivePayment {
    /// Field and value; `None` is an object, a list or null.
    fields: Vec<(String, Option<String>)>,
}

#[derive(Debug)]
pub(crate) enum Outcome {
    Rule(usize),
    Default,
    Incomplete,
    Disabled,
}

impl NaiveTable {
    pub(crate) fn draw(draw: &mut Draw) -> Self {
        if !draw.one_in(150) {
            let rules = (0..draw.below(7)).map(|at| {
                let conditions = draw.below(4) + usize::from(!draw.one_in(4));
                let fields = (0..conditions).map(|_| draw_field(draw)).collect::<Vec<_>>();
                NaiveRule::draw(draw, at, &fields)
            });
            let rules = rules.collect();
            return Self { enabled: !draw.one_in(30), rules, has_default: draw.one_in(2) };
        }
        // The rules of a large table mention many fields each, or nobody would get past the first few; and all of them
        // much the same fields, as in real tables.
        let shape: Vec<_> = (0..3 + draw.below(4)).map(|_| draw_field(draw)).collect();
        let rules = (0..40 + draw.below(300)).map(|at| {
            let extra = draw.one_in(4).then(|| draw_field(draw));
            let fields: Vec<_> = shape.iter().copied().chain(extra).collect();
            NaiveRule::draw(draw, at, &fields)
        });
        let rules = rules.collect();
        Self { enabled: !draw.one_in(30), rules, has_default: draw.one_in(2) }
    }

    pub(crate) fn route(&self, payment: &NaivePayment) -> Outcome {
        if !self.enabled {
            return Outcome::Disabled;
        }
        for (at, rule) in self.rules.iter().enumerate() {
            if rule.enabled && rule.conditions.iter().all(|condition| condition.holds(payment)) {
                return Outcome::Rule(at);
            }
        }
        if self.has_default { Outcome::Default } else { Outcome::Incomplete }
    }

    pub(crate) fn build(&self) -> RoutingTable {
        let target = |provider: &str| Target { provider: provider.into(), channel: Channel::WebCard };
        let rules = self.rules.iter().map(|rule| Rule {
            id: rule.id.as_str().into(),
            enabled: rule.enabled,
            conditions: rule.conditions.iter().map(NaiveCondition::build).collect(),
            target: target(&rule.provider).into(),
        });
        RoutingTable::new(self.enabled, rules.collect(), self.has_default.then(|| target("default").into()))
    }
}

fn draw_field(draw: &mut Draw) -> &'static str {
    ["amountMinor", "currency", "flow", draw.pick(&KEYS), draw.pick(&KEYS)][draw.below(5)]
}

impl NaiveRule {
    fn draw(draw: &mut Draw, at: usize, fields: &[&'static str]) -> Self {
        Self {
            id: format!("rule_{at}"),
            enabled: !draw.one_in(8),
            conditions: fields
                .iter()
                .enumerate()
                .map(|(at, field)| NaiveCondition::draw(draw, at, field))
                .collect(),
            provider: format!("provider_{at}"),
        }
    }
}

impl NaiveCondition {
    fn draw(draw: &mut Draw, at: usize, field: &str) -> Self {
        let (texts, prefixes, bounds): (&[&str], &[&str], &[&str]) = match field {
            "amountMinor" => (&AMOUNTS, &[], &AMOUNT_BOUNDS),
            "currency" => (&CURRENCIES, &CURRENCY_PREFIXES, &[]),
            "flow" => (&FLOWS, &["", "hosted", "payment_component", "x"], &[]),
            _ => (&TEXTS, &PREFIXES, &BOUNDS),
        };
        let (op, values) = match draw.below(8) {
            0 => ("exists", vec![draw.pick(&["true", "false"])]),
            1 | 2 if !prefixes.is_empty() => ("startsWith", vec![draw.pick(prefixes)]),
            3 | 4 if !bounds.is_empty() => (draw.pick(&ORDERS), vec![draw.pick(bounds)]),
            _ => {
                let op = draw.pick(&EQUALITIES);
                let values = if op.ends_with(['n', 'N']) { 1 + draw.below(4) } else { 1 };
                (op, (0..values).map(|_| draw.pick(texts)).collect())
            }
        };
        let values = values.into_iter().map(str::to_owned).collect();
        Self { id: format!("condition_{at}"), field: field.to_owned(), op, values }
    }

    fn build(&self) -> Condition {
        let first = || self.values[0].clone();
        let number = || first().parse().unwrap();
        let test = match self.op {
            "eq" => Test::Eq(first()),
            "ne" => Test::Ne(first()),
            "in" => Test::In(self.values.clone()),
            "notIn" => Test::NotIn(self.values.clone()),
            "lt" => Test::Lt(number()),
            "lte" => Test::Lte(number()),
            "gt" => Test::Gt(number()),
            "gte" => Test::Gte(number()),
            "exists" => Test::Exists(first() == "true"),
            "startsWith" => Test::StartsWith(first()),
            other => panic!("{other}"),
        };
        Condition::new(self.id.as_str(), Field::parse(&self.field).unwrap(), test).unwrap()
    }

    pub(crate) fn holds(&self, payment: &NaivePayment) -> bool {
        let upper = |text: &String| if self.field == "currency" { text.to_uppercase() } else { text.clone() };
        let values: Vec<String> = self.values.iter().map(upper).collect();
        let found = payment.look_at(&self.field);
        let text = found.clone().flatten();
        match self.op {
            "exists" => found.is_some() == (self.values[0] == "true"),
            "eq" | "in" => text.is_some_and(|text| values.contains(&text)),
            "ne" | "notIn" => !text.is_some_and(|text| values.contains(&text)),
            "startsWith" => text.is_some_and(|text| text.starts_with(&values[0])),
            order => {
                let Some(number) = text.as_deref().and_then(read_number) else { return false };
                let bound: BigInt = values[0].parse().unwrap();
                match order {
                    "lt" => number < bound,
                    "lte" => number <= bound,
                    "gt" => number > bound,
                    "gte" => number >= bound,
                    other => panic!("{other}"),
                }
            }
        }
    }
}

/// Optional minus, digits, and no further than 128 bits.
fn read_number(text: &str) -> Option<BigInt> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let number: BigInt = text.parse().unwrap();
    (BigInt::from(i128::MIN) <= number && number <= BigInt::from(i128::MAX)).then_some(number)
}

impl NaivePayment {
    pub(crate) fn draw(draw: &mut Draw) -> Self {
        let mut fields = vec![
            ("amountMinor".to_owned(), Some(draw.pick(&AMOUNTS).to_owned())),
            ("currency".to_owned(), Some(draw.pick(&["USD", "EUR", "JPY", "CHF"]).to_owned())),
        ];
        if !draw.one_in(3) {
            fields.push(("flow".to_owned(), Some(draw.pick(&FLOWS).to_owned())));
        }
        for key in KEYS.into_iter().chain(["metadata.other"]) {
            match draw.below(6) {
                0 | 1 => {}
                2 => fields.push((key.to_owned(), None)),
                _ => fields.push((key.to_owned(), Some(draw.pick(&TEXTS).to_owned()))),
            }
        }
        Self { fields }
    }

    /// `None` is a missing field, `Some(None)` an object, a list or null.
    #[allow(clippy::option_option)]
    pub(crate) fn look_at(&self, field: &str) -> Option<Option<String>> {
        self.fields.iter().find(|(name, _)| name == field).map(|(_, value)| value.clone())
    }

    pub(crate) fn metadata(&self) -> Metadata {
        let pairs =
            self.fields.iter().filter_map(|(field, value)| Some((field.strip_prefix("metadata.")?, value)));
        let value =
            |value: &Option<String>| value.clone().map_or(MetadataValue::Composite, MetadataValue::Scalar);
        pairs.map(|(key, found)| (key.to_owned(), value(found))).collect()
    }

    pub(crate) fn facts<'a>(&self, metadata: &'a Metadata) -> Facts<'a> {
        let text = |field: &str| self.look_at(field).flatten();
        Facts {
            amount: Principal::parse(&text("amountMinor").unwrap()).unwrap(),
            currency: Currency::parse(&text("currency").unwrap()).unwrap(),
            flow: text("flow").map(|flow| Flow::parse(&flow).unwrap()),
            metadata,
        }
    }
}
