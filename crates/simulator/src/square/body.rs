//! Reading JSON bodies field by field, with the provider's own complaints.

use super::prelude::*;
use crate::fields::FieldError;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Money {
    pub(crate) amount: i64,
    pub(crate) currency: String,
}

impl Money {
    pub(crate) fn json(&self) -> Value {
        json!({ "amount": self.amount, "currency": self.currency })
    }

    pub(super) fn of(&self, amount: i64) -> Self {
        Self { amount, currency: self.currency.clone() }
    }
}

pub(super) type Fields<'a> = crate::fields::Fields<'a, Error>;

impl FieldError for Error {
    fn unknown(field: &str) -> Self {
        let detail = format!("The body parameter is not recognized: {field}");
        Self::invalid("UNKNOWN_BODY_PARAMETER", field, detail)
    }

    fn missing(field: &str) -> Self {
        Self::invalid("MISSING_REQUIRED_PARAMETER", field, format!("Missing required parameter: {field}"))
    }

    fn wrong(field: &str, wanted: &str) -> Self {
        let (code, wanted) = match wanted {
            "a string" => ("EXPECTED_STRING", "a string value"),
            "an integer" => ("EXPECTED_INTEGER", "an integer value"),
            "a boolean" => ("EXPECTED_BOOLEAN", "a boolean value"),
            "an object" => ("EXPECTED_OBJECT", "an object"),
            _ => ("EXPECTED_ARRAY", "an array of objects"),
        };
        Self::invalid(code, field, format!("Expected {wanted}: {field}"))
    }
}

impl<'a> Fields<'a> {
    pub(super) fn text(&self, field: &str, length_max: usize) -> Answer<Option<&'a str>> {
        let text = self.string(field)?;
        // The provider counts bytes: characters outside ASCII shorten the limit.
        if text.is_some_and(|text| text.len() > length_max) {
            let detail = format!("Field must not be greater than {length_max} in length");
            return Err(Error::invalid("VALUE_TOO_LONG", &self.name(field), detail));
        }
        Ok(text)
    }

    pub(super) fn required(&self, field: &str, length_max: usize) -> Answer<&'a str> {
        let text = self.text(field, length_max)?.ok_or_else(|| self.missing(field))?;
        if text.is_empty() {
            let detail = "Field must not be blank";
            return Err(Error::invalid("VALUE_EMPTY", &self.name(field), detail));
        }
        Ok(text)
    }

    pub(super) fn owned(&self, field: &str, length_max: usize) -> Answer<Option<String>> {
        Ok(self.text(field, length_max)?.map(str::to_owned))
    }

    pub(super) fn money(&self, field: &str) -> Answer<Option<Money>> {
        let Some(money) = self.object(field)? else { return Ok(None) };
        money.allow(&["amount", "currency"])?;
        let amount = money.integer("amount")?;
        let currency = money.required("currency", 3)?;
        if currency.len() != 3 || !currency.bytes().all(|byte| byte.is_ascii_uppercase()) {
            let detail = format!("`{currency}` is not a valid enum value");
            return Err(Error::invalid("INVALID_ENUM_VALUE", &money.name("currency"), detail));
        }
        if amount < 1 {
            let detail = "Amount must be at least 1";
            return Err(Error::invalid("VALUE_TOO_LOW", &money.name("amount"), detail));
        }
        Ok(Some(Money { amount, currency: currency.to_owned() }))
    }

    pub(super) fn required_money(&self, field: &str) -> Answer<Money> {
        self.money(field)?.ok_or_else(|| self.missing(field))
    }
}
