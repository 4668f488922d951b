//! PostgreSQL's rows, read as those of any store.

use tokio_postgres::{Row, types::FromSql};
use uuid::Uuid;

use super::fault::Fault;
use crate::convert::{self, CorruptRow, cells::Cells};

/// A row and the place of its next value.
pub(super) struct RowCells<'a> {
    row: &'a Row,
    next: usize,
}

impl<'a> RowCells<'a> {
    /// The row's values, from the one at `first`.
    pub(super) fn new(row: &'a Row, first: usize) -> Self {
        Self { row, next: first }
    }

    fn take<T: FromSql<'a>>(&mut self) -> Result<T, Fault> {
        let place = self.next;
        self.next = place.saturating_add(1);
        Ok(self.row.try_get(place)?)
    }
}

impl Cells for RowCells<'_> {
    type Fault = Fault;

    fn id(&mut self) -> Result<[u8; 16], Fault> {
        self.take().map(Uuid::into_bytes)
    }

    fn id_or_none(&mut self) -> Result<Option<[u8; 16]>, Fault> {
        Ok(self.take::<Option<Uuid>>()?.map(Uuid::into_bytes))
    }

    fn digest(&mut self) -> Result<[u8; 32], Fault> {
        Ok(convert::digest(self.take()?)?)
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
        Ok(parse(self.take()?).ok_or(CorruptRow(what))?)
    }
}
