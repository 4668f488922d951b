//! Lists: by cursor, with bounds on when objects were created.

use serde_json::{Value, json};

use super::call::Call;
use super::error::IncreaseError;
use crate::collection::Collection;

const COMMON: [&str; 6] = [
    "cursor",
    "limit",
    "created_at.after",
    "created_at.before",
    "created_at.on_or_after",
    "created_at.on_or_before",
];

/// One row: its id, when it was created, and how it is shown.
pub(super) type Row = (String, String, Value);

/// One page. `row` answers `None` for an object that does not fit the query.
pub(super) fn page<T>(
    collection: &Collection<T>,
    call: &Call,
    more_known: &[&str],
    oldest_first: bool,
    row: impl Fn(&T) -> Option<Row>,
) -> Result<Value, IncreaseError> {
    allow(call, &[COMMON.as_slice(), more_known].concat())?;
    let limit = match call.query("limit") {
        Some(text) => text.parse::<usize>().ok().filter(|limit| (1..=100).contains(limit)),
        None => Some(100),
    };
    let limit = limit.ok_or_else(|| IncreaseError::invalid("limit", "must be between 1 and 100"))?;
    let bounds = Bounds::of(call)?;
    let rows = |objects: &mut dyn Iterator<Item = &T>| -> Vec<Row> {
        objects.filter_map(&row).filter(|(_, created, _)| bounds.hold(created)).take(limit + 1).collect()
    };
    let gone = || IncreaseError::invalid("cursor", "is not a cursor of this list");
    let mut found = match (call.query("cursor"), oldest_first) {
        (Some(cursor), true) => rows(&mut collection.newer_than(cursor).ok_or_else(gone)?),
        (Some(cursor), false) => rows(&mut collection.older_than(cursor).ok_or_else(gone)?),
        (None, true) => rows(&mut collection.oldest_first()),
        (None, false) => rows(&mut collection.newest_first()),
    };
    let has_more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| has_more).map(|(id, ..)| id.clone());
    let data: Vec<Value> = found.into_iter().map(|(_, _, value)| value).collect();
    Ok(json!({ "data": data, "next_cursor": next }))
}

/// Refuses query parameters the endpoint does not know.
pub(super) fn allow(call: &Call, known: &[&str]) -> Result<(), IncreaseError> {
    match call.query.iter().find(|(name, _)| !known.contains(&name.as_str())) {
        Some((unknown, _)) => Err(IncreaseError::invalid(unknown, "is not a known parameter")),
        None => Ok(()),
    }
}

struct Bounds([Option<jiff::Timestamp>; 4]);

impl Bounds {
    fn of(call: &Call) -> Result<Self, IncreaseError> {
        let time = |name: &str| {
            let refuse = |_| IncreaseError::invalid(name, "must be an ISO 8601 time");
            call.query(name).map(|text| text.parse().map_err(refuse)).transpose()
        };
        Ok(Self([
            time("created_at.after")?,
            time("created_at.before")?,
            time("created_at.on_or_after")?,
            time("created_at.on_or_before")?,
        ]))
    }

    fn hold(&self, created: &str) -> bool {
        let [after, before, on_or_after, on_or_before] = &self.0;
        let Ok(time) = created.parse::<jiff::Timestamp>() else { return true };
        after.is_none_or(|after| time > after)
            && before.is_none_or(|before| time < before)
            && on_or_after.is_none_or(|from| time >= from)
            && on_or_before.is_none_or(|to| time <= to)
    }
}
