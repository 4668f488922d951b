//! Card payments as they are stored, found, listed and claimed.

use std::sync::LazyLock;

use tollgate_domain::{
    Minor, ServiceReference,
    card::{Attempt, CardOrder},
    hold::HoldAction,
    id::{EnvironmentId, HoldActionId, PaymentId, RefundId},
    limit::LimitUse,
    refund::Refund,
    transaction::Dispute,
};
use tollgate_engine::ports::{
    CardPayment, CardTransaction, Entry, Inserted, NewEvent, PaymentFilter, Progress,
};

use super::{
    directory,
    limits::{self, Counted},
    out_events::{About, append_events},
};
use crate::{
    prelude::*,
    rows::{
        is_unstorable,
        payment::{PAYMENTS, list_conditions},
        timeline::pack,
    },
    table::{Column, Columns as _, Kind, columns},
};

pub(crate) async fn insert<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    order: &CardOrder,
    progress: &Progress,
    entries: &[Entry],
    new_events: &[NewEvent],
) -> Result<Effect<Inserted>, Fault> {
    if order.environment != environment {
        return Err(Fault::Misuse("a payment was to be stored in another environment than its own"));
    }
    s.insert_payment(order, progress, entries, new_events).await
}

/// On SQLite.
pub(crate) async fn insert_in_steps<S: Session>(
    s: &mut S,
    order: &CardOrder,
    progress: &Progress,
    entries: &[Entry],
    new_events: &[NewEvent],
) -> Result<Effect<Inserted>, Fault> {
    let environment = order.environment;
    if directory::stamp(s, environment).await?.is_none() {
        return Ok(Effect::Nothing(Inserted::EnvironmentMissing));
    }
    if s.execute(PAYMENTS.insert_one(), &row![..order, ..progress, 0_u32, pack(entries)?]).await? == 0 {
        return Ok(Effect::Nothing(not_inserted(s, order).await?));
    }
    let reference = ServiceReference::Card(order.id);
    append_events(s, new_events, About { environment, reference, at: order.created_at, state: None }).await?;
    Ok(Effect::Written(Inserted::Done))
}

/// Stores a payment if its limits allow it. One that is there already, or whose key another has, counts no second time.
pub(crate) async fn insert_limited<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    order: &CardOrder,
    progress: &Progress,
    entries: &[Entry],
    new_events: &[NewEvent],
    uses: &[LimitUse],
) -> Result<Effect<Inserted>, Fault> {
    let owner = match &order.key {
        Some(key) => of_key(s, environment, key).await?,
        None => None,
    };
    if owner.is_some() || is_there(s, order).await? {
        return Ok(Effect::Nothing(not_inserted(s, order).await?));
    }
    let counted = Counted {
        environment,
        reference: ServiceReference::Card(order.id),
        at: order.created_at,
        principal: Minor::from(order.fee.principal),
    };
    if let Some(exceeded) = limits::count(s, counted, uses).await? {
        // Whoever has the key may have counted while this waited, and then this one need not.
        let owner = match &order.key {
            Some(key) => of_key(s, environment, key).await?,
            None => None,
        };
        return Ok(Effect::Nothing(owner.map_or(Inserted::LimitExceeded(exceeded), Inserted::KeyTaken)));
    }
    insert(s, environment, order, progress, entries, new_events).await
}

async fn is_there<S: Session>(s: &mut S, order: &CardOrder) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM card_payments WHERE environment_id = $1 AND id = $2";
    s.exists(sql, values![order.environment, order.id]).await
}

/// Why a payment was not inserted: it is there already, or another has its key.
pub(crate) async fn not_inserted<S: Session>(s: &mut S, order: &CardOrder) -> Result<Inserted, Fault> {
    if is_there(s, order).await? {
        return Ok(Inserted::Done);
    }
    let owner = match &order.key {
        Some(key) => of_key(s, order.environment, key).await?,
        None => None,
    };
    owner.map(Inserted::KeyTaken).ok_or(Fault::Misuse("a payment was not inserted, and no other has its key"))
}

pub(crate) async fn of_key<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    key: &[u8; 32],
) -> Result<Option<PaymentId>, Fault> {
    let sql = "SELECT id FROM card_payments
         WHERE environment_id = $1 AND key_digest = $2 AND key_digest IS NOT NULL AND preparation <> 'withdrawn'";
    s.query_opt(sql, values![environment, key], read).await
}

/// A part of a payment: its columns, where its rows are, and what they are in order of.
type PartOf = (&'static str, &'static [Column], &'static str, &'static str);

const PARTS: [PartOf; 4] = [
    ("a", Attempt::COLUMNS, "card_attempts", "number"),
    ("d", Dispute::COLUMNS, "disputes", "opened_at"),
    ("h", HoldAction::COLUMNS, "hold_actions", "created_at"),
    ("r", Refund::COLUMNS, "refunds", "created_at"),
];

/// One statement, and so one moment: a row for the payment with its transaction, and one for each attempt, dispute, capture or
/// void, and refund. In each row the columns of all others are empty.
pub(crate) fn find_sql(dialect: Dialect) -> String {
    let own = [CardOrder::COLUMNS, Progress::COLUMNS, columns!(revision: Number)].concat();
    let all = [("p", own.as_slice()), ("t", CardTransaction::COLUMNS)];
    let all: Vec<_> = all.into_iter().chain(PARTS.map(|(alias, columns, ..)| (alias, columns))).collect();
    let empty = |kind: Kind| match dialect {
        Dialect::Sqlite => "NULL".to_owned(),
        Dialect::Postgres => format!("CAST(NULL AS {})", kind.name()),
    };
    let columns = |shown: &[&str]| {
        let column = |alias: &str, (name, kind): &Column| {
            if shown.contains(&alias) { format!("{alias}.{name}") } else { empty(*kind) }
        };
        let columns = all.iter().flat_map(|(alias, columns)| columns.iter().map(|it| column(alias, it)));
        columns.collect::<Vec<_>>().join(", ")
    };
    let parts = PARTS.map(|(alias, _, table, order)| {
        let columns = columns(&[alias]);
        format!(
            "UNION ALL SELECT {alias}.{order}, {columns} FROM {table} {alias}
             WHERE {alias}.environment_id = $1 AND {alias}.payment_id = $2"
        )
    });
    // The payment is first: nothing is numbered or was made before the beginning of time.
    let first = i64::MIN + 1;
    format!(
        "SELECT CAST({first} AS BIGINT) AS place, {} FROM card_payments p
         LEFT JOIN transactions t
             ON t.environment_id = p.environment_id AND t.method = 'web_card' AND t.reference = p.id
         WHERE p.environment_id = $1 AND p.id = $2
         {} ORDER BY 1",
        columns(&["p", "t"]),
        parts.join(" ")
    )
}

static FIND: LazyLock<[String; 2]> = LazyLock::new(|| [Dialect::Sqlite, Dialect::Postgres].map(find_sql));

pub(crate) async fn find<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: PaymentId,
) -> Result<Option<CardPayment>, Fault> {
    let mut payment: Option<CardPayment> = None;
    let (mut disputes, mut actions, mut refunds) = (Vec::new(), Vec::new(), Vec::new());
    let read = |cells: &mut Cells<'_>| {
        let place: i64 = cells.get()?;
        let Some(payment) = &mut payment else {
            payment = Some(CardPayment {
                order: cells.get()?,
                progress: cells.get()?,
                revision: cells.field("revision")?,
                transaction: cells.get()?,
                attempts: Vec::new(),
                disputes: Vec::new(),
                hold_actions: Vec::new(),
                refunds: Vec::new(),
            });
            return Ok(());
        };
        cells.skip(CardOrder::WIDTH + Progress::WIDTH + 1 + CardTransaction::WIDTH);
        payment.attempts.extend(cells.get::<Option<Attempt>>()?);
        disputes.extend(cells.get::<Option<Dispute>>()?.map(|dispute| (place, dispute)));
        actions.extend(cells.get::<Option<HoldAction>>()?.map(|action| (place, action)));
        refunds.extend(cells.get::<Option<Refund>>()?.map(|refund| (place, refund)));
        Ok(())
    };
    let [sqlite, postgres] = &*FIND;
    s.query(S::DIALECT.pick(sqlite, postgres), values![environment, id], read).await?;
    let Some(mut payment) = payment else { return Ok(None) };
    disputes.sort_by(|(at, one), (then, other)| (at, &one.id).cmp(&(then, &other.id)));
    actions.sort_by_key(|(at, action)| (*at, action.id));
    refunds.sort_by_key(|(at, refund)| (*at, refund.id));
    payment.disputes = disputes.into_iter().map(|(_, dispute)| dispute).collect();
    payment.hold_actions = actions.into_iter().map(|(_, action)| action).collect();
    payment.refunds = refunds.into_iter().map(|(_, refund)| refund).collect();
    if let Some(shown) = payment.transaction.as_mut().and_then(|it| it.state.dispute.as_mut())
        && let Some(dispute) = payment.disputes.iter().find(|dispute| dispute.id == shown.id)
    {
        shown.withdrawn = dispute.withdrawn;
    }
    Ok(Some(payment))
}

pub(crate) async fn of_object<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    provider: &str,
    object: &str,
) -> Result<Option<PaymentId>, Fault> {
    if is_unstorable(provider) || is_unstorable(object) {
        return Ok(None);
    }
    let sql = "SELECT payment_id FROM provider_objects
         WHERE environment_id = $1 AND provider = $2 AND object = $3";
    s.query_opt(sql, values![environment, provider, object], read).await
}

pub(crate) async fn of_refund<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    refund: RefundId,
) -> Result<Option<PaymentId>, Fault> {
    let sql = "SELECT payment_id FROM refunds WHERE environment_id = $1 AND id = $2";
    s.query_opt(sql, values![environment, refund], read).await
}

pub(crate) async fn of_hold_action<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    action: HoldActionId,
) -> Result<Option<PaymentId>, Fault> {
    let sql = "SELECT payment_id FROM hold_actions WHERE environment_id = $1 AND id = $2";
    s.query_opt(sql, values![environment, action], read).await
}

/// A payment has a few; nobody reads more.
const OBJECTS_MAX: u32 = 100;

pub(crate) async fn objects<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: PaymentId,
) -> Result<Vec<String>, Fault> {
    // By the payment first: an order by name must not lead through all that the provider has ever named.
    let sql = "WITH named AS MATERIALIZED
             (SELECT provider, object FROM provider_objects WHERE environment_id = $1 AND payment_id = $2)
         SELECT object FROM named
         WHERE provider = (SELECT p.provider FROM card_payments p WHERE p.environment_id = $1 AND p.id = $2)
         ORDER BY object LIMIT $3";
    s.query(sql, values![environment, id, OBJECTS_MAX], read).await
}

pub(crate) fn list_sql(filter: PaymentFilter) -> String {
    let conditions = list_conditions(filter);
    format!(
        "SELECT id FROM card_payments WHERE environment_id = $1 AND id <= $2{conditions}
         ORDER BY id DESC LIMIT $3"
    )
}

pub(crate) async fn list<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    filter: PaymentFilter,
    before: Option<PaymentId>,
    limit: u32,
) -> Result<Vec<PaymentId>, Fault> {
    let Some(last) = rows::up_to_before(before) else { return Ok(Vec::new()) };
    s.query(&list_sql(filter), values![environment, last, limit], read).await
}
