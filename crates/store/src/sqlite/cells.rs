//! SQLite's rows, read as those of any store.

use rusqlite::{Row, types::FromSql};

use super::fault::Fault;
use crate::convert::{CorruptRow, cells::Cells};

/// A row and the place of its next value.
pub(super) struct RowCells<'a> {
    row: &'a Row<'a>,
    next: usize,
}

impl<'a> RowCells<'a> {
    /// The row's values, from the one at `first`.
    pub(super) fn new(row: &'a Row<'a>, first: usize) -> Self {
        Self { row, next: first }
    }

    fn place(&mut self) -> usize {
        let place = self.next;
        self.next = place.saturating_add(1);
        place
    }

    fn take<T: FromSql>(&mut self) -> Result<T, Fault> {
        let place = self.place();
        Ok(self.row.get(place)?)
    }
}

impl Cells for RowCells<'_> {
    type Fault = Fault;

    fn id(&mut self) -> Result<[u8; 16], Fault> {
        self.take()
    }

    fn id_or_none(&mut self) -> Result<Option<[u8; 16]>, Fault> {
        self.take()
    }

    fn digest(&mut self) -> Result<[u8; 32], Fault> {
        self.take()
    }

    fn flag(&mut self) -> Result<bool, Fault> {
        self.take()
    }

    fn number(&mut self) -> Result<i64, Fault> {
        self.take()
    }

    fn number_or_none(&mut self) -> Result<Option<i64>, Fault> {
        self.take()
    }

    fn text(&mut self) -> Result<String, Fault> {
        self.take()
    }

    fn text_or_none(&mut self) -> Result<Option<String>, Fault> {
        self.take()
    }

    fn word<T>(&mut self, what: &'static str, parse: impl Fn(&str) -> Option<T>) -> Result<T, Fault> {
        let place = self.place();
        let text = self.row.get_ref(place)?.as_str().map_err(rusqlite::Error::from)?;
        Ok(parse(text).ok_or(CorruptRow(what))?)
    }
}
