//! What does not agree, and why it probably does not.

use jiff::civil::Date;

use super::FactKind;
use crate::{currency::Currency, reference::ServiceReference};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DifferenceKind {
    MissingAtProvider,
    MissingInBooks,
    AmountDiffers,
    FeeDiffers,
    CurrencyDiffers,
    Duplicate,
    Late,
    Unexplained,
}

impl DifferenceKind {
    /// The name in the stores and in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MissingAtProvider => "missing_at_provider",
            Self::MissingInBooks => "missing_in_books",
            Self::AmountDiffers => "amount_differs",
            Self::FeeDiffers => "fee_differs",
            Self::CurrencyDiffers => "currency_differs",
            Self::Duplicate => "duplicate",
            Self::Late => "late",
            Self::Unexplained => "unexplained",
        }
    }
}

macro_rules! causes {
    ($($name:ident $word:literal $kind:ident $sentence:literal;)*) => {
        /// The likely reason of a difference.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Cause { $($name,)* }

        impl Cause {
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The name in the stores and in the API.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            /// What kind of difference it makes.
            pub const fn kind(self) -> DifferenceKind {
                match self { $(Self::$name => DifferenceKind::$kind,)* }
            }

            /// What happened, and what to do.
            pub const fn sentence(self) -> &'static str {
                match self { $(Self::$name => $sentence,)* }
            }
        }
    };
}

causes! {
    ChargeNotSettled "charge_not_settled" MissingAtProvider
        "The provider has no entry for this payment. Look the payment up at the provider and read its window again.";
    RefundNotSettled "refund_not_settled" MissingAtProvider
        "The refund was never taken from the balance. Check at the provider whether the customer was refunded.";
    RefundFailureNotSettled "refund_failure_not_settled" MissingAtProvider
        "The refund failed, but its amount did not come back. Ask the provider.";
    DisputeNotSettled "dispute_not_settled" MissingAtProvider
        "The provider holds this dispute in our books, but took nothing from the balance. Ask the provider.";
    DisputeNotReturned "dispute_not_returned" MissingAtProvider
        "The dispute was won, but its amount did not come back. Ask the provider.";
    TransferNotSettled "transfer_not_settled" MissingAtProvider
        "The bank has no transaction for this transfer. Look the transfer up at the provider.";
    TransferReturnNotSettled "transfer_return_not_settled" MissingAtProvider
        "The transfer was released or returned here, but its amount did not come back. Ask the provider.";
    UnknownCharge "unknown_charge" MissingInBooks
        "The provider charged a payment of ours that the books do not have. Look the payment up and resolve its exception.";
    UnknownRefund "unknown_refund" MissingInBooks
        "Somebody refunded this payment at the provider, such as in its dashboard. Record the refund.";
    UnknownRefundFailure "unknown_refund_failure" MissingInBooks
        "A refund failed at the provider and came back; the books still have it as given. Refund the customer again.";
    UnknownDispute "unknown_dispute" MissingInBooks
        "The provider holds a dispute that the books do not have. Read the dispute from the provider.";
    UnknownDisputeReversal "unknown_dispute_reversal" MissingInBooks
        "The provider returned a dispute that the books do not have as won. Read the dispute from the provider.";
    UnknownTransfer "unknown_transfer" MissingInBooks
        "The bank has a transfer of ours that the books do not have. Look it up before anything is sent again.";
    UnknownTransferReturn "unknown_transfer_return" MissingInBooks
        "The bank returned a transfer that the books have as paid out. Read the transfer from the provider.";
    AmountDiffers "amount_differs" AmountDiffers
        "The provider booked another amount than we did. Compare the payment at the provider.";
    CaptureNotNetted "capture_not_netted" AmountDiffers
        "Less was captured than held, but the provider booked the whole hold. Ask for the reversal of the rest.";
    SameIdOtherMoney "same_id_other_money" AmountDiffers
        "The provider reports two amounts under one id. Ask which one is right; entries are never replaced.";
    WrongConversion "wrong_conversion" AmountDiffers
        "The settled amount is not the paid amount at the stated rate. Ask the provider.";
    BankAmountDiffers "bank_amount_differs" AmountDiffers
        "The bank credited another amount than the provider sent. Ask the bank about charges, with the reference.";
    FeeDiffers "fee_differs" FeeDiffers
        "The provider charged another fee than its contract says. Compare the contract and the provider's invoice.";
    FeeMissing "fee_missing" FeeDiffers
        "The provider charged no fee where its contract has one. It may come as an entry of its own.";
    FeeAdjusted "fee_adjusted" FeeDiffers
        "The fee was changed by a later entry. Compare the contract and the reason of the adjustment.";
    CurrencyDiffers "currency_differs" CurrencyDiffers
        "The provider booked another currency than the payment's. Compare the payment at the provider.";
    TwoEntries "two_entries" Duplicate
        "The provider booked this twice under two ids. Ask it to reverse one of them.";
    TwoPayouts "two_payouts" Duplicate
        "One entry is listed in two payouts. Ask the provider which one it belongs to.";
    TwoBankLines "two_bank_lines" Duplicate
        "Two lines of the bank name the same payout. Ask the bank whether it arrived twice.";
    AfterClose "after_close" Late
        "It belongs to a month that was closed before it came. It is posted to the open month.";
    PayoutNotAtBank "payout_not_at_bank" Late
        "The payout should be at the bank by now. Give the provider's trace to the bank.";
    PayoutFailed "payout_failed" Late
        "The bank did not accept the payout. Check the bank details at the provider; the money is in a later payout.";
    ReserveNotReleased "reserve_not_released" Late
        "The reserve should have been released by now. Ask the provider.";
    PayoutRemainder "payout_remainder" Unexplained
        "The payout is not the sum of its entries. Read its entries again; then ask the provider.";
    EntriesMissing "entries_missing" Unexplained
        "A part of the entries was never read. Read the window again.";
    NetDisagrees "net_disagrees" Unexplained
        "An entry's net amount is not its gross amount less its fee. Ask the provider.";
    PayoutUnknown "payout_unknown" Unexplained
        "An entry names a payout that was not read. Read the payouts again.";
    TwoCandidates "two_candidates" Unexplained
        "More than one bank line can be this payout. Choose one by the bank's advice.";
    BalanceDisagrees "balance_disagrees" Unexplained
        "The provider's balance is not the sum of its entries. Read the open windows again; then ask the provider.";
}

/// Something that does not agree. Its cause and references identify it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    pub cause: Cause,
    /// Ids at the provider or the bank, in their order.
    pub references: Vec<String>,
    pub service_reference: Option<ServiceReference>,
    pub expected_minor: Option<i128>,
    pub actual_minor: Option<i128>,
    pub currency: Currency,
    pub payout: Option<String>,
    /// The day it is about, from which its age counts.
    pub since: Date,
}

impl Difference {
    pub const fn kind(&self) -> DifferenceKind {
        self.cause.kind()
    }
}

/// The cause of a fact that one side lacks.
pub(super) const fn missing_cause(kind: FactKind, in_books: bool) -> Cause {
    match (kind, in_books) {
        (FactKind::Charge, true) => Cause::UnknownCharge,
        (FactKind::Refund, true) => Cause::UnknownRefund,
        (FactKind::RefundFailure, true) => Cause::UnknownRefundFailure,
        (FactKind::Dispute, true) => Cause::UnknownDispute,
        (FactKind::DisputeReversal, true) => Cause::UnknownDisputeReversal,
        (FactKind::Transfer, true) => Cause::UnknownTransfer,
        (FactKind::TransferReturn, true) => Cause::UnknownTransferReturn,
        (FactKind::Charge, false) => Cause::ChargeNotSettled,
        (FactKind::Refund, false) => Cause::RefundNotSettled,
        (FactKind::RefundFailure, false) => Cause::RefundFailureNotSettled,
        (FactKind::Dispute, false) => Cause::DisputeNotSettled,
        (FactKind::DisputeReversal, false) => Cause::DisputeNotReturned,
        (FactKind::Transfer, false) => Cause::TransferNotSettled,
        (FactKind::TransferReturn, false) => Cause::TransferReturnNotSettled,
    }
}
