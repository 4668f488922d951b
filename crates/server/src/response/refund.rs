//! Refunds as callers and operators see them.

use tollgate_domain::{
    Currency,
    refund::{FeeRefund, Refund, RefundReason},
};
use tollgate_engine::ports::CardPayment;

use crate::{
    response::transaction::{FailureResponse, TransferApprovalResponse, failure},
    types::prelude::*,
};

responses! {
    RefundResponse as Refund {
        refund_reference: String,
        service_reference: String,
        status: words::RefundStatus,
        /// The principal that goes back.
        amount_minor: MinorUnits,
        /// The part of the service fee that goes back with it.
        fee_minor: MinorUnits,
        /// Both together: what the customer gets.
        total_refund_minor: MinorUnits,
        currency: CurrencyCode,
        provider: String,
        /// The provider's name for it, once it exists there.
        provider_reference: Option<String>,
        /// As it was asked for; null for the environment's own rule.
        fee_refund: Option<words::FeeRefund>,
        reason: Option<words::RefundReason>,
        description: Option<String>,
        metadata: Metadata,
        /// Why it failed, or, while it is pending, why the provider has not sent it yet.
        failure: Option<FailureResponse>,
        origin: words::RefundOrigin,
        /// What people have to decide, or have decided, before it is sent; null if nobody has to.
        approval: Option<TransferApprovalResponse>,
        created_at: Moment,
        updated_at: Moment,
    }
}

impl RefundResponse {
    pub(crate) fn of(payment: &CardPayment, refund: &Refund) -> Self {
        let order = &payment.order;
        Self::new(order.id.to_string(), &order.provider, order.currency, refund)
    }

    pub(crate) fn new(
        service_reference: String,
        provider: &str,
        currency: Currency,
        refund: &Refund,
    ) -> Self {
        let terms = &refund.terms;
        Self {
            refund_reference: refund.id.to_string(),
            service_reference,
            status: refund.status.as_str().into(),
            amount_minor: refund.principal.into(),
            fee_minor: refund.fee.into(),
            total_refund_minor: refund.total().into(),
            currency: currency.into(),
            provider: provider.to_owned(),
            provider_reference: refund.provider_reference.clone(),
            fee_refund: terms.fee_refund.map(FeeRefund::as_str).map(Into::into),
            reason: terms.reason.map(RefundReason::as_str).map(Into::into),
            description: terms.description.clone(),
            metadata: Metadata::stored(&terms.metadata),
            failure: refund.failure.as_ref().map(failure),
            origin: refund.origin.as_str().into(),
            approval: refund.approval.as_ref().map(TransferApprovalResponse::of),
            created_at: Moment(refund.created_at),
            updated_at: Moment(refund.updated_at),
        }
    }
}

pub(crate) fn all(payment: &CardPayment) -> Vec<RefundResponse> {
    payment.refunds.iter().map(|refund| RefundResponse::of(payment, refund)).collect()
}

responses! {
    /// A refund that was asked for.
    RefundCreatedResponse as RefundResult {
        pub(crate) refund: RefundResponse,
        pub(crate) replayed: bool,
    }
}
