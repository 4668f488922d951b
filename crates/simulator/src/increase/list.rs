//! Lists: by cursor, with bounds on when objects were created.

use super::prelude::*;

const COMMON: &str =
    "cursor limit created_at.after created_at.before created_at.on_or_after created_at.on_or_before";

/// One row: its id, when it was created, and how it is shown.
pub(super) type Row = (String, String, Value);

/// What a list can be asked for beside what all can.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub(super) parameters: &'static str,
    /// The parameter that is the objects' label in their collection.
    pub(super) label: Option<&'static str>,
}

/// One page. `row` answers `None` for an object that does not fit the query.
pub(super) fn page<T: Kept>(
    collection: &Collection<T>,
    call: &Call,
    known: Known,
    oldest_first: bool,
    row: impl Fn(&T) -> Option<Row>,
) -> Answer {
    allow(call, &[COMMON, known.parameters])?;
    let limit = call.query.limit();
    let limit = limit.ok_or_else(|| Error::invalid("limit", "must be between 1 and 100"))?;
    let bounds = Bounds::of(call)?;
    let gone = || Error::invalid("cursor", "is not a cursor of this list");
    let label = known.label.and_then(|name| call.query.get(name));
    let fitting = |object: &T| row(object).filter(|(_, created, _)| bounds.hold(created));
    let (found, has_more) =
        collection.page(call.query.get("cursor"), oldest_first, limit, label, fitting).ok_or_else(gone)?;
    let next = found.last().filter(|_| has_more).map(|(id, ..)| id.clone());
    let data: Vec<Value> = found.into_iter().map(|(_, _, value)| value).collect();
    Ok(json!({ "data": data, "next_cursor": next }))
}

pub(super) fn allow(call: &Call, known: &[&str]) -> Answer<()> {
    match call.query.unknown(known) {
        Some(unknown) => Err(Error::invalid(unknown, "is not a known parameter")),
        None => Ok(()),
    }
}

struct Bounds([Option<jiff::Timestamp>; 4]);

impl Bounds {
    fn of(call: &Call) -> Answer<Self> {
        let names =
            ["created_at.after", "created_at.before", "created_at.on_or_after", "created_at.on_or_before"];
        let wrong = |name| Error::invalid(name, "must be an ISO 8601 time");
        call.query.times(names).map(Self).map_err(wrong)
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
