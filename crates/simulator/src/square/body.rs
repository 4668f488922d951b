//! Reading JSON bodies field by field, with the provider's own complaints.

use super::prelude::*;

/// An amount in minor units.
#[derive(Debug, Clone, PartialEq, Eq)]
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

/// An object of a request, and where in the request it stands.
#[derive(Debug, Clone)]
pub(super) struct Fields<'a> {
    fields: &'a Map<String, Value>,
    path: String,
}

impl<'a> Fields<'a> {
    pub(super) fn of(fields: &'a Map<String, Value>) -> Self {
        Self { fields, path: String::new() }
    }

    fn name(&self, field: &str) -> String {
        if self.path.is_empty() { field.to_owned() } else { format!("{}.{field}", self.path) }
    }

    /// Refuses fields the endpoint does not know; the names it knows are separated by spaces.
    pub(super) fn allow(&self, known: &[&str]) -> Answer<()> {
        match self.fields.keys().find(|field| !is_listed(field, known)) {
            Some(field) => {
                let name = self.name(field);
                let detail = format!("The body parameter is not recognized: {name}");
                Err(Error::invalid("UNKNOWN_BODY_PARAMETER", &name, detail))
            }
            None => Ok(()),
        }
    }

    fn value(&self, field: &str) -> Option<&'a Value> {
        self.fields.get(field).filter(|value| !value.is_null())
    }

    fn wrong_type(&self, field: &str, code: &str, wanted: &str) -> Error {
        let name = self.name(field);
        Error::invalid(code, &name, format!("Expected {wanted}: {name}"))
    }

    pub(super) fn text(&self, field: &str, length_max: usize) -> Answer<Option<&'a str>> {
        let Some(value) = self.value(field) else { return Ok(None) };
        let text =
            value.as_str().ok_or_else(|| self.wrong_type(field, "EXPECTED_STRING", "a string value"))?;
        // The provider counts bytes: characters outside ASCII shorten the limit.
        if text.len() > length_max {
            let name = self.name(field);
            let detail = format!("Field must not be greater than {length_max} in length");
            return Err(Error::invalid("VALUE_TOO_LONG", &name, detail));
        }
        Ok(Some(text))
    }

    pub(super) fn required(&self, field: &str, length_max: usize) -> Answer<&'a str> {
        let text = self.text(field, length_max)?.ok_or_else(|| Error::missing(&self.name(field)))?;
        if text.is_empty() {
            let detail = "Field must not be blank";
            return Err(Error::invalid("VALUE_EMPTY", &self.name(field), detail));
        }
        Ok(text)
    }

    pub(super) fn owned(&self, field: &str, length_max: usize) -> Answer<Option<String>> {
        Ok(self.text(field, length_max)?.map(str::to_owned))
    }

    pub(super) fn boolean(&self, field: &str) -> Answer<Option<bool>> {
        let wrong = || self.wrong_type(field, "EXPECTED_BOOLEAN", "a boolean value");
        self.value(field).map(|value| value.as_bool().ok_or_else(wrong)).transpose()
    }

    pub(super) fn object(&self, field: &str) -> Answer<Option<Self>> {
        let wrong = || self.wrong_type(field, "EXPECTED_OBJECT", "an object");
        let Some(value) = self.value(field) else { return Ok(None) };
        let fields = value.as_object().ok_or_else(wrong)?;
        Ok(Some(Self { fields, path: self.name(field) }))
    }

    pub(super) fn objects(&self, field: &str) -> Answer<Vec<Self>> {
        let wrong = || self.wrong_type(field, "EXPECTED_ARRAY", "an array of objects");
        let Some(value) = self.value(field) else { return Ok(Vec::new()) };
        let items = value.as_array().ok_or_else(wrong)?.iter().enumerate();
        items
            .map(|(place, item)| {
                let fields = item.as_object().ok_or_else(wrong)?;
                Ok(Self { fields, path: format!("{}[{place}]", self.name(field)) })
            })
            .collect()
    }

    pub(super) fn raw(&self, field: &str) -> Option<Value> {
        self.value(field).cloned()
    }

    pub(super) fn money(&self, field: &str) -> Answer<Option<Money>> {
        let Some(money) = self.object(field)? else { return Ok(None) };
        money.allow(&["amount", "currency"])?;
        let amount = money.value("amount").ok_or_else(|| Error::missing(&money.name("amount")))?;
        let amount = amount
            .as_i64()
            .ok_or_else(|| money.wrong_type("amount", "EXPECTED_INTEGER", "an integer value"))?;
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
        self.money(field)?.ok_or_else(|| Error::missing(&self.name(field)))
    }
}
