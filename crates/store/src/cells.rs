//! Rows of either database, read alike.

use rusqlite::types::FromSql as FromSqlite;
use tokio_postgres::types::FromSql as FromPostgres;
use tollgate_domain::{Minor, Timestamp};
use uuid::Uuid;

use crate::{
    fault::{CorruptRow, Fault},
    rows::amount,
    value::Id,
};

/// The values of one row, taken from left to right: a reader names the columns in the order it takes them.
pub(crate) struct Cells<'a> {
    row: Row<'a>,
    next: usize,
}

enum Row<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Postgres(&'a tokio_postgres::Row),
}

impl<'a> Cells<'a> {
    pub(crate) fn of_sqlite(row: &'a rusqlite::Row<'a>) -> Self {
        Self { row: Row::Sqlite(row), next: 0 }
    }

    pub(crate) fn of_postgres(row: &'a tokio_postgres::Row) -> Self {
        Self { row: Row::Postgres(row), next: 0 }
    }

    /// Passes over some values.
    pub(crate) fn skip(&mut self, count: usize) {
        self.next = self.next.saturating_add(count);
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

    pub(crate) fn digest(&mut self) -> Result<[u8; 32], Fault> {
        self.digest_or_none()?.ok_or(Fault::CorruptRow(CorruptRow("missing digest")))
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
        let text = self.text_or_none()?;
        text.map(|text| parse(&text).ok_or(Fault::CorruptRow(CorruptRow(what)))).transpose()
    }

    pub(crate) fn word<T>(
        &mut self,
        what: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, Fault> {
        let place = self.place();
        let text = match self.row {
            Row::Sqlite(row) => row.get_ref(place)?.as_str().map_err(rusqlite::Error::from)?,
            Row::Postgres(row) => row.try_get(place)?,
        };
        parse(text).ok_or(Fault::CorruptRow(CorruptRow(what)))
    }

    /// A number within the bounds of `T`.
    pub(crate) fn count<T: TryFrom<i64>>(&mut self, what: &'static str) -> Result<T, Fault> {
        T::try_from(self.number()?).map_err(|_| Fault::CorruptRow(CorruptRow(what)))
    }

    pub(crate) fn amount(&mut self) -> Result<Minor, Fault> {
        Ok(amount(self.number()?)?)
    }

    pub(crate) fn amount_or_none(&mut self) -> Result<Option<Minor>, Fault> {
        Ok(self.number_or_none()?.map(amount).transpose()?)
    }

    pub(crate) fn moment(&mut self) -> Result<Timestamp, Fault> {
        Ok(Timestamp::from_unix_millis(self.number()?))
    }

    pub(crate) fn moment_or_none(&mut self) -> Result<Option<Timestamp>, Fault> {
        Ok(self.number_or_none()?.map(Timestamp::from_unix_millis))
    }
}
