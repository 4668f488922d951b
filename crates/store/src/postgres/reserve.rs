//! Setting funds aside for many transfers in one transaction.
//!
//! The wallets are locked first, by their `available` rows and in one order, as everything does that touches a wallet.
//! With them locked, the references that are there already are read, each transfer is decided on in the order it was
//! asked for, and what is accepted is written in one statement together with the commit: two round trips for all.

use std::collections::{BTreeSet, HashMap};

use deadpool_postgres::ClientWrapper;
use tokio_postgres::{Row, error::SqlState, types::ToSql};
use tollgate_domain::{
    Currency, Minor,
    id::{EnvironmentId, TransferId},
};
use tollgate_engine::ports::{NewTransfer, Reserved, Transfer};
use uuid::Uuid;

use super::{
    batches,
    cells::RowCells,
    fault::Fault,
    lanes::Unit,
    reserve_rows::{Rows, WRITE},
    uuid,
};
use crate::convert::{
    self,
    transfer::{begun, read, transfer_columns},
};

type Wallet = (EnvironmentId, Currency);

/// One after the other, in the order they are given.
const LOCK: &str = "SELECT a.environment_id, a.currency, a.balance_minor
     FROM unnest($1::uuid[], $2::text[]) AS w (environment_id, currency)
     CROSS JOIN LATERAL (
         SELECT * FROM ledger_accounts a
         WHERE a.environment_id = w.environment_id AND a.currency = w.currency AND a.account = 'available'
         FOR UPDATE) a";

const KNOWN: &str = concat!(
    "SELECT ",
    transfer_columns!(),
    " FROM unnest($1::uuid[], $2::uuid[]) AS w (environment_id, reference)
     JOIN transactions t
         ON t.environment_id = w.environment_id AND t.method = 'ach' AND t.reference = w.reference
     JOIN transfers f ON f.environment_id = t.environment_id AND f.transaction_id = t.id"
);

/// A transfer to be reserved, in its own environment.
#[derive(Debug)]
pub(super) struct Reservation(pub(super) NewTransfer);

impl Unit for Reservation {
    type Answer = Reserved;
    type Rank = ();

    const MOST: usize = 128;

    /// First come, first served: the locks have an order of their own.
    fn rank(&self) {}

    async fn run(
        client: &ClientWrapper,
        begin: &'static str,
        units: &[&Self],
    ) -> Result<Vec<Reserved>, Fault> {
        let wanted: Vec<&NewTransfer> = units.iter().map(|unit| &unit.0).collect();
        reserve(client, begin, &wanted).await
    }
}

/// Each transfer's answer, in order.
async fn reserve(
    client: &ClientWrapper,
    begin: &'static str,
    wanted: &[&NewTransfer],
) -> Result<Vec<Reserved>, Fault> {
    let lock = client.prepare_cached(LOCK).await.map_err(Fault::Uncommitted)?;
    let known = client.prepare_cached(KNOWN).await.map_err(Fault::Uncommitted)?;
    let write = client.prepare_cached(WRITE).await.map_err(Fault::Uncommitted)?;
    let outcome = async {
        let (wallets, known) = {
            let wallets: BTreeSet<([u8; 16], &str)> = wanted
                .iter()
                .map(|new| (new.order.environment.to_bytes(), new.order.currency.code()))
                .collect();
            let (scopes, currencies): (Vec<Uuid>, Vec<&str>) =
                wallets.into_iter().map(|(scope, currency)| (uuid(scope), currency)).unzip();
            let (environments, references): (Vec<Uuid>, Vec<Uuid>) = wanted
                .iter()
                .map(|new| (uuid(new.order.environment.to_bytes()), uuid(new.order.id.to_bytes())))
                .unzip();
            let lock_values: [&(dyn ToSql + Sync); 2] = [&scopes, &currencies];
            let known_values: [&(dyn ToSql + Sync); 2] = [&environments, &references];
            // Sent together. The second is answered from after the first has all its locks.
            let (begun, locked, known) = tokio::join!(
                biased;
                client.batch_execute(begin),
                client.query(&lock, &lock_values),
                client.query(&known, &known_values),
            );
            begun.map_err(Fault::Uncommitted)?;
            (locked.map_err(Fault::Uncommitted)?, known.map_err(Fault::Uncommitted)?)
        };
        let mut decision = Decision::new(&wallets, &known)?;
        let mut answers: Vec<Reserved> = wanted.iter().map(|new| decision.decide(new)).collect();
        decision.find_environments(client, wanted, &mut answers).await?;
        if decision.accepted.is_empty() {
            client.batch_execute("ROLLBACK").await.map_err(Fault::Uncommitted)?;
            return Ok(answers);
        }
        let rows = Rows::new(&decision.accepted)?;
        let values = rows.values();
        let (written, committed) =
            tokio::join!(biased; client.query_one(&write, &values), client.batch_execute("COMMIT"));
        // Of two that meet under one reference in different wallets, the second looks again and finds the first.
        written.map_err(|error| match error.code() {
            Some(code) if *code == SqlState::UNIQUE_VIOLATION => Fault::Raced(error),
            _ => Fault::Statement(error),
        })?;
        committed?;
        Ok(answers)
    }
    .await;
    if outcome.is_err() {
        batches::give_up(client).await;
    }
    outcome
}

/// What is decided while the wallets are locked.
struct Decision<'a> {
    /// What each wallet still has.
    available: HashMap<Wallet, Minor>,
    /// What is there, or will be.
    known: HashMap<(EnvironmentId, TransferId), Transfer>,
    accepted: Vec<&'a NewTransfer>,
}

impl<'a> Decision<'a> {
    fn new(wallets: &[Row], known: &[Row]) -> Result<Self, Fault> {
        let mut decision = Self { available: HashMap::new(), known: HashMap::new(), accepted: Vec::new() };
        for row in wallets {
            let environment = EnvironmentId::from_bytes(row.try_get::<_, Uuid>(0)?.into_bytes());
            let wallet = (environment, convert::currency(row.try_get(1)?)?);
            decision.available.insert(wallet, convert::amount(row.try_get(2)?)?);
        }
        for row in known {
            let transfer = read(&mut RowCells::new(row, 0))?;
            decision.known.insert((transfer.order.environment, transfer.order.id), transfer);
        }
        Ok(decision)
    }

    fn decide(&mut self, new: &'a NewTransfer) -> Reserved {
        let order = &new.order;
        let name = (order.environment, order.id);
        if let Some(known) = self.known.get(&name) {
            return Reserved::Existing(Box::new(known.clone()));
        }
        let Some(available) = self.available.get_mut(&(order.environment, order.currency)) else {
            return Reserved::Insufficient { available: Minor::ZERO };
        };
        let Some(rest) = available.checked_sub(order.fee.total_debit) else {
            return Reserved::Insufficient { available: *available };
        };
        *available = rest;
        self.known.insert(name, begun(new));
        self.accepted.push(new);
        Reserved::Created
    }

    /// A wallet that was never funded may be one of an environment that is not there.
    async fn find_environments(
        &self,
        client: &ClientWrapper,
        wanted: &[&NewTransfer],
        answers: &mut [Reserved],
    ) -> Result<(), Fault> {
        let walletless: Vec<Uuid> = wanted
            .iter()
            .filter(|new| !self.available.contains_key(&(new.order.environment, new.order.currency)))
            .map(|new| uuid(new.order.environment.to_bytes()))
            .collect();
        if walletless.is_empty() {
            return Ok(());
        }
        let sql = "SELECT id FROM environments WHERE id = ANY ($1)";
        let statement = client.prepare_cached(sql).await.map_err(Fault::Uncommitted)?;
        let rows = client.query(&statement, &[&walletless]).await.map_err(Fault::Uncommitted)?;
        let there = rows.iter().map(|row| row.try_get(0)).collect::<Result<Vec<Uuid>, _>>()?;
        for (new, answer) in wanted.iter().zip(answers) {
            let scope = uuid(new.order.environment.to_bytes());
            let refused = matches!(answer, Reserved::Insufficient { .. });
            if refused && walletless.contains(&scope) && !there.contains(&scope) {
                *answer = Reserved::EnvironmentMissing;
            }
        }
        Ok(())
    }
}
