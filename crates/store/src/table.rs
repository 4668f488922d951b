//! The tables that rows are added to: one list of columns for one row and for many.

use std::sync::OnceLock;

/// What a column holds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Id,
    Number,
    Text,
    Flag,
    Bytes,
}

impl Kind {
    const fn array(self) -> &'static str {
        match self {
            Self::Id => "uuid[]",
            Self::Number => "bigint[]",
            Self::Text => "text[]",
            Self::Flag => "boolean[]",
            Self::Bytes => "bytea[]",
        }
    }
}

/// Some columns of a table, in the order of the values that are given for them.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [(&'static str, Kind)],
    /// What to do where a row is there already.
    pub(crate) conflict: &'static str,
    one: OnceLock<String>,
    many: OnceLock<String>,
}

impl Table {
    pub(crate) const fn new(
        name: &'static str,
        columns: &'static [(&'static str, Kind)],
        conflict: &'static str,
    ) -> Self {
        Self { name, columns, conflict, one: OnceLock::new(), many: OnceLock::new() }
    }

    /// The columns' names.
    pub(crate) fn names(&self) -> String {
        self.columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }

    /// The columns of the table under this name.
    pub(crate) fn select(&self, table: &str) -> String {
        self.select_first(self.columns.len(), table)
    }

    /// The first of these columns.
    pub(crate) fn select_first(&self, count: usize, table: &str) -> String {
        let columns = self.columns.iter().take(count);
        columns.map(|(name, _)| format!("{table}.{name}")).collect::<Vec<_>>().join(", ")
    }

    /// Inserts one row.
    pub(crate) fn insert_one(&self) -> &str {
        self.one.get_or_init(|| {
            let values: Vec<String> = (1..=self.columns.len()).map(|number| format!("${number}")).collect();
            let (name, names, conflict) = (self.name, self.names(), self.conflict);
            format!("INSERT INTO {name} ({names}) VALUES ({}) {conflict}", values.join(", "))
        })
    }

    /// Inserts any number of rows in their order, each column being one array: for PostgreSQL only.
    pub(crate) fn insert_many(&self) -> &str {
        self.many.get_or_init(|| {
            let (name, names, conflict) = (self.name, self.names(), self.conflict);
            format!("INSERT INTO {name} ({names}) SELECT * FROM {} {conflict}", unnest(1, self.columns))
        })
    }
}

/// The rows that arrays hold, the first of them in this parameter.
pub(crate) fn unnest(first: usize, columns: &[(&str, Kind)]) -> String {
    let arrays = (first..).zip(columns).map(|(number, (_, kind))| format!("${number}::{}", kind.array()));
    format!("unnest({})", arrays.collect::<Vec<_>>().join(", "))
}

/// Some columns: `columns!(id: Id, at: Number)`.
macro_rules! columns {
    ($($name:ident: $kind:ident),+ $(,)?) => {
        &[$((stringify!($name), $crate::table::Kind::$kind)),+]
    };
}

/// One table's columns, what is done where a row is there already, and how the values of a row are made:
/// `table! { TIMELINE = "timeline" ("ON CONFLICT DO NOTHING"); fn row(entry: &Entry) { id: Id = entry.id, … } }`.
macro_rules! table {
    ($table:ident = $name:literal ($conflict:expr);
     fn $row:ident($($argument:ident: $type:ty),*) { $($column:ident: $kind:ident = $value:expr,)+ }) => {
        pub(crate) static $table: $crate::table::Table = $crate::table::Table::new(
            $name,
            $crate::table::columns!($($column: $kind),+),
            $conflict,
        );

        pub(crate) fn $row<'a>($($argument: $type),*) -> Vec<$crate::value::Value<'a>> {
            vec![$($crate::value::Value::from($value)),+]
        }
    };
}

pub(crate) use {columns, table};
