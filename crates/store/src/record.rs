//! What is stored, declared once: a type's columns are written and read from the same list.

use std::borrow::Cow;

use tollgate_domain::{
    Channel, Currency, Flow, Minor, PaymentMethod, Principal, Timestamp,
    ach::{BankAccountType, RecipientKind, TransferPurpose, TransferRail},
    approval::ApprovalState,
    books::CardPostingKind,
    card::{AttemptState, DiscrepancyKind, Preparation},
    event::EventKind,
    hold::{CaptureMode, HoldActionKind, HoldActionStatus},
    ledger::{Account, Cause, PostingCause},
    people::Role,
    refund::{FeeRefund, RefundOrigin, RefundReason, RefundStatus},
    tenant::{EnvironmentName, KeyKind},
    transaction::Status,
};
use tollgate_engine::ports::{DeliveryState, ProviderEventState};

use crate::{
    cells::Cells,
    fault::{CorruptRow, Fault},
    rows,
    value::{Id, Value},
};

/// What stands in one column, or in several side by side.
pub(crate) trait Stored: Sized {
    /// How many columns it takes.
    const WIDTH: usize = 1;

    /// Adds its values to a row.
    fn put<'a>(&'a self, row: &mut Vec<Value<'a>>);

    /// Takes its values from a row; `None` where there is none.
    fn take(cells: &mut Cells<'_>) -> Result<Option<Self>, Fault>;
}

impl Cells<'_> {
    /// The next one, whatever its type.
    pub(crate) fn get<T: Stored>(&mut self) -> Result<T, Fault> {
        T::take(self)?.ok_or(Fault::CorruptRow(CorruptRow("missing value")))
    }

    /// The next one, for a field of this name.
    pub(crate) fn field<T: Stored>(&mut self, name: &'static str) -> Result<T, Fault> {
        self.name(name);
        self.get()
    }
}

impl<T: Stored> Stored for Option<T> {
    const WIDTH: usize = T::WIDTH;

    fn put<'a>(&'a self, row: &mut Vec<Value<'a>>) {
        match self {
            Some(part) => part.put(row),
            None => row.extend(std::iter::repeat_n(Value::Null, T::WIDTH)),
        }
    }

    fn take(cells: &mut Cells<'_>) -> Result<Option<Self>, Fault> {
        T::take(cells).map(Some)
    }
}

impl<T: Id> Stored for T {
    fn put<'a>(&'a self, row: &mut Vec<Value<'a>>) {
        row.push((*self).into());
    }

    fn take(cells: &mut Cells<'_>) -> Result<Option<Self>, Fault> {
        cells.id_or_none()
    }
}

macro_rules! tuples {
    ($($($part:ident $place:tt),+;)+) => {
        $(impl<$($part: Stored),+> Stored for ($($part,)+) {
            const WIDTH: usize = 0 $(+ $part::WIDTH)+;

            fn put<'a>(&'a self, row: &mut Vec<Value<'a>>) {
                $(self.$place.put(row);)+
            }

            fn take(cells: &mut Cells<'_>) -> Result<Option<Self>, Fault> {
                Ok(Some(($(cells.get::<$part>()?,)+)))
            }
        })+
    };
}

tuples! { A 0, B 1; A 0, B 1, C 2; A 0, B 1, C 2, D 3; A 0, B 1, C 2, D 3, E 4; }

/// Types of one column: how they are written, and how they are read.
macro_rules! single {
    ($($type:ty: |$value:ident| $made:expr, |$cells:ident| $read:expr;)+) => {
        $(impl Stored for $type {
            fn put<'a>(&'a self, row: &mut Vec<Value<'a>>) {
                let $value = self;
                row.push($made);
            }

            fn take($cells: &mut Cells<'_>) -> Result<Option<Self>, Fault> {
                $read
            }
        })+
    };
}

single! {
    bool: |flag| (*flag).into(), |cells| cells.flag_or_none();
    i64: |number| (*number).into(), |cells| cells.number_or_none();
    u16: |number| (*number).into(), |cells| cells.count_or_none();
    u32: |number| (*number).into(), |cells| cells.count_or_none();
    u64: |number| rows::version(*number).into(), |cells| cells.count_or_none();
    Timestamp: |moment| (*moment).into(), |cells| Ok(cells.number_or_none()?.map(Self::from_unix_millis));
    Minor: |amount| (*amount).into(), |cells| Ok(cells.number_or_none()?.map(rows::amount).transpose()?);
    Principal: |amount| Minor::from(*amount).into(),
        |cells| Ok(cells.count_or_none()?.map(|it| Self::new(it).ok_or(CorruptRow("principal"))).transpose()?);
    String: |text| text.into(), |cells| cells.text_or_none();
    [u8; 32]: |digest| digest.into(), |cells| cells.digest_or_none();
    Vec<u8>: |bytes| Value::Bytes(Cow::Borrowed(bytes)), |cells| cells.bytes_or_none();
    Currency: |currency| Value::Text(Cow::Borrowed(currency.code())),
        |cells| cells.word_or_none("currency", Self::parse);
    EnvironmentName: |name| Value::Text(Cow::Borrowed(name.as_str())),
        |cells| cells.word_or_none("environment name", Self::parse);
}

/// Types that are stored as a word, and what each is called where it cannot be read.
macro_rules! words {
    ($($type:ident: $what:literal,)+) => {
        $(impl From<$type> for Value<'_> {
            fn from(word: $type) -> Self {
                Self::Text(Cow::Borrowed(word.as_str()))
            }
        })+
        single! { $($type: |word| (*word).into(), |cells| cells.word_or_none($what, Self::parse);)+ }
    };
}

words! {
    Account: "ledger account",
    ApprovalState: "state of an approval",
    AttemptState: "state of an attempt",
    BankAccountType: "type of account",
    CaptureMode: "capture",
    CardPostingKind: "kind of a posting",
    Cause: "cause of a movement",
    Channel: "channel",
    DeliveryState: "state of a delivery",
    DiscrepancyKind: "kind of disagreement",
    EventKind: "kind of event",
    FeeRefund: "fee of a refund",
    Flow: "flow",
    HoldActionKind: "kind of a capture or void",
    HoldActionStatus: "status of a capture or void",
    KeyKind: "kind of key",
    PaymentMethod: "payment method",
    PostingCause: "cause of a posting",
    Preparation: "preparation",
    ProviderEventState: "state of an event",
    RecipientKind: "kind of recipient",
    RefundOrigin: "origin of a refund",
    RefundReason: "reason of a refund",
    RefundStatus: "status of a refund",
    Role: "role",
    Status: "status",
    TransferPurpose: "purpose of a transfer",
    TransferRail: "rail of a transfer",
}

/// Types that are stored as one text, written and read by these functions.
macro_rules! texts {
    ($($type:ty: $write:path, $read:path;)+) => {
        $(impl $crate::record::Stored for $type {
            fn put<'a>(&'a self, row: &mut Vec<$crate::value::Value<'a>>) {
                row.push($write(self).into());
            }

            fn take(cells: &mut $crate::cells::Cells<'_>) -> Result<Option<Self>, $crate::fault::Fault> {
                Ok(cells.text_or_none()?.map(|stored| $read(&stored)).transpose()?)
            }
        })+
    };
}

/// The width of a field, without its type's name.
pub(crate) const fn width<R, T: Stored>(_: fn(&R) -> &T) -> usize {
    T::WIDTH
}

/// Types whose fields stand side by side in this order. One with a question mark is not there where its first column is empty.
macro_rules! stored {
    ($($type:ident $(? $optional:tt)? { $($field:ident),+ $(,)? })+) => {
        $(impl $crate::record::Stored for $type {
            const WIDTH: usize = 0 $(+ $crate::record::width(|it: &Self| &it.$field))+;

            fn put<'a>(&'a self, row: &mut Vec<$crate::value::Value<'a>>) {
                $($crate::record::Stored::put(&self.$field, row);)+
            }

            fn take(cells: &mut $crate::cells::Cells<'_>) -> Result<Option<Self>, $crate::fault::Fault> {
                $(
                    $crate::record::stored!(@ $optional);
                    if cells.is_empty()? {
                        cells.skip(Self::WIDTH);
                        return Ok(None);
                    }
                )?
                Ok(Some(Self { $($field: cells.field(stringify!($field))?),+ }))
            }
        })+
    };
    (@ _) => {};
}

/// A table and what its rows are made of: `record! { HOLD_ACTIONS, hold_action_columns = "hold_actions" as h of (environment_id:
/// Id, …) "ON CONFLICT …"; HoldAction ?_ { id: Id = id, …, failure_code: Text, failure_message: Text = failure } }`. A row is what
/// it is `of`, then the fields of the types in this order, then the columns in `+ (…)`. The macro that it makes is the list of
/// the types' columns.
macro_rules! record {
    (
        $table:ident, $list:ident = $name:literal as $alias:ident of ($($owner:ident: $owner_kind:ident),*) $conflict:expr;
        $($type:ident $(? $optional:tt)? {
            $($($column:ident: $kind:ident),+ = $field:ident),+ $(,)?
        })+
        $(+ ($($more:ident: $more_kind:ident),+))?
    ) => {
        pub(crate) static $table: $crate::table::Table = $crate::table::Table::new(
            $name,
            $crate::table::columns!(
                $($owner: $owner_kind,)* $($($($column: $kind,)+)+)+ $($($more: $more_kind,)+)?
            ),
            $conflict,
        ).of(0 $(+ $crate::record::record!(@one $owner))*);

        $crate::record::stored! { $($type $(? $optional)? { $($field),+ })+ }

        $(impl $crate::table::Columns for $type {
            const COLUMNS: &'static [$crate::table::Column] = $crate::table::columns!($($($column: $kind),+),+);
        })+

        $crate::record::record! { @list $list $alias $($($($column)+)+)+ }
    };
    (@one $owner:ident) => { 1 };
    (@list $list:ident $alias:ident $first:ident $($column:ident)*) => {
        #[allow(unused_macros, reason = "not every table is read by a join")]
        macro_rules! $list {
            () => {
                concat!(
                    stringify!($alias), ".", stringify!($first)
                    $(, ", ", stringify!($alias), ".", stringify!($column))*
                )
            };
        }
        #[allow(unused_imports, reason = "not every table is read elsewhere")]
        pub(crate) use $list;
    };
}

/// Reads the next one, whatever its type.
pub(crate) fn read<T: Stored>(cells: &mut Cells<'_>) -> Result<T, Fault> {
    cells.get()
}

/// One table's columns, what is done where a row is there already, and how the values of a row are made:
/// `table! { TIMELINE = "timeline" ("ON CONFLICT DO NOTHING"); fn row(entry: &Entry) { id: Id = entry.id, … } }`. Behind `=>` is a
/// reference to something [`Stored`](crate::record::Stored) in several columns.
macro_rules! table {
    ($table:ident = $name:literal ($conflict:expr);
     fn $row:ident($($argument:ident: $type:ty),*) {
         $($($column:ident: $kind:ident)|+ $(= $value:expr)? $(=> $part:expr)?),+ $(,)?
     }) => {
        pub(crate) static $table: $crate::table::Table = $crate::table::Table::new(
            $name,
            $crate::table::columns!($($($column: $kind),+),+),
            $conflict,
        );

        pub(crate) fn $row<'a>($($argument: $type),*) -> Vec<$crate::value::Value<'a>> {
            let mut row = Vec::with_capacity($table.columns.len());
            $(
                $(row.push($crate::value::Value::from($value));)?
                $($crate::record::Stored::put($part, &mut row);)?
            )+
            row
        }
    };
}

/// As [`values!`](crate::value::values), but a row that is kept. What stands behind `..` is a reference to something [`Stored`](crate::record::Stored).
macro_rules! row {
    (@ $row:ident) => {};
    (@ $row:ident .. $part:expr $(, $($rest:tt)*)?) => {
        $crate::record::Stored::put($part, &mut $row);
        $crate::record::row!(@ $row $($($rest)*)?);
    };
    (@ $row:ident $value:expr $(, $($rest:tt)*)?) => {
        $row.push($crate::value::Value::from($value));
        $crate::record::row!(@ $row $($($rest)*)?);
    };
    ($($parts:tt)*) => {{
        let mut row = Vec::with_capacity(16);
        $crate::record::row!(@ row $($parts)*);
        row
    }};
}

pub(crate) use {record, row, stored, table, texts};
