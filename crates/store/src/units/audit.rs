//! What must always hold in the books, as questions that have no answer while it does.
//!
//! Both databases are asked in the same words, but for one: `exact_sum` adds up without ever overflowing, which is what
//! PostgreSQL's own `sum` does. Sums are compared as texts, since they may be larger than any column.

mod card;

use tollgate_domain::{
    id::{PostingId, TransferId},
    ledger::PostingCause,
};
use tollgate_engine::ports::{Audit, AuditFinding};

use crate::prelude::*;

/// How many findings are told at most.
const MAX_FINDINGS: usize = 1_000;

/// Counts wallets, postings, transfers and postings of card payments.
const COUNT: &str = "SELECT
    (SELECT count(*) FROM (SELECT DISTINCT environment_id, currency FROM ledger_accounts) w),
    (SELECT count(*) FROM ledger_postings),
    (SELECT count(*) FROM transfers),
    (SELECT count(*) FROM card_postings)";

/// SQLite's own sum fails where it passes the largest number on the way, so a function of ours takes its place.
pub(crate) async fn audit<S: Session>(s: &mut S) -> Result<Audit, Fault> {
    let mut audit = s
        .query_one(COUNT, values![], |cells| {
            Ok(Audit {
                wallets: cells.count("count")?,
                postings: cells.count("count")?,
                transfers: cells.count("count")?,
                card_postings: cells.count("count")?,
                findings: Vec::new(),
            })
        })
        .await?;
    for (sql, read_finding) in CHECKS {
        let sql = sql.replace("exact_sum", S::DIALECT.pick("exact_sum", "sum"));
        let read = |cells: &mut Cells<'_>| {
            let environment = cells.id()?;
            let (subject, problem) = read_finding(cells)?;
            Ok(AuditFinding { environment, subject, problem })
        };
        let findings = s.query(&sql, values![], read).await?;
        audit.findings.extend(findings.into_iter().take(MAX_FINDINGS.saturating_sub(audit.findings.len())));
    }
    Ok(audit)
}

/// What a row of an answer is about, and what is wrong with it.
type ReadFinding = fn(&mut Cells<'_>) -> Result<(String, String), Fault>;

/// Each thing that must always hold: the question whose answer is empty while it does, and what a row of that answer means.
const CHECKS: [(&str, ReadFinding); 12] = [
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
    // Each entry belongs to a posting.
    (ENTRIES, |cells| {
        let id: PostingId = cells.id()?;
        Ok((id.to_string(), format!("There is an entry for {}, but no such posting.", cells.text()?)))
    }),
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
    // Nothing but the outside world's side is negative.
    (OVERDRAFTS, |cells| {
        let (currency, account) = (cells.text()?, cells.text()?);
        Ok((currency, format!("The balance of {account} is {}, which is below zero.", cells.text()?)))
    }),
    // What is reserved, settled out and earned is what the transfers say.
    (TOTALS, |cells| {
        let (currency, account) = (cells.text()?, cells.text()?);
        let (balance, sum) = (cells.text()?, cells.text()?);
        let whose = if account == "reserved" { "open" } else { "succeeded" };
        let problem =
            format!("The balance of {account} is {balance}, but that of the {whose} transfers is {sum}.");
        Ok((currency, problem))
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
    // Each transfer has its transaction.
    (TRANSFERS, |cells| Ok((cells.text()?, "There is a transfer, but no transaction.".to_owned()))),
    // A card payment's postings are what its transaction, refunds and disputes say, account by account.
    (card::PAYMENTS, card::payment),
    // Postings of a card payment that was never paid add up to nothing.
    (card::STRAYS, card::stray),
    // What was refunded is what the refunds say.
    (card::REFUNDS, card::refund),
];

const POSTINGS: &str = "SELECT * FROM (
     SELECT p.environment_id, p.id, CAST(p.amount_minor AS TEXT) AS amount, count(e.account) AS entries,
         COALESCE(CAST(exact_sum(e.amount_minor) AS TEXT), '0') AS rest,
         COALESCE(CAST(exact_sum(CASE WHEN e.amount_minor > 0 THEN e.amount_minor END) AS TEXT), '0')
             AS moved
     FROM ledger_postings p LEFT JOIN ledger_entries e
         ON e.environment_id = p.environment_id AND e.currency = p.currency AND e.posting_id = p.id
     GROUP BY p.environment_id, p.currency, p.id) x
 WHERE x.entries = 0 OR x.rest <> '0' OR x.moved <> x.amount LIMIT 1000";

const ENTRIES: &str = "SELECT e.environment_id, e.posting_id, e.account
 FROM ledger_entries e LEFT JOIN ledger_postings p
     ON p.environment_id = e.environment_id AND p.currency = e.currency AND p.id = e.posting_id
 WHERE p.id IS NULL LIMIT 1000";

const BALANCES: &str =
    "SELECT environment_id, currency, account, max(balance), COALESCE(max(amount), '0') FROM (
     SELECT environment_id, currency, account, CAST(balance_minor AS TEXT) AS balance, NULL AS amount
     FROM ledger_accounts
     UNION ALL
     SELECT environment_id, currency, account, NULL, CAST(exact_sum(amount_minor) AS TEXT)
     FROM ledger_entries GROUP BY environment_id, currency, account) x
 GROUP BY environment_id, currency, account
 HAVING max(balance) IS NULL OR max(balance) <> COALESCE(max(amount), '0') LIMIT 1000";

const OVERDRAFTS: &str =
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
     FROM transfers f
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
 FROM ledger_postings p LEFT JOIN (
     SELECT f.environment_id, t.currency, f.reference FROM transfers f
     JOIN transactions t ON t.environment_id = f.environment_id AND t.id = f.transaction_id) x
     ON x.environment_id = p.environment_id AND x.currency = p.currency AND x.reference = p.reference
 LEFT JOIN ledger_postings undone
     ON undone.environment_id = p.environment_id AND undone.currency = p.currency AND undone.id <> p.id
     AND undone.reference = p.reference AND undone.amount_minor = p.amount_minor
     AND p.cause IN ('reserve', 'release') AND undone.cause IN ('reserve', 'release')
     AND p.reference LIKE '% (not sent, %)'
 WHERE p.cause NOT IN ('fund', 'withdraw') AND x.reference IS NULL AND undone.id IS NULL LIMIT 1000";

const TRANSACTIONS: &str = "SELECT t.environment_id, t.reference
 FROM transactions t LEFT JOIN transfers f
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
