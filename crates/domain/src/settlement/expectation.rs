//! What the books say a provider should have done.

use jiff::civil::Date;

use crate::{
    books::{CardPosting, CardPostingKind},
    currency::Currency,
    ledger::TransferStep,
    money::{BasisPoints, Minor, Principal},
    reference::ServiceReference,
    refund::portion_rounded_half_up,
};

/// What happened to money of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FactKind {
    Charge,
    Refund,
    RefundFailure,
    Dispute,
    DisputeReversal,
    Transfer,
    TransferReturn,
}

impl FactKind {
    pub const ALL: [Self; 7] = [
        Self::Charge,
        Self::Refund,
        Self::RefundFailure,
        Self::Dispute,
        Self::DisputeReversal,
        Self::Transfer,
        Self::TransferReturn,
    ];

    /// The name in the stores and in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Charge => "charge",
            Self::Refund => "refund",
            Self::RefundFailure => "refund_failure",
            Self::Dispute => "dispute",
            Self::DisputeReversal => "dispute_reversal",
            Self::Transfer => "transfer",
            Self::TransferReturn => "transfer_return",
        }
    }

    /// What a card posting makes the provider do; `None` if its balance is left as it is.
    pub fn of_card_posting(posting: &CardPosting) -> Option<Self> {
        (posting.amounts.due_from_provider != 0).then_some(match posting.kind {
            CardPostingKind::Payment => Self::Charge,
            CardPostingKind::Refund => Self::Refund,
            CardPostingKind::RefundReversed => Self::RefundFailure,
            CardPostingKind::DisputeHeld | CardPostingKind::DisputeLost => Self::Dispute,
            CardPostingKind::DisputeReturned => Self::DisputeReversal,
        })
    }

    /// What a step of a transfer makes the bank do. Money leaves when it is reserved, not when the transfer is settled.
    pub const fn of_transfer_step(step: TransferStep) -> Option<Self> {
        match step {
            TransferStep::Reserve => Some(Self::Transfer),
            TransferStep::Settle => None,
            TransferStep::Release | TransferStep::Reverse => Some(Self::TransferReturn),
        }
    }
}

/// A posting of ours that a provider's entries have to equal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Expectation {
    pub kind: FactKind,
    /// The provider's id of the payment, refund, dispute or transfer.
    pub subject: String,
    /// The provider's id of the payment behind it; of a charge and a transfer the subject itself.
    pub payment: String,
    pub reference: ServiceReference,
    /// What the balance at the provider changes by.
    pub amount_minor: i64,
    pub currency: Currency,
    /// What the provider should charge, where that is known; negative where it gives a fee back.
    pub fee_minor: Option<i64>,
    /// What was held, where less of it was captured.
    pub held_minor: Option<i64>,
    pub posted_on: Date,
}

/// What becomes of the fee of a payment that is refunded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefundedFees {
    /// The provider keeps it.
    Kept,
    /// It comes back in the proportion of the refund, rounded half up.
    Returned,
}

/// What a provider charges, as its contract says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpectedFees {
    pub percent: BasisPoints,
    pub fixed: Minor,
    pub dispute: Minor,
    pub refunded: RefundedFees,
}

impl ExpectedFees {
    /// The fee of a charge, rounded half up. `None` past what can be counted.
    pub fn of_charge(self, amount: Principal) -> Option<i64> {
        self.percent.of_rounded_half_up(amount).checked_add(self.fixed).map(Minor::signed)
    }

    /// The fee of a refund of a part of a charge, negative where it is given back.
    pub fn of_refund(self, refunded: Minor, charged: Principal) -> Option<i64> {
        match self.refunded {
            RefundedFees::Kept => Some(0),
            RefundedFees::Returned => {
                let fee = Minor::new(self.of_charge(charged)?.unsigned_abs())?;
                portion_rounded_half_up(fee, refunded, charged.into()).signed().checked_neg()
            }
        }
    }

    pub const fn of_dispute(self) -> i64 {
        self.dispute.signed()
    }
}
