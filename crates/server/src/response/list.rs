//! Lists in slices, answered with where to go on.

use std::fmt::Display;

use serde::Serialize;

/// A slice of a list.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListResponse<T> {
    items: Vec<T>,
    /// Send it as `after` (or `before`, for lists that begin with the newest) to go on; null at the end.
    next_cursor: Option<String>,
}

impl<T> ListResponse<T> {
    /// A full slice may be followed by another, which goes on behind `last`.
    pub(crate) fn new(items: Vec<T>, limit: u32, last: Option<impl Display>) -> Self {
        let full = u32::try_from(items.len()).is_ok_and(|count| count >= limit);
        Self { items, next_cursor: last.filter(|_| full).map(|last| last.to_string()) }
    }
}
