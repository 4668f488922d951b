//! Reading JSON bodies field by field, with each provider's own complaints.

use crate::prelude::*;
use std::marker::PhantomData;

/// How a provider complains about a field. `wanted` says what it must be: `a string`, `one of a, b`.
pub(crate) trait FieldError: Sized {
    fn unknown(field: &str) -> Self;
    fn missing(field: &str) -> Self;
    fn wrong(field: &str, wanted: &str) -> Self;
}

/// An object of a request, and where in the request it stands.
#[derive(Debug, Clone)]
pub(crate) struct Fields<'a, E> {
    object: &'a Map<String, Value>,
    path: String,
    error: PhantomData<fn() -> E>,
}

impl<'a, E: FieldError> Fields<'a, E> {
    pub(crate) fn of(object: &'a Map<String, Value>) -> Self {
        Self { object, path: String::new(), error: PhantomData }
    }

    pub(crate) fn name(&self, field: &str) -> String {
        if self.path.is_empty() { field.to_owned() } else { format!("{}.{field}", self.path) }
    }

    pub(crate) fn missing(&self, field: &str) -> E {
        E::missing(&self.name(field))
    }

    fn wrong(&self, field: &str, wanted: &str) -> E {
        E::wrong(&self.name(field), wanted)
    }

    /// Refuses fields the endpoint does not know; the names it knows are separated by spaces.
    pub(crate) fn allow(&self, known: &[&str]) -> Result<(), E> {
        match self.object.keys().find(|field| !is_listed(field, known)) {
            Some(field) => Err(E::unknown(&self.name(field))),
            None => Ok(()),
        }
    }

    /// Checks every field against those that the endpoint knows, which are separated by spaces: one with `*` is required,
    /// with `<80` a text of at most so many characters, with `=a|b` one of these words, in which `_` stands for a space.
    pub(crate) fn check(&self, known: &str) -> Result<(), E> {
        let name_of = |rule: &str| rule.split(['*', '<', '=']).next().unwrap_or_default().to_owned();
        let names: Vec<String> = known.split_whitespace().map(name_of).collect();
        self.allow(&names.iter().map(String::as_str).collect::<Vec<_>>())?;
        for (rule, name) in known.split_whitespace().zip(&names) {
            let Some(value) = self.value(name).filter(|value| **value != "") else {
                if rule.contains('*') {
                    return Err(self.missing(name));
                }
                continue;
            };
            let text = value.as_str().map_or_else(|| value.to_string(), |text| text.replace(' ', "_"));
            if let Some((_, length_max)) = rule.split_once('<')
                && (!value.is_string() || length_max.parse().is_ok_and(|max| text.chars().count() > max))
            {
                return Err(self.wrong(name, &format!("a string of at most {length_max} characters")));
            }
            if let Some((_, words)) = rule.split_once('=')
                && !words.split('|').any(|word| word == text)
            {
                return Err(self.wrong(name, &format!("one of {words}")));
            }
        }
        Ok(())
    }

    /// A null counts as absent.
    pub(crate) fn value(&self, field: &str) -> Option<&'a Value> {
        self.object.get(field).filter(|value| !value.is_null())
    }

    pub(crate) fn raw(&self, field: &str) -> Value {
        self.value(field).cloned().unwrap_or_default()
    }

    pub(crate) fn string(&self, field: &str) -> Result<Option<&'a str>, E> {
        let wrong = || self.wrong(field, "a string");
        self.value(field).map(|value| value.as_str().ok_or_else(wrong)).transpose()
    }

    pub(crate) fn integer(&self, field: &str) -> Result<i64, E> {
        let value = self.value(field).ok_or_else(|| self.missing(field))?;
        value.as_i64().ok_or_else(|| self.wrong(field, "an integer"))
    }

    pub(crate) fn boolean(&self, field: &str) -> Result<Option<bool>, E> {
        let wrong = || self.wrong(field, "a boolean");
        self.value(field).map(|value| value.as_bool().ok_or_else(wrong)).transpose()
    }

    /// One of the words the provider knows, which are separated by spaces.
    pub(crate) fn word<'w>(&self, field: &str, words: &'w str) -> Result<Option<&'w str>, E> {
        let Some(value) = self.value(field) else { return Ok(None) };
        let word = words.split_whitespace().find(|word| value.as_str() == Some(word));
        let all = || format!("one of {}", words.replace(' ', ", "));
        word.map(Some).ok_or_else(|| self.wrong(field, &all()))
    }

    pub(crate) fn object(&self, field: &str) -> Result<Option<Self>, E> {
        let Some(value) = self.value(field) else { return Ok(None) };
        let fields = value.as_object().ok_or_else(|| self.wrong(field, "an object"))?;
        Ok(Some(Self { path: self.name(field), ..Self::of(fields) }))
    }

    pub(crate) fn objects(&self, field: &str) -> Result<Vec<Self>, E> {
        let Some(value) = self.value(field) else { return Ok(Vec::new()) };
        let object = |(place, item): (usize, &'a Value)| {
            Some(Self { path: format!("{}[{place}]", self.name(field)), ..Self::of(item.as_object()?) })
        };
        let items = value.as_array().map(|items| items.iter().enumerate().map(object).collect());
        items.flatten().ok_or_else(|| self.wrong(field, "a list of objects"))
    }
}
