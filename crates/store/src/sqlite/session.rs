//! A connection to a database file, as units of work use it.

use std::{
    ops::Deref,
    task::{Context, Poll, Waker},
};

use rusqlite::{Connection, Statement};
use tollgate_domain::{
    Timestamp,
    card::CardOrder,
    id::{EnvironmentId, PaymentId},
};
use tollgate_engine::ports::{Changed, ClaimedDelivery, Entry, Inserted, NewEvent, PaymentChange, Progress};

use crate::{
    cells::Cells,
    fault::Fault,
    session::{Dialect, Session},
    table::Table,
    unit::{Answer, Effect, Run},
    units::{deliveries, payment_change, payments},
    value::Value,
};

/// A connection. Nothing in here ever waits: each future is ready when it is polled first.
#[derive(Debug)]
pub(crate) struct SqliteSession(pub(super) Connection);

impl Deref for SqliteSession {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.0
    }
}

impl Session for SqliteSession {
    const DIALECT: Dialect = Dialect::Sqlite;

    async fn query<T: Send>(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        mut read: impl FnMut(&mut Cells<'_>) -> Result<T, Fault> + Send,
    ) -> Result<Vec<T>, Fault> {
        let mut statement = self.0.prepare_cached(sql)?;
        bind(&mut statement, values)?;
        let mut rows = statement.raw_query();
        let mut read_rows = Vec::new();
        while let Some(row) = rows.next()? {
            read_rows.push(read(&mut Cells::of_sqlite(row))?);
        }
        Ok(read_rows)
    }

    async fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, Fault> {
        let mut statement = self.0.prepare_cached(sql)?;
        bind(&mut statement, values)?;
        Ok(u64::try_from(statement.raw_execute()?).unwrap_or(u64::MAX))
    }

    async fn execute_each(&mut self, sql: &str, rows: &[Vec<Value<'_>>]) -> Result<(), Fault> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut statement = self.0.prepare_cached(sql)?;
        for values in rows {
            bind(&mut statement, values)?;
            statement.raw_execute()?;
        }
        Ok(())
    }

    async fn insert(&mut self, table: &Table, rows: Vec<Vec<Value<'_>>>) -> Result<(), Fault> {
        self.execute_each(table.insert_one(), &rows).await
    }

    async fn insert_payment(
        &mut self,
        order: &CardOrder,
        progress: &Progress,
        entries: &[Entry],
        new_events: &[NewEvent],
    ) -> Result<Effect<Inserted>, Fault> {
        payments::insert_in_steps(self, order, progress, entries, new_events).await
    }

    async fn change_payment(
        &mut self,
        environment: EnvironmentId,
        id: PaymentId,
        change: &PaymentChange,
    ) -> Result<Effect<Changed>, Fault> {
        payment_change::change_in_steps(self, environment, id, change).await
    }

    async fn claim_deliveries(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        each: u32,
        limit: u32,
    ) -> Result<Effect<Vec<ClaimedDelivery>>, Fault> {
        deliveries::claim_in_steps(self, now, until, each, limit).await
    }
}

/// SQLite numbers parameters such as `$2` by their first appearance, so each is bound by the number in its name.
fn bind(statement: &mut Statement<'_>, values: &[Value<'_>]) -> Result<(), Fault> {
    for place in 1..=statement.parameter_count() {
        let number = statement.parameter_name(place).and_then(|name| name.strip_prefix('$')?.parse().ok());
        let value = number.and_then(|number: usize| values.get(number.checked_sub(1)?));
        let value = value.ok_or(Fault::Misuse("a statement has a parameter without a value"))?;
        statement.raw_bind_parameter(place, value)?;
    }
    Ok(())
}

/// The outcome of a unit whose futures are all ready.
pub(super) fn ready(mut run: Run<'_>) -> Result<Effect<Answer>, Fault> {
    match run.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => Err(Fault::Misuse("a unit of work waits for something other than its database")),
    }
}
