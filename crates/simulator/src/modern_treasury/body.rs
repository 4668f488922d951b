//! Reading JSON bodies field by field, with the provider's own complaints.

use super::prelude::*;
use crate::fields::FieldError;

pub(super) type Fields<'a> = crate::fields::Fields<'a, Error>;

impl FieldError for Error {
    fn unknown(field: &str) -> Self {
        Self::invalid(field, "is not a known parameter")
    }

    fn missing(field: &str) -> Self {
        Self::about(field, "parameter_missing", "is required")
    }

    fn wrong(field: &str, wanted: &str) -> Self {
        Self::invalid(field, format!("must be {wanted}"))
    }
}

impl Fields<'_> {
    pub(super) fn invalid(&self, field: &str, message: impl Into<String>) -> Error {
        Error::invalid(&self.name(field), message)
    }

    pub(super) fn text(&self, field: &str, length_max: usize) -> Answer<Option<String>> {
        let Some(text) = self.string(field)? else { return Ok(None) };
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

    pub(super) fn first(&self, field: &str) -> Answer<Self> {
        self.objects(field)?.into_iter().next().ok_or_else(|| self.missing(field))
    }
}
