//! Payments' timelines. The lines of one change share a row: whatever else they say, they belong to the same payment, and most
//! of them to the same request and moment.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tollgate_domain::{
    ServiceReference, Timestamp,
    id::{EntryId, EnvironmentId},
};
use tollgate_engine::ports::Entry;
use uuid::Uuid;

use crate::prelude::*;

/// In place of a line's kind, where the row has several.
const SEVERAL: &str = "lines";
const CORRUPT: CorruptRow = CorruptRow("line of a timeline");

table! {
    TIMELINE = "timeline" ("ON CONFLICT DO NOTHING");
    fn row(environment: EnvironmentId, reference: ServiceReference, line: &'a Entry, kind: &'a str, detail: Value<'a>) {
        environment_id: Id = environment,
        method: Text = reference.method().as_str(),
        reference: Id = reference,
        id: Id = line.id,
        at: Number = line.at,
        kind: Text = kind,
        request: Text = &line.request,
        detail: Text = detail,
    }
}

/// A line that shares a row. What is not said of it is as in the row.
#[derive(Serialize, Deserialize)]
struct Line<'a> {
    #[serde(with = "uuid::serde::simple")]
    id: Uuid,
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<Request>,
    #[serde(borrow)]
    detail: &'a RawValue,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Request {
    None,
    Other(String),
}

impl<'a> Line<'a> {
    /// `None` if its detail is not JSON.
    fn of(entry: &'a Entry, last: &Entry) -> Option<Self> {
        let other = || entry.request.clone().map_or(Request::None, Request::Other);
        Some(Self {
            id: Uuid::from_bytes(entry.id.to_bytes()),
            kind: entry.kind.clone(),
            at: (entry.at != last.at).then(|| entry.at.unix_millis()),
            request: (entry.request != last.request).then(other),
            detail: serde_json::from_str(&entry.detail).ok()?,
        })
    }
}

/// The rows of these lines, which are of one change: at most one, except where a detail is not JSON.
pub(crate) fn timeline_rows(
    environment: EnvironmentId,
    reference: ServiceReference,
    entries: &[Entry],
) -> Vec<Vec<Value<'_>>> {
    let of_its_own = |entry| row(environment, reference, entry, &entry.kind, Value::from(&entry.detail));
    // A row has the name of its last line: one that repeats earlier lines beside new ones is a row of its own.
    let mut sorted: Vec<&Entry> = entries.iter().collect();
    sorted.sort_by_key(|entry| entry.id);
    let shared = match sorted.as_slice() {
        [_, .., last] => together(last, &sorted).map(|detail| (*last, detail)),
        _ => None,
    };
    match shared {
        Some((last, detail)) => vec![row(environment, reference, last, SEVERAL, detail.into())],
        None => sorted.into_iter().map(of_its_own).collect(),
    }
}

/// Several lines as one text.
fn together(last: &Entry, entries: &[&Entry]) -> Option<String> {
    let lines: Option<Vec<Line<'_>>> = entries.iter().map(|entry| Line::of(entry, last)).collect();
    serde_json::to_string(&lines?).ok()
}

/// The lines of one row: of its columns id, at, kind, request and detail.
pub(crate) fn read_lines(cells: &mut Cells<'_>) -> Result<Vec<Entry>, Fault> {
    let row = Entry {
        id: EntryId::from_bytes(cells.id()?),
        at: cells.moment()?,
        kind: cells.text()?,
        request: cells.text_or_none()?,
        detail: cells.text()?,
    };
    if row.kind != SEVERAL {
        return Ok(vec![row]);
    }
    let lines: Vec<Line<'_>> = serde_json::from_str(&row.detail).map_err(|_| CORRUPT)?;
    let entry = |line: Line<'_>| Entry {
        id: EntryId::from_bytes(line.id.into_bytes()),
        at: line.at.map_or(row.at, Timestamp::from_unix_millis),
        kind: line.kind,
        request: match line.request {
            None => row.request.clone(),
            Some(Request::None) => None,
            Some(Request::Other(request)) => Some(request),
        },
        detail: line.detail.get().to_owned(),
    };
    Ok(lines.into_iter().map(entry).collect())
}

/// All lines of some rows, in order and each once. Of two with one name, the one that came with others stays.
pub(crate) fn in_order(rows: Vec<Vec<Entry>>) -> Vec<Entry> {
    let (shared, single): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.len() > 1);
    let mut lines: Vec<Entry> = shared.into_iter().chain(single).flatten().collect();
    // The sort is stable.
    lines.sort_by_key(|line| line.id);
    lines.dedup_by_key(|line| line.id);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: u8, at: i64, request: Option<&str>, detail: &str) -> Entry {
        Entry {
            id: EntryId::from_bytes([number; 16]),
            at: Timestamp::from_unix_millis(at),
            kind: format!("kind \"{number}\""),
            request: request.map(str::to_owned),
            detail: detail.to_owned(),
        }
    }

    fn count(entries: &[Entry]) -> usize {
        let reference = ServiceReference::from_bytes(tollgate_domain::PaymentMethod::Ach, [9; 16]);
        timeline_rows(EnvironmentId::from_bytes([1; 16]), reference, entries).len()
    }

    #[test]
    fn lines_of_a_change_share_a_row() {
        let lines = [
            entry(2, 5, Some("req_1"), "{\"a\":\"\\u0000é\"}"),
            entry(1, 5, None, "{}"),
            entry(3, -6, Some("req_2"), "[1.50]"),
        ];
        assert_eq!((count(&lines), count(&lines[..1]), count(&[])), (1, 1, 0));
        let mut sorted: Vec<&Entry> = lines.iter().collect();
        sorted.sort_by_key(|line| line.id);
        let text = together(sorted[0], &sorted).unwrap();
        let read: Vec<Line<'_>> = serde_json::from_str(&text).unwrap();
        assert_eq!(read[1].detail.get(), lines[0].detail);
        assert_eq!(read[2].at, Some(-6));
        assert!(matches!(&read[2].request, Some(Request::Other(name)) if name == "req_2"));
        assert!(read[0].at.is_none() && read[0].request.is_none());
    }

    #[test]
    fn what_is_not_json_has_a_row_of_its_own() {
        assert_eq!(count(&[entry(1, 5, None, "{}"), entry(2, 5, None, "said no")]), 2);
    }
}
