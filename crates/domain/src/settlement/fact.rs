//! What providers and banks report, as it is stored: appended under their own ids, never changed.

use jiff::civil::Date;

use super::FactKind;
use crate::{currency::Currency, statement::Month, time::Timestamp};

/// What a provider's entry is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryKind {
    Charge,
    /// A charge that was booked did not come about.
    ChargeFailure,
    /// What was held and not captured, where the provider books the whole hold as a charge.
    PartialCaptureReversal,
    Refund,
    /// A refund that did not reach the customer came back.
    RefundFailure,
    Dispute,
    DisputeReversal,
    /// A bank transfer went out.
    Transfer,
    TransferReturn,
    /// A fee of its own: of the account, or of a payment that it names.
    Fee,
    ReserveHold,
    ReserveRelease,
    /// A payout left the balance.
    Payout,
    /// A payout failed, or was canceled, and is back.
    PayoutReversal,
    /// Everything else, such as loans and adjustments.
    Other,
}

impl EntryKind {
    pub const ALL: [Self; 15] = [
        Self::Charge,
        Self::ChargeFailure,
        Self::PartialCaptureReversal,
        Self::Refund,
        Self::RefundFailure,
        Self::Dispute,
        Self::DisputeReversal,
        Self::Transfer,
        Self::TransferReturn,
        Self::Fee,
        Self::ReserveHold,
        Self::ReserveRelease,
        Self::Payout,
        Self::PayoutReversal,
        Self::Other,
    ];

    /// The name in the stores and in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Charge => "charge",
            Self::ChargeFailure => "charge_failure",
            Self::PartialCaptureReversal => "partial_capture_reversal",
            Self::Refund => "refund",
            Self::RefundFailure => "refund_failure",
            Self::Dispute => "dispute",
            Self::DisputeReversal => "dispute_reversal",
            Self::Transfer => "transfer",
            Self::TransferReturn => "transfer_return",
            Self::Fee => "fee",
            Self::ReserveHold => "reserve_hold",
            Self::ReserveRelease => "reserve_release",
            Self::Payout => "payout",
            Self::PayoutReversal => "payout_reversal",
            Self::Other => "other",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// What it settles of ours; `None` if it is the account's own business.
    pub const fn fact(self) -> Option<FactKind> {
        match self {
            Self::Charge | Self::ChargeFailure | Self::PartialCaptureReversal => Some(FactKind::Charge),
            Self::Refund => Some(FactKind::Refund),
            Self::RefundFailure => Some(FactKind::RefundFailure),
            Self::Dispute => Some(FactKind::Dispute),
            Self::DisputeReversal => Some(FactKind::DisputeReversal),
            Self::Transfer => Some(FactKind::Transfer),
            Self::TransferReturn => Some(FactKind::TransferReturn),
            Self::Fee
            | Self::ReserveHold
            | Self::ReserveRelease
            | Self::Payout
            | Self::PayoutReversal
            | Self::Other => None,
        }
    }
}

/// What our reference on the provider's object says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
    /// It names a payment of this environment.
    Ours,
    /// It names one of another environment, which shares the account.
    OtherEnvironment,
    /// There is none.
    Unmarked,
}

/// What the customer paid, where the account settles in another currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Presentment {
    pub amount_minor: i64,
    pub currency: Currency,
    pub rate: Rate,
}

/// A rate of exchange as an exact decimal: `digits` × 10^-`places`, in minor units of one currency for each of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate {
    digits: u64,
    places: u32,
}

impl Rate {
    const MAX_PLACES: usize = 18;

    /// Reads `1.234`; no sign and no exponent.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !is_number(whole) || !is_number(part) || part.len() > Self::MAX_PLACES {
            return None;
        }
        let digits = format!("{whole}{part}").parse().ok().filter(|digits| *digits > 0)?;
        Some(Self { digits, places: u32::try_from(part.len()).ok()? })
    }

    /// Whether an amount is another one converted, rounded either way.
    pub(super) fn converts(self, from_minor: i64, to_minor: i64) -> bool {
        let product = i128::from(from_minor).checked_mul(i128::from(self.digits));
        let scale = 10_i128.checked_pow(self.places);
        let scaled = scale.and_then(|scale| i128::from(to_minor).checked_mul(scale));
        let distance = product.zip(scaled).and_then(|(product, scaled)| product.checked_sub(scaled));
        distance.zip(scale).is_some_and(|(distance, scale)| distance.abs() < scale)
    }
}

/// One line of a provider's balance.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProviderEntry {
    /// The provider's id.
    pub id: String,
    pub kind: EntryKind,
    pub gross_minor: i64,
    /// Positive when charged.
    pub fee_minor: i64,
    pub net_minor: i64,
    pub currency: Currency,
    pub presentment: Option<Presentment>,
    /// The provider's id of the payment, refund, dispute, transfer or payout that it is about.
    pub subject: Option<String>,
    /// The provider's id of the payment behind the subject.
    pub payment: Option<String>,
    pub mark: Mark,
    /// The payout it is a part of, once there is one.
    pub payout: Option<String>,
    pub created_on: Date,
    /// When it can be paid out; of a reserve, when it should be released.
    pub available_on: Option<Date>,
    /// The closed month it is a part of.
    pub closed_in: Option<Month>,
}

/// How an entry compares with the one that is stored under its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SameId {
    /// The same again, from a window that was read twice; its payout may be known by now.
    Same,
    /// Other money under the same id: a fault of the provider, never an update.
    OtherMoney,
}

/// Compares what an import brought with what is stored.
pub fn compare_entries(stored: &ProviderEntry, imported: &ProviderEntry) -> SameId {
    let money = |entry: &ProviderEntry| {
        (entry.kind, entry.gross_minor, entry.fee_minor, entry.net_minor, entry.currency, entry.presentment)
    };
    if money(stored) == money(imported) { SameId::Same } else { SameId::OtherMoney }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PayoutStatus {
    Pending,
    InTransit,
    Paid,
    Failed,
    Canceled,
}

impl PayoutStatus {
    /// Whether it has left the provider's balance.
    pub(super) const fn has_left(self) -> bool {
        matches!(self, Self::InTransit | Self::Paid | Self::Failed)
    }
}

/// What a provider sent to the bank, or, negative, took from it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Payout {
    /// The provider's id.
    pub id: String,
    pub amount_minor: i64,
    pub currency: Currency,
    pub status: PayoutStatus,
    pub arrives_on: Date,
    /// Traces and end-to-end ids that the bank should name.
    pub references: Vec<String>,
    /// Whether the provider lists its entries. Those of manual and instant payouts cannot be listed.
    pub is_itemized: bool,
    /// The closed month it is a part of.
    pub closed_in: Option<Month>,
}

/// A movement on the bank account.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BankLine {
    /// Given by us when the statement was taken: account, statement and place in it.
    pub id: String,
    pub amount_minor: i64,
    pub currency: Currency,
    pub booked_on: Date,
    pub references: Vec<String>,
    pub text: String,
    /// The closed month it is a part of.
    pub closed_in: Option<Month>,
}

impl BankLine {
    /// Its references, and the words of its text: what it may name a payout by.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        let is_apart = |letter: char| !letter.is_ascii_alphanumeric() && !matches!(letter, '-' | '_');
        let words = self.text.split(is_apart).filter(|word| !word.is_empty());
        self.references.iter().map(String::as_str).chain(words)
    }
}

/// A span of time for which an import asked the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ImportWindow {
    pub from: Timestamp,
    /// The first moment after it.
    pub to: Timestamp,
    /// It was read again and nothing new came.
    pub is_closed: bool,
}
