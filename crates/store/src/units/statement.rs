//! Months of the books, added up.
//!
//! Postings are added up once, in the order in which they were committed, and the sums are kept. A statement is what is kept and
//! what was posted since, so that it costs no more after a million payments than after ten.

use std::collections::BTreeMap;

use tollgate_domain::{
    Currency, PaymentMethod, Timestamp,
    books::{Amounts, CardPostingKind},
    id::{EnvironmentId, PostingId},
    statement::{Month, StatementKind, StatementLine},
};

use super::{
    audit::checkpoint::{parts, position},
    books::APART,
    postings::with_entries,
};
use crate::{prelude::*, rows::books::read_amounts};

/// What is added up together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SumKey {
    environment: EnvironmentId,
    month: String,
    provider: String,
    currency: String,
    kind: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MonthSum {
    count: u64,
    amounts: Amounts,
}

pub(crate) type MonthSums = BTreeMap<SumKey, MonthSum>;

/// Sums to be kept.
#[derive(Debug, Clone)]
pub(crate) struct NextSums {
    /// The position that is kept so far.
    base: Option<String>,
    position: String,
    /// Everything, or what was posted since the base.
    is_whole: bool,
    sums: MonthSums,
}

/// Which postings.
pub(crate) enum Scope<'a> {
    Everything,
    /// Those that a position has not seen.
    Since(&'a str),
    /// An environment's month.
    Of(EnvironmentId, Month),
}

const CARDS: &str = "SELECT p.environment_id, {month}, p.provider, p.currency, p.kind, count(*),
     CAST(exact_sum(p.due_from_provider_minor) AS TEXT), CAST(exact_sum(p.disputes_held_minor) AS TEXT),
     CAST(exact_sum(p.refunds_given_minor) AS TEXT), CAST(exact_sum(p.disputes_lost_minor) AS TEXT),
     CAST(exact_sum(p.principal_minor) AS TEXT), CAST(exact_sum(p.platform_fees_minor) AS TEXT),
     CAST(exact_sum(p.organization_fees_minor) AS TEXT)
 FROM {postings} GROUP BY 1, 2, 3, 4, 5";

/// A posting from before the provider was kept, whose transfer is gone, has none.
const TRANSFERS: &str = "SELECT p.environment_id, {month}, COALESCE(p.provider, ''), p.currency, p.cause,
     count(DISTINCT p.id), '0', '0', '0', '0',
     CAST(exact_sum(CASE WHEN e.account = 'settled_out' THEN e.amount_minor ELSE 0 END) AS TEXT),
     CAST(exact_sum(CASE WHEN e.account = 'platform_fees' THEN e.amount_minor ELSE 0 END) AS TEXT),
     CAST(exact_sum(CASE WHEN e.account = 'organization_fees' THEN e.amount_minor ELSE 0 END) AS TEXT)
 FROM {postings} AND p.cause IN ('settle', 'reverse')
     AND e.environment_id = p.environment_id AND e.currency = p.currency AND e.posting_id = p.id
 GROUP BY 1, 2, 3, 4, 5";

/// A month in UTC, such as 2026-11.
const MONTH: (&str, &str) = (
    "strftime('%Y-%m', p.at / 1000, 'unixepoch')",
    "to_char(to_timestamp(p.at / 1000) AT TIME ZONE 'UTC', 'YYYY-MM')",
);

/// PostgreSQL: written by a transaction that the snapshot has not seen. None is older than the snapshot's first number.
macro_rules! unseen {
    () => {
        "p.written_by >= CAST(split_part(CAST($1 AS TEXT), ':', 1) AS XID8)
         AND NOT pg_visible_in_snapshot(p.written_by, CAST(CAST($1 AS TEXT) AS PG_SNAPSHOT))"
    };
}

impl Scope<'_> {
    /// The postings of card payments.
    fn cards(&self, dialect: Dialect) -> &'static str {
        match self {
            Self::Everything => "card_postings p",
            Self::Since(_) => dialect.pick(
                "posting_order o CROSS JOIN card_postings p
                 WHERE o.sequence > CAST($1 AS INTEGER) AND o.currency IS NULL
                     AND p.environment_id = o.environment_id AND p.id = o.posting_id",
                concat!("card_postings p WHERE ", unseen!()),
            ),
            Self::Of(..) => {
                "card_postings p
                 WHERE p.environment_id = $1 AND p.id BETWEEN $2 AND $3 AND p.at BETWEEN $4 AND $5"
            }
        }
    }

    /// The postings of wallets with their entries, which are `e`.
    fn transfers(&self, dialect: Dialect) -> &'static str {
        match self {
            Self::Everything => "ledger_postings p CROSS JOIN posting_entries e WHERE true",
            Self::Since(_) => dialect.pick(
                "posting_order o CROSS JOIN ledger_postings p CROSS JOIN posting_entries e
                 WHERE o.sequence > CAST($1 AS INTEGER) AND o.currency IS NOT NULL
                     AND p.environment_id = o.environment_id AND p.currency = o.currency AND p.id = o.posting_id",
                concat!("ledger_postings p CROSS JOIN posting_entries e WHERE ", unseen!()),
            ),
            Self::Of(..) => {
                "ledger_postings p CROSS JOIN posting_entries e
                 WHERE p.environment_id = $1 AND p.currency IN (SELECT currency FROM ledger_accounts WHERE environment_id = $1)
                     AND p.id BETWEEN $2 AND $3 AND p.at BETWEEN $4 AND $5"
            }
        }
    }

    pub(crate) fn statements(&self, dialect: Dialect) -> [String; 2] {
        [(CARDS, self.cards(dialect)), (TRANSFERS, self.transfers(dialect))].map(|(sql, postings)| {
            with_entries(dialect, &sql.replace("{postings}", postings))
                .replace("{month}", dialect.pick(MONTH.0, MONTH.1))
                .replace("exact_sum", dialect.pick("exact_sum", "sum"))
        })
    }

    fn values(&self) -> Vec<Value<'_>> {
        match self {
            Self::Everything => Vec::new(),
            Self::Since(position) => row![parts(position).1],
            Self::Of(environment, month) => {
                let (first, last) = (month.start().unix_millis(), month.end().unix_millis() - 1);
                let id = |millis: i64, rest| {
                    PostingId::new(Timestamp::from_unix_millis(millis.max(0)), [rest; 10])
                };
                let (lowest, highest) =
                    (id(first.saturating_sub(APART), 0), id(last.saturating_add(APART), 0xff));
                row![*environment, lowest, highest, first, last]
            }
        }
    }
}

async fn add_up<S: Session>(s: &mut S, scope: &Scope<'_>) -> Result<MonthSums, Fault> {
    let mut sums = MonthSums::new();
    for sql in scope.statements(S::DIALECT) {
        sums.extend(s.query_planned(&sql, &scope.values(), read_sum).await?);
    }
    Ok(sums)
}

fn add(sums: &mut MonthSums, more: &MonthSums) {
    for (key, sum) in more {
        let existing = sums.entry(key.clone()).or_default();
        existing.count = existing.count.saturating_add(sum.count);
        existing.amounts = existing.amounts.plus(sum.amounts);
    }
}

fn read_sum(cells: &mut Cells<'_>) -> Result<(SumKey, MonthSum), Fault> {
    let key = SumKey {
        environment: cells.id()?,
        month: cells.text()?,
        provider: cells.text()?,
        currency: cells.text()?,
        kind: cells.text()?,
    };
    let count = cells.count("count")?;
    let amounts = read_amounts(|| Ok(cells.text()?.parse().map_err(|_| CorruptRow("sum"))?))?;
    Ok((key, MonthSum { count, amounts }))
}

/// Behind a condition: the kept sums.
macro_rules! kept {
    ($condition:literal) => {
        concat!(
            "SELECT environment_id, month, provider, currency, kind, count, due_from_provider_minor,
                 disputes_held_minor, refunds_given_minor, disputes_lost_minor, principal_minor,
                 platform_fees_minor, organization_fees_minor
             FROM statement_sums",
            $condition
        )
    };
}

async fn kept_position<S: Session>(s: &mut S) -> Result<Option<String>, Fault> {
    let sql = "SELECT position FROM statement_position WHERE id = 1";
    s.query_opt(sql, values![], |cells| cells.text()).await
}

async fn kept_month<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    month: &str,
) -> Result<MonthSums, Fault> {
    let sql = kept!(" WHERE environment_id = $1 AND month = $2");
    Ok(s.query(sql, values![environment, month], read_sum).await?.into_iter().collect())
}

/// Whether a position was written by the server that `now` is from: the numbers of another server's transactions mean nothing.
fn is_of_this_server(position: &str, now: &str) -> bool {
    parts(position).0 == parts(now).0
}

pub(crate) async fn of_month<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    month: Month,
) -> Result<Vec<StatementLine>, Fault> {
    let now = position(s).await?;
    let sums = match kept_position(s).await?.filter(|kept| is_of_this_server(kept, &now)) {
        None => add_up(s, &Scope::Of(environment, month)).await?,
        Some(kept) => {
            let month = month.to_string();
            let mut sums = kept_month(s, environment, &month).await?;
            let mut recent = add_up(s, &Scope::Since(&kept)).await?;
            recent.retain(|key, _| key.environment == environment && key.month == month);
            add(&mut sums, &recent);
            sums
        }
    };
    let mut lines = sums.into_iter().map(|(key, sum)| line(key, sum)).collect::<Result<Vec<_>, _>>()?;
    lines.sort_by_key(|line| line.method == PaymentMethod::Ach);
    Ok(lines)
}

fn line(key: SumKey, sum: MonthSum) -> Result<StatementLine, Fault> {
    let (method, kind) = match key.kind.as_str() {
        "settle" => (PaymentMethod::Ach, StatementKind::TransferSettled),
        "reverse" => (PaymentMethod::Ach, StatementKind::TransferReturned),
        kind => {
            let kind = CardPostingKind::parse(kind).ok_or(CorruptRow("kind of a posting"))?;
            (PaymentMethod::WebCard, StatementKind::Card(kind))
        }
    };
    let currency = Currency::parse(&key.currency).ok_or(CorruptRow("currency"))?;
    Ok(StatementLine {
        provider: key.provider,
        method,
        currency,
        kind,
        count: sum.count,
        amounts: sum.amounts,
    })
}

/// Adds up what was posted since the last time; `None` if there is nothing to keep.
pub(crate) async fn since_kept<S: Session>(s: &mut S) -> Result<Option<NextSums>, Fault> {
    let now = position(s).await?;
    let base = kept_position(s).await?;
    let existing = base.as_deref().filter(|kept| is_of_this_server(kept, &now));
    let sums = add_up(s, &existing.map_or(Scope::Everything, Scope::Since)).await?;
    let is_whole = existing.is_none();
    Ok((is_whole || !sums.is_empty()).then_some(NextSums { base, position: now, is_whole, sums }))
}

table! {
    SUMS = "statement_sums" ("ON CONFLICT (environment_id, month, provider, currency, kind) DO UPDATE SET
        count = excluded.count, due_from_provider_minor = excluded.due_from_provider_minor,
        disputes_held_minor = excluded.disputes_held_minor, refunds_given_minor = excluded.refunds_given_minor,
        disputes_lost_minor = excluded.disputes_lost_minor, principal_minor = excluded.principal_minor,
        platform_fees_minor = excluded.platform_fees_minor,
        organization_fees_minor = excluded.organization_fees_minor");
    fn sum_row(key: &'a SumKey, count: i64, amounts: &'a [String; 7]) {
        environment_id: Id = key.environment,
        month: Text = &key.month,
        provider: Text = &key.provider,
        currency: Text = &key.currency,
        kind: Text = &key.kind,
        count: Number = count,
        due_from_provider_minor: Text = &amounts[0],
        disputes_held_minor: Text = &amounts[1],
        refunds_given_minor: Text = &amounts[2],
        disputes_lost_minor: Text = &amounts[3],
        principal_minor: Text = &amounts[4],
        platform_fees_minor: Text = &amounts[5],
        organization_fees_minor: Text = &amounts[6],
    }
}

/// SQLite: the places in the order of postings that an audit has verified and statements have added up. The last one stays, so that the
/// next posting comes after it; and without an audit all of them do, because one may be going on that ends at an earlier place.
const FORGET_ORDER: &str = "DELETE FROM posting_order
     WHERE sequence < (
         SELECT min(p.position) FROM (
             SELECT CAST(position AS INTEGER) AS position FROM statement_position
             UNION ALL SELECT CAST(position AS INTEGER) FROM audit_checkpoint) p
         HAVING count(*) = 2)
     AND sequence < (SELECT min(sequence) FROM posting_order) + 50000";

/// Keeps sums, unless another node has kept some since these were added up: no posting may count twice.
pub(crate) async fn keep<S: Session>(s: &mut S, next: &NextSums) -> Result<Effect<()>, Fault> {
    let moved = match &next.base {
        None => {
            let sql = "INSERT INTO statement_position (id, position) VALUES (1, $1) ON CONFLICT DO NOTHING";
            s.execute(sql, values![&next.position]).await?
        }
        Some(base) => {
            let sql = "UPDATE statement_position SET position = $2 WHERE id = 1 AND position = $1";
            s.execute(sql, values![base, &next.position]).await?
        }
    };
    if moved == 0 {
        return Ok(Effect::Nothing(()));
    }
    let mut sums = next.sums.clone();
    if next.is_whole {
        s.execute("DELETE FROM statement_sums", values![]).await?;
    } else {
        let months: Vec<_> = next.sums.keys().map(|key| (key.environment, key.month.as_str())).collect();
        for together in months.chunk_by(|one, other| one == other) {
            let Some((environment, month)) = together.first() else { continue };
            let mut existing = kept_month(s, *environment, month).await?;
            existing.retain(|key, _| next.sums.contains_key(key));
            add(&mut sums, &existing);
        }
    }
    let texts: Vec<_> =
        sums.values().map(|sum| sum.amounts.accounts().map(|(_, it)| it.to_string())).collect();
    let rows = sums
        .iter()
        .zip(&texts)
        .map(|((key, sum), amounts)| sum_row(key, i64::try_from(sum.count).unwrap_or(i64::MAX), amounts));
    s.insert(&SUMS, rows.collect()).await?;
    if S::DIALECT == Dialect::Sqlite {
        s.execute(FORGET_ORDER, values![]).await?;
    }
    Ok(Effect::Written(()))
}

/// The environments and months whose statements say something else than their postings.
pub(crate) async fn differences<S: Session>(s: &mut S) -> Result<Vec<(EnvironmentId, String)>, Fault> {
    let now = position(s).await?;
    let Some(kept) = kept_position(s).await?.filter(|kept| is_of_this_server(kept, &now)) else {
        return Ok(Vec::new());
    };
    let mut sums: MonthSums = s.query(kept!(""), values![], read_sum).await?.into_iter().collect();
    add(&mut sums, &add_up(s, &Scope::Since(&kept)).await?);
    let posted = add_up(s, &Scope::Everything).await?;
    let mut months: Vec<_> = sums
        .iter()
        .filter(|(key, sum)| posted.get(*key) != Some(*sum))
        .chain(posted.iter().filter(|(key, _)| !sums.contains_key(*key)))
        .map(|(key, _)| (key.environment, key.month.clone()))
        .collect();
    months.sort();
    months.dedup();
    Ok(months)
}
