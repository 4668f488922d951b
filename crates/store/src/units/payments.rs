//! Card payments as they are stored, found, listed and claimed.

use std::sync::LazyLock;

use tollgate_domain::{
    Minor, ServiceReference, Timestamp,
    card::CardOrder,
    id::{EnvironmentId, HoldActionId, PaymentId, RefundId},
    limit::LimitUse,
};
use tollgate_engine::ports::{CardPayment, Entry, Inserted, NewEvent, PaymentFilter, Progress};

use super::{
    directory,
    limits::{self, Counted},
    out_events::{About, append_events},
};
use crate::{
    postgres::card_payments,
    prelude::*,
    rows::{
        books::{dispute_columns, read_dispute},
        hold::{hold_action_columns, read_action},
        is_unstorable,
        payment::{
            PAYMENTS, attempt_columns, list_conditions, payment_row, read_attempt, read_columns, read_order,
            read_progress, read_refund, refund_columns,
        },
        timeline::pack,
        transaction::{self, STATE_COLUMNS, state_columns},
    },
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
    if S::DIALECT == Dialect::Postgres {
        return card_payments::insert(s, order, progress, entries, new_events).await;
    }
    if directory::stamp(s, environment).await?.is_none() {
        return Ok(Effect::Nothing(Inserted::EnvironmentMissing));
    }
    if s.execute(PAYMENTS.insert_one(), &payment_row(order, progress, pack(entries)?)).await? == 0 {
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
    s.query_opt(sql, values![environment, key], |cells| cells.id()).await
}

/// One statement, and so one moment: a row for each attempt, dispute, refund, capture and void, or one row if there is none, each
/// with the payment.
static FIND: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {}, {}, {}, {}, {}, {} FROM card_payments p
         LEFT JOIN transactions t
             ON t.environment_id = p.environment_id AND t.method = 'web_card' AND t.reference = p.id
         LEFT JOIN card_attempts a ON a.environment_id = p.environment_id AND a.payment_id = p.id
         LEFT JOIN disputes d ON d.environment_id = p.environment_id AND d.payment_id = p.id
         LEFT JOIN hold_actions h ON h.environment_id = p.environment_id AND h.payment_id = p.id
         LEFT JOIN refunds r ON r.environment_id = p.environment_id AND r.payment_id = p.id
         WHERE p.environment_id = $1 AND p.id = $2
         ORDER BY a.number, d.opened_at, d.id, h.created_at, h.id, r.created_at, r.id",
        PAYMENTS.select_first(read_columns(), "p"),
        attempt_columns!(),
        state_columns!(),
        dispute_columns!(),
        hold_action_columns!(),
        refund_columns!()
    )
});

pub(crate) async fn find<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: PaymentId,
) -> Result<Option<CardPayment>, Fault> {
    let mut payment: Option<CardPayment> = None;
    let read = |cells: &mut Cells<'_>| {
        if let Some(payment) = &mut payment {
            cells.skip(read_columns());
            let attempt = read_attempt(cells)?;
            // The transaction is in every row.
            cells.skip(STATE_COLUMNS);
            let (dispute, action) = (read_dispute(cells)?, read_action(cells)?);
            let refund = read_refund(cells)?;
            let known = &mut payment.attempts;
            known.extend(attempt.filter(|it| known.last().is_none_or(|last| last.number != it.number)));
            let known = &mut payment.disputes;
            known.extend(dispute.filter(|it| known.iter().all(|known| known.id != it.id)));
            let known = &mut payment.hold_actions;
            known.extend(action.filter(|it| known.iter().all(|known| known.id != it.id)));
            let known = &mut payment.refunds;
            known.extend(refund.filter(|it| known.iter().all(|known| known.id != it.id)));
            return Ok(());
        }
        payment = Some(CardPayment {
            order: read_order(cells)?,
            progress: read_progress(cells)?,
            revision: cells.count("revision")?,
            attempts: read_attempt(cells)?.into_iter().collect(),
            transaction: transaction::read_if_any(cells)?,
            disputes: read_dispute(cells)?.into_iter().collect(),
            hold_actions: read_action(cells)?.into_iter().collect(),
            refunds: read_refund(cells)?.into_iter().collect(),
        });
        Ok(())
    };
    s.query(&FIND, values![environment, id], read).await?;
    if let Some(CardPayment { transaction: Some(transaction), disputes, .. }) = &mut payment
        && let Some(shown) = &mut transaction.state.dispute
        && let Some(dispute) = disputes.iter().find(|dispute| dispute.id == shown.id)
    {
        shown.withdrawn = dispute.withdrawn;
    }
    Ok(payment)
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
    s.query_opt(sql, values![environment, provider, object], |cells| cells.id()).await
}

pub(crate) async fn of_refund<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    refund: RefundId,
) -> Result<Option<PaymentId>, Fault> {
    let sql = "SELECT payment_id FROM refunds WHERE environment_id = $1 AND id = $2";
    s.query_opt(sql, values![environment, refund], |cells| cells.id()).await
}

pub(crate) async fn of_hold_action<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    action: HoldActionId,
) -> Result<Option<PaymentId>, Fault> {
    let sql = "SELECT payment_id FROM hold_actions WHERE environment_id = $1 AND id = $2";
    s.query_opt(sql, values![environment, action], |cells| cells.id()).await
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
    s.query(sql, values![environment, id, OBJECTS_MAX], |cells| cells.text()).await
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
    s.query(&list_sql(filter), values![environment, last, limit], |cells| cells.id()).await
}

/// What is claimed: payments that are due, or paid ones whose follow-up is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim {
    /// Asked before claiming, so that looking for work writes nothing while there is none.
    pub(crate) any: &'static str,
    pub(crate) due: &'static str,
    lease: &'static str,
}

pub(crate) const DUE: Claim = Claim {
    any: "SELECT 1 FROM card_payments WHERE due_at <= $1 ORDER BY due_at LIMIT 1",
    due: "SELECT due_at, id, environment_id FROM card_payments WHERE due_at <= $1 ORDER BY due_at LIMIT $2",
    lease: "UPDATE card_payments SET due_at = $3, tries = tries + 1 WHERE environment_id = $1 AND id = $2",
};

pub(crate) const FOLLOW_UPS: Claim = Claim {
    any: "SELECT 1 FROM card_payments WHERE follow_up_at <= $1 ORDER BY follow_up_at LIMIT 1",
    due: "SELECT follow_up_at, id, environment_id FROM card_payments
          WHERE follow_up_at <= $1 ORDER BY follow_up_at LIMIT $2",
    lease: "UPDATE card_payments SET follow_up_at = $3 WHERE environment_id = $1 AND id = $2",
};

pub(crate) async fn is_any_due<S: Session>(s: &mut S, claim: Claim, now: Timestamp) -> Result<bool, Fault> {
    s.exists(claim.any, values![now]).await
}

/// What another node is taking, or changing, in this very moment is passed over rather than waited for.
pub(crate) async fn claim<S: Session>(
    s: &mut S,
    claim: Claim,
    now: Timestamp,
    until: Timestamp,
    limit: u32,
) -> Result<Effect<Vec<(EnvironmentId, PaymentId)>>, Fault> {
    let mut due: Vec<(i64, PaymentId, EnvironmentId)> = s
        .query(&S::DIALECT.claimed(claim.due), values![now, limit], |cells| {
            Ok((cells.number()?, cells.id()?, cells.id()?))
        })
        .await?;
    due.sort_unstable();
    let due: Vec<_> = due.into_iter().map(|(_, id, environment)| (environment, id)).collect();
    let leases: Vec<Vec<Value<'_>>> =
        due.iter().map(|(environment, id)| row![*environment, *id, until]).collect();
    s.execute_each(claim.lease, &leases).await?;
    Ok(Effect::written_if(!due.is_empty(), due))
}
