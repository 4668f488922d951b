//! Refunds that wait for people.

use tollgate_domain::{
    Currency,
    approval::ApprovalState,
    id::{ApprovalId, EnvironmentId},
};
use tollgate_engine::ports::{ApprovalQuery, RefundToApprove};

use super::transfers::LAST_APPROVAL;
use crate::{
    prelude::*,
    rows::payment::{read_refund, refund_columns},
};

macro_rules! with_approval {
    ($condition:literal) => {
        concat!(
            "SELECT p.id, p.provider, p.currency, ",
            refund_columns!(),
            " FROM refunds r JOIN card_payments p ON p.environment_id = r.environment_id AND p.id = r.payment_id
             WHERE r.environment_id = $1 AND ",
            $condition
        )
    };
}

pub(crate) const ALL: &str =
    with_approval!("r.approval_id IS NOT NULL AND r.approval_id < $2 ORDER BY r.approval_id DESC LIMIT $3");
pub(crate) const OPEN: &str = with_approval!(
    "r.approval_state = 'required' AND r.approval_id < $2 ORDER BY r.approval_id DESC LIMIT $3"
);
const IN_STATE: &str = with_approval!(
    "r.approval_id IS NOT NULL AND r.approval_id < $2 AND r.approval_state = $4 ORDER BY r.approval_id DESC LIMIT $3"
);
const ONE: &str = with_approval!("r.approval_id IS NOT NULL AND r.approval_id = $2");

fn read(cells: &mut Cells<'_>) -> Result<RefundToApprove, Fault> {
    Ok(RefundToApprove {
        payment: cells.id()?,
        provider: cells.text()?,
        currency: cells.word("currency", Currency::parse)?,
        refund: read_refund(cells)?.ok_or(CorruptRow("refund without an id"))?,
    })
}

pub(crate) async fn list<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    query: ApprovalQuery,
) -> Result<Vec<RefundToApprove>, Fault> {
    let before = query.before.map_or_else(|| LAST_APPROVAL.to_owned(), |id| id.to_string());
    match query.state {
        None => s.query(ALL, values![environment, before, query.limit], read).await,
        Some(ApprovalState::Required) => s.query(OPEN, values![environment, before, query.limit], read).await,
        Some(state) => {
            s.query(IN_STATE, values![environment, before, query.limit, state.as_str()], read).await
        }
    }
}

pub(crate) async fn find<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    id: ApprovalId,
) -> Result<Option<RefundToApprove>, Fault> {
    s.query_opt(ONE, values![environment, id.to_string()], read).await
}
