//! The yardstick on PostgreSQL: connections that do the product's units, each as one statement that commits itself.

use std::sync::Arc;
use std::time::Instant;

use tokio::task::JoinSet;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Statement};

use crate::Fault;
use crate::databases;
use crate::load::{Measured, Until};
use crate::plan::{Maker, Slot, Unit, postgres_unit};
use crate::rows::describe;

/// Connections and what each of them does again and again.
pub(crate) struct RawPostgres {
    workers: Vec<Arc<Worker>>,
}

struct Worker {
    client: Client,
    units: Vec<(Statement, Vec<Slot>)>,
    maker: Maker,
}

impl RawPostgres {
    pub(crate) async fn connect(
        url: &str,
        connections: u32,
        units: &[Unit],
        maker: &Maker,
    ) -> Result<Self, Fault> {
        let mut workers = Vec::new();
        for _ in 0..connections {
            let client = databases::client(url).await?;
            let mut prepared = Vec::new();
            for unit in units {
                let (text, slots) = postgres_unit(unit)?;
                let statement = client.prepare(&text).await;
                let statement = statement.map_err(|error| format!("{text}: {}", describe(&error)))?;
                prepared.push((statement, slots.into_iter().cloned().collect()));
            }
            workers.push(Arc::new(Worker { client, units: prepared, maker: maker.clone() }));
        }
        Ok(Self { workers })
    }

    /// Works until the round is over, on all connections at once.
    pub(crate) async fn run(&self, until: Until) -> Result<Measured, Fault> {
        let connections = u64::try_from(self.workers.len())?.max(1);
        let share = until.requests_max.div_ceil(connections);
        let started = Instant::now();
        let mut tasks = JoinSet::new();
        for worker in &self.workers {
            let worker = Arc::clone(worker);
            tasks.spawn(async move { worker.work(started + until.duration, share).await });
        }
        let mut total = Measured::new();
        while let Some(one) = tasks.join_next().await {
            total.absorb(one??);
        }
        total.elapsed = started.elapsed();
        Ok(total)
    }
}

impl Worker {
    async fn work(&self, deadline: Instant, share: u64) -> Result<Measured, Fault> {
        let mut measured = Measured::new();
        let mut before = Instant::now();
        while before < deadline && measured.answers < share {
            let values = self.maker.next();
            for (statement, slots) in &self.units {
                let cells: Vec<&(dyn ToSql + Sync)> =
                    slots.iter().map(|slot| values.at(slot) as &(dyn ToSql + Sync)).collect();
                let changed = self.client.execute(statement, &cells).await;
                if changed.map_err(|error| describe(&error))? == 0 {
                    return Err("a statement changed nothing".into());
                }
            }
            let after = Instant::now();
            measured.latencies.record(after - before);
            measured.answers += 1;
            before = after;
        }
        Ok(measured)
    }
}
