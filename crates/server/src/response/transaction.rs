//! Transactions as callers and operators see them.

use tollgate_domain::{
    Channel, Currency, ServiceReference, Timestamp,
    ach::is_return_code,
    approval::Approval,
    fee::{BREAKDOWN_VERSION, FeeSnapshot},
    hold::HoldActionKind,
    payment_card::PaymentCard,
    transaction::{Dispute, Failure, Transaction, TransactionState},
};
use tollgate_engine::ports::{CardPayment, Transfer};

use crate::types::prelude::*;

responses! {
    /// The five amounts of every payment.
    #[expect(clippy::struct_field_names, reason = "the API's own names")]
    AmountsResponse as Amounts {
        amount_minor: MinorUnits,
        platform_fee_minor: MinorUnits,
        organization_fee_minor: MinorUnits,
        fee_minor: MinorUnits,
        total_debit_minor: MinorUnits,
    }
}

impl AmountsResponse {
    pub(crate) fn of(fee: &FeeSnapshot) -> Self {
        Self {
            amount_minor: fee.principal.into(),
            platform_fee_minor: fee.platform.fee.into(),
            organization_fee_minor: fee.organization.fee.into(),
            fee_minor: fee.fee.into(),
            total_debit_minor: fee.total_debit.into(),
        }
    }
}

responses! {
    /// What the fee was computed for, without its layers.
    FeeResponse as Fee {
        version: u32,
        provider: String,
        payment_method: words::PaymentMethod,
        currency: CurrencyCode,
        channel: words::FeeChannel,
    }
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
            payment_method: reference.method().as_str().into(),
            currency: currency.into(),
            channel: channel.fee_channel().into(),
        }
    }
}

responses! {
    FailureResponse as TransactionFailure {
        code: String,
        /// `return`: the receiving bank sent a transfer back, even after it arrived. Everything else is a `failure`.
        kind: words::FailureKind,
        message: String,
    }

    DisputeResponse as Dispute {
        id: String,
        status: String,
        reason: Option<String>,
        amount_minor: Option<MinorUnits>,
        /// The currency of `amountMinor`. Where it is not the payment's, nothing is booked and an exception is raised.
        #[schema(value_type = scalars::CurrencyCode)]
        currency: String,
        /// Until when the provider takes evidence; null where it did not say, or takes none.
        respond_by: Option<Moment>,
    }

    /// The card that was charged or tried last, as far as the provider describes it.
    CardResponse as TransactionCard {
        /// `visa`, `mastercard`, `amex`, `discover`, `diners`, `jcb`, `unionpay`, or another of the provider's words.
        brand: Option<String>,
        /// The last four digits of the card's number.
        last4: Option<String>,
        /// `credit`, `debit` or `prepaid`.
        funding: Option<String>,
        /// Where the bank is that issued it, as ISO 3166-1 writes it in two letters.
        country: Option<String>,
        expiry_month: Option<u8>,
        expiry_year: Option<u16>,
        /// How the customer was authenticated, in the provider's word, such as `authenticated`; null where that was not tried.
        three_d_secure: Option<String>,
        /// What the card's bank said of what the customer typed.
        checks: CardChecksResponse,
    }

    CardChecksResponse as TransactionCardChecks {
        address: Option<words::CardCheck>,
        postal_code: Option<words::CardCheck>,
        cvc: Option<words::CardCheck>,
    }

    /// Where the approval of a transfer, a refund or a wallet movement stands.
    TransferApprovalResponse as TransferApproval {
        state: words::ApprovalState,
        /// How many people have to approve.
        count: u32,
        /// How many have.
        approvals: usize,
        /// The IDs of the rules that ask for it, and the limits that it exceeds.
        reasons: Vec<String>,
    }
}

impl TransferApprovalResponse {
    pub(crate) fn of(approval: &Approval) -> Self {
        Self {
            state: approval.state.as_str().into(),
            count: approval.count,
            approvals: approval.approvals(),
            reasons: approval.reasons.clone(),
        }
    }
}

responses! {
    /// A transaction.
    TransactionResponse as Transaction {
        service_reference: String,
        /// Rises with every change of the payment: of two answers or events, the one with the higher number is the later one.
        revision: u64,
        status: words::TransactionStatus,
        /// What the customer pays; once a payment was captured by hand, what was captured.
        #[serde(flatten)]
        amounts: AmountsResponse,
        /// What was authorized, of a payment that is captured by hand.
        authorized: Option<AmountsResponse>,
        /// When the provider releases what was not captured.
        capture_before: Option<Moment>,
        /// A capture, a void or, where one transfer is read, a cancellation whose outcome is not known yet; it is resolved by
        /// itself.
        pending_action: Option<words::PendingAction>,
        /// What people have to decide, or have decided, before a transfer is sent; only where one transfer is read.
        approval: Option<TransferApprovalResponse>,
        currency: CurrencyCode,
        payment_method: words::PaymentMethod,
        provider: String,
        channel: words::Channel,
        fee: FeeResponse,
        /// What kind of fee the amounts include; only where the card fee has a kind.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        fee_kind: Option<words::FeeKind>,
        provider_reference: Option<String>,
        failure: Option<FailureResponse>,
        refunded_minor: MinorUnits,
        dispute: Option<DisputeResponse>,
        /// The card that the customer paid with, or tried last; null for anything else, and where the provider does not say.
        card: Option<CardResponse>,
        description: Option<String>,
        metadata: Metadata,
        created_at: Moment,
        updated_at: Moment,
    }
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
            pending_action: is_canceling.then_some("cancel".into()),
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
            status: state.status.as_str().into(),
            amounts: AmountsResponse::of(&state.amounts(facts.fee)),
            authorized: state.hold.map(|_| AmountsResponse::of(&state.charged(facts.fee))),
            capture_before: state.hold.and_then(|hold| hold.capture_before).map(Moment),
            pending_action: state
                .hold
                .and_then(|hold| hold.pending)
                .map(HoldActionKind::as_str)
                .map(Into::into),
            approval: None,
            currency: facts.currency.into(),
            payment_method: facts.reference.method().as_str().into(),
            provider: facts.provider.to_owned(),
            channel: facts.channel.as_str().into(),
            fee: FeeResponse::of(facts.provider, facts.reference, facts.currency, facts.channel),
            fee_kind: state
                .charged
                .as_ref()
                .and_then(|charged| charged.kind)
                .map(|kind| kind.as_str().into()),
            provider_reference: state.provider_reference.clone(),
            failure: state.failure.as_ref().map(failure),
            refunded_minor: state.refunded.into(),
            dispute: state.dispute.as_ref().map(|dispute| DisputeResponse::of(dispute, facts.currency)),
            card: state.card.as_deref().map(CardResponse::of),
            description: facts.description.map(str::to_owned),
            metadata: Metadata::stored(facts.metadata),
            created_at: Moment(created_at),
            updated_at: Moment(updated_at),
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
    FailureResponse { code: failure.code.clone(), kind: kind.into(), message: failure.message.clone() }
}

impl DisputeResponse {
    pub(crate) fn of(dispute: &Dispute, currency: Currency) -> Self {
        Self {
            id: dispute.id.clone(),
            status: dispute.status.clone(),
            reason: dispute.reason.clone(),
            amount_minor: dispute.amount.map(MinorUnits),
            currency: dispute.currency.clone().unwrap_or_else(|| currency.code().to_owned()),
            respond_by: dispute.respond_by.map(Moment),
        }
    }
}

impl CardResponse {
    fn of(card: &PaymentCard) -> Self {
        Self {
            brand: card.brand.clone(),
            last4: card.last_four.clone(),
            funding: card.funding.clone(),
            country: card.country.clone(),
            expiry_month: card.expiry_month,
            expiry_year: card.expiry_year,
            three_d_secure: card.three_d_secure.clone(),
            checks: CardChecksResponse {
                address: card.checks.address.map(Into::into),
                postal_code: card.checks.postal_code.map(Into::into),
                cvc: card.checks.cvc.map(Into::into),
            },
        }
    }
}
