//! The variable parts of a request's address: what the path and the query say.

use std::str::FromStr;

use axum::extract::{FromRequestParts, RawPathParams};
use http::request::Parts;
use tollgate_domain::Timestamp;

use crate::{
    app::SharedApp,
    request::fields::FieldErrors,
    response::error::{ApiError, not_found_here},
};

pub(crate) const DEFAULT_LIMIT: u32 = 50;
pub(crate) const MAX_LIMIT: u32 = 200;

/// The path's parameters and the query's fields.
#[derive(Debug)]
pub(crate) struct Location {
    params: Vec<(String, String)>,
    query: Vec<(String, String)>,
}

impl Location {
    pub(crate) async fn of(parts: &mut Parts, app: &SharedApp) -> Result<Self, ApiError> {
        let params = RawPathParams::from_request_parts(parts, app).await.map_err(|_| not_found_here())?;
        let query = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
        Ok(Self {
            params: params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            query: query.into_owned().collect(),
        })
    }

    /// True if the path names one of these.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.params.iter().any(|(known, _)| known == name)
    }

    /// A part of the path. What is not in the right form does not exist.
    pub(crate) fn path<T: FromStr>(&self, name: &str) -> Result<T, ApiError> {
        let value = self.params.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        value.and_then(|value| value.parse().ok()).ok_or_else(not_found_here)
    }

    pub(crate) fn query_fields(&self) -> &[(String, String)] {
        &self.query
    }

    /// A reader of the query's fields.
    pub(crate) fn query(&self) -> QueryReader<'_> {
        QueryReader { fields: &self.query, errors: FieldErrors::default() }
    }
}

/// Reads a query's fields one after another, and then says everything that is wrong at once.
#[derive(Debug)]
pub(crate) struct QueryReader<'a> {
    fields: &'a [(String, String)],
    errors: FieldErrors,
}

impl QueryReader<'_> {
    /// A field, if it was given; an empty one was not.
    pub(crate) fn value<T: FromStr>(&mut self, name: &'static str) -> Option<T> {
        self.value_as(name, "is not a valid value for this list", |value| value.parse().ok())
    }

    /// A field that `read` understands, or else `rule` says what it must be.
    pub(crate) fn value_as<T>(
        &mut self,
        name: &'static str,
        rule: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let given = self.fields.iter().rfind(|(known, value)| known == name && !value.is_empty());
        let (_, value) = given?;
        read(value).or_else(|| self.errors.add(name, rule))
    }

    pub(crate) fn moment(&mut self, name: &'static str) -> Option<Timestamp> {
        let read = |text: &str| {
            let moment = text.parse::<jiff::Timestamp>().ok()?;
            Some(Timestamp::from_unix_millis(moment.as_millisecond()))
        };
        self.value_as(name, "must be an RFC 3339 timestamp, such as 2026-11-15T02:27:16.000Z", read)
    }

    pub(crate) fn limit(&mut self) -> Limit {
        let rule = "must be from 1 to 200";
        let read = |text: &str| text.parse().ok().filter(|limit| (1..=MAX_LIMIT).contains(limit));
        Limit(self.value_as("limit", rule, read).unwrap_or(DEFAULT_LIMIT))
    }

    /// Two fields that each say it differently.
    pub(crate) fn fault(&mut self, name: &'static str, rule: &'static str) {
        self.errors.add::<()>(name, rule);
    }

    /// Everything was read, or the faults say what was not.
    pub(crate) fn finish(self) -> Result<(), ApiError> {
        if self.errors.is_empty() { Ok(()) } else { Err(self.errors.into_error()) }
    }
}

/// How many of a list are shown at most.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit(u32);

impl Limit {
    /// How many to read: one more than is shown tells whether there are more.
    pub(crate) fn to_read(self) -> u32 {
        self.0.saturating_add(1)
    }

    pub(crate) fn to_show(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_wrong_with_a_query_is_told_at_once() {
        let fields = [("status", "lost"), ("limit", "0"), ("createdFrom", "yesterday"), ("before", "")];
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let location = Location { params: Vec::new(), query: fields.to_vec() };
        let mut query = location.query();
        assert_eq!(query.value_as("status", "must be one of: a, b", |_| None::<u8>), None);
        query.moment("createdFrom");
        query.limit();
        assert_eq!(query.value::<u64>("before"), None);
        assert_eq!(query.errors.count(), 3);
        assert!(query.finish().is_err());
        assert!(location.query().finish().is_ok());
    }
}
