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

    /// A part of the path. What is not in the right form does not exist.
    pub(crate) fn path<T: FromStr>(&self, name: &str) -> Result<T, ApiError> {
        let value = self.params.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        value.and_then(|value| value.parse().ok()).ok_or_else(not_found_here)
    }

    /// A part of the query, if it was given; an empty one was not.
    pub(crate) fn query<T: FromStr>(&self, name: &'static str) -> Result<Option<T>, ApiError> {
        self.query_as(name, "is not a valid value for this list", |value| value.parse().ok())
    }

    /// A part of the query that `read` understands, or else `rule` says what it must be.
    pub(crate) fn query_as<T>(
        &self,
        name: &'static str,
        rule: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, ApiError> {
        let given = self.query.iter().rfind(|(known, value)| known == name && !value.is_empty());
        let Some((_, value)) = given else { return Ok(None) };
        read(value).map(Some).ok_or_else(|| {
            let mut errors = FieldErrors::default();
            errors.add::<()>(name, rule);
            errors.into_error()
        })
    }

    /// A moment of the query, in RFC 3339.
    pub(crate) fn moment(&self, name: &'static str) -> Result<Option<Timestamp>, ApiError> {
        let read = |text: &str| {
            let moment = text.parse::<jiff::Timestamp>().ok()?;
            Some(Timestamp::from_unix_millis(moment.as_millisecond()))
        };
        self.query_as(name, "must be an RFC 3339 timestamp, such as 2026-11-15T02:27:16.000Z", read)
    }

    /// How many at most.
    pub(crate) fn limit(&self) -> Result<u32, ApiError> {
        let rule = "must be from 1 to 200";
        let read = |text: &str| text.parse().ok().filter(|limit| (1..=MAX_LIMIT).contains(limit));
        Ok(self.query_as("limit", rule, read)?.unwrap_or(DEFAULT_LIMIT))
    }
}
