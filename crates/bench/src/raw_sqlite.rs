//! The yardstick on SQLite: one connection that does the product's statements and commits each unit.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rusqlite::{Connection, params_from_iter};

use crate::Fault;
use crate::load::{Measured, Until};
use crate::plan::{Maker, Statement, Unit, Values};

/// What a connection does again and again.
#[derive(Clone)]
pub(crate) struct RawSqlite {
    connection: Arc<Mutex<Connection>>,
    units: Arc<[Vec<Prepared>]>,
    maker: Maker,
}

struct Prepared {
    sql: String,
    statement: Statement,
}

impl RawSqlite {
    pub(crate) fn new(connection: Arc<Mutex<Connection>>, units: &[Unit], maker: Maker) -> Self {
        let prepare =
            |statement: &Statement| Prepared { sql: statement.sqlite(), statement: statement.clone() };
        let units = units.iter().map(|unit| unit.iter().map(prepare).collect()).collect();
        Self { connection, units, maker }
    }

    /// Works until the round is over, on a thread where blocking is allowed.
    pub(crate) async fn run(&self, until: Until) -> Result<Measured, Fault> {
        let this = self.clone();
        tokio::task::spawn_blocking(move || this.work(until)).await?
    }

    fn work(&self, until: Until) -> Result<Measured, Fault> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let mut measured = Measured::new();
        let started = Instant::now();
        let deadline = started + until.duration;
        let mut before = started;
        while before < deadline && measured.answers < until.requests_max {
            let values = self.maker.next();
            for unit in self.units.iter() {
                commit(&connection, unit, &values)?;
            }
            let after = Instant::now();
            measured.latencies.record(after - before);
            measured.answers += 1;
            before = after;
        }
        measured.elapsed = started.elapsed();
        Ok(measured)
    }
}

fn commit(connection: &Connection, unit: &[Prepared], values: &Values) -> Result<(), Fault> {
    let execute = |sql: &str| connection.prepare_cached(sql)?.execute([]);
    execute("BEGIN IMMEDIATE")?;
    for Prepared { sql, statement } in unit {
        let cells = statement.slots.iter().map(|slot| values.at(slot));
        let changed = connection.prepare_cached(sql)?.execute(params_from_iter(cells))?;
        if changed == 0 {
            return Err(format!("nothing was changed by: {sql}").into());
        }
    }
    execute("COMMIT")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::cell::Cell;
    use crate::plan::Names;

    fn counting() -> (Arc<Mutex<Connection>>, Names) {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE t (id BLOB PRIMARY KEY, n INTEGER)").unwrap();
        (Arc::new(Mutex::new(connection)), Names::default())
    }

    #[tokio::test]
    async fn every_unit_is_done_and_committed() {
        let (connection, mut names) = counting();
        let id = Cell::Id([1; 16]);
        let units = [
            vec![names.statement("INSERT INTO t VALUES ({}, {})", &[id.clone(), Cell::Integer(0)])],
            vec![names.statement("UPDATE t SET n = {} WHERE id = {}", &[Cell::Integer(1), id])],
        ];
        let raw = RawSqlite::new(Arc::clone(&connection), &units, names.maker(vec![Cell::Null]));
        let until = Until { duration: Duration::from_secs(5), requests_max: 7 };
        assert_eq!(raw.run(until).await.unwrap().answers, 7);
        let count = "SELECT count(*) FROM t WHERE n = 1";
        assert_eq!(connection.lock().unwrap().query_row(count, [], |row| row.get(0)), Ok(7));
    }

    #[tokio::test]
    async fn a_statement_without_effect_is_a_fault() {
        let (connection, mut names) = counting();
        let units = [vec![names.statement("UPDATE t SET n = {}", &[Cell::Integer(1)])]];
        let raw = RawSqlite::new(connection, &units, names.maker(vec![Cell::Null]));
        assert!(raw.run(Until::seconds(5)).await.is_err());
    }
}
