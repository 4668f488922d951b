//! Records of BAI2, with the continuations (88) that belong to them.

use std::{iter::Enumerate, str::Lines};

use crate::{amount::shown, fault::Fault};

/// The codes that begin a record.
const CODES: [&str; 8] = ["01", "02", "03", "16", "49", "88", "98", "99"];

const CONTINUATION: &str = "88";
const DETAIL: &str = "16";

/// A record with its continuations.
pub(super) struct Record<'a> {
    /// Where it begins.
    pub(super) line: usize,
    pub(super) code: &'a str,
    /// How many records it is: itself and its continuations.
    pub(super) count: i64,
    parts: Vec<Part<'a>>,
}

/// What stands on a line behind the code and before the slash that ends it.
#[derive(Clone, Copy)]
struct Part<'a> {
    line: usize,
    text: &'a str,
}

impl<'a> Record<'a> {
    pub(super) fn fields(&self) -> Fields<'_> {
        let (first, following) =
            self.parts.split_first().map_or((None, &[][..]), |(first, rest)| (Some(*first), rest));
        Fields { current: first, following }
    }

    fn of(part: Part<'a>, code: &'a str) -> Self {
        Self { line: part.line, code, count: 1, parts: vec![part] }
    }
}

/// The fields of a record, one by one, whichever of its lines they are on.
pub(super) struct Fields<'a> {
    current: Option<Part<'a>>,
    following: &'a [Part<'a>],
}

impl<'a> Fields<'a> {
    /// The next field; an empty one where there are no more.
    pub(super) fn next(&mut self) -> &'a str {
        let Some(part) = self.current else { return "" };
        if let Some((field, rest)) = part.text.split_once(',') {
            self.current = Some(Part { text: rest, ..part });
            return field.trim();
        }
        self.advance();
        part.text.trim()
    }

    fn advance(&mut self) {
        let next = self.following.split_first();
        self.current = next.map(|(next, _)| *next);
        self.following = next.map_or(&[], |(_, rest)| rest);
    }

    /// Everything that is left: text, in which commas and slashes mean nothing.
    pub(super) fn rest(&mut self) -> String {
        let mut text = String::new();
        while let Some(part) = self.current {
            let part = part.text.trim();
            if !text.is_empty() && !part.is_empty() {
                text.push(' ');
            }
            text.push_str(part);
            self.advance();
        }
        text
    }

    pub(super) fn is_empty(&self) -> bool {
        // A comma before the slash leaves an empty field, which says nothing.
        self.current.is_none_or(|part| part.text.trim().is_empty() && self.following.is_empty())
    }

    /// The line the next field is on.
    pub(super) fn line(&self) -> usize {
        self.current.map_or(0, |part| part.line)
    }
}

/// The records of a file in their order. What is no record ends them: nothing behind it can be trusted.
pub(super) struct Records<'a> {
    lines: Enumerate<Lines<'a>>,
    /// What is left of the current line, and its number.
    rest: (usize, &'a str),
    /// Read ahead, to see whether the record before goes on.
    next: Option<Piece<'a>>,
    /// What ended the records early.
    pub(super) fault: Option<Fault>,
}

/// A line, or what of it stands between two records on it.
struct Piece<'a> {
    /// `None` of a line that goes on with the text of the one before.
    code: Option<&'a str>,
    part: Part<'a>,
}

impl<'a> Records<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut records = Self { lines: text.lines().enumerate(), rest: (0, ""), next: None, fault: None };
        records.next = records.next_piece();
        records
    }

    fn next_piece(&mut self) -> Option<Piece<'a>> {
        while self.rest.1.is_empty() {
            let (index, line) = self.lines.next()?;
            self.rest = (index + 1, line.trim());
        }
        let (number, line) = self.rest;
        let (record, rest) = split_line(line);
        self.rest = (number, rest);
        Some(piece(record, number))
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        let first = self.next.take()?;
        let Some(code) = first.code.filter(|code| *code != CONTINUATION) else {
            let message = format!(
                "`{}` begins no record; it would begin with 01, 02, 03, 16, 49, 98 or 99",
                shown(first.part.text)
            );
            self.fault = Some(Fault::new(first.part.line, "record", message));
            return None;
        };
        let mut record = Record::of(first.part, code);
        loop {
            self.next = self.next_piece();
            let Some(more) = &self.next else { break };
            match more.code {
                Some(CONTINUATION) => record.count = record.count.saturating_add(1),
                // Only text goes on without being told.
                None if code == DETAIL => {}
                _ => break,
            }
            record.parts.push(more.part);
        }
        Some(record)
    }
}

/// Some banks put several records on a line, each ended by a slash and spaces. A slash within a text that looks the same
/// is taken for an end, too: then the number of records is wrong and the file is refused.
fn split_line(line: &str) -> (&str, &str) {
    for (at, _) in line.match_indices('/') {
        let Some((record, rest)) = line.split_at_checked(at + 1) else { break };
        let next = rest.trim_start();
        if next.len() < rest.len() && code_of(next).is_some() {
            return (record, next);
        }
    }
    (line, "")
}

fn code_of(text: &str) -> Option<&str> {
    let (code, rest) = text.split_at_checked(2)?;
    (rest.starts_with(',') && CODES.contains(&code)).then_some(code)
}

fn piece(record: &str, line: usize) -> Piece<'_> {
    let code = code_of(record);
    let text = if code.is_some() { record.split_at_checked(3).map_or("", |(_, rest)| rest) } else { record };
    let text = text.trim_end();
    Piece { code, part: Part { line, text: text.strip_suffix('/').unwrap_or(text) } }
}
