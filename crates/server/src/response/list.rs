//! Lists in slices, answered with where to go on.

use std::fmt::Display;

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    request::location::Limit,
    types::{schemas::Schemas, signature::Shape},
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListResponse<T> {
    items: Vec<T>,
    /// Send it as `after` (or `before`, for lists that begin with the newest) to go on; null at the end.
    next_cursor: Option<String>,
}

impl<T: Shape<Static: ToSchema>> Shape for ListResponse<T> {
    type Static = ListResponse<T::Static>;

    fn envelope(schemas: &mut Schemas) -> Value {
        schemas.envelope_of_list::<T::Static>()
    }
}

impl<T> ListResponse<T> {
    /// A list that has no slices.
    pub(crate) fn whole(items: Vec<T>) -> Self {
        Self { items, next_cursor: None }
    }

    /// Some items, and where to go on.
    pub(crate) fn part(items: Vec<T>, next_cursor: Option<String>) -> Self {
        Self { items, next_cursor }
    }

    /// A slice of what was read, which is one more than is shown where more follow. `cursor` names the last that is shown.
    pub(crate) fn slice<F, C: Display>(
        mut found: Vec<F>,
        limit: Limit,
        item: impl FnMut(F) -> T,
        cursor: impl FnOnce(&F) -> C,
    ) -> Self {
        let next_cursor = cut(&mut found, limit, cursor);
        Self { items: found.into_iter().map(item).collect(), next_cursor }
    }

    /// The same for items that borrow from what was read.
    pub(crate) fn borrowed<'f, F, C: Display>(
        found: &'f mut Vec<F>,
        limit: Limit,
        item: impl FnMut(&'f F) -> T,
        cursor: impl FnOnce(&F) -> C,
    ) -> Self {
        let next_cursor = cut(found, limit, cursor);
        Self { items: found.iter().map(item).collect(), next_cursor }
    }
}

/// Leaves what is shown, and returns where to go on.
fn cut<F, C: Display>(found: &mut Vec<F>, limit: Limit, cursor: impl FnOnce(&F) -> C) -> Option<String> {
    let has_more = found.len() > limit.to_show();
    found.truncate(limit.to_show());
    found.last().filter(|_| has_more).map(|last| cursor(last).to_string())
}
