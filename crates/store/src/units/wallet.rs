//! The wallets' books.

use tollgate_domain::{
    Currency, Minor,
    id::{EnvironmentId, PostingId},
    ledger::{Account, Balances, Movement, MovementError, entries},
};
use tollgate_engine::ports::{AppliedMovement, LedgerLine, Moved};

use super::postings::{Posting, with_entries};
use crate::{prelude::*, rows::Wallet};

/// The wallet's rows are locked first, in the order of the accounts' names, so that movements of one wallet follow one
/// another and never wait in a circle.
pub(crate) async fn move_funds<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    movement: &Movement,
) -> Result<Effect<Moved>, Fault> {
    let Some(mut wallet) = lock(s, environment, movement.currency).await? else {
        return Ok(Effect::Nothing(Moved::EnvironmentMissing));
    };
    let named = values![environment, movement.currency.code(), movement.cause.as_str(), &movement.reference];
    if let Some((posting, amount)) = posted(s, named).await? {
        if amount != movement.amount {
            return Ok(Effect::Nothing(Moved::ReferenceReused { amount }));
        }
        let applied = AppliedMovement { posting, replayed: true, balances: wallet.balances() };
        return Ok(Effect::Nothing(Moved::Done(applied)));
    }
    let entries = match entries(movement, wallet.balances().available, wallet.funded()) {
        Ok(entries) => entries,
        Err(MovementError::Insufficient { available }) => {
            return Ok(Effect::Nothing(Moved::Insufficient { available }));
        }
        Err(MovementError::TooMuch) => return Ok(Effect::Nothing(Moved::TooMuch)),
    };
    let posting = Posting {
        environment,
        currency: movement.currency,
        id: movement.posting,
        cause: movement.cause.into(),
        reference: &movement.reference,
        amount_minor: movement.amount.signed(),
        actor: &movement.actor,
        at: movement.at,
        provider: None,
        entries: &entries,
    };
    posting.write(s).await?;
    if !posting.add_up(s).await? {
        return Err(Fault::Misuse("a movement names an account that the wallet does not have"));
    }
    for entry in entries {
        wallet.add(entry.account, entry.amount_minor)?;
    }
    let applied = AppliedMovement { posting: movement.posting, replayed: false, balances: wallet.balances() };
    Ok(Effect::Written(Moved::Done(applied)))
}

/// The posting of an environment, currency, cause and reference, and its amount.
pub(super) async fn posted<S: Session>(
    s: &mut S,
    named: &[Value<'_>],
) -> Result<Option<(PostingId, Minor)>, Fault> {
    let sql = "SELECT id, amount_minor FROM ledger_postings
         WHERE environment_id = $1 AND currency = $2 AND cause = $3 AND reference = $4";
    s.query_opt(sql, named, read).await
}

/// Locks what is available in the wallet, which everything that touches a wallet locks first.
pub(crate) async fn lock_available<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    currency: Currency,
) -> Result<(), Fault> {
    let sql =
        "SELECT 1 FROM ledger_accounts WHERE environment_id = $1 AND currency = $2 AND account = 'available'";
    s.query(&S::DIALECT.locked(sql), values![environment, currency.code()], |_| Ok(())).await?;
    Ok(())
}

/// Locks the wallet, whose first accounts are made where they are missing; `None` if there is no environment.
pub(super) async fn lock<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    currency: Currency,
) -> Result<Option<Wallet>, Fault> {
    let lock = S::DIALECT.locked(
        "SELECT account, balance_minor FROM ledger_accounts
         WHERE environment_id = $1 AND currency = $2 ORDER BY account",
    );
    let values = values![environment, currency.code()];
    let mut accounts = s.query(&lock, values, read::<(Account, i64)>).await?;
    if accounts.is_empty() {
        let make = "INSERT INTO ledger_accounts (environment_id, currency, account, balance_minor)
             SELECT e.id, $2, a.account, 0
             FROM environments e CROSS JOIN (SELECT 'available' AS account UNION ALL SELECT 'funding') a
             WHERE e.id = $1 ORDER BY a.account
             ON CONFLICT DO NOTHING";
        s.execute(make, values).await?;
        accounts = s.query(&lock, values, read::<(Account, i64)>).await?;
    }
    if accounts.is_empty() {
        return Ok(None);
    }
    let mut wallet = Wallet::default();
    for (account, balance) in accounts {
        wallet.hold(account, balance)?;
    }
    Ok(Some(wallet))
}

pub(crate) async fn balances<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    currency: Currency,
) -> Result<Option<Balances>, Fault> {
    let sql = "SELECT a.account, a.balance_minor FROM environments e
         LEFT JOIN ledger_accounts a ON a.environment_id = e.id AND a.currency = $2
         WHERE e.id = $1";
    let accounts: Vec<(Option<Account>, Option<i64>)> =
        s.query(sql, values![environment, currency.code()], read).await?;
    if accounts.is_empty() {
        return Ok(None);
    }
    let mut wallet = Wallet::default();
    for (account, balance) in accounts {
        if let (Some(account), Some(balance)) = (account, balance) {
            wallet.hold(account, balance)?;
        }
    }
    Ok(Some(wallet.balances()))
}

pub(crate) async fn currencies<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
) -> Result<Vec<Currency>, Fault> {
    let sql = "SELECT DISTINCT currency FROM ledger_accounts WHERE environment_id = $1 ORDER BY currency";
    s.query(sql, values![environment], read).await
}

/// The columns of a [`LedgerLine`], of ledger_postings as `p` and posting_entries as `e`.
macro_rules! line_columns {
    () => {
        "p.id, p.cause, p.reference, p.actor, p.at, e.account, e.amount_minor"
    };
}

pub(super) use line_columns;

stored! { LedgerLine { posting, cause, reference, actor, at, account, amount_minor } }

pub(crate) async fn ledger<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    currency: Currency,
    before: Option<PostingId>,
    limit: u32,
) -> Result<Vec<LedgerLine>, Fault> {
    let Some(last) = rows::up_to_before(before) else { return Ok(Vec::new()) };
    let sql = concat!(
        "SELECT ",
        line_columns!(),
        " FROM (SELECT * FROM ledger_postings WHERE environment_id = $1 AND currency = $2 AND id <= $3
               ORDER BY id DESC LIMIT $4) p
         JOIN posting_entries e ON e.environment_id = $1 AND e.currency = $2 AND e.posting_id = p.id"
    );
    let values = values![environment, currency.code(), last, limit];
    let mut lines: Vec<LedgerLine> = s.query(&with_entries(S::DIALECT, sql), values, read).await?;
    rows::newest_first(&mut lines);
    Ok(lines)
}
