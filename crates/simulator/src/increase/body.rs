//! Reading JSON bodies field by field, with the provider's own complaints.

use super::prelude::*;
use crate::fields::FieldError;

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

pub(super) type Fields<'a> = crate::fields::Fields<'a, Error>;

impl FieldError for Error {
    fn unknown(field: &str) -> Self {
        Self::invalid(field, "is not a known parameter")
    }

    fn missing(field: &str) -> Self {
        Self::invalid(field, "is required")
    }

    fn wrong(field: &str, wanted: &str) -> Self {
        Self::invalid(field, format!("must be {wanted}"))
    }
}

impl Fields<'_> {
    pub(super) fn invalid(&self, field: &str, message: impl Into<String>) -> Error {
        Error::invalid(&self.name(field), message)
    }

    /// A text of one to `length_max` characters.
    pub(super) fn text(&self, field: &str, length_max: usize, letters: Letters) -> Answer<Option<String>> {
        let Some(text) = self.string(field)? else { return Ok(None) };
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
}
