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
    /// What PostgreSQL calls it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Id => "uuid",
            Self::Number => "bigint",
            Self::Text => "text",
            Self::Flag => "boolean",
            Self::Bytes => "bytea",
        }
    }
}

/// A column's name, and what it holds.
pub(crate) type Column = (&'static str, Kind);

/// Types that are records of columns.
pub(crate) trait Columns {
    const COLUMNS: &'static [Column];
}

/// Some columns of a table, in the order of the values that are given for them.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [Column],
    /// How many of the columns, which are the first ones, say whose row it is.
    owner: usize,
    /// What to do where a row is there already.
    pub(crate) conflict: &'static str,
    one: OnceLock<String>,
    many: OnceLock<String>,
    /// For either rail, where a payment's row says whose a row is.
    pub(crate) added: OnceLock<[String; 2]>,
}

impl Table {
    pub(crate) const fn new(name: &'static str, columns: &'static [Column], conflict: &'static str) -> Self {
        Self {
            name,
            columns,
            owner: 0,
            conflict,
            one: OnceLock::new(),
            many: OnceLock::new(),
            added: OnceLock::new(),
        }
    }

    /// With so many columns that say whose row it is.
    pub(crate) const fn of(mut self, owner: usize) -> Self {
        self.owner = owner;
        self
    }

    /// The columns that say whose row it is, and the others.
    pub(crate) fn parts(&self) -> (&'static [Column], &'static [Column]) {
        self.columns.split_at_checked(self.owner).unwrap_or_default()
    }

    /// The columns' names.
    pub(crate) fn names(&self) -> String {
        names(self.columns)
    }

    /// Inserts one row.
    pub(crate) fn insert_one(&self) -> &str {
        self.one.get_or_init(|| {
            let (name, names, conflict) = (self.name, self.names(), self.conflict);
            format!("INSERT INTO {name} ({names}) VALUES ({}) {conflict}", parameters(1, self.columns))
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

/// The columns' names, apart by commas.
pub(crate) fn names(columns: &[Column]) -> String {
    columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

/// A parameter for each column, the first of them with this number.
pub(crate) fn parameters(first: usize, columns: &[Column]) -> String {
    (first..).zip(columns).map(|(number, _)| format!("${number}")).collect::<Vec<_>>().join(", ")
}

/// Sets each column to a parameter, the first of them with this number.
pub(crate) fn assignments(first: usize, columns: &[Column]) -> String {
    (first..)
        .zip(columns)
        .map(|(number, (name, _))| format!("{name} = ${number}"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Sets each column to that of another row.
pub(crate) fn copies(columns: &[Column], row: &str) -> String {
    columns.iter().map(|(name, _)| format!("{name} = {row}.{name}")).collect::<Vec<_>>().join(", ")
}

/// The rows that arrays hold, the first of them in this parameter.
pub(crate) fn unnest(first: usize, columns: &[Column]) -> String {
    let arrays = (first..).zip(columns).map(|(number, (_, kind))| format!("${number}::{}[]", kind.name()));
    format!("unnest({})", arrays.collect::<Vec<_>>().join(", "))
}

/// Some columns: `columns!(id: Id, at: Number)`.
macro_rules! columns {
    ($($name:ident: $kind:ident),+ $(,)?) => {
        &[$((stringify!($name), $crate::table::Kind::$kind)),+]
    };
}

pub(crate) use columns;
