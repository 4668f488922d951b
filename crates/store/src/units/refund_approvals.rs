//! Refunds that wait for people.

use std::sync::LazyLock;

use tollgate_domain::id::{ApprovalId, EnvironmentId};
use tollgate_engine::ports::RefundToApprove;

use super::approvals::approvals;
use crate::{prelude::*, rows::payment::refund_columns};

stored! { RefundToApprove { payment, provider, currency, refund } }

approvals! {
    RefundToApprove,
    read,
    format_args!(
        "SELECT p.id, p.provider, p.currency, {} FROM refunds r
         JOIN card_payments p ON p.environment_id = r.environment_id AND p.id = r.payment_id
         WHERE r.environment_id = $1",
        refund_columns!()
    ),
    "AND r.approval_id IS NOT NULL",
    "r.approval_id",
    "r.approval_state",
    ApprovalId::to_string
}
