//! Refunds as callers and operators see them.

use serde::Serialize;
use serde_json::value::RawValue;
use tollgate_domain::{
    Currency, Minor,
    refund::{FeeRefund, Refund, RefundReason},
};
use tollgate_engine::ports::CardPayment;
use utoipa::ToSchema;

use crate::{
    json::{minor::digits, timestamp::rfc3339},
    reference::{scalars, words},
    response::transaction::{FailureResponse, TransferApprovalResponse, failure, stored_json},
};

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Refund)]
pub(crate) struct RefundResponse {
    refund_reference: String,
    service_reference: String,
    #[schema(value_type = words::RefundStatus)]
    status: &'static str,
    /// The principal that goes back.
    #[serde(serialize_with = "digits")]
    #[schema(value_type = scalars::MinorUnits)]
    amount_minor: Minor,
    /// The part of the service fee that goes back with it.
    #[serde(serialize_with = "digits")]
    #[schema(value_type = scalars::MinorUnits)]
    fee_minor: Minor,
    /// Both together: what the customer gets.
    #[serde(serialize_with = "digits")]
    #[schema(value_type = scalars::MinorUnits)]
    total_refund_minor: Minor,
    #[schema(value_type = scalars::CurrencyCode)]
    currency: String,
    provider: String,
    /// The provider's name for it, once it exists there.
    #[schema(required)]
    provider_reference: Option<String>,
    /// As it was asked for; null for the environment's own rule.
    #[schema(value_type = Option<words::FeeRefund>, required)]
    fee_refund: Option<&'static str>,
    #[schema(value_type = Option<words::RefundReason>, required)]
    reason: Option<&'static str>,
    #[schema(required)]
    description: Option<String>,
    #[schema(value_type = scalars::Metadata)]
    metadata: Box<RawValue>,
    /// Why it failed, or, while it is pending, why the provider has not sent it yet.
    #[schema(required)]
    failure: Option<FailureResponse>,
    #[schema(value_type = words::RefundOrigin)]
    origin: &'static str,
    /// What people have to decide, or have decided, before it is sent; null if nobody has to.
    #[schema(required)]
    approval: Option<TransferApprovalResponse>,
    #[schema(value_type = scalars::Moment)]
    created_at: String,
    #[schema(value_type = scalars::Moment)]
    updated_at: String,
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
            status: refund.status.as_str(),
            amount_minor: refund.principal,
            fee_minor: refund.fee,
            total_refund_minor: refund.total(),
            currency: currency.to_string(),
            provider: provider.to_owned(),
            provider_reference: refund.provider_reference.clone(),
            fee_refund: terms.fee_refund.map(FeeRefund::as_str),
            reason: terms.reason.map(RefundReason::as_str),
            description: terms.description.clone(),
            metadata: stored_json(&terms.metadata),
            failure: refund.failure.as_ref().map(failure),
            origin: refund.origin.as_str(),
            approval: refund.approval.as_ref().map(TransferApprovalResponse::of),
            created_at: rfc3339(refund.created_at),
            updated_at: rfc3339(refund.updated_at),
        }
    }
}

/// The refunds of a transaction.
pub(crate) fn all(payment: &CardPayment) -> Vec<RefundResponse> {
    payment.refunds.iter().map(|refund| RefundResponse::of(payment, refund)).collect()
}

/// A refund that was asked for.
#[derive(Serialize, ToSchema)]
#[schema(as = RefundResult)]
pub(crate) struct RefundCreatedResponse {
    pub(crate) refund: RefundResponse,
    pub(crate) replayed: bool,
}
