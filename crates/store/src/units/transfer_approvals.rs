//! Transfers that wait for people.

use std::sync::LazyLock;

use tollgate_domain::id::{ApprovalId, EnvironmentId};
use tollgate_engine::ports::Transfer;

use super::approvals::approvals;
use crate::{
    prelude::*,
    rows::{
        approval,
        transfer::{read, transfer_columns},
    },
};

macro_rules! transfers {
    () => {
        concat!(
            "SELECT ",
            transfer_columns!(),
            " FROM transfers f JOIN transactions t ON t.environment_id = f.environment_id AND t.id = f.transaction_id
             WHERE f.environment_id = $1"
        )
    };
}

approvals! {
    Transfer, read, transfers!(), "AND f.approval_id IS NOT NULL", "f.approval_id", "f.approval_state",
    ApprovalId::to_string
}

pub(crate) const APPROVED_ACCOUNT: &str = "SELECT 1 FROM transfers
     WHERE environment_id = $1 AND approval_state = 'approved' AND approval_account = $2 LIMIT 1";

pub(crate) async fn is_approved_account<S: Session>(
    s: &mut S,
    environment: EnvironmentId,
    account: &[u8; 32],
) -> Result<bool, Fault> {
    s.exists(APPROVED_ACCOUNT, values![environment, approval::account(account)]).await
}
