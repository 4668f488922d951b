//! What a unit of work is written against, and what runs it.
//!
//! A unit is an async function over a [`Session`]. On PostgreSQL its statements travel over a connection; on SQLite every
//! future is ready at once, so that the one thread that writes runs a unit by polling it a single time.

use std::fmt;

use tollgate_domain::{
    Timestamp,
    card::CardOrder,
    id::{EnvironmentId, PaymentId, TransferId},
};
use tollgate_engine::ports::{
    ChangeSignal, Changed, ClaimedDelivery, Diagnosis, Entry, Inserted, NewEvent, NewTransfer, PaymentChange,
    Progress, Reserved, StoreError, TransferChange,
};
use tollgate_trace::{Instrument as _, Span};
use tracing::field::Empty;

use crate::{
    cells::Cells,
    fault::Fault,
    table::Table,
    unit::{Answer, Effect, Unit, Work, answer, unit},
    value::Value,
};

/// The words in which the two databases differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    /// The text that fits the database.
    pub(crate) const fn pick<'a>(self, sqlite: &'a str, postgres: &'a str) -> &'a str {
        match self {
            Self::Sqlite => sqlite,
            Self::Postgres => postgres,
        }
    }

    /// Behind a SELECT: its rows stay as they are until the unit is done. SQLite has only one writer anyway.
    pub(crate) fn locked(self, select: &str) -> String {
        format!("{select}{}", self.pick("", " FOR UPDATE"))
    }

    /// As [`Self::locked`], but rows that another unit has locked are passed over.
    pub(crate) fn claimed(self, select: &str) -> String {
        format!("{select}{}", self.pick("", " FOR UPDATE SKIP LOCKED"))
    }
}

/// One unit's connection to a database. Parameters are `$1`, `$2` and so on in both dialects.
pub(crate) trait Session: Send {
    const DIALECT: Dialect;

    /// All rows.
    fn query<T: Send>(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        read: impl FnMut(&mut Cells<'_>) -> Result<T, Fault> + Send,
    ) -> impl Future<Output = Result<Vec<T>, Fault>> + Send;

    /// The first row, if there is one.
    fn query_opt<T: Send>(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        read: impl FnMut(&mut Cells<'_>) -> Result<T, Fault> + Send,
    ) -> impl Future<Output = Result<Option<T>, Fault>> + Send {
        let rows = self.query(sql, values, read);
        async move { Ok(rows.await?.into_iter().next()) }
    }

    /// The one row that there always is.
    fn query_one<T: Send>(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        read: impl FnMut(&mut Cells<'_>) -> Result<T, Fault> + Send,
    ) -> impl Future<Output = Result<T, Fault>> + Send {
        let row = self.query_opt(sql, values, read);
        async move { row.await?.ok_or(Fault::Misuse("a statement that always has a row had none")) }
    }

    /// As [`Self::query`], planned for these very values: of a provider that hardly any transaction has, a plan for any
    /// provider would read all the others.
    fn query_planned<T: Send>(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        read: impl FnMut(&mut Cells<'_>) -> Result<T, Fault> + Send,
    ) -> impl Future<Output = Result<Vec<T>, Fault>> + Send {
        self.query(sql, values, read)
    }

    /// Whether there is a row.
    fn exists(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
    ) -> impl Future<Output = Result<bool, Fault>> + Send {
        let row = self.query_opt(sql, values, |_| Ok(()));
        async move { Ok(row.await?.is_some()) }
    }

    /// How many rows were written.
    fn execute(&mut self, sql: &str, values: &[Value<'_>])
    -> impl Future<Output = Result<u64, Fault>> + Send;

    /// One statement for each row of values, in their order and without waiting in between.
    fn execute_each(
        &mut self,
        sql: &str,
        rows: &[Vec<Value<'_>>],
    ) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Adds rows to a table, in their order.
    fn insert(
        &mut self,
        table: &Table,
        rows: Vec<Vec<Value<'_>>>,
    ) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Stores a payment, in its environment.
    fn insert_payment(
        &mut self,
        order: &CardOrder,
        progress: &Progress,
        entries: &[Entry],
        new_events: &[NewEvent],
    ) -> impl Future<Output = Result<Effect<Inserted>, Fault>> + Send;

    /// Makes everything in a change of a card payment, or nothing.
    fn change_payment(
        &mut self,
        environment: EnvironmentId,
        id: PaymentId,
        change: &PaymentChange,
    ) -> impl Future<Output = Result<Effect<Changed>, Fault>> + Send;

    /// Takes deliveries that are due, so many of each endpoint.
    fn claim_deliveries(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        each: u32,
        limit: u32,
    ) -> impl Future<Output = Result<Effect<Vec<ClaimedDelivery>>, Fault>> + Send;
}

/// How a unit of work is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Reads with one statement, or with several that need not see the same moment.
    Read,
    /// As [`Self::Read`], for whoever wants to know soon.
    Probe,
    /// Reads with several statements that see one moment.
    Snapshot,
    /// As [`Self::Snapshot`], through all of the tables, however long it takes.
    Audit,
    /// Writes, whole or not at all.
    Write,
    /// Writes with a single statement, which commits by itself where that saves round trips.
    WriteOnce,
    /// As [`Self::Write`], with every row looked up by an index, whatever the server believes of the tables.
    WriteByIndex,
}

/// Runs units of work on one kind of database, and does by itself what units cannot.
pub(crate) trait Driver: fmt::Debug + Send + Sync + 'static {
    type Session: Session;

    /// Runs a unit.
    fn run_unit(
        &self,
        mode: Mode,
        unit: Box<dyn Unit<Self::Session>>,
    ) -> impl Future<Output = Result<Answer, StoreError>> + Send;

    /// Runs a unit at its arguments.
    fn run<A: Send + Sync + 'static, R: Send + 'static>(
        &self,
        mode: Mode,
        args: A,
        work: Work<Self::Session, A, R>,
    ) -> impl Future<Output = Result<R, StoreError>> + Send {
        let running = self.run_unit(mode, unit(args, work));
        async move { answer(running.await?) }
    }

    /// Runs a unit that is one statement, and may share a commit with others. Those that change the same thing have the same
    /// key, and take turns.
    fn run_together(
        &self,
        _key: u128,
        unit: Box<dyn Unit<Self::Session>>,
    ) -> impl Future<Output = Result<Answer, StoreError>> + Send {
        self.run_unit(Mode::WriteOnce, unit)
    }

    /// Whether the database takes writes.
    fn probe(&self) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// The database's clock.
    fn now(&self) -> impl Future<Output = Result<Timestamp, StoreError>> + Send;

    /// Whoever waits for changes of the directory.
    fn change_signal(&self) -> Box<dyn ChangeSignal>;

    /// Units that wait for their turn on this node.
    fn queued_units(&self) -> usize;

    /// What the database says of itself.
    fn diagnose(&self, now: Timestamp) -> impl Future<Output = Result<Diagnosis, StoreError>> + Send;

    /// Makes sure that what was deleted is in none of the database's own files anymore, as far as it can.
    fn erase_deleted(&self) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Gives numbers to the events that are committed and have none, of one environment or of all.
    fn number_events(
        &self,
        environment: Option<EnvironmentId>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Sets funds aside for a transfer.
    fn reserve_transfer(
        &self,
        environment: EnvironmentId,
        new: &NewTransfer,
    ) -> impl Future<Output = Result<Reserved, StoreError>> + Send;

    /// Changes a transfer.
    fn change_transfer(
        &self,
        environment: EnvironmentId,
        id: TransferId,
        change: &TransferChange,
    ) -> impl Future<Output = Result<Changed, StoreError>> + Send;
}

/// A unit of work as a span, from its turn in the queue to its commit.
pub(crate) fn traced<T>(
    unit: &'static str,
    work: impl Future<Output = Result<T, StoreError>>,
) -> impl Future<Output = Result<T, StoreError>> {
    let span = if tollgate_trace::is_within_span() {
        tollgate_trace::span!("store", otel.name = unit, otel.kind = "client", otel.status_code = Empty)
    } else {
        Span::none()
    };
    let work = async move {
        let done = work.await;
        if done.is_err() {
            tollgate_trace::failed(&Span::current());
        }
        done
    };
    work.instrument(span)
}

/// Has a unit run: `run!(driver, Write, keys::revoke(environment, key, at))`. The driver may run it on another thread, so its
/// arguments are copied, and those behind a `&` cloned.
macro_rules! run {
    ($driver:expr, $mode:ident, $module:ident::$unit:ident($($args:tt)*)) => {
        run!(@ $driver, $mode, $module::$unit, [], [], [], $($args)*,)
    };
    (@ $driver:expr, $mode:ident, $module:ident::$unit:ident, [$($take:expr,)*], [$($name:ident,)*], [$($give:expr,)*],
        $arg:ident, $($rest:tt)*) => {
        run!(@ $driver, $mode, $module::$unit, [$($take,)* $arg,], [$($name,)* $arg,], [$($give,)* *$arg,], $($rest)*)
    };
    (@ $driver:expr, $mode:ident, $module:ident::$unit:ident, [$($take:expr,)*], [$($name:ident,)*], [$($give:expr,)*],
        &$arg:ident, $($rest:tt)*) => {
        run!(@ $driver, $mode, $module::$unit, [$($take,)* $arg.to_owned(),], [$($name,)* $arg,], [$($give,)* $arg,], $($rest)*)
    };
    (@ $driver:expr, $mode:ident, $module:ident::$unit:ident, [$($take:expr,)*], [$($name:ident,)*], [$($give:expr,)*], $(,)?) => {
        $crate::session::traced(
            concat!(stringify!($module), "::", stringify!($unit)),
            $driver.run(
                $crate::session::Mode::$mode,
                ($($take,)*),
                |session, ($($name,)*)| run!(running $mode)($module::$unit(session, $($give),*)),
            ),
        )
    };
    // A unit that writes says by itself what becomes of it.
    (running Read) => { $crate::unit::Running::reading };
    (running Probe) => { $crate::unit::Running::reading };
    (running Snapshot) => { $crate::unit::Running::reading };
    (running Audit) => { $crate::unit::Running::reading };
    (running $mode:ident) => { $crate::unit::Running::writing };
}

pub(crate) use run;
