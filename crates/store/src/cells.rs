//! Rows of either database, read alike.

use rusqlite::types::FromSql as FromSqlite;
use rusqlite::types::ValueRef;
use tokio_postgres::types::{FromSql as FromPostgres, Type};
use tollgate_domain::{Minor, Timestamp};
use uuid::Uuid;

use crate::{
    fault::{CorruptRow, Fault},
    rows::amount,
    value::Id,
};

/// Whatever a column of PostgreSQL holds.
struct Anything;

impl FromPostgres<'_> for Anything {
    fn from_sql(_: &Type, _: &[u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self)
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// The values of one row, taken from left to right: a reader names the columns in the order it takes them.
pub(crate) struct Cells<'a> {
    row: Row<'a>,
    next: usize,
    /// What a number is called that is out of bounds.
    field: &'static str,
}

enum Row<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Postgres(&'a tokio_postgres::Row),
}

impl<'a> Cells<'a> {
    pub(crate) fn of_sqlite(row: &'a rusqlite::Row<'a>) -> Self {
        Self { row: Row::Sqlite(row), next: 0, field: "number" }
    }

    pub(crate) fn of_postgres(row: &'a tokio_postgres::Row) -> Self {
        Self { row: Row::Postgres(row), next: 0, field: "number" }
    }

    /// Passes over some values.
    pub(crate) fn skip(&mut self, count: usize) {
        self.next = self.next.saturating_add(count);
    }

    /// What the next number is called, should it be out of bounds.
    pub(crate) fn name(&mut self, field: &'static str) {
        self.field = field;
    }

    /// Whether the next value is empty.
    pub(crate) fn is_empty(&self) -> Result<bool, Fault> {
        Ok(match self.row {
            Row::Sqlite(row) => row.get_ref(self.next)? == ValueRef::Null,
            Row::Postgres(row) => row.try_get::<_, Option<Anything>>(self.next)?.is_none(),
        })
    }

    fn take<T: FromSqlite + FromPostgres<'a>>(&mut self) -> Result<T, Fault> {
        let place = self.place();
        match self.row {
            Row::Sqlite(row) => Ok(row.get(place)?),
            Row::Postgres(row) => Ok(row.try_get(place)?),
        }
    }

    fn place(&mut self) -> usize {
        let place = self.next;
        self.next = place.saturating_add(1);
        place
    }

    pub(crate) fn id<T: Id>(&mut self) -> Result<T, Fault> {
        self.id_or_none()?.ok_or(Fault::CorruptRow(CorruptRow("missing id")))
    }

    pub(crate) fn id_or_none<T: Id>(&mut self) -> Result<Option<T>, Fault> {
        let place = self.place();
        let bytes: Option<[u8; 16]> = match self.row {
            Row::Sqlite(row) => row.get(place)?,
            Row::Postgres(row) => row.try_get::<_, Option<Uuid>>(place)?.map(Uuid::into_bytes),
        };
        Ok(bytes.map(T::of))
    }

    pub(crate) fn digest_or_none(&mut self) -> Result<Option<[u8; 32]>, Fault> {
        let bytes: Option<Vec<u8>> = self.take()?;
        let digest = bytes.map(|bytes| bytes.try_into().map_err(|_| CorruptRow("digest")));
        Ok(digest.transpose()?)
    }

    pub(crate) fn bytes_or_none(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        self.take()
    }

    pub(crate) fn flag(&mut self) -> Result<bool, Fault> {
        self.take()
    }

    pub(crate) fn flag_or_none(&mut self) -> Result<Option<bool>, Fault> {
        self.take()
    }

    pub(crate) fn number(&mut self) -> Result<i64, Fault> {
        self.take()
    }

    pub(crate) fn number_or_none(&mut self) -> Result<Option<i64>, Fault> {
        self.take()
    }

    pub(crate) fn text(&mut self) -> Result<String, Fault> {
        self.take()
    }

    pub(crate) fn text_or_none(&mut self) -> Result<Option<String>, Fault> {
        self.take()
    }

    /// A text that `parse` knows.
    pub(crate) fn word_or_none<T>(
        &mut self,
        what: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        let place = self.place();
        let text = match self.row {
            Row::Sqlite(row) => row.get_ref(place)?.as_str_or_null().map_err(rusqlite::Error::from)?,
            Row::Postgres(row) => row.try_get(place)?,
        };
        text.map(|text| parse(text).ok_or(Fault::CorruptRow(CorruptRow(what)))).transpose()
    }

    pub(crate) fn word<T>(
        &mut self,
        what: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, Fault> {
        self.word_or_none(what, parse)?.ok_or(Fault::CorruptRow(CorruptRow(what)))
    }

    /// A number within the bounds of `T`.
    pub(crate) fn count_or_none<T: TryFrom<i64>>(&mut self) -> Result<Option<T>, Fault> {
        let damaged = CorruptRow(self.field);
        Ok(self.number_or_none()?.map(|number| T::try_from(number).map_err(|_| damaged)).transpose()?)
    }

    /// A number within the bounds of `T`.
    pub(crate) fn count<T: TryFrom<i64>>(&mut self, what: &'static str) -> Result<T, Fault> {
        T::try_from(self.number()?).map_err(|_| Fault::CorruptRow(CorruptRow(what)))
    }

    pub(crate) fn amount(&mut self) -> Result<Minor, Fault> {
        Ok(amount(self.number()?)?)
    }

    pub(crate) fn moment(&mut self) -> Result<Timestamp, Fault> {
        Ok(Timestamp::from_unix_millis(self.number()?))
    }
}
