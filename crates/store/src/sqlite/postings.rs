//! Postings of transfers: the posting, its entries and the balances they add up to, in whole.

use rusqlite::{Connection, ToSql, params};
use tollgate_domain::{
    Currency, Timestamp,
    id::{EnvironmentId, PostingId, TransferId},
    ledger::{Entry, PostingCause},
};

use super::fault::Fault;
use crate::convert::transfer::{ACTOR, amount_moved};

/// A posting of a transfer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Posting<'a> {
    pub(super) environment: EnvironmentId,
    pub(super) currency: Currency,
    pub(super) id: PostingId,
    pub(super) cause: PostingCause,
    pub(super) transfer: TransferId,
    pub(super) at: Timestamp,
    pub(super) entries: &'a [Entry],
}

impl Posting<'_> {
    /// Adds the entries to their accounts; `false` if one of them would be overdrawn, and then nothing may be kept.
    pub(super) fn add_up(&self, connection: &Connection) -> Result<bool, Fault> {
        // What is taken comes first, because it may be refused.
        for entry in self.entries.iter().filter(|entry| entry.amount_minor < 0) {
            let taken = connection
                .prepare_cached(
                    "UPDATE ledger_accounts SET balance_minor = balance_minor + ?4
                     WHERE environment_id = ?1 AND currency = ?2 AND account = ?3 AND balance_minor + ?4 >= 0",
                )?
                .execute(params![
                    self.environment.to_bytes(),
                    self.currency.code(),
                    entry.account.as_str(),
                    entry.amount_minor
                ])?;
            if taken == 0 {
                return Ok(false);
            }
        }
        for entry in self.entries.iter().filter(|entry| entry.amount_minor > 0) {
            connection
                .prepare_cached(
                    "INSERT INTO ledger_accounts (environment_id, currency, account, balance_minor)
                     VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT DO UPDATE SET balance_minor = balance_minor + excluded.balance_minor",
                )?
                .execute(params![
                    self.environment.to_bytes(),
                    self.currency.code(),
                    entry.account.as_str(),
                    entry.amount_minor
                ])?;
        }
        Ok(true)
    }

    /// Writes the posting and its entries.
    pub(super) fn write(&self, connection: &Connection) -> Result<(), Fault> {
        let Some(amount) = amount_moved(self.entries) else {
            return Err(Fault::Misuse("the entries of a transfer's posting do not balance"));
        };
        connection
            .prepare_cached(
                "INSERT INTO ledger_postings (environment_id, currency, id, cause, reference, amount_minor, actor, at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute(params![
                self.environment.to_bytes(),
                self.currency.code(),
                self.id.to_bytes(),
                self.cause.as_str(),
                self.transfer.to_string(),
                amount,
                ACTOR,
                self.at.unix_millis()
            ])?;
        let (scope, currency, id) = (self.environment.to_bytes(), self.currency.code(), self.id.to_bytes());
        let mut values: Vec<&dyn ToSql> = vec![&scope, &currency, &id];
        let names: Vec<&str> = self.entries.iter().map(|entry| entry.account.as_str()).collect();
        for (name, entry) in names.iter().zip(self.entries) {
            values.extend::<[&dyn ToSql; 2]>([name, &entry.amount_minor]);
        }
        connection.prepare_cached(insert_entries(self.entries.len()))?.execute(values.as_slice())?;
        Ok(())
    }
}

macro_rules! insert_entries {
    ($($row:literal),+) => {
        concat!(
            "INSERT INTO ledger_entries (environment_id, currency, posting_id, account, amount_minor) VALUES ",
            $($row),+
        )
    };
}

/// One statement for all entries of a posting, of which there are two to four.
fn insert_entries(count: usize) -> &'static str {
    match count {
        0..=2 => insert_entries!("(?1, ?2, ?3, ?4, ?5)", ", (?1, ?2, ?3, ?6, ?7)"),
        3 => insert_entries!("(?1, ?2, ?3, ?4, ?5)", ", (?1, ?2, ?3, ?6, ?7)", ", (?1, ?2, ?3, ?8, ?9)"),
        _ => insert_entries!(
            "(?1, ?2, ?3, ?4, ?5)",
            ", (?1, ?2, ?3, ?6, ?7)",
            ", (?1, ?2, ?3, ?8, ?9)",
            ", (?1, ?2, ?3, ?10, ?11)"
        ),
    }
}
