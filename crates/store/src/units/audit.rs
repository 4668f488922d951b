//! What must always hold in the books, as questions that have no answer while it does.
//!
//! Both databases are asked in the same words, but for one: `exact_sum` adds up without ever overflowing, which is what
//! PostgreSQL's own `sum` does. Sums are compared as texts, since they may be larger than any column.
//!
//! Most questions are asked about everything, or about what was written since the last audit (`recent`); the rest follows
//! from the balances which that audit has left behind (`checkpoint`).

mod card;
pub(crate) mod checkpoint;
mod recent;

use std::collections::{BTreeMap, BTreeSet};

use tollgate_domain::{
    id::{PostingId, TransferId},
    ledger::PostingCause,
};
use tollgate_engine::ports::{Audit, AuditFinding, AuditScope};

use super::{postings::with_entries, statement};
use crate::prelude::*;
use checkpoint::{AccountKey, NextCheckpoint, Sum};
use recent::Recent;

/// How many findings are told at most.
const MAX_FINDINGS: usize = 1_000;

/// Counts postings, transfers and postings of card payments.
const COUNT: &str = "SELECT
    (SELECT count(*) FROM ledger_postings),
    (SELECT count(*) FROM transfers),
    (SELECT count(*) FROM card_postings)";

const ACCOUNTS: &str =
    "SELECT environment_id, currency, account, balance_minor, CAST(NULL AS BIGINT) FROM ledger_accounts";

/// With the number of their entries.
const COUNTED_ACCOUNTS: &str =
    "SELECT a.environment_id, a.currency, a.account, a.balance_minor, COALESCE(e.entries, 0)
 FROM ledger_accounts a LEFT JOIN (
     SELECT environment_id, currency, account, count(*) AS entries
     FROM posting_entries GROUP BY environment_id, currency, account) e
     ON e.environment_id = a.environment_id AND e.currency = a.currency AND e.account = a.account";

/// What an audit has found, and the checkpoint to keep if that is nothing.
#[derive(Debug)]
pub(crate) struct Verified {
    pub(crate) audit: Audit,
    pub(crate) next: Option<NextCheckpoint>,
}

/// An account as it is now.
struct AccountState {
    key: AccountKey,
    balance: i64,
    /// Where everything is verified.
    entries: Option<u64>,
}

pub(crate) async fn verify<S: Session>(s: &mut S, scope: AuditScope) -> Result<Verified, Fault> {
    let position = checkpoint::position(s).await?;
    let known = checkpoint::last(s, &position).await?;
    let is_full = scope == AuditScope::Everything || known.is_none();
    let mut audit = Audit::default();
    let recent = match &known {
        None => Recent::default(),
        Some(known) => {
            plan_look_ups(s).await?;
            // Where everything is verified, it only has to be added up.
            recent::verify(s, &known.position, !is_full).await?
        }
    };
    if is_full {
        plan_scans(s).await?;
        for check in WALLETS.iter().chain(&WHOLE).chain(&CARDS) {
            find(s, check, &Given::Everything, &mut audit.findings).await?;
        }
        (audit.postings, audit.transfers, audit.card_postings) = s.query_one(COUNT, values![], read).await?;
        for (environment, month) in statement::differences(s).await? {
            let problem = format!(
                "The statement of {month} is not the sum of the postings of that month. Delete the row of \
                 statement_position to have all months added up again."
            );
            audit.findings.push(AuditFinding { environment, subject: month, problem });
        }
    } else {
        find(s, &OVERDRAFTS, &Given::Everything, &mut audit.findings).await?;
        audit.findings.extend(recent.findings.iter().cloned());
        let transfers = u64::try_from(recent.transfers.len()).unwrap_or(u64::MAX);
        (audit.postings, audit.transfers, audit.card_postings) =
            (recent.postings, transfers, recent.card_postings);
    }
    let accounts = accounts(s, is_full).await?;
    let wallets: BTreeSet<_> = accounts.iter().map(|it| (it.key.0, &it.key.1)).collect();
    audit.wallets = u64::try_from(wallets.len()).unwrap_or(u64::MAX);
    let kept = match &known {
        Some(_) => {
            let kept = checkpoint::balances(s).await?;
            audit.findings.extend(differences(&accounts, &kept, &recent));
            kept
        }
        None => BTreeMap::new(),
    };
    audit.findings.truncate(MAX_FINDINGS);
    let earlier = known.as_ref().filter(|_| !is_full).map(|known| known.checkpoint.clone());
    let next = audit.findings.is_empty().then(|| NextCheckpoint {
        base: known.filter(|_| !is_full).map(|known| known.position),
        position,
        postings: audit.postings.saturating_add(earlier.as_ref().map_or(0, |it| it.postings)),
        card_postings: audit.card_postings.saturating_add(earlier.as_ref().map_or(0, |it| it.card_postings)),
        balances: accounts
            .into_iter()
            .filter(|account| is_full || recent.sums.contains_key(&account.key))
            .map(|account| {
                let known = kept.get(&account.key).copied().unwrap_or_default();
                let added = recent.sums.get(&account.key).copied().unwrap_or_default();
                (account.key, account.balance, account.entries.unwrap_or(known.plus(added).entries))
            })
            .collect(),
    });
    audit.earlier = earlier;
    Ok(Verified { audit, next })
}

/// Whatever the server believes of the tables, what is looked up is looked up by an index.
async fn plan_look_ups<S: Session>(s: &mut S) -> Result<(), Fault> {
    plan(s, ["off", "on", "on"]).await
}

/// And what is read whole is joined whole.
async fn plan_scans<S: Session>(s: &mut S) -> Result<(), Fault> {
    plan(s, ["on", "off", "off"]).await
}

async fn plan<S: Session>(s: &mut S, settings: [&str; 3]) -> Result<(), Fault> {
    if S::DIALECT == Dialect::Postgres {
        let sql = "SELECT set_config('enable_seqscan', $1, true), set_config('enable_nestloop', $2, true),
             set_config('enable_mergejoin', $3, true)";
        s.query(sql, &settings.map(Value::from), |_| Ok(())).await?;
    }
    Ok(())
}

async fn accounts<S: Session>(s: &mut S, are_counted: bool) -> Result<Vec<AccountState>, Fault> {
    let sql = if are_counted { COUNTED_ACCOUNTS } else { ACCOUNTS };
    let read = |cells: &mut Cells<'_>| {
        let key = (cells.id()?, cells.text()?, cells.text()?);
        let (balance, entries) = (cells.number()?, cells.number_or_none()?);
        Ok(AccountState { key, balance, entries: entries.and_then(|entries| u64::try_from(entries).ok()) })
    };
    s.query(sql, values![], read).await
}

/// Accounts that hold something else than what the last audit has left and what came since.
fn differences(
    accounts: &[AccountState],
    kept: &BTreeMap<AccountKey, Sum>,
    recent: &Recent,
) -> Vec<AuditFinding> {
    let mut findings = Vec::new();
    let mut missing: BTreeSet<&AccountKey> = kept.keys().chain(recent.sums.keys()).collect();
    for AccountState { key, balance, entries } in accounts {
        missing.remove(key);
        let known = kept.get(key).copied().unwrap_or_default();
        let expected = known.plus(recent.sums.get(key).copied().unwrap_or_default());
        let account = &key.2;
        let problem = if expected.amount != i128::from(*balance) {
            let sum = expected.amount;
            format!(
                "The balance of {account} is {balance}, but that of the last audit and the entries since make {sum}."
            )
        } else if let Some(entries) = entries.filter(|entries| *entries != expected.entries) {
            let known = expected.entries;
            format!(
                "There are {entries} entries for {account}, but at the last audit and since there were {known}."
            )
        } else {
            continue;
        };
        findings.push(AuditFinding { environment: key.0, subject: key.1.clone(), problem });
    }
    findings.extend(missing.into_iter().map(|key| AuditFinding {
        environment: key.0,
        subject: key.1.clone(),
        problem: format!("The last audit or an entry since has {}, but there is no such account.", key.2),
    }));
    findings
}

/// What a question is asked about.
enum Given {
    Everything,
    /// What these rows of JSON name: environment, currency, posting, transfer or payment.
    Rows(String),
}

/// Names in questions, the tables they are, and the rows of them that are given. Each is looked up by its key, in this order.
const NARROWED: [(&str, &str, &str); 7] = [
    (
        "{postings}",
        "ledger_postings",
        "(SELECT p.* FROM {given} g CROSS JOIN ledger_postings p
          WHERE p.environment_id = g.environment_id AND p.currency = g.currency AND p.id = g.posting_id)",
    ),
    (
        "{transfers}",
        "transfers",
        // Looked up once, and not again for each posting that they are joined with.
        "(WITH f AS MATERIALIZED (
              SELECT f.* FROM (SELECT DISTINCT environment_id, subject_id FROM {given} g) g
              CROSS JOIN transactions t CROSS JOIN transfers f
              WHERE t.environment_id = g.environment_id AND t.method = 'ach' AND t.reference = g.subject_id
                  AND f.environment_id = t.environment_id AND f.transaction_id = t.id)
          SELECT * FROM f)",
    ),
    (
        "{ach_transactions}",
        "transactions",
        "(SELECT t.* FROM (SELECT DISTINCT environment_id, subject_id FROM {given} g) g CROSS JOIN transactions t
          WHERE t.environment_id = g.environment_id AND t.method = 'ach' AND t.reference = g.subject_id)",
    ),
    (
        "{card_transactions}",
        "transactions",
        "(SELECT t.* FROM (SELECT DISTINCT environment_id, subject_id FROM {given} g) g CROSS JOIN transactions t
          WHERE t.environment_id = g.environment_id AND t.method = 'web_card' AND t.reference = g.subject_id)",
    ),
    (
        "{card_postings}",
        "card_postings",
        "(SELECT p.* FROM (SELECT DISTINCT environment_id, subject_id FROM {given} g) g CROSS JOIN card_postings p
          WHERE p.environment_id = g.environment_id AND p.payment_id = g.subject_id)",
    ),
    (
        "{refunds}",
        "refunds",
        "(SELECT r.* FROM (SELECT DISTINCT environment_id, subject_id FROM {given} g) g CROSS JOIN refunds r
          WHERE r.environment_id = g.environment_id AND r.payment_id = g.subject_id)",
    ),
    (
        "{disputes}",
        "disputes",
        "(SELECT d.* FROM (SELECT DISTINCT environment_id, subject_id FROM {given} g) g CROSS JOIN disputes d
          WHERE d.environment_id = g.environment_id AND d.payment_id = g.subject_id)",
    ),
];

impl Given {
    fn sql<S: Session>(&self, question: &str) -> String {
        let mut sql =
            with_entries(S::DIALECT, question).replace("exact_sum", S::DIALECT.pick("exact_sum", "sum"));
        for (name, table, rows) in NARROWED {
            sql = match self {
                Self::Everything => sql.replace(name, table),
                Self::Rows(_) => sql.replace(name, rows),
            };
        }
        let given = S::DIALECT.pick(
            "(SELECT unhex(value ->> 0) AS environment_id, value ->> 1 AS currency, unhex(value ->> 2) AS posting_id,
                  unhex(value ->> 3) AS subject_id
              FROM json_each($1))",
            "(SELECT CAST(value ->> 0 AS UUID) AS environment_id, value ->> 1 AS currency,
                  CAST(value ->> 2 AS UUID) AS posting_id, CAST(value ->> 3 AS UUID) AS subject_id
              FROM jsonb_array_elements(CAST(CAST($1 AS TEXT) AS JSONB)))",
        );
        sql.replace("{given}", given)
    }

    fn values(&self) -> Vec<Value<'_>> {
        match self {
            Self::Everything => Vec::new(),
            Self::Rows(rows) => row![rows],
        }
    }
}

/// Asks a question, and adds what it finds.
async fn find<S: Session>(
    s: &mut S,
    (question, read_finding): &Check,
    given: &Given,
    findings: &mut Vec<AuditFinding>,
) -> Result<(), Fault> {
    let read = |cells: &mut Cells<'_>| {
        let environment = cells.id()?;
        let (subject, problem) = read_finding(cells)?;
        Ok(AuditFinding { environment, subject, problem })
    };
    let found = s.query(&given.sql::<S>(question), &given.values(), read).await?;
    findings.extend(found.into_iter().take(MAX_FINDINGS.saturating_sub(findings.len())));
    Ok(())
}

/// A question whose answer is empty while all is well, and what a row of that answer means.
type Check = (&'static str, ReadFinding);

/// What a row of an answer is about, and what is wrong with it.
type ReadFinding = fn(&mut Cells<'_>) -> Result<(String, String), Fault>;

/// Of postings and the transfers they are about.
const WALLETS: [Check; 4] = [
    // A posting's entries sum to zero, and move what the posting says.
    (POSTINGS, |cells| {
        let id: PostingId = cells.id()?;
        let (amount, entries) = (cells.text()?, cells.number()?);
        let (rest, moved) = (cells.text()?, cells.text()?);
        let problem = if entries == 0 {
            "The posting has no entries.".to_owned()
        } else if rest != "0" {
            format!("The posting's entries sum to {rest} instead of zero.")
        } else {
            format!("The posting is for {amount}, but its entries move {moved}.")
        };
        Ok((id.to_string(), problem))
    }),
    // A transfer has exactly the postings its status demands.
    (STEPS, |cells| {
        let (reference, status) = (cells.text()?, cells.text()?);
        let (made, differing) = (cells.number()?, cells.number()?);
        let problem = if differing > 0 {
            "A posting of the transfer is for another amount than its total debit.".to_owned()
        } else {
            format!("The transfer is {status}, but its postings are: {}.", steps(made))
        };
        Ok((reference, problem))
    }),
    // Each posting of a transfer belongs to one; those of a reservation that was taken back go by pairs.
    (STRAYS, |cells| {
        let id: PostingId = cells.id()?;
        Ok((id.to_string(), format!("The posting says {}, but there is no such transfer.", cells.text()?)))
    }),
    // Each transfer's transaction has its transfer.
    (TRANSACTIONS, |cells| {
        let id: TransferId = cells.id()?;
        Ok((id.to_string(), "There is a transaction, but no transfer.".to_owned()))
    }),
];

/// A transfer's posting moves between the accounts what the transfer says. Of everything, these sums are compared as totals.
const RECENT_AMOUNTS: Check = (AMOUNTS, |cells| {
    let (id, cause): (PostingId, _) = (cells.id()?, cells.text()?);
    Ok((
        id.to_string(),
        format!("The entries of the posting ({cause}) are not those of its transfer's amounts."),
    ))
});

/// Of postings of card payments.
const CARDS: [Check; 3] = [
    // A card payment's postings are what its transaction, refunds and disputes say, account by account.
    (card::PAYMENTS, card::payment),
    // Postings of a card payment that was never paid add up to nothing.
    (card::STRAYS, card::stray),
    // What was refunded is what the refunds say.
    (card::REFUNDS, card::refund),
];

/// Nothing but the outside world's side is negative.
const OVERDRAFTS: Check = (NEGATIVE, |cells| {
    let (currency, account) = (cells.text()?, cells.text()?);
    Ok((currency, format!("The balance of {account} is {}, which is below zero.", cells.text()?)))
});

/// What can only be asked about everything.
const WHOLE: [Check; 4] = [
    // Each balance is the sum of its account's entries.
    (BALANCES, |cells| {
        let (currency, account) = (cells.text()?, cells.text()?);
        let (balance, sum) = (cells.text_or_none()?, cells.text()?);
        let problem = match balance {
            Some(balance) => format!("The balance of {account} is {balance}, but its entries sum to {sum}."),
            None => format!("There are entries for {account} that sum to {sum}, but no such account."),
        };
        Ok((currency, problem))
    }),
    OVERDRAFTS,
    // What is reserved, settled out and earned is what the transfers say.
    (TOTALS, |cells| {
        let (currency, account) = (cells.text()?, cells.text()?);
        let (balance, sum) = (cells.text()?, cells.text()?);
        let whose = if account == "reserved" { "open" } else { "succeeded" };
        let problem =
            format!("The balance of {account} is {balance}, but that of the {whose} transfers is {sum}.");
        Ok((currency, problem))
    }),
    // Each transfer has its transaction.
    (TRANSFERS, |cells| Ok((cells.text()?, "There is a transfer, but no transaction.".to_owned()))),
];

const POSTINGS: &str = "SELECT * FROM (
     SELECT p.environment_id, p.id, CAST(p.amount_minor AS TEXT) AS amount, count(e.account) AS entries,
         COALESCE(CAST(exact_sum(e.amount_minor) AS TEXT), '0') AS rest,
         COALESCE(CAST(exact_sum(CASE WHEN e.amount_minor > 0 THEN e.amount_minor END) AS TEXT), '0')
             AS moved
     FROM {postings} p JOIN posting_entries e
         ON e.environment_id = p.environment_id AND e.currency = p.currency AND e.posting_id = p.id
     GROUP BY p.environment_id, p.currency, p.id, p.amount_minor
     UNION ALL
     SELECT p.environment_id, p.id, CAST(p.amount_minor AS TEXT), 0, '0', '0' FROM {postings} p
     WHERE NOT EXISTS (
         SELECT 1 FROM posting_entries e
         WHERE e.environment_id = p.environment_id AND e.currency = p.currency AND e.posting_id = p.id)) x
 WHERE x.entries = 0 OR x.rest <> '0' OR x.moved <> x.amount LIMIT 1000";

const AMOUNTS: &str = "SELECT environment_id, id, cause FROM (
     SELECT p.environment_id, p.id, p.cause, t.principal_minor, t.platform_fee_minor, t.organization_fee_minor,
         CASE p.cause WHEN 'settle' THEN 1 WHEN 'reverse' THEN -1 ELSE 0 END AS earned,
         CASE p.cause WHEN 'reserve' THEN t.total_debit_minor WHEN 'reverse' THEN 0 ELSE -t.total_debit_minor END AS held,
         sum(CASE WHEN e.account = 'reserved' THEN e.amount_minor ELSE 0 END) AS reserved,
         sum(CASE WHEN e.account = 'settled_out' THEN e.amount_minor ELSE 0 END) AS settled,
         sum(CASE WHEN e.account = 'platform_fees' THEN e.amount_minor ELSE 0 END) AS platform,
         sum(CASE WHEN e.account = 'organization_fees' THEN e.amount_minor ELSE 0 END) AS organization
     FROM {postings} p
     JOIN {transfers} f ON f.environment_id = p.environment_id AND f.reference = p.reference
     JOIN transactions t ON t.environment_id = f.environment_id AND t.id = f.transaction_id AND t.currency = p.currency
     JOIN posting_entries e
         ON e.environment_id = p.environment_id AND e.currency = p.currency AND e.posting_id = p.id
     WHERE p.cause IN ('reserve', 'settle', 'release', 'reverse')
     GROUP BY p.environment_id, p.id, p.cause, t.principal_minor, t.platform_fee_minor, t.organization_fee_minor,
         t.total_debit_minor) x
 WHERE reserved <> held OR settled <> earned * principal_minor OR platform <> earned * platform_fee_minor
     OR organization <> earned * organization_fee_minor LIMIT 1000";

const BALANCES: &str =
    "SELECT environment_id, currency, account, max(balance), COALESCE(max(amount), '0') FROM (
     SELECT environment_id, currency, account, CAST(balance_minor AS TEXT) AS balance, NULL AS amount
     FROM ledger_accounts
     UNION ALL
     SELECT environment_id, currency, account, NULL, CAST(exact_sum(amount_minor) AS TEXT)
     FROM posting_entries GROUP BY environment_id, currency, account) x
 GROUP BY environment_id, currency, account
 HAVING max(balance) IS NULL OR max(balance) <> COALESCE(max(amount), '0') LIMIT 1000";

const NEGATIVE: &str =
    "SELECT environment_id, currency, account, CAST(balance_minor AS TEXT) FROM ledger_accounts
 WHERE balance_minor < 0 AND account <> 'funding' LIMIT 1000";

const TOTALS: &str = "WITH owed AS MATERIALIZED (
     SELECT environment_id, currency,
         exact_sum(CASE WHEN status IN ('pending', 'processing') THEN total_debit_minor END) AS open,
         exact_sum(CASE WHEN status = 'succeeded' THEN principal_minor END) AS paid,
         exact_sum(CASE WHEN status = 'succeeded' THEN platform_fee_minor END) AS platform,
         exact_sum(CASE WHEN status = 'succeeded' THEN organization_fee_minor END) AS organization
     FROM transactions WHERE method = 'ach' GROUP BY environment_id, currency),
 both_sides AS (
     SELECT environment_id, currency, account, CAST(balance_minor AS TEXT) AS balance, NULL AS amount
     FROM ledger_accounts WHERE account NOT IN ('funding', 'available')
     UNION ALL
     SELECT environment_id, currency, 'reserved', NULL, CAST(open AS TEXT) FROM owed
     UNION ALL
     SELECT environment_id, currency, 'settled_out', NULL, CAST(paid AS TEXT) FROM owed
     UNION ALL
     SELECT environment_id, currency, 'platform_fees', NULL, CAST(platform AS TEXT) FROM owed
     UNION ALL
     SELECT environment_id, currency, 'organization_fees', NULL, CAST(organization AS TEXT) FROM owed)
 SELECT environment_id, currency, account, COALESCE(max(balance), '0'), COALESCE(max(amount), '0')
 FROM both_sides GROUP BY environment_id, currency, account
 HAVING COALESCE(max(balance), '0') <> COALESCE(max(amount), '0') LIMIT 1000";

const STEPS: &str = "SELECT * FROM (
     SELECT t.environment_id, f.reference, t.status,
         CAST(CASE WHEN reserve.id IS NULL THEN 0 ELSE 1000 END
             + CASE WHEN settle.id IS NULL THEN 0 ELSE 100 END
             + CASE WHEN release.id IS NULL THEN 0 ELSE 10 END
             + CASE WHEN reverse.id IS NULL THEN 0 ELSE 1 END AS BIGINT) AS made,
         CAST(CASE WHEN reserve.amount_minor <> t.total_debit_minor
             OR settle.amount_minor <> t.total_debit_minor
             OR release.amount_minor <> t.total_debit_minor
             OR reverse.amount_minor <> t.total_debit_minor THEN 1 ELSE 0 END AS BIGINT) AS differing
     FROM {transfers} f
     JOIN transactions t ON t.environment_id = f.environment_id AND t.id = f.transaction_id
     LEFT JOIN ledger_postings reserve
         ON reserve.environment_id = t.environment_id AND reserve.currency = t.currency
         AND reserve.cause = 'reserve' AND reserve.reference = f.reference
     LEFT JOIN ledger_postings settle
         ON settle.environment_id = t.environment_id AND settle.currency = t.currency
         AND settle.cause = 'settle' AND settle.reference = f.reference
     LEFT JOIN ledger_postings release
         ON release.environment_id = t.environment_id AND release.currency = t.currency
         AND release.cause = 'release' AND release.reference = f.reference
     LEFT JOIN ledger_postings reverse
         ON reverse.environment_id = t.environment_id AND reverse.currency = t.currency
         AND reverse.cause = 'reverse' AND reverse.reference = f.reference) x
 WHERE x.differing > 0 OR (x.status, x.made) NOT IN (VALUES ('pending', 1000), ('processing', 1000),
     ('succeeded', 1100), ('canceled', 1010), ('failed', 1010), ('failed', 1101)) LIMIT 1000";

const STRAYS: &str = "SELECT p.environment_id, p.id, p.cause
 FROM {postings} p
 LEFT JOIN {transfers} f ON f.environment_id = p.environment_id AND f.reference = p.reference
 LEFT JOIN transactions t
     ON t.environment_id = f.environment_id AND t.id = f.transaction_id AND t.currency = p.currency
 LEFT JOIN ledger_postings undone
     ON undone.environment_id = p.environment_id AND undone.currency = p.currency AND undone.id <> p.id
     AND undone.reference = p.reference AND undone.amount_minor = p.amount_minor
     AND p.cause IN ('reserve', 'release') AND undone.cause IN ('reserve', 'release')
     AND p.reference LIKE '% (not sent, %)'
 WHERE p.cause NOT IN ('fund', 'withdraw') AND t.id IS NULL AND undone.id IS NULL LIMIT 1000";

const TRANSACTIONS: &str = "SELECT t.environment_id, t.reference
 FROM {ach_transactions} t LEFT JOIN transfers f
     ON f.environment_id = t.environment_id AND f.transaction_id = t.id
 WHERE t.method = 'ach' AND f.transaction_id IS NULL LIMIT 1000";

const TRANSFERS: &str = "SELECT f.environment_id, f.reference
 FROM transfers f LEFT JOIN transactions t
     ON t.environment_id = f.environment_id AND t.id = f.transaction_id AND t.method = 'ach'
 WHERE t.id IS NULL LIMIT 1000";

/// The causes that a number in the answer to [`STEPS`] stands for.
fn steps(made: i64) -> String {
    let causes = [
        (1_000, PostingCause::Reserve),
        (100, PostingCause::Settle),
        (10, PostingCause::Release),
        (1, PostingCause::Reverse),
    ];
    let there = causes.into_iter().filter(|(place, _)| made / place % 10 > 0);
    let names: Vec<&str> = there.map(|(_, cause)| cause.as_str()).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_named_in_order() {
        assert_eq!(steps(0), "none");
        assert_eq!(steps(1_000), "reserve");
        assert_eq!(steps(1_101), "reserve, settle, reverse");
        assert_eq!(steps(10), "release");
    }
}
