//! What statements are given: one set of values for both databases.

use std::borrow::Cow;

use rusqlite::types::{ToSqlOutput, ValueRef};
use tokio_postgres::types::{IsNull, ToSql, Type, private::BytesMut, to_sql_checked};
use tollgate_domain::{
    Minor, ServiceReference, Timestamp,
    id::{
        ApplicationId, ApprovalId, ChangeId, EndpointId, EntryId, EnvironmentId, EventId, ExceptionId,
        HoldActionId, KeyId, OrganizationId, PaymentId, PostingId, RefundId, RequestId, SealingKeyId,
        TokenId, TransactionId, TransferId, UserId,
    },
};
use uuid::Uuid;

/// Sixteen bytes that are stored as a BLOB by SQLite and as a UUID by PostgreSQL.
pub(crate) trait Id: Copy {
    fn of(bytes: [u8; 16]) -> Self;
    fn bytes(self) -> [u8; 16];
}

impl Id for [u8; 16] {
    fn of(bytes: [u8; 16]) -> Self {
        bytes
    }

    fn bytes(self) -> [u8; 16] {
        self
    }
}

macro_rules! ids {
    ($($id:ident),+) => {
        $(impl Id for $id {
            fn of(bytes: [u8; 16]) -> Self {
                Self::from_bytes(bytes)
            }

            fn bytes(self) -> [u8; 16] {
                self.to_bytes()
            }
        })+
    };
}

ids! {
        ApplicationId, ApprovalId, ChangeId, EndpointId, EntryId, EnvironmentId, EventId, ExceptionId, HoldActionId, KeyId, OrganizationId, PaymentId, PostingId, RefundId, RequestId, SealingKeyId, TokenId, TransactionId, TransferId, UserId
}

/// One value of a statement. A list of them is an array, which only PostgreSQL knows.
#[derive(Debug, Clone)]
pub(crate) enum Value<'a> {
    Null,
    Id([u8; 16]),
    Number(i64),
    Flag(bool),
    Text(Cow<'a, str>),
    Bytes(Cow<'a, [u8]>),
    List(Vec<Self>),
}

impl<T: Id> From<T> for Value<'_> {
    fn from(id: T) -> Self {
        Self::Id(id.bytes())
    }
}

impl<'a, T> From<Option<T>> for Value<'a>
where
    Value<'a>: From<T>,
{
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Self::from)
    }
}

macro_rules! from {
    ($($type:ty => |$value:ident| $made:expr;)+) => {
        $(impl<'a> From<$type> for Value<'a> {
            fn from($value: $type) -> Self {
                $made
            }
        })+
    };
}

from! {
    ServiceReference => |reference| Self::Id(reference.to_bytes());
    i64 => |number| Self::Number(number);
    u16 => |number| Self::Number(number.into());
    u32 => |number| Self::Number(number.into());
    Timestamp => |moment| Self::Number(moment.unix_millis());
    Minor => |amount| Self::Number(amount.signed());
    bool => |flag| Self::Flag(flag);
    &'a str => |text| Self::Text(Cow::Borrowed(text));
    &'a String => |text| Self::Text(Cow::Borrowed(text));
    String => |text| Self::Text(Cow::Owned(text));
    &'a Option<String> => |text| text.as_deref().into();
    &'a [u8; 32] => |digest| Self::Bytes(Cow::Borrowed(digest));
    [u8; 32] => |digest| Self::Bytes(Cow::Owned(digest.to_vec()));
    Vec<u8> => |bytes| Self::Bytes(Cow::Owned(bytes));
}

impl Value<'_> {
    /// What PostgreSQL calls it.
    pub(crate) fn type_of(&self) -> Type {
        match self {
            Self::Id(_) => Type::UUID,
            Self::Number(_) => Type::INT8,
            Self::Flag(_) => Type::BOOL,
            Self::Bytes(_) => Type::BYTEA,
            Self::Null | Self::Text(_) | Self::List(_) => Type::TEXT,
        }
    }
}

/// A slice of [`Value`]s, made of whatever becomes one.
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        &[$($crate::value::Value::from($value)),*]
    };
}

pub(crate) use values;

impl rusqlite::ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Id(bytes) => ValueRef::Blob(bytes),
            Self::Number(number) => ValueRef::Integer(*number),
            Self::Flag(flag) => ValueRef::Integer(i64::from(*flag)),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
            Self::List(_) => {
                return Err(rusqlite::Error::ToSqlConversionFailure("SQLite knows no arrays".into()));
            }
        }))
    }
}

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Id(bytes) => Uuid::from_bytes(*bytes).to_sql_checked(ty, out),
            Self::Number(number) => number.to_sql_checked(ty, out),
            Self::Flag(flag) => flag.to_sql_checked(ty, out),
            Self::Text(text) => text.to_sql_checked(ty, out),
            Self::Bytes(bytes) => bytes.as_ref().to_sql_checked(ty, out),
            Self::List(values) => values.to_sql_checked(ty, out),
        }
    }

    // Whether a value fits is asked where it is written, once its kind is known.
    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
