//! Reading JSON bodies field by field, with the provider's own complaints.

use super::prelude::*;

#[derive(Debug, Clone, Copy)]
pub(super) enum Letters {
    Any,
    /// Printable ASCII: what an ACH file can carry.
    Printable,
    /// Printable Latin-1: what a real-time payment can carry.
    Latin,
    Alphanumeric,
    Digits,
}

impl Letters {
    fn allow(self, letter: char) -> bool {
        let printable = matches!(letter, ' '..='~');
        match self {
            Self::Any => true,
            Self::Printable => printable,
            Self::Latin => printable || matches!(letter, 'À'..='ÿ'),
            Self::Alphanumeric => letter.is_ascii_alphanumeric(),
            Self::Digits => letter.is_ascii_digit(),
        }
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
        format!("{}{field}", self.path)
    }

    pub(super) fn invalid(&self, field: &str, message: impl Into<String>) -> Error {
        Error::invalid(&self.name(field), message)
    }

    /// Refuses fields the endpoint does not know; the names it knows are separated by spaces.
    pub(super) fn allow(&self, known: &[&str]) -> Answer<()> {
        match self.fields.keys().find(|field| !is_listed(field, known)) {
            Some(field) => Err(self.invalid(field, "is not a known parameter")),
            None => Ok(()),
        }
    }

    fn value(&self, field: &str) -> Option<&'a Value> {
        self.fields.get(field).filter(|value| !value.is_null())
    }

    pub(super) fn has(&self, field: &str) -> bool {
        self.value(field).is_some()
    }

    pub(super) fn missing(&self, field: &str) -> Error {
        self.invalid(field, "is required")
    }

    /// A text of one to `length_max` characters.
    pub(super) fn text(&self, field: &str, length_max: usize, letters: Letters) -> Answer<Option<String>> {
        let Some(value) = self.value(field) else { return Ok(None) };
        let text = value.as_str().ok_or_else(|| self.invalid(field, "must be a string"))?;
        let length = text.chars().count();
        if length == 0 || length > length_max {
            return Err(self.invalid(field, format!("must have 1 to {length_max} characters")));
        }
        if !text.chars().all(|letter| letters.allow(letter)) {
            return Err(self.invalid(field, "has characters that are not allowed"));
        }
        Ok(Some(text.to_owned()))
    }

    pub(super) fn required(&self, field: &str, length_max: usize, letters: Letters) -> Answer<String> {
        self.text(field, length_max, letters)?.ok_or_else(|| self.missing(field))
    }

    pub(super) fn integer(&self, field: &str) -> Answer<i64> {
        let value = self.value(field).ok_or_else(|| self.missing(field))?;
        value.as_i64().ok_or_else(|| self.invalid(field, "must be an integer"))
    }

    pub(super) fn boolean(&self, field: &str) -> Answer<bool> {
        let wrong = || self.invalid(field, "must be a boolean");
        self.value(field).map_or(Ok(false), |value| value.as_bool().ok_or_else(wrong))
    }

    /// One of the words the provider knows, which are separated by spaces.
    pub(super) fn word<'w>(&self, field: &str, words: &'w str) -> Answer<Option<&'w str>> {
        let Some(value) = self.value(field) else { return Ok(None) };
        let word = words.split_whitespace().find(|word| value.as_str() == Some(word));
        let all = || words.replace(' ', ", ");
        word.map(Some).ok_or_else(|| self.invalid(field, format!("must be one of {}", all())))
    }

    pub(super) fn object(&self, field: &str) -> Answer<Option<Self>> {
        let Some(value) = self.value(field) else { return Ok(None) };
        let fields = value.as_object().ok_or_else(|| self.invalid(field, "must be an object"))?;
        Ok(Some(Self { fields, path: format!("{}.", self.name(field)) }))
    }

    /// The objects of a list that must be there.
    pub(super) fn objects(&self, field: &str) -> Answer<Vec<Self>> {
        let items = self.value(field).and_then(Value::as_array).ok_or_else(|| self.missing(field))?;
        let object = |(place, item): (usize, &'a Value)| {
            let path = format!("{}[{place}].", self.name(field));
            item.as_object().map(|fields| Self { fields, path })
        };
        let objects: Option<Vec<_>> = items.iter().enumerate().map(object).collect();
        objects.ok_or_else(|| self.invalid(field, "must be a list of objects"))
    }

    pub(super) fn raw(&self, field: &str) -> Value {
        self.value(field).cloned().unwrap_or_default()
    }
}
