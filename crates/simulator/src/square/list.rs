//! Lists: by cursor, newest first unless asked otherwise.

use super::prelude::*;

const COMMON: &str = "begin_time end_time updated_at_begin_time updated_at_end_time sort_order sort_field \
    cursor location_id limit status";

/// One row: its id, when it was created and updated, and how it is shown.
pub(super) type Row = (String, String, String, Value);

/// One page. `row` answers `None` for an object that does not fit the query.
pub(super) fn page<T: Kept>(
    collection: &Collection<T>,
    call: &Call,
    name: &str,
    more_known: &str,
    row: impl Fn(&T) -> Option<Row>,
) -> Answer {
    if let Some(unknown) = call.query.unknown(&[COMMON, more_known]) {
        let detail = format!("Query parameter not recognized: {unknown}");
        return Err(Error::invalid("UNKNOWN_QUERY_PARAMETER", unknown, detail));
    }
    let limit = call.query.limit();
    let limit = limit.ok_or_else(|| Error::invalid("INVALID_VALUE", "limit", "Must be between 1 and 100"))?;
    let bounds = Bounds::of(call)?;
    let gone = || Error::invalid("INVALID_CURSOR", "cursor", "The cursor is not valid.");
    let ascending = call.query.get("sort_order") == Some("ASC");
    let fitting = |object: &T| row(object).filter(|row| bounds.hold(row));
    let (found, has_more) =
        collection.page(call.query.get("cursor"), ascending, limit, None, fitting).ok_or_else(gone)?;
    let mut answer = Map::new();
    if let (true, Some((last, ..))) = (has_more, found.last()) {
        answer.insert("cursor".to_owned(), last.as_str().into());
    }
    if !found.is_empty() {
        let shown: Vec<Value> = found.into_iter().map(|(_, _, _, value)| value).collect();
        answer.insert(name.to_owned(), shown.into());
    }
    Ok(answer.into())
}

struct Bounds([Option<jiff::Timestamp>; 4]);

impl Bounds {
    fn of(call: &Call) -> Answer<Self> {
        let names = ["begin_time", "end_time", "updated_at_begin_time", "updated_at_end_time"];
        let wrong = |name| Error::invalid("INVALID_TIME", name, "Must be an RFC 3339 timestamp");
        call.query.times(names).map(Self).map_err(wrong)
    }

    /// From the beginning on, and before the end.
    fn hold(&self, (_, created, updated, _): &Row) -> bool {
        let [created_from, created_to, updated_from, updated_to] = &self.0;
        let inside = |text: &str, from: &Option<jiff::Timestamp>, to: &Option<jiff::Timestamp>| {
            let Ok(time) = text.parse::<jiff::Timestamp>() else { return true };
            from.is_none_or(|from| time >= from) && to.is_none_or(|to| time < to)
        };
        inside(created, created_from, created_to) && inside(updated, updated_from, updated_to)
    }
}
