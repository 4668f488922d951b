//! Movements of money into and out of wallets that wait for somebody else.

use std::sync::LazyLock;

use tollgate_domain::{
    Currency,
    event::EventKind,
    id::{ApprovalId, EnvironmentId, EventId},
    ledger::Cause,
};
use tollgate_engine::ports::{
    AppliedMovement, FundRequest, FundsDecided, FundsDecision, FundsRequested, MoveOrder, Moved,
};

use super::{
    approvals::approvals,
    out_events::{Notice, notify},
    wallet,
};
use crate::{
    prelude::*,
    rows::{
        approval,
        out_event::{FUNDS, write_funds},
    },
};

/// The columns that [`read`] takes.
macro_rules! request_columns {
    () => {
        "SELECT environment_id, id, state, approval, currency, cause, amount_minor, reference, actor, at, posting_id
         FROM fund_requests WHERE environment_id = $1"
    };
}

approvals! { FundRequest, read, request_columns!(), "", "id", "state", |id: &ApprovalId| *id }

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
    let existing = s.query_opt(OF_REFERENCE, named, read).await?;
    let used = posted.map(|(_, amount)| amount).or(existing.as_ref().map(|existing| existing.order.amount));
    if let Some(amount) = used.filter(|amount| *amount != order.amount) {
        return Ok(Effect::Nothing(FundsRequested::ReferenceReused { amount }));
    }
    if let Some((posting, _)) = posted {
        let applied = AppliedMovement { posting, replayed: true, balances: wallet.balances() };
        return Ok(Effect::Nothing(FundsRequested::Moved(applied)));
    }
    if let Some(existing) = existing {
        return Ok(Effect::Nothing(FundsRequested::Known(Box::new(existing))));
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
    let (kind, about) = (EventKind::ApprovalRequired, (FUNDS, approval.id.to_bytes()));
    let notice = Notice {
        environment: *environment,
        id: event,
        kind,
        about,
        at: request.at,
        state: write_funds(request),
    };
    notify(s, notice).await?;
    Ok(Effect::Written(FundsRequested::Kept))
}

pub(crate) async fn decide<S: Session>(
    s: &mut S,
    expected: &FundRequest,
    decision: &FundsDecision,
) -> Result<Effect<FundsDecided>, Fault> {
    let FundsDecision { approval, movement } = decision;
    let (environment, id) = (expected.environment, expected.approval.id);
    wallet::lock(s, environment, expected.order.currency).await?;
    if find(s, environment, id).await?.as_ref() != Some(expected) {
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
