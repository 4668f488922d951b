//! What a refund may keep of a fee.

use crate::{
    card_fee::{FeeKind, ReasonCode},
    refund::FeeRefund,
};

/// Whether a refund may treat a fee of this kind like that; either way with the reason.
pub const fn check_refund(kind: FeeKind, refund: FeeRefund) -> Result<ReasonCode, ReasonCode> {
    match (kind, refund) {
        (FeeKind::Surcharge, FeeRefund::None) => Err(ReasonCode::RefundNone),
        (FeeKind::Surcharge, FeeRefund::Proportional | FeeRefund::Full) => Ok(ReasonCode::RefundProRata),
        (FeeKind::Convenience | FeeKind::Service | FeeKind::Neutral, _) => Ok(ReasonCode::RefundFree),
    }
}
