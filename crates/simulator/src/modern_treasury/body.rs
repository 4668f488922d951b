//! Reading JSON bodies field by field, with the provider's own complaints.

use super::prelude::*;

/// An object of a request, and where in the request it stands.
#[derive(Debug)]
pub(super) struct Fields<'a> {
    fields: &'a Map<String, Value>,
    path: String,
}

impl<'a> Fields<'a> {
    pub(super) fn of(fields: &'a Map<String, Value>) -> Self {
        Self { fields, path: String::new() }
    }

    pub(super) fn name(&self, field: &str) -> String {
        format!("{}{field}", self.path)
    }

    pub(super) fn invalid(&self, field: &str, message: impl Into<String>) -> Error {
        Error::invalid(&self.name(field), message)
    }

    pub(super) fn missing(&self, field: &str) -> Error {
        Error::missing(&self.name(field))
    }

    /// Refuses fields the endpoint does not know; the names it knows are separated by spaces.
    pub(super) fn allow(&self, known: &str) -> Answer<()> {
        match self.fields.keys().find(|field| !is_listed(field, &[known])) {
            Some(field) => Err(self.invalid(field, "is not a known parameter")),
            None => Ok(()),
        }
    }

    fn value(&self, field: &str) -> Option<&'a Value> {
        self.fields.get(field).filter(|value| !value.is_null())
    }

    pub(super) fn text(&self, field: &str, length_max: usize) -> Answer<Option<String>> {
        let Some(value) = self.value(field) else { return Ok(None) };
        let text = value.as_str().ok_or_else(|| self.invalid(field, "must be a string"))?;
        if text.chars().count() > length_max {
            return Err(self.invalid(field, format!("is too long (maximum is {length_max} characters)")));
        }
        Ok(Some(text.to_owned()))
    }

    pub(super) fn required(&self, field: &str, length_max: usize) -> Answer<String> {
        let text = self.text(field, length_max)?.filter(|text| !text.is_empty());
        text.ok_or_else(|| self.missing(field))
    }

    pub(super) fn amount(&self, field: &str) -> Answer<u64> {
        let value = self.value(field).ok_or_else(|| self.missing(field))?;
        let amount = value.as_u64().filter(|amount| *amount > 0);
        amount.ok_or_else(|| self.invalid(field, "must be an integer greater than 0"))
    }

    pub(super) fn word(&self, field: &str, words: &[&'static str]) -> Answer<Option<&'static str>> {
        let Some(value) = self.value(field) else { return Ok(None) };
        let word = words.iter().find(|word| value.as_str() == Some(**word)).copied();
        word.map(Some).ok_or_else(|| self.invalid(field, format!("must be one of {}", words.join(", "))))
    }

    pub(super) fn object(&self, field: &str) -> Answer<Option<Self>> {
        let Some(value) = self.value(field) else { return Ok(None) };
        let fields = value.as_object().ok_or_else(|| self.invalid(field, "must be an object"))?;
        Ok(Some(Self { fields, path: format!("{}.", self.name(field)) }))
    }

    /// The first object of a list that must have one.
    pub(super) fn first(&self, field: &str) -> Answer<Self> {
        let first = self.value(field).and_then(Value::as_array).and_then(|items| items.first());
        let fields = first.and_then(Value::as_object).ok_or_else(|| self.missing(field))?;
        Ok(Self { fields, path: format!("{}[0].", self.name(field)) })
    }

    pub(super) fn raw(&self, field: &str) -> Value {
        self.value(field).cloned().unwrap_or_default()
    }
}
