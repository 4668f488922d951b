//! Transactions as callers and operators see them.

use serde::Serialize;
use serde_json::value::RawValue;
use tollgate_domain::{
    Channel, Currency, Minor, ServiceReference, Timestamp,
    ach::is_return_code,
    approval::Approval,
    fee::{BREAKDOWN_VERSION, FeeSnapshot},
    hold::HoldActionKind,
    transaction::{Dispute, Failure, Transaction, TransactionState},
};
use tollgate_engine::ports::{CardPayment, Transfer};
use utoipa::ToSchema;

use crate::{
    json::{minor::digits, timestamp::rfc3339},
    reference::{scalars, words},
};

/// The five amounts of every payment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the API's own names")]
#[schema(as = Amounts)]
pub(crate) struct AmountsResponse {
    #[serde(serialize_with = "digits")]
    #[schema(value_type = scalars::MinorUnits)]
    amount_minor: Minor,
    #[serde(serialize_with = "digits")]
    #[schema(value_type = scalars::MinorUnits)]
    platform_fee_minor: Minor,
    #[serde(serialize_with = "digits")]
    #[schema(value_type = scalars::MinorUnits)]
    organization_fee_minor: Minor,
    #[serde(serialize_with = "digits")]
    #[schema(value_type = scalars::MinorUnits)]
    fee_minor: Minor,
    #[serde(serialize_with = "digits")]
    #[schema(value_type = scalars::MinorUnits)]
    total_debit_minor: Minor,
}

impl AmountsResponse {
    pub(crate) fn of(fee: &FeeSnapshot) -> Self {
        Self {
            amount_minor: fee.principal.into(),
            platform_fee_minor: fee.platform.fee,
            organization_fee_minor: fee.organization.fee,
            fee_minor: fee.fee,
            total_debit_minor: fee.total_debit,
        }
    }
}

/// What the fee was computed for, without its layers.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Fee)]
pub(crate) struct FeeResponse {
    version: u32,
    provider: String,
    #[schema(value_type = words::PaymentMethod)]
    payment_method: &'static str,
    #[schema(value_type = scalars::CurrencyCode)]
    currency: String,
    #[schema(value_type = words::FeeChannel)]
    channel: &'static str,
}

impl FeeResponse {
    pub(crate) fn of(
        provider: &str,
        reference: ServiceReference,
        currency: Currency,
        channel: Channel,
    ) -> Self {
        Self {
            version: BREAKDOWN_VERSION,
            provider: provider.to_owned(),
            payment_method: reference.method().as_str(),
            currency: currency.to_string(),
            channel: channel.fee_channel(),
        }
    }
}

#[derive(Serialize, ToSchema)]
#[schema(as = TransactionFailure)]
pub(crate) struct FailureResponse {
    code: String,
    /// `return`: the receiving bank sent a transfer back, even after it arrived. Everything else is a `failure`.
    #[schema(value_type = words::FailureKind)]
    kind: &'static str,
    message: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Dispute)]
pub(crate) struct DisputeResponse {
    id: String,
    status: String,
    #[schema(required)]
    reason: Option<String>,
    #[schema(value_type = Option<scalars::MinorUnits>, required)]
    amount_minor: Option<String>,
    /// Until when the provider takes evidence; null where it did not say, or takes none.
    #[schema(value_type = Option<scalars::Moment>, required)]
    respond_by: Option<String>,
}

/// Where the approval of a transfer, a refund or a wallet movement stands.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TransferApproval)]
pub(crate) struct TransferApprovalResponse {
    #[schema(value_type = words::ApprovalState)]
    state: &'static str,
    /// How many people have to approve.
    count: u32,
    /// How many have.
    approvals: usize,
    /// The IDs of the rules that ask for it, and the limits that it exceeds.
    reasons: Vec<String>,
}

impl TransferApprovalResponse {
    pub(crate) fn of(approval: &Approval) -> Self {
        Self {
            state: approval.state.as_str(),
            count: approval.count,
            approvals: approval.approvals(),
            reasons: approval.reasons.clone(),
        }
    }
}

/// A transaction.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Transaction)]
pub(crate) struct TransactionResponse {
    service_reference: String,
    /// Rises with every change of the payment: of two answers or events, the one with the higher number is the later one.
    revision: u64,
    #[schema(value_type = words::TransactionStatus)]
    status: &'static str,
    /// What the customer pays; once a payment was captured by hand, what was captured.
    #[serde(flatten)]
    amounts: AmountsResponse,
    /// What was authorized, of a payment that is captured by hand.
    #[schema(required)]
    authorized: Option<AmountsResponse>,
    /// When the provider releases what was not captured.
    #[schema(value_type = Option<scalars::Moment>, required)]
    capture_before: Option<String>,
    /// A capture, a void or, where one transfer is read, a cancellation whose outcome is not known yet; it is resolved by
    /// itself.
    #[schema(value_type = Option<words::PendingAction>, required)]
    pending_action: Option<&'static str>,
    /// What people have to decide, or have decided, before a transfer is sent; only where one transfer is read.
    #[schema(required)]
    approval: Option<TransferApprovalResponse>,
    #[schema(value_type = scalars::CurrencyCode)]
    currency: String,
    #[schema(value_type = words::PaymentMethod)]
    payment_method: &'static str,
    provider: String,
    #[schema(value_type = words::Channel)]
    channel: &'static str,
    fee: FeeResponse,
    #[schema(required)]
    provider_reference: Option<String>,
    #[schema(required)]
    failure: Option<FailureResponse>,
    #[serde(serialize_with = "digits")]
    #[schema(value_type = scalars::MinorUnits)]
    refunded_minor: Minor,
    #[schema(required)]
    dispute: Option<DisputeResponse>,
    #[schema(required)]
    description: Option<String>,
    #[schema(value_type = scalars::Metadata)]
    metadata: Box<RawValue>,
    #[schema(value_type = scalars::Moment)]
    created_at: String,
    #[schema(value_type = scalars::Moment)]
    updated_at: String,
}

impl TransactionResponse {
    pub(crate) fn of(transaction: &Transaction) -> Self {
        Self::assembled(
            &Facts {
                reference: transaction.reference,
                revision: transaction.revision,
                provider: &transaction.provider,
                channel: transaction.channel,
                currency: transaction.currency,
                fee: &transaction.fee,
                description: transaction.description.as_deref(),
                metadata: &transaction.metadata,
            },
            &transaction.state,
            transaction.created_at,
            transaction.updated_at,
        )
    }

    /// The transaction of a card payment, once it exists.
    pub(crate) fn of_payment(payment: &CardPayment) -> Option<Self> {
        let transaction = payment.transaction.as_ref()?;
        let order = &payment.order;
        let facts = Facts {
            reference: ServiceReference::Card(order.id),
            revision: payment.revision,
            provider: &order.provider,
            channel: order.channel,
            currency: order.currency,
            fee: &order.fee,
            description: order.description.as_deref(),
            metadata: &order.metadata,
        };
        Some(Self::assembled(&facts, &transaction.state, transaction.created_at, transaction.updated_at))
    }

    /// The transaction of a transfer.
    pub(crate) fn of_transfer(transfer: &Transfer) -> Self {
        let order = &transfer.order;
        let facts = Facts {
            reference: ServiceReference::Ach(order.id),
            revision: transfer.revision,
            provider: &order.provider,
            channel: order.channel,
            currency: order.currency,
            fee: &order.fee,
            description: order.description.as_deref(),
            metadata: &order.metadata,
        };
        let is_canceling = transfer.progress.cancel_requested_at.is_some();
        Self {
            pending_action: is_canceling.then_some("cancel"),
            approval: transfer.progress.approval.as_ref().map(TransferApprovalResponse::of),
            ..Self::assembled(&facts, &transfer.state, order.created_at, transfer.updated_at)
        }
    }

    fn assembled(
        facts: &Facts<'_>,
        state: &TransactionState,
        created_at: Timestamp,
        updated_at: Timestamp,
    ) -> Self {
        Self {
            service_reference: facts.reference.to_string(),
            revision: facts.revision,
            status: state.status.as_str(),
            amounts: AmountsResponse::of(&state.amounts(facts.fee)),
            authorized: state.hold.map(|_| AmountsResponse::of(facts.fee)),
            capture_before: state.hold.and_then(|hold| hold.capture_before).map(rfc3339),
            pending_action: state.hold.and_then(|hold| hold.pending).map(HoldActionKind::as_str),
            approval: None,
            currency: facts.currency.to_string(),
            payment_method: facts.reference.method().as_str(),
            provider: facts.provider.to_owned(),
            channel: facts.channel.as_str(),
            fee: FeeResponse::of(facts.provider, facts.reference, facts.currency, facts.channel),
            provider_reference: state.provider_reference.clone(),
            failure: state.failure.as_ref().map(failure),
            refunded_minor: state.refunded,
            dispute: state.dispute.as_ref().map(DisputeResponse::of),
            description: facts.description.map(str::to_owned),
            metadata: stored_json(facts.metadata),
            created_at: rfc3339(created_at),
            updated_at: rfc3339(updated_at),
        }
    }
}

/// What a transaction has from the payment it belongs to.
struct Facts<'a> {
    reference: ServiceReference,
    revision: u64,
    provider: &'a str,
    channel: Channel,
    currency: Currency,
    fee: &'a FeeSnapshot,
    description: Option<&'a str>,
    metadata: &'a str,
}

pub(crate) fn failure(failure: &Failure) -> FailureResponse {
    let kind = if is_return_code(&failure.code) { "return" } else { "failure" };
    FailureResponse { code: failure.code.clone(), kind, message: failure.message.clone() }
}

impl DisputeResponse {
    pub(crate) fn of(dispute: &Dispute) -> Self {
        Self {
            id: dispute.id.clone(),
            status: dispute.status.clone(),
            reason: dispute.reason.clone(),
            amount_minor: dispute.amount.map(|amount| amount.to_string()),
            respond_by: dispute.respond_by.map(rfc3339),
        }
    }
}

/// JSON that was stored as text leaves as it came; what is damaged leaves as an empty object.
pub(crate) fn stored_json(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
