//! Bank transfers as they are reserved, found, listed and claimed.

use tollgate_domain::{
    Minor, ServiceReference,
    id::{EnvironmentId, TransactionId, TransferId},
    ledger::{Account, PostingCause, TransferStep},
};
use tollgate_engine::ports::{NewTransfer, Reserved, Transfer};

use super::{
    directory,
    limits::{self, Counted},
    postings::Posting,
    wallet,
};
use crate::{
    prelude::*,
    rows::{
        is_unstorable,
        transfer::{
            ACTOR, TRANSACTIONS, TRANSFERS, moved, read, transaction_row, transfer_columns, transfer_row,
        },
    },
};

/// On SQLite; on PostgreSQL, reservations share transactions unless there are limits. Decides before it writes: first whether
/// the reference is free, then by counting it, and then by taking the funds, which writes nothing where they do not suffice.
pub(crate) async fn reserve<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    new: &NewTransfer,
) -> Result<Effect<Reserved>, Fault> {
    let order = &new.order;
    if order.environment != environment {
        return Err(Fault::Misuse("a transfer was to be stored in another environment than its own"));
    }
    if S::DIALECT == Dialect::Postgres {
        wallet::lock_available(s, environment, order.currency).await?;
    }
    let sql = "SELECT 1 FROM transactions WHERE environment_id = $1 AND method = 'ach' AND reference = $2";
    if s.exists(sql, values![environment, order.id]).await? {
        let Some(existing) = find(s, environment, order.id).await? else {
            return Err(Fault::Misuse("a transaction of a transfer has no transfer"));
        };
        return Ok(Effect::Nothing(Reserved::Existing(Box::new(existing))));
    }
    let counted = Counted {
        environment,
        reference: ServiceReference::Ach(order.id),
        at: order.created_at,
        principal: Minor::from(order.fee.principal),
    };
    if let Some(exceeded) = limits::count(s, counted, &new.limits).await? {
        return Ok(Effect::Nothing(Reserved::LimitExceeded(exceeded)));
    }
    let entries = TransferStep::Reserve.entries(&order.fee);
    let posting = Posting {
        environment,
        currency: order.currency,
        id: new.posting,
        cause: PostingCause::Reserve,
        reference: &order.id.to_string(),
        amount_minor: moved(&entries)?,
        actor: ACTOR,
        at: order.created_at,
        provider: Some(&order.provider),
        entries: &entries,
    };
    if !posting.add_up(s).await? {
        return Ok(Effect::Nothing(why_not(s, environment, new).await?));
    }
    s.insert(&TRANSACTIONS, vec![transaction_row(new)]).await?;
    s.insert(&TRANSFERS, vec![transfer_row(new)]).await?;
    posting.write(s).await?;
    Ok(Effect::Written(Reserved::Created))
}

/// Why the funds were not there to take.
async fn why_not<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    new: &NewTransfer,
) -> Result<Reserved, Fault> {
    let sql = "SELECT balance_minor FROM ledger_accounts
         WHERE environment_id = $1 AND currency = $2 AND account = $3";
    let values = values![environment, new.order.currency.code(), Account::Available.as_str()];
    let available = s.query_opt(sql, values, |cells| cells.amount()).await?;
    if available.is_none() && directory::stamp(s, environment).await?.is_none() {
        return Ok(Reserved::EnvironmentMissing);
    }
    Ok(Reserved::Insufficient { available: available.unwrap_or_default() })
}

pub(crate) const FIND: &str = concat!(
    "SELECT ",
    transfer_columns!(),
    " FROM transactions t
     JOIN transfers f ON f.environment_id = t.environment_id AND f.transaction_id = t.id
     WHERE t.environment_id = $1 AND t.method = 'ach' AND t.reference = $2"
);

pub(crate) async fn find<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: TransferId,
) -> Result<Option<Transfer>, Fault> {
    s.query_opt(FIND, values![environment, id], read).await
}

/// Without an order, for which either database might read through all of an environment's transactions.
pub(crate) const OF_OBJECT: &str = concat!(
    "SELECT ",
    transfer_columns!(),
    " FROM transactions t INDEXED BY transactions_by_object
     JOIN transfers f ON f.environment_id = t.environment_id AND f.transaction_id = t.id
     WHERE t.environment_id = $1 AND t.provider_reference = $3 AND t.provider = $2 AND t.method = 'ach'"
);
const OF_OBJECT_ON_SERVER: &str = concat!(
    "WITH named AS MATERIALIZED (
         SELECT id FROM transactions
         WHERE environment_id = $1 AND provider_reference COLLATE \"C\" = $3 AND provider = $2 AND method = 'ach')
     SELECT ",
    transfer_columns!(),
    " FROM named JOIN transactions t ON t.environment_id = $1 AND t.id = named.id
     JOIN transfers f ON f.environment_id = t.environment_id AND f.transaction_id = t.id"
);

/// The first of those that the provider gave this name.
pub(crate) async fn of_object<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    provider: &str,
    object: &str,
) -> Result<Option<Transfer>, Fault> {
    if is_unstorable(provider) || is_unstorable(object) {
        return Ok(None);
    }
    let sql = S::DIALECT.pick(OF_OBJECT, OF_OBJECT_ON_SERVER);
    let transfers = s.query(sql, values![environment, provider, object], read).await?;
    Ok(transfers.into_iter().min_by_key(|transfer| transfer.transaction))
}

macro_rules! waiting {
    ($join:literal) => {
        concat!(
            "SELECT ",
            transfer_columns!(),
            " FROM transfers f ",
            $join,
            " transactions t ON t.environment_id = f.environment_id AND t.id = f.transaction_id
             WHERE f.environment_id = $1 AND f.transaction_id <= $2 AND f.waiting IS NOT NULL
             ORDER BY f.transaction_id DESC LIMIT $3"
        )
    };
}

pub(crate) const WAITING: &str = waiting!("CROSS JOIN");

pub(crate) async fn waiting<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    before: Option<TransactionId>,
    limit: u32,
) -> Result<Vec<Transfer>, Fault> {
    let Some(last) = rows::up_to_before(before) else { return Ok(Vec::new()) };
    s.query(S::DIALECT.pick(WAITING, waiting!("JOIN")), values![environment, last, limit], read).await
}
