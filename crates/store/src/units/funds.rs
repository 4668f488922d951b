//! Movements of money into and out of wallets that wait for somebody else.

use tollgate_domain::{
    Currency,
    approval::ApprovalState,
    event::EventKind,
    id::{ApprovalId, EnvironmentId, EventId},
    ledger::Cause,
};
use tollgate_engine::ports::{
    AppliedMovement, ApprovalQuery, FundRequest, FundsDecided, FundsDecision, FundsRequested, MoveOrder,
    Moved,
};

use super::{
    out_events::{deliver, insert},
    wallet,
};
use crate::{
    prelude::*,
    rows::{
        approval,
        out_event::{FUNDS, in_filter, write_funds},
    },
};

/// The columns that [`read`] takes.
macro_rules! request_columns {
    () => {
        "SELECT environment_id, id, state, approval, currency, cause, amount_minor, reference, actor, at, posting_id
         FROM fund_requests WHERE environment_id = $1"
    };
}

pub(crate) const LIST: &str = concat!(request_columns!(), " AND id < $2 ORDER BY id DESC LIMIT $3");
pub(crate) const LIST_OPEN: &str =
    concat!(request_columns!(), " AND id < $2 AND state = 'required' ORDER BY id DESC LIMIT $3");
const LIST_IN_STATE: &str =
    concat!(request_columns!(), " AND id < $2 AND state = $4 ORDER BY id DESC LIMIT $3");
const ONE: &str = concat!(request_columns!(), " AND id = $2");
const OF_REFERENCE: &str =
    concat!(request_columns!(), " AND currency = $2 AND cause = $3 AND reference = $4");

fn read(cells: &mut Cells<'_>) -> Result<FundRequest, Fault> {
    let (environment, id) = (cells.id()?, cells.id()?);
    let (state, stored) = (cells.text()?, cells.text()?);
    let order = MoveOrder {
        currency: cells.word("currency", Currency::parse)?,
        cause: cells.word("cause of a movement", Cause::parse)?,
        amount: cells.amount()?,
        reference: cells.text()?,
    };
    let (actor, at, posting) = (cells.text()?, cells.moment()?, cells.id_or_none()?);
    Ok(FundRequest {
        environment,
        approval: approval::parse(id, &state, &stored)?,
        order,
        actor,
        at,
        posting,
    })
}

/// The wallet is locked first, as by everything that touches it.
pub(crate) async fn request<S: Session>(
    s: &mut S,
    request: &FundRequest,
    event: EventId,
    most: u32,
) -> Result<Effect<FundsRequested>, Fault> {
    let FundRequest { environment, approval, order, .. } = request;
    let Some(wallet) = wallet::lock(s, *environment, order.currency).await? else {
        return Ok(Effect::Nothing(FundsRequested::EnvironmentMissing));
    };
    let named = values![*environment, order.currency.code(), order.cause.as_str(), &order.reference];
    let posted = wallet::posted(s, named).await?;
    let known = s.query_opt(OF_REFERENCE, named, read).await?;
    let used = posted.map(|(_, amount)| amount).or(known.as_ref().map(|known| known.order.amount));
    if let Some(amount) = used.filter(|amount| *amount != order.amount) {
        return Ok(Effect::Nothing(FundsRequested::ReferenceReused { amount }));
    }
    if let Some((posting, _)) = posted {
        let applied = AppliedMovement { posting, replayed: true, balances: wallet.balances() };
        return Ok(Effect::Nothing(FundsRequested::Moved(applied)));
    }
    if let Some(known) = known {
        return Ok(Effect::Nothing(FundsRequested::Known(Box::new(known))));
    }
    let sql = "SELECT count(*) FROM fund_requests
         WHERE environment_id = $1 AND currency = $2 AND state = 'required'";
    let values = values![*environment, order.currency.code()];
    let open: u64 = s.query_one(sql, values, |cells| cells.count("open requests")).await?;
    if open >= u64::from(most) {
        return Ok(Effect::Nothing(FundsRequested::TooMany));
    }
    let sql = "INSERT INTO fund_requests
             (environment_id, id, state, approval, currency, cause, amount_minor, reference, actor, at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    let stored = approval::write(approval);
    let values = values![
        *environment,
        approval.id,
        approval.state.as_str(),
        stored.as_deref(),
        order.currency.code(),
        order.cause.as_str(),
        order.amount,
        &order.reference,
        &request.actor,
        request.at
    ];
    s.execute(sql, values).await?;
    let kind = EventKind::ApprovalRequired;
    let (at, state) = (request.at, write_funds(request));
    let values = values![*environment, event, kind.as_str(), FUNDS, approval.id, at, state];
    s.execute(insert(S::DIALECT), values).await?;
    s.execute(deliver(S::DIALECT), values![*environment, event, at, in_filter(kind)]).await?;
    Ok(Effect::Written(FundsRequested::Kept))
}

pub(crate) async fn list<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    query: ApprovalQuery,
) -> Result<Vec<FundRequest>, Fault> {
    let before = query.before.unwrap_or_else(|| ApprovalId::from_bytes([u8::MAX; 16]));
    match query.state {
        None => s.query(LIST, values![environment, before, query.limit], read).await,
        Some(ApprovalState::Required) => {
            s.query(LIST_OPEN, values![environment, before, query.limit], read).await
        }
        Some(state) => {
            let values = values![environment, before, query.limit, state.as_str()];
            s.query(LIST_IN_STATE, values, read).await
        }
    }
}

pub(crate) async fn find<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: ApprovalId,
) -> Result<Option<FundRequest>, Fault> {
    s.query_opt(ONE, values![environment, id], read).await
}

pub(crate) async fn decide<S: Session>(
    s: &mut S,
    seen: &FundRequest,
    decision: &FundsDecision,
) -> Result<Effect<FundsDecided>, Fault> {
    let FundsDecision { approval, movement } = decision;
    let (environment, id) = (seen.environment, seen.approval.id);
    wallet::lock(s, environment, seen.order.currency).await?;
    if find(s, environment, id).await?.as_ref() != Some(seen) {
        return Ok(Effect::Nothing(FundsDecided::Changed));
    }
    let mut posting = None;
    if let Some(movement) = movement {
        match wallet::move_funds(s, environment, movement).await?.into_value() {
            Moved::Done(applied) => posting = Some(applied.posting),
            refused => return Ok(Effect::Nothing(FundsDecided::Refused(refused))),
        }
    }
    let sql = "UPDATE fund_requests SET state = $3, approval = $4, posting_id = $5
         WHERE environment_id = $1 AND id = $2";
    let stored = approval::write(approval);
    s.execute(sql, values![environment, id, approval.state.as_str(), stored.as_deref(), posting]).await?;
    Ok(Effect::Written(FundsDecided::Done { posting }))
}
