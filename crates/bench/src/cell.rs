//! A value of a column, the same for both databases.

use std::error::Error;

use bytes::BytesMut;
use rusqlite::types::{ToSqlOutput, ValueRef};
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use uuid::Uuid;

use crate::Fault;

/// A value of a column.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Cell {
    Null,
    Flag(bool),
    Integer(i64),
    Text(String),
    /// Sixteen bytes.
    Id([u8; 16]),
    /// Any other number of them.
    Bytes(Vec<u8>),
}

impl Cell {
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    pub(crate) fn from_sqlite(value: ValueRef<'_>) -> Result<Self, Fault> {
        Ok(match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Integer(number),
            ValueRef::Text(text) => Self::Text(std::str::from_utf8(text)?.to_owned()),
            ValueRef::Blob(bytes) => bytes.try_into().map_or_else(|_| Self::Bytes(bytes.to_vec()), Self::Id),
            ValueRef::Real(_) => return Err("a value is a fraction".into()),
        })
    }

    pub(crate) fn from_postgres(row: &tokio_postgres::Row, place: usize) -> Result<Self, Fault> {
        let kind = row.columns().get(place).map(tokio_postgres::Column::type_);
        let cell = match kind {
            Some(&Type::UUID) => row.try_get::<_, Option<Uuid>>(place)?.map(|id| Self::Id(id.into_bytes())),
            Some(&Type::INT8) => row.try_get::<_, Option<i64>>(place)?.map(Self::Integer),
            Some(&Type::BOOL) => row.try_get::<_, Option<bool>>(place)?.map(Self::Flag),
            Some(&Type::TEXT) => row.try_get::<_, Option<String>>(place)?.map(Self::Text),
            Some(&Type::BYTEA) => row.try_get::<_, Option<Vec<u8>>>(place)?.map(Self::Bytes),
            other => return Err(format!("a column is of the type {other:?}").into()),
        };
        Ok(cell.unwrap_or(Self::Null))
    }
}

impl rusqlite::ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Self::Flag(flag) => ToSqlOutput::Borrowed(ValueRef::Integer(i64::from(*flag))),
            Self::Integer(number) => ToSqlOutput::Borrowed(ValueRef::Integer(*number)),
            Self::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Self::Id(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            Self::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        })
    }
}

impl ToSql for Cell {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Flag(flag) => flag.to_sql_checked(kind, out),
            Self::Integer(number) => number.to_sql_checked(kind, out),
            Self::Text(text) => text.to_sql_checked(kind, out),
            Self::Id(bytes) => Uuid::from_bytes(*bytes).to_sql_checked(kind, out),
            Self::Bytes(bytes) => bytes.to_sql_checked(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
