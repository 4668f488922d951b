//! Refunds of card payments: how much goes back, what a provider says became of it, and what that means for the books.

mod step;

use crate::{
    approval::Approval,
    fee::FeeSnapshot,
    id::RefundId,
    money::Minor,
    time::Timestamp,
    transaction::{Failure, Status, TransactionState},
};

pub use step::OffStep;

/// Where a refund stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RefundStatus {
    /// Recorded here; the provider has not accepted it yet, as far as we know.
    Pending,
    /// The provider works on it.
    Processing,
    /// The customer has the money, or will have it without further ado.
    Succeeded,
    /// It did not happen, or was undone later; the failure says why.
    Failed,
    /// It was canceled at the provider.
    Canceled,
}

impl RefundStatus {
    pub const ALL: [Self; 5] =
        [Self::Pending, Self::Processing, Self::Succeeded, Self::Failed, Self::Canceled];

    /// The name in the API and in the stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Processing => "processing",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }

    /// Whether its money is given back, or may still be.
    pub const fn counts(self) -> bool {
        !matches!(self, Self::Failed | Self::Canceled)
    }

    /// Whether its outcome is not known yet.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Processing)
    }

    /// Whether a report may move a refund from this status to another; one that may not is late or repeated. A refund can
    /// fail after it has succeeded, when the customer's bank sends the money back.
    const fn may_move_to(self, to: Self) -> bool {
        match self {
            Self::Pending => !matches!(to, Self::Pending),
            Self::Processing => matches!(to, Self::Succeeded | Self::Failed | Self::Canceled),
            Self::Succeeded => matches!(to, Self::Failed | Self::Canceled),
            Self::Failed | Self::Canceled => false,
        }
    }
}

/// How much of the fee goes back with the principal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum FeeRefund {
    /// The same share as of the principal, rounded half up; the refund of the last of the principal takes what is left.
    #[default]
    Proportional,
    /// All of the fee that is left.
    Full,
    /// Nothing.
    None,
}

impl FeeRefund {
    pub const ALL: [Self; 3] = [Self::Proportional, Self::Full, Self::None];

    /// The name in the API and in the stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Proportional => "proportional",
            Self::Full => "full",
            Self::None => "none",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// Why the caller refunds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RefundReason {
    Duplicate,
    Fraudulent,
    RequestedByCustomer,
    Other,
}

impl RefundReason {
    pub const ALL: [Self; 4] = [Self::Duplicate, Self::Fraudulent, Self::RequestedByCustomer, Self::Other];

    /// The name in the API and in the stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Duplicate => "duplicate",
            Self::Fraudulent => "fraudulent",
            Self::RequestedByCustomer => "requested_by_customer",
            Self::Other => "other",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == text)
    }
}

/// Who started a refund.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RefundOrigin {
    /// A caller, with an API key.
    Api,
    /// An operator, in the console or on the command line.
    Operator,
    /// Somebody at the provider, such as in its dashboard.
    Provider,
    /// This service, which gives back a surcharge that turned out to be on no credit card.
    Service,
}

impl RefundOrigin {
    pub const ALL: [Self; 4] = [Self::Api, Self::Operator, Self::Provider, Self::Service];

    /// The name in the API and in the stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Operator => "operator",
            Self::Provider => "provider",
            Self::Service => "service",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|origin| origin.as_str() == text)
    }
}

/// What was asked for. Two requests under one key are the same if these are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundTerms {
    /// The principal to refund; `None` for all that is left.
    pub amount: Option<Minor>,
    /// `None` for the environment's own rule.
    pub fee_refund: Option<FeeRefund>,
    pub reason: Option<RefundReason>,
    pub description: Option<String>,
    /// The caller's metadata, as JSON text.
    pub metadata: String,
}

/// One refund of a card payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refund {
    pub id: RefundId,
    pub terms: RefundTerms,
    /// The part of the principal that goes back.
    pub principal: Minor,
    /// The part of the fee that goes back with it.
    pub fee: Minor,
    pub origin: RefundOrigin,
    pub status: RefundStatus,
    /// The provider's name for it, once it exists there.
    pub provider_reference: Option<String>,
    /// Why it failed, or why it still waits at the provider.
    pub failure: Option<Failure>,
    /// The request that asked for it.
    pub request: Option<String>,
    /// What people have to decide, or have decided, before it is sent.
    pub approval: Option<Approval>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Refund {
    /// Whether people have yet to decide on it: the provider is not asked before.
    pub fn waits_for_approval(&self) -> bool {
        self.approval.as_ref().is_some_and(Approval::is_open)
    }

    /// What the customer gets back.
    pub fn total(&self) -> Minor {
        add(self.principal, self.fee)
    }

    /// The refund after what the provider says of it; `None` if that is nothing new. The provider has the last word also
    /// about one that it seemed to have refused.
    pub fn followed_by(&self, report: &RefundReport, now: Timestamp) -> Option<Self> {
        let is_first_word = self.provider_reference.is_none() && self.status != report.status;
        let moves = is_first_word || self.status.may_move_to(report.status);
        let next = Self {
            status: if moves { report.status } else { self.status },
            failure: if moves || self.status == report.status {
                report.failure.clone()
            } else {
                self.failure.clone()
            },
            provider_reference: self.provider_reference.clone().or_else(|| Some(report.id.clone())),
            ..self.clone()
        };
        (next != *self).then_some(Self { updated_at: now, ..next })
    }
}

/// A refund as the provider has it at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundReport {
    /// The provider's name for it.
    pub id: String,
    /// Our name for it, where we asked for it.
    pub reference: Option<RefundId>,
    /// What the customer gets back.
    pub total: Minor,
    pub status: RefundStatus,
    /// Why it failed, or why it still waits.
    pub failure: Option<Failure>,
}

/// What can still be refunded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refundable {
    pub principal: Minor,
    pub fee: Minor,
}

impl Refundable {
    /// What refunds that are not failed or canceled leave of a payment.
    pub fn after(fee: &FeeSnapshot, refunds: &[Refund]) -> Self {
        let mut left = Self { principal: fee.principal.into(), fee: fee.fee };
        for refund in refunds.iter().filter(|refund| refund.status.counts()) {
            left = left.without(refund.principal, refund.fee);
        }
        left
    }

    /// What is left once this much has been given back, too.
    pub(crate) fn without(self, principal: Minor, fee: Minor) -> Self {
        Self { principal: less(self.principal, principal), fee: less(self.fee, fee) }
    }

    /// The same, where the transaction knows of more that was given back than there are records of.
    #[must_use]
    pub fn less_unrecorded(self, fee: &FeeSnapshot, given_back: Minor, refunds: &[Refund]) -> Self {
        let unrecorded = less(given_back, given_back_by(refunds));
        let share = self.divide(fee, unrecorded);
        self.without(share.principal, share.fee)
    }

    pub fn total(self) -> Minor {
        add(self.principal, self.fee)
    }

    /// The parts of principal and fee that a request for a refund gives back; `None` if that is more than is left, or
    /// nothing.
    #[must_use]
    pub fn share(self, fee: &FeeSnapshot, amount: Option<Minor>, fee_refund: FeeRefund) -> Option<Self> {
        let principal = amount.unwrap_or(self.principal);
        if principal > self.principal {
            return None;
        }
        let returned = match fee_refund {
            FeeRefund::None => Minor::ZERO,
            FeeRefund::Full => self.fee,
            FeeRefund::Proportional if principal == self.principal => self.fee,
            FeeRefund::Proportional => {
                portion_rounded_half_up(fee.fee, principal, fee.principal.into()).min(self.fee)
            }
        };
        let share = Self { principal, fee: returned };
        (share.total() > Minor::ZERO).then_some(share)
    }

    /// How an amount that was refunded at the provider divides into principal and fee: in proportion, rounded half up, as
    /// far as both are left. What exceeds everything that is left counts as principal.
    #[must_use]
    pub fn divide(self, fee: &FeeSnapshot, total: Minor) -> Self {
        let wanted = portion_rounded_half_up(fee.fee, total, fee.total_debit).min(self.fee);
        // The last of the principal takes the last of the fee with it.
        let least = less(total, self.principal).min(self.fee);
        let returned = wanted.max(least).min(total);
        Self { principal: less(total, returned), fee: returned }
    }
}

/// The transaction once these are its refunds: how much was given back, and whether that is everything.
#[must_use]
pub fn with_refunds(fee: &FeeSnapshot, state: &TransactionState, refunds: &[Refund]) -> TransactionState {
    let refunded = given_back_by(refunds);
    let status = match state.status {
        Status::Succeeded | Status::Refunded if refunded >= fee.total_debit => Status::Refunded,
        Status::Refunded => Status::Succeeded,
        other => other,
    };
    TransactionState { status, refunded, ..state.clone() }
}

fn given_back_by(refunds: &[Refund]) -> Minor {
    let given_back = refunds.iter().filter(|refund| refund.status == RefundStatus::Succeeded);
    given_back.fold(Minor::ZERO, |sum, refund| add(sum, refund.total()))
}

/// `whole × part ÷ of`, rounded half up. The product is taken in 128 bits.
pub(crate) fn portion_rounded_half_up(whole: Minor, part: Minor, of: Minor) -> Minor {
    let divisor = u128::from(of.get().max(1));
    let product = u128::from(whole.get()) * u128::from(part.get());
    let rounded = (product + divisor / 2) / divisor;
    u64::try_from(rounded).ok().and_then(Minor::new).unwrap_or(Minor::MAX)
}

/// `whole × part ÷ of`, rounded down.
pub(crate) fn portion_rounded_down(whole: Minor, part: Minor, of: Minor) -> Minor {
    let product = u128::from(whole.get()) * u128::from(part.get());
    let rounded = product / u128::from(of.get().max(1));
    u64::try_from(rounded).ok().and_then(Minor::new).unwrap_or(Minor::MAX)
}

/// Sums of refunds are bounded by the payment, or by what a provider can have given back.
pub(crate) fn add(left: Minor, right: Minor) -> Minor {
    left.checked_add(right).unwrap_or(Minor::MAX)
}

pub(crate) fn less(left: Minor, right: Minor) -> Minor {
    left.checked_sub(right).unwrap_or(Minor::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fee::{FeeEntry, FeeLayer},
        money::{BasisPoints, Principal},
    };

    fn minor(amount: u64) -> Minor {
        Minor::new(amount).unwrap()
    }

    /// 10.00 with 0.33 + 0.30 + 1 % on top.
    fn fee() -> FeeSnapshot {
        let layer = |fixed, percent| FeeLayer {
            enabled: true,
            fixed: minor(fixed),
            percent: BasisPoints::new(percent).unwrap(),
            minimum: None,
            cap: None,
        };
        let entry = FeeEntry { platform: layer(33, 0), organization: layer(30, 100) };
        entry.assess(Principal::new(1_000).unwrap())
    }

    fn refund(principal: u64, fee: u64, status: RefundStatus) -> Refund {
        let at = Timestamp::from_unix_millis(1_790_000_000_000);
        Refund {
            id: RefundId::new(at, [7; 10]),
            terms: RefundTerms {
                amount: None,
                fee_refund: None,
                reason: None,
                description: None,
                metadata: "{}".to_owned(),
            },
            principal: minor(principal),
            fee: minor(fee),
            origin: RefundOrigin::Api,
            status,
            provider_reference: None,
            failure: None,
            request: None,
            approval: None,
            created_at: at,
            updated_at: at,
        }
    }

    #[test]
    fn fee_shares_are_rounded_half_up_and_the_last_takes_the_rest() {
        let fee = fee();
        assert_eq!(fee.fee, minor(73));
        let mut refunds = Vec::new();
        let mut returned = Vec::new();
        for _ in 0..3 {
            let left = Refundable::after(&fee, &refunds);
            let share = left.share(&fee, Some(minor(333)), FeeRefund::Proportional).unwrap();
            returned.push(share.fee.get());
            refunds.push(refund(share.principal.get(), share.fee.get(), RefundStatus::Succeeded));
        }
        let last = Refundable::after(&fee, &refunds).share(&fee, None, FeeRefund::Proportional).unwrap();
        assert_eq!((returned, last.principal, last.fee), (vec![24, 24, 24], minor(1), minor(1)));
    }

    #[test]
    fn more_than_is_left_and_nothing_are_refused() {
        let fee = fee();
        let refunds = [
            refund(600, 73, RefundStatus::Processing),
            refund(400, 0, RefundStatus::Failed),
            refund(400, 0, RefundStatus::Canceled),
        ];
        let left = Refundable::after(&fee, &refunds);
        assert_eq!((left.principal, left.fee), (minor(400), Minor::ZERO));
        assert_eq!(left.share(&fee, Some(minor(401)), FeeRefund::None), None);
        let rest = left.share(&fee, None, FeeRefund::Full).unwrap();
        assert_eq!((rest.principal, rest.fee), (minor(400), Minor::ZERO));
        let nothing = Refundable { principal: Minor::ZERO, fee: Minor::ZERO };
        assert_eq!(nothing.share(&fee, None, FeeRefund::Full), None);
        let only_the_fee = Refundable { principal: Minor::ZERO, fee: minor(73) };
        assert_eq!(only_the_fee.share(&fee, None, FeeRefund::Full), Some(only_the_fee));
        assert_eq!(only_the_fee.share(&fee, None, FeeRefund::None), None);
    }

    #[test]
    fn what_a_provider_refunded_divides_into_what_is_left() {
        let fee = fee();
        let left = Refundable::after(&fee, &[]);
        for (total, principal, returned) in
            [(1_073, 1_000, 73), (536, 500, 36), (1, 1, 0), (2_000, 1_927, 73)]
        {
            let share = left.divide(&fee, minor(total));
            assert_eq!((share.principal.get(), share.fee.get()), (principal, returned), "{total}");
        }
        let left = Refundable { principal: minor(10), fee: minor(73) };
        let share = left.divide(&fee, minor(83));
        assert_eq!((share.principal.get(), share.fee.get()), (10, 73));
    }

    #[test]
    fn statuses_of_refunds_move_forward_and_a_late_failure_is_believed() {
        use RefundStatus::{Canceled, Failed, Pending, Processing, Succeeded};
        let report = |status| RefundReport {
            id: "re_1".to_owned(),
            reference: None,
            total: minor(100),
            status,
            failure: None,
        };
        let now = Timestamp::from_unix_millis(1_790_000_000_001);
        for (from, to, expected) in [
            (Pending, Succeeded, Succeeded),
            (Pending, Failed, Failed),
            (Processing, Pending, Processing),
            (Processing, Canceled, Canceled),
            (Succeeded, Processing, Succeeded),
            (Succeeded, Failed, Failed),
            (Failed, Succeeded, Failed),
            (Canceled, Processing, Canceled),
        ] {
            let known = Refund { provider_reference: Some("re_1".to_owned()), ..refund(100, 0, from) };
            let next = known.followed_by(&report(to), now).unwrap_or(known);
            assert_eq!(next.status, expected, "{from:?} {to:?}");
            assert_eq!(next.followed_by(&report(to), now), None, "told again: {from:?} {to:?}");
        }
        // What seemed to be refused turns out to have been accepted.
        let next = refund(100, 0, Failed).followed_by(&report(Succeeded), now).unwrap();
        assert_eq!((next.status, next.provider_reference.as_deref()), (Succeeded, Some("re_1")));
    }

    #[test]
    fn a_transaction_is_refunded_while_everything_is_given_back() {
        let fee = fee();
        let paid = TransactionState { status: Status::Succeeded, ..TransactionState::pending() };
        let part = with_refunds(&fee, &paid, &[refund(1_000, 0, RefundStatus::Succeeded)]);
        assert_eq!(
            (part.status, part.refunded),
            (Status::Succeeded, minor(1_000)),
            "the fee is not given back"
        );
        let all = [refund(1_000, 0, RefundStatus::Succeeded), refund(0, 73, RefundStatus::Succeeded)];
        let whole = with_refunds(&fee, &paid, &all);
        assert_eq!((whole.status, whole.refunded), (Status::Refunded, minor(1_073)));
        let reversed = [refund(1_000, 0, RefundStatus::Failed), refund(0, 73, RefundStatus::Succeeded)];
        let back = with_refunds(&fee, &whole, &reversed);
        assert_eq!((back.status, back.refunded), (Status::Succeeded, minor(73)));
    }
}
