//! Payments' timelines. A payment has its lines in a column of its own row: those of each change together and compressed, one
//! change behind the other. In the table `timeline` are lines from before that column, and lines without a payment.

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use tollgate_domain::{
    ServiceReference, Timestamp,
    id::{EntryId, EnvironmentId},
};
use tollgate_engine::ports::Entry;
use uuid::Uuid;

use super::compressed;
use crate::prelude::*;

/// In place of a line's kind, where a row of the table has several.
const SEVERAL: &str = "lines";
const CORRUPT: CorruptRow = CorruptRow("line of a timeline");

table! {
    TIMELINE = "timeline" ("ON CONFLICT DO NOTHING");
    fn line_row(environment: EnvironmentId, reference: ServiceReference, line: &'a Entry) {
        environment_id: Id = environment,
        method: Text = reference.method().as_str(),
        reference: Id = reference,
        id: Id = line.id,
        at: Number = line.at,
        kind: Text = &line.kind,
        request: Text = &line.request,
        detail: Text = &line.detail,
    }
}

/// The lines of one change.
#[derive(Serialize, Deserialize)]
struct Change {
    at: i64,
    request: Option<String>,
    lines: Vec<Line>,
}

/// A line beside others. What it does not say is as in its change.
#[derive(Serialize, Deserialize)]
struct Line {
    /// `None`: the one behind that of the line before.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "uuid::serde::simple::option")]
    id: Option<Uuid>,
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<Request>,
    detail: Box<RawValue>,
    /// The detail was no JSON, and is kept as a JSON text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_text: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Request {
    None,
    Other(String),
}

impl Line {
    fn of(entry: &Entry, before: Option<&Entry>, last: &Entry) -> Result<Self, serde_json::Error> {
        let other = || entry.request.clone().map_or(Request::None, Request::Other);
        let (detail, is_text) = match RawValue::from_string(entry.detail.clone()) {
            Ok(detail) => (detail, false),
            Err(_) => (to_raw_value(&entry.detail)?, true),
        };
        let is_next = before.is_some_and(|before| before.id.next() == entry.id);
        Ok(Self {
            id: (!is_next).then(|| Uuid::from_bytes(entry.id.to_bytes())),
            kind: entry.kind.clone(),
            at: (entry.at != last.at).then(|| entry.at.unix_millis()),
            request: (entry.request != last.request).then(other),
            detail,
            is_text,
        })
    }

    fn entry(
        self,
        before: Option<EntryId>,
        at: Timestamp,
        request: Option<&String>,
    ) -> Result<Entry, CorruptRow> {
        let id = self.id.map(|id| EntryId::from_bytes(id.into_bytes())).or(before.map(EntryId::next));
        let detail = self.detail.get();
        let text = || serde_json::from_str(detail).map_err(|_| CORRUPT);
        Ok(Entry {
            id: id.ok_or(CORRUPT)?,
            at: self.at.map_or(at, Timestamp::from_unix_millis),
            kind: self.kind,
            request: match self.request {
                None => request.cloned(),
                Some(Request::None) => None,
                Some(Request::Other(request)) => Some(request),
            },
            detail: if self.is_text { text()? } else { detail.to_owned() },
        })
    }
}

/// The lines of one change, to be appended to those of earlier ones.
pub(crate) fn pack(entries: &[Entry]) -> Result<Vec<u8>, Fault> {
    let Some(last) = entries.last() else { return Ok(Vec::new()) };
    let json = || {
        let before = std::iter::once(None).chain(entries.iter().map(Some));
        let lines = entries.iter().zip(before).map(|(entry, before)| Line::of(entry, before, last));
        let lines = lines.collect::<Result<_, _>>()?;
        let change = Change { at: last.at.unix_millis(), request: last.request.clone(), lines };
        serde_json::to_vec(&change)
    };
    let json = json().map_err(|_| Fault::Misuse("lines of a timeline cannot be written as JSON"))?;
    Ok(compressed::compress(&json))
}

/// All lines in a payment's column.
pub(crate) fn unpack(column: &[u8]) -> Result<Vec<Entry>, CorruptRow> {
    let mut entries = Vec::new();
    for json in compressed::decompress_all(column).ok_or(CORRUPT)? {
        let change: Change = serde_json::from_slice(&json).map_err(|_| CORRUPT)?;
        entries.extend(read_change(
            change.lines,
            Timestamp::from_unix_millis(change.at),
            change.request.as_ref(),
        )?);
    }
    Ok(entries)
}

fn read_change(lines: Vec<Line>, at: Timestamp, request: Option<&String>) -> Result<Vec<Entry>, CorruptRow> {
    let mut entries: Vec<Entry> = Vec::with_capacity(lines.len());
    for line in lines {
        let before = entries.last().map(|entry| entry.id);
        entries.push(line.entry(before, at, request)?);
    }
    Ok(entries)
}

/// The lines of one row of the table: of its columns id, at, kind, request and detail.
pub(crate) fn read_lines(cells: &mut Cells<'_>) -> Result<Vec<Entry>, Fault> {
    let row = Entry {
        id: EntryId::from_bytes(cells.get()?),
        at: cells.get()?,
        kind: cells.get()?,
        request: cells.get()?,
        detail: cells.get()?,
    };
    if row.kind != SEVERAL {
        return Ok(vec![row]);
    }
    let lines: Vec<Line> = serde_json::from_str(&row.detail).map_err(|_| CORRUPT)?;
    Ok(read_change(lines, row.at, row.request.as_ref())?)
}

/// In order, and each once. Of two with one name, the first stays.
pub(crate) fn in_order(mut lines: Vec<Entry>) -> Vec<Entry> {
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

    #[test]
    fn lines_are_read_as_they_were_written() {
        let first = [
            entry(1, 5, None, "{}"),
            entry(2, 5, Some("req_1"), "{\"a\":\"\\u0000é\"}"),
            entry(3, -6, Some("req_2"), "[1.50]"),
        ];
        let second = [entry(4, 7, None, "\"no\njson\""), entry(5, 7, Some("req_3"), "said {no}")];
        let mut column = pack(&first).unwrap();
        column.extend(pack(&[]).unwrap());
        column.extend(pack(&second).unwrap());
        assert_eq!(unpack(&column).unwrap(), [&first[..], &second[..]].concat());
        assert_eq!(unpack(&[]).unwrap(), []);
        column.pop();
        assert!(unpack(&column).is_err());
    }

    #[test]
    fn ids_that_follow_eachother_take_no_room() {
        let first = entry(1, 5, None, "{}");
        let second = Entry { id: first.id.next(), ..first.clone() };
        let (same, other) = (entry(1, 5, None, "{}"), entry(9, 5, None, "{}"));
        let read = |entries: &[Entry]| unpack(&pack(entries).unwrap()).unwrap();
        for entries in [[first.clone(), second], [first.clone(), same], [first.clone(), other]] {
            assert_eq!(read(&entries), entries);
        }
        let follows = Entry { id: first.id.next(), ..first.clone() };
        let apart = Entry {
            id: EntryId::from_bytes(*b"\x01far\xa7\xd7\x92\x33\xf0away\x81\xc3\x5e"),
            ..first.clone()
        };
        assert!(pack(&[first.clone(), follows]).unwrap().len() + 16 < pack(&[first, apart]).unwrap().len());
        let without = compressed::compress(br#"{"at":1,"request":null,"lines":[{"kind":"a","detail":{}}]}"#);
        assert!(unpack(&without).is_err());
    }
}
