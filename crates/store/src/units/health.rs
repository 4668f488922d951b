//! How environments stand.

use std::{collections::BTreeMap, sync::LazyLock};

use tollgate_domain::{Currency, Minor, id::EnvironmentId, ledger::Account};
use tollgate_engine::ports::{Attention, EnvironmentHealth, HealthQuery, WalletHealth};

use crate::{
    prelude::*,
    rows::{Wallet, books::wants_evidence},
};

/// How an environment stands. The orders mean nothing but that the indexes are used, however many rows the server believes there are.
fn attention_sql(environment: &str, from: &str) -> String {
    let count = |rows: &str| format!("(SELECT count(*) FROM (SELECT 1 FROM {rows} LIMIT $2) c)");
    let of =
        |table: &str, rest: &str| count(&format!("{table} WHERE environment_id = {environment} AND {rest}"));
    // The oldest deliveries to the endpoint `p` in one state. That they are not delivered leads SQLite to the index.
    let deliveries = |what: &str, state: &str, limit: &str| {
        format!(
            "SELECT {what} FROM event_deliveries d
             WHERE d.environment_id = p.environment_id AND d.endpoint_id = p.id AND d.state = '{state}'
                 AND d.state <> 'delivered' ORDER BY d.event_id LIMIT {limit}"
        )
    };
    let of_endpoints = |state: &str| {
        format!(
            "(SELECT CAST(COALESCE(SUM((SELECT count(*) FROM ({}) c)), 0) AS BIGINT)
              FROM event_endpoints p WHERE p.environment_id = {environment})",
            deliveries("1", state, "$2")
        )
    };
    let to_approve = |table: &str| {
        format!("(SELECT count(*) FROM {table} WHERE environment_id = {environment} AND state = 'required')")
    };
    let counts = [
        of("card_payments", "waiting IS NOT NULL ORDER BY id"),
        of("transfers", "waiting IS NOT NULL ORDER BY transaction_id"),
        of("reconciliation_exceptions", "resolved_at IS NULL ORDER BY id"),
        of_endpoints("waiting"),
        of_endpoints("parked"),
        of("event_endpoints", "disabled IS NOT NULL"),
        of("event_endpoints", "disabled IS NULL AND failures >= $3"),
        of("provider_events", "state = 'waiting' ORDER BY received_at"),
        of("provider_events", "state = 'parked' ORDER BY received_at"),
        [
            of("transfers", "approval_state = 'required' ORDER BY approval_id"),
            of("refunds", "approval_state = 'required' ORDER BY approval_id"),
            to_approve("fund_requests"),
            to_approve("config_proposals"),
        ]
        .join(" + "),
        of("disputes", "closed_at IS NULL ORDER BY respond_by"),
    ];
    let wants_evidence = wants_evidence!();
    let oldest_delivery = deliveries("d.event_id", "waiting", "1");
    format!(
        "SELECT {environment}, {},
             (SELECT d.respond_by FROM disputes d WHERE d.environment_id = {environment} AND d.closed_at IS NULL
                  AND {wants_evidence} ORDER BY d.respond_by LIMIT 1),
             (SELECT created_at FROM card_payments
              WHERE environment_id = {environment} AND waiting IS NOT NULL ORDER BY id LIMIT 1),
             (SELECT t.created_at FROM transactions t WHERE t.environment_id = {environment} AND t.id = (
                 SELECT transaction_id FROM transfers
                 WHERE environment_id = {environment} AND waiting IS NOT NULL ORDER BY transaction_id LIMIT 1)),
             (SELECT min((
                  SELECT e.at FROM out_events e
                  WHERE e.environment_id = p.environment_id AND e.id = ({oldest_delivery})))
              FROM event_endpoints p WHERE p.environment_id = {environment})
         {from}",
        counts.join(", ")
    )
}

pub(crate) static ATTENTION: LazyLock<String> =
    LazyLock::new(|| attention_sql("$1", "FROM environments WHERE id = $1"));

/// Of many environments at once.
static ATTENTION_OF_SERVER: LazyLock<String> =
    LazyLock::new(|| attention_sql("o.id", "FROM environments o WHERE o.id = ANY ($1::uuid[])"));

pub(crate) const WALLETS: &str =
    "SELECT environment_id, currency, account, balance_minor FROM ledger_accounts
     WHERE environment_id = $1";
const WALLETS_OF_SERVER: &str = "SELECT environment_id, currency, account, balance_minor FROM ledger_accounts
     WHERE environment_id = ANY ($1::uuid[])";

/// What was set aside for transfers, hour by hour.
pub(crate) const SPENT: &str = "SELECT environment_id, currency, principal_minor, platform_fee_minor, organization_fee_minor FROM activity
     WHERE environment_id = $1 AND hour >= $2 AND hour < $3 AND method = 'ach' AND kind = 'transaction.pending'";
const SPENT_OF_SERVER: &str =
    "SELECT a.environment_id, a.currency, a.principal_minor, a.platform_fee_minor, a.organization_fee_minor
     FROM unnest($1::uuid[]) AS o (id) CROSS JOIN LATERAL (
         SELECT * FROM activity WHERE environment_id = o.id AND hour >= $2 AND hour < $3
             AND method = 'ach' AND kind = 'transaction.pending') a";

pub(crate) async fn health<S: Session>(
    s: &mut S,
    query: &HealthQuery,
) -> Result<Vec<EnvironmentHealth>, Fault> {
    let HealthQuery { environments, most, failing_from, spending } = query;
    let mut loaded = Loaded::default();
    if S::DIALECT == Dialect::Postgres {
        let all = || Value::List(environments.iter().copied().map(Value::from).collect());
        let values = [all(), (*most).into(), (*failing_from).into()];
        loaded.attention = s.query(&ATTENTION_OF_SERVER, &values, |cells| read(cells, *most)).await?;
        loaded.accounts = s.query(WALLETS_OF_SERVER, &[all()], read_account).await?;
        let values = [all(), spending.start.into(), spending.end.into()];
        loaded.spent = s.query(SPENT_OF_SERVER, &values, read_spent).await?;
    } else {
        for id in environments {
            let values = values![*id, *most, *failing_from];
            loaded.attention.extend(s.query(&ATTENTION, values, |cells| read(cells, *most)).await?);
            loaded.accounts.extend(s.query(WALLETS, values![*id], read_account).await?);
            let values = values![*id, spending.start, spending.end];
            loaded.spent.extend(s.query(SPENT, values, read_spent).await?);
        }
    }
    loaded.joined()
}

type Key = (EnvironmentId, Currency);

#[derive(Default)]
struct Loaded {
    attention: Vec<(EnvironmentId, Attention)>,
    accounts: Vec<(Key, Account, i64)>,
    spent: Vec<(Key, i64)>,
}

impl Loaded {
    fn joined(self) -> Result<Vec<EnvironmentHealth>, Fault> {
        let mut wallets: BTreeMap<Key, (Wallet, i64)> = BTreeMap::new();
        for (key, account, balance) in self.accounts {
            wallets.entry(key).or_default().0.hold(account, balance)?;
        }
        for (key, amount) in self.spent {
            // Whatever was spent was in a wallet.
            if let Some((_, spent)) = wallets.get_mut(&key) {
                *spent = spent.saturating_add(amount);
            }
        }
        let mut all: BTreeMap<_, _> =
            self.attention.into_iter().map(|it| (it.0, (it.1, Vec::new()))).collect();
        for ((environment, currency), (wallet, spent)) in wallets {
            let Some((_, wallets)) = all.get_mut(&environment) else { continue };
            let spent = u64::try_from(spent).ok().and_then(Minor::new).ok_or(CorruptRow("spending"))?;
            wallets.push(WalletHealth { currency, balances: wallet.balances(), spent });
        }
        let made =
            |(environment, (attention, wallets))| EnvironmentHealth { environment, attention, wallets };
        Ok(all.into_iter().map(made).collect())
    }
}

fn read(cells: &mut Cells<'_>, most: u32) -> Result<(EnvironmentId, Attention), Fault> {
    let environment = cells.get()?;
    let mut next = || Ok::<u32, Fault>(cells.count::<u32>("count")?.min(most));
    let mut attention = Attention {
        waiting_payments: next()?,
        waiting_transfers: next()?,
        open_exceptions: next()?,
        waiting_deliveries: next()?,
        parked_deliveries: next()?,
        disabled_endpoints: next()?,
        failing_endpoints: next()?,
        waiting_provider_events: next()?,
        parked_provider_events: next()?,
        open_approvals: next()?,
        open_disputes: next()?,
        ..Attention::default()
    };
    attention.respond_by = cells.get()?;
    attention.oldest_waiting_payment = cells.get()?;
    attention.oldest_waiting_transfer = cells.get()?;
    attention.oldest_waiting_delivery = cells.get()?;
    Ok((environment, attention))
}

fn read_key(cells: &mut Cells<'_>) -> Result<Key, Fault> {
    Ok((cells.get()?, cells.get()?))
}

fn read_account(cells: &mut Cells<'_>) -> Result<(Key, Account, i64), Fault> {
    Ok((read_key(cells)?, cells.word("ledger account", Account::parse)?, cells.get()?))
}

fn read_spent(cells: &mut Cells<'_>) -> Result<(Key, i64), Fault> {
    let key = read_key(cells)?;
    let mut sum = 0_i64;
    for _ in 0..3 {
        sum = sum.saturating_add(cells.get()?);
    }
    Ok((key, sum))
}
