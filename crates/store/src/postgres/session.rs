//! A connection to a server, as units of work use it.

use std::sync::Arc;

use deadpool_postgres::{ClientWrapper, Object};
use futures_util::future::try_join_all;
use tokio_postgres::{
    Row,
    types::{ToSql, Type},
};
use tollgate_domain::{
    Timestamp,
    card::CardOrder,
    id::{EnvironmentId, PaymentId},
};
use tollgate_engine::ports::{Changed, ClaimedDelivery, Entry, Inserted, NewEvent, PaymentChange, Progress};

use super::{card_payments, delivery_claims, listener::CHANNEL, statements::arrays};
use crate::{
    cells::Cells,
    fault::Fault,
    session::{Dialect, Session},
    table::Table,
    unit::{Answer, Effect},
    value::Value,
};

/// How many statements are sent before the first of them is answered.
const PIPELINED: usize = 30;

/// A connection, and the transaction that is open on it. Where a unit is dropped half way, its transaction is undone before
/// anybody else gets the connection.
#[derive(Debug)]
pub(crate) struct PostgresSession {
    /// `None` once it was given back.
    connection: Option<Arc<Object>>,
    transaction: Transaction,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transaction {
    /// Each statement commits by itself.
    None,
    /// Begun in these words, together with the first statement.
    Wanted(&'static str),
    Open,
    Ended,
    /// Begun and ended by whoever made the session.
    Around,
}

impl PostgresSession {
    /// Without words to begin a transaction in, each statement commits by itself.
    pub(super) fn new(connection: Object, begin: Option<&'static str>) -> Self {
        let transaction = begin.map_or(Transaction::None, Transaction::Wanted);
        Self { connection: Some(Arc::new(connection)), transaction }
    }

    /// Within a transaction that has been begun.
    pub(super) fn within_transaction(connection: &Arc<Object>) -> Self {
        Self { connection: Some(Arc::clone(connection)), transaction: Transaction::Around }
    }

    pub(super) fn client(&self) -> Result<&ClientWrapper, Fault> {
        Ok(self.connection.as_ref().ok_or(Fault::Misuse("a connection was used after its unit"))?)
    }

    /// The connection for the next unit; closed where the transaction on it could not be ended.
    pub(super) fn into_connection(mut self) -> Option<Object> {
        let connection = self.connection.take().and_then(Arc::into_inner);
        if self.transaction == Transaction::Open {
            drop(connection.map(Object::take));
            return None;
        }
        connection
    }

    /// Keeps what a unit did, or undoes it.
    pub(super) async fn finish(&mut self, outcome: Result<Effect<Answer>, Fault>) -> Result<Answer, Fault> {
        match outcome {
            Ok(Effect::Nothing(value)) => {
                self.end("ROLLBACK").await.map_err(Fault::Uncommitted)?;
                Ok(value)
            }
            Ok(Effect::Written(value)) => {
                self.end("COMMIT").await?;
                Ok(value)
            }
            Ok(Effect::Directory(value)) => {
                self.end(&format!("NOTIFY {CHANNEL}; COMMIT")).await?;
                Ok(value)
            }
            Err(fault) => {
                // Where even this fails, the connection is lost and closed.
                let _ = self.end("ROLLBACK").await;
                Err(fault)
            }
        }
    }

    async fn end(&mut self, sql: &str) -> Result<(), tokio_postgres::Error> {
        if self.transaction == Transaction::Open
            && let Some(client) = &self.connection
        {
            client.batch_execute(sql).await?;
            self.transaction = Transaction::Ended;
        }
        Ok(())
    }

    /// The words to send before the next statement.
    fn beginning(&mut self) -> Option<&'static str> {
        let Transaction::Wanted(begin) = self.transaction else { return None };
        self.transaction = Transaction::Open;
        Some(begin)
    }

    async fn rows(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Fault> {
        let begin = self.beginning();
        let client = self.client()?;
        let parameters = parameters(values);
        let answer = async {
            let statement = client.prepare_cached(sql).await?;
            begun_with(client, begin, sql, client.query(&statement, &parameters)).await
        };
        answer.await.map_err(|error| self.fault(error))
    }

    fn fault(&self, error: tokio_postgres::Error) -> Fault {
        match self.transaction {
            Transaction::None => Fault::Statement(error),
            _ => Fault::Uncommitted(error),
        }
    }
}

impl Drop for PostgresSession {
    fn drop(&mut self) {
        if self.transaction == Transaction::Open
            && let Some(connection) = self.connection.take().and_then(Arc::into_inner)
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(async move {
                if connection.batch_execute("ROLLBACK").await.is_err() {
                    drop(Object::take(connection));
                }
            });
        }
    }
}

/// Begins the transaction, if it is wanted, and runs its first statement. A statement that only reads or locks is sent
/// together with the words that begin; one that writes waits for their answer, because it would commit by itself if the
/// transaction could not begin.
async fn begun_with<T>(
    client: &ClientWrapper,
    begin: Option<&'static str>,
    sql: &str,
    statement: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, tokio_postgres::Error> {
    let Some(begin) = begin else { return statement.await };
    if !sql.starts_with("SELECT") {
        client.batch_execute(begin).await?;
        return statement.await;
    }
    let (begun, answer) = tokio::join!(biased; client.batch_execute(begin), statement);
    begun?;
    answer
}

pub(super) fn parameters<'a>(values: &'a [Value<'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

/// Whether this is a server that can commit something right now.
pub(super) async fn takes_writes(s: &mut PostgresSession) -> Result<bool, Fault> {
    let sql = "SELECT NOT pg_is_in_recovery() AND NOT current_setting('transaction_read_only')::boolean";
    s.query_one(sql, &[], |cells| cells.flag()).await
}

/// The server's clock, and not the beginning of a transaction.
pub(super) async fn clock(s: &mut PostgresSession) -> Result<Timestamp, Fault> {
    let sql = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    s.query_one(sql, &[], |cells| cells.moment()).await
}

impl Session for PostgresSession {
    const DIALECT: Dialect = Dialect::Postgres;

    async fn query<T: Send>(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        mut read: impl FnMut(&mut Cells<'_>) -> Result<T, Fault> + Send,
    ) -> Result<Vec<T>, Fault> {
        let rows = self.rows(sql, values).await?;
        rows.iter().map(|row| read(&mut Cells::of_postgres(row))).collect()
    }

    async fn query_planned<T: Send>(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        mut read: impl FnMut(&mut Cells<'_>) -> Result<T, Fault> + Send,
    ) -> Result<Vec<T>, Fault> {
        let typed: Vec<(&(dyn ToSql + Sync), Type)> =
            values.iter().map(|value| (value as &(dyn ToSql + Sync), value.type_of())).collect();
        let rows = self.client()?.query_typed(sql, &typed).await.map_err(|error| self.fault(error))?;
        rows.iter().map(|row| read(&mut Cells::of_postgres(row))).collect()
    }

    async fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, Fault> {
        let begin = self.beginning();
        let client = self.client()?;
        let parameters = parameters(values);
        let answer = async {
            let statement = client.prepare_cached(sql).await?;
            begun_with(client, begin, sql, client.execute(&statement, &parameters)).await
        };
        answer.await.map_err(|error| self.fault(error))
    }

    async fn execute_each(&mut self, sql: &str, rows: &[Vec<Value<'_>>]) -> Result<(), Fault> {
        if rows.is_empty() {
            return Ok(());
        }
        let begin = self.beginning();
        let client = self.client()?;
        let answer = async {
            if let Some(begin) = begin {
                client.batch_execute(begin).await?;
            }
            let statement = client.prepare_cached(sql).await?;
            for rows in rows.chunks(PIPELINED) {
                let sent = rows.iter().map(|values| {
                    let statement = &statement;
                    async move { client.execute(statement, &parameters(values)).await }
                });
                try_join_all(sent).await?;
            }
            Ok(())
        };
        answer.await.map_err(|error| self.fault(error))
    }

    async fn insert(&mut self, table: &Table, rows: Vec<Vec<Value<'_>>>) -> Result<(), Fault> {
        if !rows.is_empty() {
            self.execute(table.insert_many(), &arrays(table.columns, rows)).await?;
        }
        Ok(())
    }

    async fn insert_payment(
        &mut self,
        order: &CardOrder,
        progress: &Progress,
        entries: &[Entry],
        new_events: &[NewEvent],
    ) -> Result<Effect<Inserted>, Fault> {
        card_payments::insert(self, order, progress, entries, new_events).await
    }

    async fn change_payment(
        &mut self,
        environment: EnvironmentId,
        id: PaymentId,
        change: &PaymentChange,
    ) -> Result<Effect<Changed>, Fault> {
        card_payments::change(self, environment, id, change).await
    }

    async fn claim_deliveries(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        each: u32,
        limit: u32,
    ) -> Result<Effect<Vec<ClaimedDelivery>>, Fault> {
        delivery_claims::claim(self, now, until, each, limit).await
    }
}
