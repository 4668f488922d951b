//! Setting funds aside for many transfers without limits in one transaction: two round trips for all of them, which is what the ratios of
//! `postgres, one wallet` and `postgres, 1000 wallets` among the benchmarks depend on.
//!
//! The wallets are locked first, by their `available` rows and in one order, as everything does that touches a wallet.
//! With them locked, the references that are there already are read, each transfer is decided on in the order it was
//! asked for, and what is accepted is written together with the commit.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, LazyLock},
};

use deadpool_postgres::{ClientWrapper, Object};
use futures_util::future::join_all;
use tokio_postgres::{Row, error::SqlState, types::ToSql};
use tollgate_domain::{
    Currency, Minor,
    id::{EnvironmentId, TransferId},
    ledger::{Account, Entry, PostingCause, TransferStep},
};
use tollgate_engine::ports::{NewTransfer, Reserved, Transfer};

use super::{
    batches,
    lanes::Unit,
    session::parameters,
    statements::{arrays, pairs},
};
use crate::{
    prelude::*,
    rows::transfer::{
        ACTOR, TRANSACTIONS, TRANSFERS, begun, moved, read, transaction_row, transfer_columns, transfer_row,
    },
    table::{Column, columns, names, unnest},
    units::postings::{ADD_SUMS, POSTINGS, Posting, posting_row},
};

type Wallet = (EnvironmentId, Currency);

/// One after the other, in the order they are given.
const LOCK: &str = "SELECT a.environment_id, a.currency, a.balance_minor
     FROM unnest($1::uuid[], $2::text[]) AS w (environment_id, currency)
     CROSS JOIN LATERAL (
         SELECT * FROM ledger_accounts a
         WHERE a.environment_id = w.environment_id AND a.currency = w.currency AND a.account = 'available'
         FOR UPDATE) a";

const EXISTING: &str = concat!(
    "SELECT ",
    transfer_columns!(),
    " FROM unnest($1::uuid[], $2::uuid[]) AS w (environment_id, reference)
     JOIN transactions t
         ON t.environment_id = w.environment_id AND t.method = 'ach' AND t.reference = w.reference
     JOIN transfers f ON f.environment_id = t.environment_id AND f.transaction_id = t.id"
);

/// What is taken and given, account by account.
const SUMS: &[Column] = columns!(environment_id: Id, currency: Text, account: Text, amount: Number);
static ADD_UP: LazyLock<String> = LazyLock::new(|| {
    let (rows, names) = (unnest(1, SUMS), names(SUMS));
    format!("WITH sums AS MATERIALIZED (SELECT * FROM {rows} AS s ({names})), {ADD_SUMS} SELECT 1")
});

/// A transfer to be reserved, in its own environment.
#[derive(Debug)]
pub(super) struct Reservation(pub(super) NewTransfer);

impl Unit for Reservation {
    type Answer = Reserved;
    type Rank = ();

    const BATCH_MAX: usize = 128;
    const IS_PLANNED_ANEW: bool = true;

    /// First come, first served: the locks have an order of their own.
    fn rank(&self) {}

    async fn run(
        connection: &Arc<Object>,
        begin: &'static str,
        units: &[&Self],
    ) -> Result<Vec<Reserved>, Fault> {
        let requested: Vec<&NewTransfer> = units.iter().map(|unit| &unit.0).collect();
        let outcome = reserve(connection, begin, &requested).await;
        if outcome.is_err() {
            batches::give_up(connection).await;
        }
        outcome
    }
}

/// Each transfer's answer, in order.
async fn reserve(
    client: &ClientWrapper,
    begin: &'static str,
    requested: &[&NewTransfer],
) -> Result<Vec<Reserved>, Fault> {
    let lock = client.prepare_cached(LOCK).await.map_err(Fault::Uncommitted)?;
    let existing = client.prepare_cached(EXISTING).await.map_err(Fault::Uncommitted)?;
    let (wallets, existing) = {
        let wallets: BTreeSet<([u8; 16], &str)> = requested
            .iter()
            .map(|new| (new.order.environment.to_bytes(), new.order.currency.code()))
            .collect();
        let lock_values = pairs(wallets.into_iter());
        let existing_values = pairs(requested.iter().map(|new| (new.order.environment, new.order.id)));
        // Sent together. The second is answered from after the first has all its locks.
        let (lock_values, existing_values) = (parameters(&lock_values), parameters(&existing_values));
        let (begun, locked, existing) = tokio::join!(
            biased;
            client.batch_execute(begin),
            client.query(&lock, &lock_values),
            client.query(&existing, &existing_values),
        );
        begun.map_err(Fault::Uncommitted)?;
        (locked.map_err(Fault::Uncommitted)?, existing.map_err(Fault::Uncommitted)?)
    };
    let mut decision = Decision::new(&wallets, &existing)?;
    let mut answers: Vec<Reserved> = requested.iter().map(|new| decision.decide(new)).collect();
    decision.find_environments(client, requested, &mut answers).await?;
    if decision.accepted.is_empty() {
        client.batch_execute("ROLLBACK").await.map_err(Fault::Uncommitted)?;
        return Ok(answers);
    }
    write(client, &decision.accepted).await?;
    Ok(answers)
}

/// Writes what is accepted, and commits.
async fn write(client: &ClientWrapper, accepted: &[&NewTransfer]) -> Result<(), Fault> {
    let mut sums: BTreeMap<([u8; 16], &str, Account), i64> = BTreeMap::new();
    let sides: Vec<(String, Vec<Entry>)> = accepted
        .iter()
        .map(|new| (new.order.id.to_string(), TransferStep::Reserve.entries(&new.order.fee)))
        .collect();
    let mut postings = Vec::new();
    for (new, (reference, sides)) in accepted.iter().zip(&sides) {
        let order = &new.order;
        let posting = Posting {
            environment: order.environment,
            currency: order.currency,
            id: new.posting,
            cause: PostingCause::Reserve,
            reference,
            amount_minor: moved(sides)?,
            actor: ACTOR,
            at: order.created_at,
            provider: Some(&order.provider),
            entries: sides,
        };
        postings.push(posting_row(&posting, order.currency.code()));
        for entry in sides {
            let wallet = (order.environment.to_bytes(), order.currency.code(), entry.account);
            let sum = sums.entry(wallet).or_default();
            *sum =
                sum.checked_add(entry.amount_minor).ok_or(Fault::Misuse("a wallet's sums are too large"))?;
        }
    }
    let statements = [
        (
            TRANSACTIONS.insert_many(),
            arrays(TRANSACTIONS.columns, accepted.iter().map(|new| transaction_row(new))),
        ),
        (TRANSFERS.insert_many(), arrays(TRANSFERS.columns, accepted.iter().map(|new| transfer_row(new)))),
        (POSTINGS.insert_many(), arrays(POSTINGS.columns, postings)),
        (ADD_UP.as_str(), arrays(SUMS, sums.iter().map(sum_row))),
    ];
    let mut prepared = Vec::with_capacity(statements.len());
    for (sql, values) in &statements {
        prepared.push((client.prepare_cached(sql).await.map_err(Fault::Uncommitted)?, parameters(values)));
    }
    // Sent together, and answered one after the other.
    let sent = prepared.iter().map(|(statement, values)| client.query(statement, values));
    let (written, committed) = tokio::join!(biased; join_all(sent), client.batch_execute("COMMIT"));
    for written in written {
        // Of two that meet under one reference in different wallets, the second looks again and finds the first.
        written.map_err(|error| match error.code() {
            Some(code) if *code == SqlState::UNIQUE_VIOLATION => Fault::Raced(error),
            _ => Fault::Statement(error),
        })?;
    }
    committed?;
    Ok(())
}

fn sum_row<'a>(
    ((scope, currency, account), amount): (&([u8; 16], &'a str, Account), &i64),
) -> Vec<Value<'a>> {
    row![*scope, *currency, account.as_str(), *amount]
}

/// What is decided while the wallets are locked.
struct Decision<'a> {
    /// What each wallet still has.
    available: HashMap<Wallet, Minor>,
    /// What is there, or will be.
    existing: HashMap<(EnvironmentId, TransferId), Transfer>,
    accepted: Vec<&'a NewTransfer>,
}

impl<'a> Decision<'a> {
    fn new(wallets: &[Row], existing: &[Row]) -> Result<Self, Fault> {
        let mut decision = Self { available: HashMap::new(), existing: HashMap::new(), accepted: Vec::new() };
        for row in wallets {
            let mut cells = Cells::of_postgres(row);
            let wallet = (cells.get()?, cells.get()?);
            decision.available.insert(wallet, cells.get()?);
        }
        for row in existing {
            let transfer = read(&mut Cells::of_postgres(row))?;
            decision.existing.insert((transfer.order.environment, transfer.order.id), transfer);
        }
        Ok(decision)
    }

    fn decide(&mut self, new: &'a NewTransfer) -> Reserved {
        let order = &new.order;
        let name = (order.environment, order.id);
        if let Some(existing) = self.existing.get(&name) {
            return Reserved::Existing(Box::new(existing.clone()));
        }
        let Some(available) = self.available.get_mut(&(order.environment, order.currency)) else {
            return Reserved::Insufficient { available: Minor::ZERO };
        };
        let Some(rest) = available.checked_sub(order.fee.total_debit) else {
            return Reserved::Insufficient { available: *available };
        };
        *available = rest;
        self.existing.insert(name, begun(new));
        self.accepted.push(new);
        Reserved::Created
    }

    /// A wallet that was never funded may be one of an environment that is not there.
    async fn find_environments(
        &self,
        client: &ClientWrapper,
        requested: &[&NewTransfer],
        answers: &mut [Reserved],
    ) -> Result<(), Fault> {
        let walletless: BTreeSet<EnvironmentId> = requested
            .iter()
            .filter(|new| !self.available.contains_key(&(new.order.environment, new.order.currency)))
            .map(|new| new.order.environment)
            .collect();
        if walletless.is_empty() {
            return Ok(());
        }
        let sql = "SELECT id FROM environments WHERE id = ANY ($1)";
        let statement = client.prepare_cached(sql).await.map_err(Fault::Uncommitted)?;
        let values = Value::List(walletless.iter().copied().map(Value::from).collect());
        let values: [&(dyn ToSql + Sync); 1] = [&values];
        let rows = client.query(&statement, &values).await.map_err(Fault::Uncommitted)?;
        let there: BTreeSet<EnvironmentId> =
            rows.iter().map(|row| Cells::of_postgres(row).id()).collect::<Result<_, _>>()?;
        for (new, answer) in requested.iter().zip(answers) {
            let scope = new.order.environment;
            let refused = matches!(answer, Reserved::Insufficient { .. });
            if refused && walletless.contains(&scope) && !there.contains(&scope) {
                *answer = Reserved::EnvironmentMissing;
            }
        }
        Ok(())
    }
}
