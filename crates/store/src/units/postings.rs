//! Postings: the posting itself with its entries, a column for each account, and the balances they add up to.

use tollgate_domain::{
    Currency, Timestamp,
    id::{EnvironmentId, PostingId},
    ledger::{Account, Entry, PostingCause},
};

use crate::prelude::*;

/// A posting and its entries, of which there are two to four.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Posting<'a> {
    pub(crate) environment: EnvironmentId,
    pub(crate) currency: Currency,
    pub(crate) id: PostingId,
    pub(crate) cause: PostingCause,
    pub(crate) reference: &'a str,
    pub(crate) amount_minor: i64,
    pub(crate) actor: &'a str,
    pub(crate) at: Timestamp,
    /// Through which a transfer went.
    pub(crate) provider: Option<&'a str>,
    pub(crate) entries: &'a [Entry],
}

table! {
    POSTINGS = "ledger_postings" ("");
    fn posting_row(posting: &Posting<'a>, currency: &'a str) {
        environment_id: Id = posting.environment,
        currency: Text = currency,
        id: Id = posting.id,
        cause: Text = posting.cause.as_str(),
        reference: Text = posting.reference,
        amount_minor: Number = posting.amount_minor,
        actor: Text = posting.actor,
        at: Number = posting.at,
        provider: Text = posting.provider,
        funding_minor: Number = entry_of(posting.entries, Account::Funding),
        available_minor: Number = entry_of(posting.entries, Account::Available),
        reserved_minor: Number = entry_of(posting.entries, Account::Reserved),
        settled_out_minor: Number = entry_of(posting.entries, Account::SettledOut),
        platform_fees_minor: Number = entry_of(posting.entries, Account::PlatformFees),
        organization_fees_minor: Number = entry_of(posting.entries, Account::OrganizationFees),
    }
}

/// What a posting adds to an account; `None` if it does not touch it.
fn entry_of(entries: &[Entry], account: Account) -> Option<i64> {
    entries.iter().find(|entry| entry.account == account).map(|entry| entry.amount_minor)
}

/// The columns of the entries, in the order of [`Account::ALL`].
pub(crate) fn entry_values(entries: &[Entry]) -> impl Iterator<Item = Value<'static>> {
    Account::ALL.into_iter().map(|account| entry_of(entries, account).into())
}

/// Parts of a statement of PostgreSQL: adds `sums` (environment_id, currency, account, amount) to wallets that are locked. An
/// account to take from that is not there would begin below zero, which is refused.
pub(crate) const ADD_SUMS: &str = "added AS (
         UPDATE ledger_accounts a SET balance_minor = a.balance_minor + sums.amount FROM sums
         WHERE a.environment_id = sums.environment_id AND a.currency = sums.currency AND a.account = sums.account),
     opened AS (
         INSERT INTO ledger_accounts (environment_id, currency, account, balance_minor)
         SELECT environment_id, currency, account, amount FROM sums
         WHERE NOT EXISTS (
             SELECT 1 FROM ledger_accounts a WHERE a.environment_id = sums.environment_id
                 AND a.currency = sums.currency AND a.account = sums.account))";

/// On PostgreSQL, the entries of the posting `p`, which is at hand: those in its columns, and those of a posting from before them.
const ENTRIES_AT_HAND: &str = "LATERAL (
     SELECT p.environment_id, p.currency, p.id AS posting_id, a.account COLLATE \"C\" AS account, a.amount_minor
     FROM (VALUES ('funding', p.funding_minor), ('available', p.available_minor), ('reserved', p.reserved_minor),
         ('settled_out', p.settled_out_minor), ('platform_fees', p.platform_fees_minor),
         ('organization_fees', p.organization_fees_minor)) a (account, amount_minor)
     WHERE a.amount_minor IS NOT NULL
     UNION ALL
     SELECT l.environment_id, l.currency, l.posting_id, l.account, l.amount_minor FROM ledger_entries l
     WHERE l.environment_id = p.environment_id AND l.currency = p.currency AND l.posting_id = p.id) e";

/// A query that joins postings as `p` with their `posting_entries e`. With the view, PostgreSQL would read all entries to find those
/// of one posting.
pub(crate) fn with_entries(dialect: Dialect, sql: &str) -> String {
    sql.replace("posting_entries e", dialect.pick("posting_entries e", ENTRIES_AT_HAND))
}

impl Posting<'_> {
    /// Adds the entries to their accounts; `false` if one of them would be overdrawn, and then nothing may be kept.
    pub(crate) async fn add_up<S: Session>(&self, s: &mut S) -> Result<bool, Fault> {
        let values = |entry: &Entry| {
            let (account, amount) = (entry.account.as_str(), entry.amount_minor);
            row![self.environment, self.currency.code(), account, amount]
        };
        // What is taken comes first, because it may be refused.
        for entry in self.entries.iter().filter(|entry| entry.amount_minor < 0) {
            let sql = "UPDATE ledger_accounts SET balance_minor = balance_minor + $4
                 WHERE environment_id = $1 AND currency = $2 AND account = $3
                     AND (account = 'funding' OR balance_minor + $4 >= 0)";
            if s.execute(sql, &values(entry)).await? == 0 {
                return Ok(false);
            }
        }
        let sql = "INSERT INTO ledger_accounts (environment_id, currency, account, balance_minor)
             VALUES ($1, $2, $3, $4)
             ON CONFLICT (environment_id, currency, account)
                 DO UPDATE SET balance_minor = ledger_accounts.balance_minor + excluded.balance_minor";
        for entry in self.entries.iter().filter(|entry| entry.amount_minor > 0) {
            s.execute(sql, &values(entry)).await?;
        }
        Ok(true)
    }

    /// Writes the posting with its entries.
    pub(crate) async fn write<S: Session>(&self, s: &mut S) -> Result<(), Fault> {
        s.insert(&POSTINGS, vec![posting_row(self, self.currency.code())]).await
    }
}
