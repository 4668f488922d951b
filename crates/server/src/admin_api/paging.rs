//! Lists in slices: `?after=<id>&limit=<1 to 200>`, answered with where to go on.

use std::{fmt::Display, str::FromStr};

use serde::Serialize;
use tollgate_engine::ports::Page;

use crate::{admin_api::operator::Operator, error::ApiError, fields::Faults};

const USUAL_LIMIT: u32 = 50;
const HIGHEST_LIMIT: u32 = 200;

/// A slice of a list.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListAnswer<T> {
    items: Vec<T>,
    /// Send it as `after` (or `before`, for lists that begin with the newest) to go on; null at the end.
    next_cursor: Option<String>,
}

impl<T> ListAnswer<T> {
    /// A full slice may be followed by another, which goes on behind `last`.
    pub(crate) fn new(items: Vec<T>, limit: u32, last: Option<impl Display>) -> Self {
        let full = u32::try_from(items.len()).is_ok_and(|count| count >= limit);
        Self { items, next_cursor: last.filter(|_| full).map(|last| last.to_string()) }
    }
}

impl Operator {
    /// The slice asked for.
    pub(crate) fn page<Id: FromStr>(&self) -> Result<Page<Id>, ApiError> {
        Ok(Page { after: self.query("after")?, limit: self.limit()? })
    }

    /// How many at most.
    pub(crate) fn limit(&self) -> Result<u32, ApiError> {
        let limit = self.query("limit")?.unwrap_or(USUAL_LIMIT);
        if (1..=HIGHEST_LIMIT).contains(&limit) {
            return Ok(limit);
        }
        let mut faults = Faults::default();
        faults.add::<()>("limit", format!("must be from 1 to {HIGHEST_LIMIT}"));
        Err(faults.into_error())
    }
}
