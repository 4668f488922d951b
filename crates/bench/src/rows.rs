//! Rows the product wrote, to be written again by others: the yardsticks have the product's columns and sizes whatever
//! its tables come to look like.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use tokio_postgres::{Client, types::Type};

use crate::Fault;
use crate::cell::Cell;

/// The product's own settings of its connection, so that both pay the same for a commit.
const SETTINGS: &str = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
    PRAGMA wal_autocheckpoint = 16384; PRAGMA journal_size_limit = 134217728;";
const STATEMENTS_KEPT: usize = 128;

/// A row, a column each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) cells: Vec<(String, Cell)>,
}

impl Row {
    pub(crate) fn cell(&self, column: &str) -> Result<&Cell, Fault> {
        let found = self.cells.iter().find(|(name, _)| name == column);
        found.map(|(_, cell)| cell).ok_or_else(|| format!("there is no column `{column}`").into())
    }

    pub(crate) fn text(&self, column: &str) -> Result<Option<&str>, Fault> {
        match self.cell(column)? {
            Cell::Text(text) => Ok(Some(text)),
            Cell::Null => Ok(None),
            _ => Err(format!("the column `{column}` is not a text").into()),
        }
    }

    pub(crate) fn integer(&self, column: &str) -> Result<i64, Fault> {
        match self.cell(column)? {
            Cell::Integer(number) => Ok(*number),
            _ => Err(format!("the column `{column}` is not a number").into()),
        }
    }

    /// The row with other values in some columns.
    pub(crate) fn with(mut self, changes: &[(&str, Cell)]) -> Result<Self, Fault> {
        for (column, value) in changes {
            let found = self.cells.iter_mut().find(|(name, _)| name == column);
            found.ok_or_else(|| format!("there is no column `{column}`"))?.1 = value.clone();
        }
        Ok(self)
    }

    /// Some of its columns.
    pub(crate) fn only(&self, columns: &[&str]) -> Result<Vec<(String, Cell)>, Fault> {
        columns.iter().map(|column| Ok(((*column).to_owned(), self.cell(column)?.clone()))).collect()
    }
}

/// The only row there is.
pub(crate) fn only_one(rows: Vec<Row>, what: &str) -> Result<Row, Fault> {
    let [row] = <[Row; 1]>::try_from(rows).map_err(|rows| format!("{what}: {} rows, not one", rows.len()))?;
    Ok(row)
}

/// Either database, as rows are read from it.
pub(crate) enum Source<'a> {
    Sqlite(&'a Connection),
    Postgres(&'a Client),
}

impl Source<'_> {
    pub(crate) async fn rows(&self, sql: &str) -> Result<Vec<Row>, Fault> {
        match self {
            Self::Sqlite(connection) => sqlite_rows(connection, sql),
            Self::Postgres(client) => {
                let rows = client.query(sql, &[]).await.map_err(|error| describe(&error))?;
                rows.iter().map(postgres_row).collect()
            }
        }
    }
}

fn sqlite_rows(connection: &Connection, sql: &str) -> Result<Vec<Row>, Fault> {
    let mut statement = connection.prepare(sql)?;
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut rows = statement.query([])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let cell = |(place, column): (usize, &String)| {
            Ok::<_, Fault>((column.clone(), Cell::from_sqlite(row.get_ref(place)?)?))
        };
        all.push(Row { cells: columns.iter().enumerate().map(cell).collect::<Result<_, _>>()? });
    }
    Ok(all)
}

fn postgres_row(row: &tokio_postgres::Row) -> Result<Row, Fault> {
    let cell = |(place, column): (usize, &tokio_postgres::Column)| {
        Ok::<_, Fault>((column.name().to_owned(), Cell::from_postgres(row, place)?))
    };
    // Numbers of transactions are given by the server itself.
    let columns = row.columns().iter().enumerate().filter(|(_, column)| *column.type_() != Type::XID8);
    Ok(Row { cells: columns.map(cell).collect::<Result<_, _>>()? })
}

/// Opens a file the product has made, as the product does.
pub(crate) fn open_sqlite(path: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.execute_batch(SETTINGS)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    Ok(connection)
}

/// What PostgreSQL has to say; the error itself says only that it said something.
pub(crate) fn describe(error: &tokio_postgres::Error) -> String {
    error.as_db_error().map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn rows_are_read_as_they_are() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE TABLE t (id BLOB, n INTEGER, name TEXT); INSERT INTO t VALUES (zeroblob(16), 7, NULL)",
            )
            .unwrap();
        let rows = Source::Sqlite(&connection).rows("SELECT * FROM t").await.unwrap();
        let row = only_one(rows, "t").unwrap();
        assert_eq!(row.cell("id").unwrap(), &Cell::Id([0; 16]));
        assert_eq!((row.integer("n").unwrap(), row.text("name").unwrap()), (7, None));
        let changed = row.with(&[("name", Cell::text("x"))]).unwrap();
        assert_eq!(changed.only(&["name"]).unwrap(), [("name".to_owned(), Cell::text("x"))]);
        let missing = changed.with(&[("nothing", Cell::Null)]).unwrap_err();
        assert_eq!(missing.to_string(), "there is no column `nothing`");
        assert!(only_one(Vec::new(), "t").is_err());
    }
}
