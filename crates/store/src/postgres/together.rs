//! Units that are one statement each, many in one transaction: they are sent together on one connection and share its commit.
//! This saves about a quarter of the database's processor time for `postgres, stripe` among the benchmarks.

use std::{fmt, sync::Arc};

use deadpool_postgres::Object;
use futures_util::future::join_all;

use super::{batches, lanes, session::PostgresSession};
use crate::{
    fault::Fault,
    unit::{Answer, Effect, Unit},
};

/// A unit that is one statement, and the key of what it changes.
pub(super) struct Single {
    pub(super) key: u128,
    pub(super) unit: Box<dyn Unit<PostgresSession>>,
}

impl fmt::Debug for Single {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Single").field("key", &self.key).finish_non_exhaustive()
    }
}

impl lanes::Unit for Single {
    type Answer = Answer;
    type Rank = u128;

    const BATCH_MAX: usize = 32;
    const IS_PLANNED_ANEW: bool = false;

    /// One order on all nodes, so that two batches never wait for one another in a circle.
    fn rank(&self) -> u128 {
        self.key
    }

    async fn run(
        connection: &Arc<Object>,
        begin: &'static str,
        units: &[&Self],
    ) -> Result<Vec<Answer>, Fault> {
        let outcome = all(connection, begin, units).await;
        if outcome.is_err() {
            batches::give_up(connection).await;
        }
        outcome
    }
}

async fn all(connection: &Arc<Object>, begin: &'static str, units: &[&Single]) -> Result<Vec<Answer>, Fault> {
    let run = async |single: &Single| {
        let mut session = PostgresSession::within_transaction(connection);
        single.unit.run(&mut session).await
    };
    // Sent one after the other, and then answered one after the other.
    let (begun, outcomes) = tokio::join!(
        biased;
        connection.batch_execute(begin),
        join_all(units.iter().map(|single| run(single))),
    );
    let outcomes: Result<Vec<Effect<Answer>>, Fault> = outcomes.into_iter().collect();
    let effects = match begun {
        Ok(()) => outcomes?,
        // Where it could not begin, each statement that was answered has committed by itself.
        Err(error) => outcomes.map_err(|_| Fault::Statement(error))?,
    };
    connection.batch_execute("COMMIT").await?;
    Ok(effects.into_iter().map(Effect::into_value).collect())
}
