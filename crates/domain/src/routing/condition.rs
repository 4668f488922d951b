//! One condition of a rule: a field, a test, and whether it holds for a payment.

use std::{fmt, sync::Arc};

use super::Facts;
use crate::{
    currency::Currency,
    metadata::MetadataValue,
    money::{MAX_CONFIGURED_MINOR, Principal},
    payment::Flow,
};

/// What a condition looks at.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Field {
    /// The principal.
    Amount,
    /// The currency's code.
    Currency,
    /// How a card reaches the customer.
    Flow,
    /// The caller's value under this top-level key.
    Metadata(Arc<str>),
}

impl Field {
    /// Reads `amountMinor`, `currency`, `flow` or `metadata.<key>`.
    ///
    /// The key is everything behind the first `metadata.`, dots included: `metadata.a.b` is the top-level key `a.b`.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "amountMinor" => Some(Self::Amount),
            "currency" => Some(Self::Currency),
            "flow" => Some(Self::Flow),
            _ => {
                let key = text.strip_prefix("metadata.").filter(|key| !key.is_empty())?;
                Some(Self::Metadata(key.into()))
            }
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Amount => f.write_str("amountMinor"),
            Self::Currency => f.write_str("currency"),
            Self::Flow => f.write_str("flow"),
            Self::Metadata(key) => write!(f, "metadata.{key}"),
        }
    }
}

/// What a condition asks of its field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Test {
    /// The field is this text.
    Eq(String),
    /// The field is missing, or anything but this text.
    Ne(String),
    /// The field is one of these texts.
    In(Vec<String>),
    /// The field is missing, or none of these texts.
    NotIn(Vec<String>),
    /// The field is a whole number below this one.
    Lt(i128),
    /// The field is a whole number of at most this one.
    Lte(i128),
    /// The field is a whole number above this one.
    Gt(i128),
    /// The field is a whole number of at least this one.
    Gte(i128),
    /// The field is there, or is not.
    Exists(bool),
    /// The field is a text that begins with this one.
    StartsWith(String),
}

impl Test {
    /// The name used in configurations.
    pub const fn op(&self) -> &'static str {
        match self {
            Self::Eq(_) => "eq",
            Self::Ne(_) => "ne",
            Self::In(_) => "in",
            Self::NotIn(_) => "notIn",
            Self::Lt(_) => "lt",
            Self::Lte(_) => "lte",
            Self::Gt(_) => "gt",
            Self::Gte(_) => "gte",
            Self::Exists(_) => "exists",
            Self::StartsWith(_) => "startsWith",
        }
    }

    /// The texts an equality compares with; none for the other tests.
    pub(super) fn operands(&self) -> &[String] {
        match self {
            Self::Eq(operand) | Self::Ne(operand) => std::slice::from_ref(operand),
            Self::In(operands) | Self::NotIn(operands) => operands,
            _ => &[],
        }
    }

    /// The number an order test compares with.
    fn bound(&self) -> Option<i128> {
        match self {
            Self::Lt(bound) | Self::Lte(bound) | Self::Gt(bound) | Self::Gte(bound) => Some(*bound),
            _ => None,
        }
    }
}

/// Why a test cannot stand on its field, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTest {
    /// A list of nothing.
    #[error("`{op}` needs a list of at least one value")]
    EmptyList {
        /// The test's name.
        op: &'static str,
    },
    /// The field does not take this test.
    #[error("`{field}` does not support `{op}`; use one of {allowed}")]
    OpNotTaken {
        /// The field's name.
        field: &'static str,
        /// The test's name.
        op: &'static str,
        /// What the field does take.
        allowed: &'static str,
    },
    /// An amount to equal that no payment can have.
    #[error("`{operand}` is not an amount; use digits only, 1 to 1000000000000000000 minor units")]
    NotAnAmount {
        /// What was written.
        operand: String,
    },
    /// An amount to compare with that lies outside every payment.
    #[error("`{bound}` is out of range; compare amountMinor with 0 to 1000000000000000000 minor units")]
    AmountOutOfRange {
        /// What was written.
        bound: i128,
    },
    /// Not a currency payments are made in.
    #[error("`{operand}` is not an active currency; use a three-letter ISO 4217 code, such as `USD`")]
    UnknownCurrency {
        /// What was written.
        operand: String,
    },
    /// Not a flow.
    #[error("`{operand}` is not a flow; use `payment_component` or `hosted_checkout`")]
    UnknownFlow {
        /// What was written.
        operand: String,
    },
}

const AMOUNT_OPS: &str = "eq, ne, in, notIn, lt, lte, gt, gte, exists";
const WORD_OPS: &str = "eq, ne, in, notIn, exists, startsWith";

/// A test on a field, checked when it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    id: Arc<str>,
    field: Field,
    test: Test,
    /// The equality operands of an amount as numbers, so that holding up a payment against them parses nothing.
    amounts: Box<[u64]>,
}

impl Condition {
    /// Checks that the test makes sense on the field; currencies are kept in capitals.
    pub fn new(id: impl Into<Arc<str>>, field: Field, mut test: Test) -> Result<Self, InvalidTest> {
        if let Test::In(operands) | Test::NotIn(operands) = &test
            && operands.is_empty()
        {
            return Err(InvalidTest::EmptyList { op: test.op() });
        }
        let mut amounts = Box::default();
        match &field {
            Field::Amount => amounts = check_amount(&test)?,
            Field::Currency => test = normalise_currency(test)?,
            Field::Flow => check_flow(&test)?,
            Field::Metadata(_) => {}
        }
        Ok(Self { id: id.into(), field, test, amounts })
    }

    /// Unique within its rule.
    pub const fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// What it looks at.
    pub const fn field(&self) -> &Field {
        &self.field
    }

    /// What it asks, normalized.
    pub const fn test(&self) -> &Test {
        &self.test
    }

    /// The amounts an equality on `amountMinor` compares with.
    pub(super) const fn amounts(&self) -> &[u64] {
        &self.amounts
    }

    /// Whether the payment satisfies the condition.
    ///
    /// A missing field satisfies `ne`, `notIn` and `exists: false`, nothing else. An object, a list or null under a
    /// metadata key is there and equals nothing: it satisfies `ne`, `notIn` and `exists: true`, nothing else.
    pub fn holds(&self, facts: &Facts<'_>) -> bool {
        match self.found(facts) {
            FieldValue::Missing => matches!(self.test, Test::Ne(_) | Test::NotIn(_) | Test::Exists(false)),
            FieldValue::Composite => matches!(self.test, Test::Ne(_) | Test::NotIn(_) | Test::Exists(true)),
            FieldValue::Amount(amount) => self.holds_for_amount(amount),
            FieldValue::Text(text) => self.holds_for_text(text),
        }
    }

    /// What the payment has in the condition's field.
    pub(super) fn found<'a>(&self, facts: &'a Facts<'_>) -> FieldValue<'a> {
        match &self.field {
            Field::Amount => FieldValue::Amount(facts.amount.minor()),
            Field::Currency => FieldValue::Text(facts.currency.code()),
            Field::Flow => facts.flow.map_or(FieldValue::Missing, |flow| FieldValue::Text(flow.as_str())),
            Field::Metadata(key) => match facts.metadata.get(key) {
                None => FieldValue::Missing,
                Some(MetadataValue::Composite) => FieldValue::Composite,
                Some(MetadataValue::Scalar(text)) => FieldValue::Text(text),
            },
        }
    }

    fn holds_for_amount(&self, amount: u64) -> bool {
        match &self.test {
            Test::Eq(_) | Test::In(_) => self.amounts.contains(&amount),
            Test::Ne(_) | Test::NotIn(_) => !self.amounts.contains(&amount),
            Test::Exists(wanted) => *wanted,
            // Refused when the condition was made.
            Test::StartsWith(_) => false,
            Test::Lt(_) | Test::Lte(_) | Test::Gt(_) | Test::Gte(_) => self.holds_in_order(amount.into()),
        }
    }

    fn holds_for_text(&self, text: &str) -> bool {
        match &self.test {
            Test::Eq(operand) => operand == text,
            Test::Ne(operand) => operand != text,
            Test::In(operands) => operands.iter().any(|operand| operand == text),
            Test::NotIn(operands) => operands.iter().all(|operand| operand != text),
            Test::Exists(wanted) => *wanted,
            Test::StartsWith(prefix) => text.starts_with(prefix.as_str()),
            Test::Lt(_) | Test::Lte(_) | Test::Gt(_) | Test::Gte(_) => {
                whole_number(text).is_some_and(|number| self.holds_in_order(number))
            }
        }
    }

    fn holds_in_order(&self, number: i128) -> bool {
        match self.test {
            Test::Lt(bound) => number < bound,
            Test::Lte(bound) => number <= bound,
            Test::Gt(bound) => number > bound,
            Test::Gte(bound) => number >= bound,
            _ => false,
        }
    }
}

/// What a payment has in a field.
pub(super) enum FieldValue<'a> {
    Missing,
    /// An object, a list or null.
    Composite,
    Amount(u64),
    Text(&'a str),
}

/// Reads a whole number: an optional `-` and digits, as far as 128 bits go. Leading zeros are tolerated, since callers
/// pad their own numbers (`0042`); a `+`, a decimal point or an exponent makes it a text like any other.
pub(super) fn whole_number(text: &str) -> Option<i128> {
    if text.starts_with('+') { None } else { text.parse().ok() }
}

fn check_amount(test: &Test) -> Result<Box<[u64]>, InvalidTest> {
    if matches!(test, Test::StartsWith(_)) {
        return Err(InvalidTest::OpNotTaken { field: "amountMinor", op: test.op(), allowed: AMOUNT_OPS });
    }
    if let Some(bound) = test.bound()
        && !(0..=i128::from(MAX_CONFIGURED_MINOR)).contains(&bound)
    {
        return Err(InvalidTest::AmountOutOfRange { bound });
    }
    let parse = |operand: &String| match Principal::parse(operand) {
        Some(principal) => Ok(principal.minor()),
        None => Err(InvalidTest::NotAnAmount { operand: operand.clone() }),
    };
    test.operands().iter().map(parse).collect()
}

fn normalise_currency(test: Test) -> Result<Test, InvalidTest> {
    let code = |operand: String| match Currency::parse(&operand) {
        Some(currency) => Ok(currency.to_string()),
        None => Err(InvalidTest::UnknownCurrency { operand }),
    };
    let codes = |operands: Vec<String>| operands.into_iter().map(code).collect::<Result<Vec<_>, _>>();
    Ok(match test {
        Test::Eq(operand) => Test::Eq(code(operand)?),
        Test::Ne(operand) => Test::Ne(code(operand)?),
        Test::In(operands) => Test::In(codes(operands)?),
        Test::NotIn(operands) => Test::NotIn(codes(operands)?),
        Test::StartsWith(prefix) => Test::StartsWith(prefix.to_ascii_uppercase()),
        Test::Exists(wanted) => Test::Exists(wanted),
        Test::Lt(_) | Test::Lte(_) | Test::Gt(_) | Test::Gte(_) => {
            return Err(InvalidTest::OpNotTaken { field: "currency", op: test.op(), allowed: WORD_OPS });
        }
    })
}

fn check_flow(test: &Test) -> Result<(), InvalidTest> {
    if test.bound().is_some() {
        return Err(InvalidTest::OpNotTaken { field: "flow", op: test.op(), allowed: WORD_OPS });
    }
    match test.operands().iter().find(|operand| Flow::parse(operand).is_none()) {
        Some(operand) => Err(InvalidTest::UnknownFlow { operand: operand.clone() }),
        None => Ok(()),
    }
}
