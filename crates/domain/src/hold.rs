//! Payments that are captured by hand: the money is held first, then captured, whole or in part, or released.

use crate::{
    fee::FeeSnapshot,
    id::HoldActionId,
    money::{Minor, Principal},
    refund::portion_rounded_down,
    time::Timestamp,
    transaction::{Failure, Status, TransactionState},
};

/// When the money of a card payment is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum CaptureMode {
    /// As soon as the customer pays.
    #[default]
    Automatic,
    /// When the caller captures it; until then it is held.
    Manual,
}

impl CaptureMode {
    pub const ALL: [Self; 2] = [Self::Automatic, Self::Manual];

    /// The name in the API and in the stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Automatic => "automatic",
            Self::Manual => "manual",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == text)
    }
}

/// The money of a payment that is captured by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hold {
    /// When the provider releases what was not captured, where it says so.
    pub capture_before: Option<Timestamp>,
    /// What was asked for and is not known to be done yet.
    pub pending: Option<HoldActionKind>,
    /// The amounts that were captured; `None` while the money is only held.
    pub captured: Option<FeeSnapshot>,
}

/// What can be done with money that is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HoldActionKind {
    Capture,
    Void,
}

impl HoldActionKind {
    pub const ALL: [Self; 2] = [Self::Capture, Self::Void];

    /// The name in the API and in the stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Capture => "capture",
            Self::Void => "void",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// The failure's code, also in the API, where the payment's state does not allow it.
    pub const fn not_allowed(self) -> &'static str {
        match self {
            Self::Capture => "not_capturable",
            Self::Void => "not_voidable",
        }
    }
}

/// Where a capture or void stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HoldActionStatus {
    /// Recorded; the provider has not accepted it yet, as far as we know.
    Pending,
    /// The provider works on it.
    Processing,
    Succeeded,
    /// It did not happen; the failure says why.
    Failed,
}

impl HoldActionStatus {
    pub const ALL: [Self; 4] = [Self::Pending, Self::Processing, Self::Succeeded, Self::Failed];

    /// The name in the stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Processing => "processing",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }

    /// Whether its outcome is not known yet.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Processing)
    }
}

/// One capture or void that was asked for. A payment has at most one whose outcome is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoldAction {
    pub id: HoldActionId,
    pub kind: HoldActionKind,
    /// The principal to capture; `None` for all of it, and for a void.
    pub asked: Option<Principal>,
    pub status: HoldActionStatus,
    pub failure: Option<Failure>,
    /// The request that asked for it.
    pub request: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl HoldAction {
    /// The amounts it captures of a payment that was authorized with these.
    pub fn amounts(&self, authorized: &FeeSnapshot) -> FeeSnapshot {
        self.asked.map_or(*authorized, |principal| authorized.on(principal))
    }

    /// The action once the payment is in this state; `None` if its outcome is still not known.
    pub fn settled_by(
        &self,
        authorized: &FeeSnapshot,
        state: &TransactionState,
        now: Timestamp,
    ) -> Option<Self> {
        let ended = |status, failure| Some(Self { status, failure, updated_at: now, ..self.clone() });
        let failed = |message: &str| {
            let code = self.kind.not_allowed().to_owned();
            ended(HoldActionStatus::Failed, Some(Failure { code, message: message.to_owned() }))
        };
        if !self.status.is_open() {
            return None;
        }
        match (self.kind, state.status) {
            (HoldActionKind::Capture, Status::Succeeded | Status::Refunded) => {
                let captured = state.amounts(authorized).total_debit;
                if captured == self.amounts(authorized).total_debit {
                    return ended(HoldActionStatus::Succeeded, None);
                }
                failed("The payment was captured at the provider, with another amount.")
            }
            (HoldActionKind::Capture, Status::Canceled) => failed(state.failure.as_ref().map_or(
                "The authorization was voided at the provider; there is nothing left to capture.",
                |failure| failure.message.as_str(),
            )),
            (HoldActionKind::Void, Status::Canceled) => ended(HoldActionStatus::Succeeded, None),
            (HoldActionKind::Void, Status::Succeeded | Status::Refunded) => {
                failed("The payment was captured; refund it instead.")
            }
            _ => None,
        }
    }
}

/// Why an authorization that nobody captured in time is canceled.
pub fn authorization_expired() -> Failure {
    Failure {
        code: "authorization_expired".to_owned(),
        message: "The authorization expired before it was captured; prepare a new payment.".to_owned(),
    }
}

impl TransactionState {
    /// The amounts that count: those that were captured, where a payment was captured by hand, and otherwise those it was
    /// charged with.
    pub fn amounts(&self, prepared: &FeeSnapshot) -> FeeSnapshot {
        self.hold.and_then(|hold| hold.captured).unwrap_or_else(|| self.charged(prepared))
    }

    /// The amounts it was charged with, before any capture: those that were decided for the card, and otherwise those it was
    /// prepared with.
    pub fn charged(&self, prepared: &FeeSnapshot) -> FeeSnapshot {
        self.charged.as_deref().copied().unwrap_or(*prepared)
    }
}

impl FeeSnapshot {
    /// The amounts of the same layers on another principal. A fee that was decided does not rise above the same share of it,
    /// rounded down, so that it stays within what it was decided by.
    #[must_use]
    pub fn on(&self, principal: Principal) -> Self {
        let plain = self.entry().assess(principal);
        let Some(kind) = self.kind else { return plain };
        let share = |fee: Minor| portion_rounded_down(fee, principal.into(), self.principal.into());
        let fee = share(self.fee).min(plain.fee);
        let platform = share(self.platform.fee).min(fee);
        plain.with_fees(kind, platform, fee.checked_sub(platform).unwrap_or(Minor::ZERO))
    }

    /// The amounts of a capture of this total. A total that the layers cannot lead to, because somebody captured it at the
    /// provider, has the fee of the next lower one; what is left over counts as principal.
    #[must_use]
    pub fn of_total(&self, total: Minor) -> Self {
        if total == self.total_debit {
            return *self;
        }
        // The total grows with the principal, so that the largest principal that fits is found by halving.
        let (mut fits, mut exceeds) = (0, total.get().saturating_add(1));
        while exceeds.saturating_sub(fits) > 1 {
            let middle = fits + (exceeds - fits) / 2;
            let is_within = Principal::new(middle).is_some_and(|it| self.on(it).total_debit <= total);
            if is_within { fits = middle } else { exceeds = middle }
        }
        let Some(found) = Principal::new(fits).map(|principal| self.on(principal)) else {
            return self.all_but_one(total);
        };
        let principal = total.checked_sub(found.fee).and_then(|rest| Principal::new(rest.get()));
        principal.map_or(found, |principal| Self { principal, total_debit: total, ..found })
    }

    /// Less than the fee on the smallest principal: one minor unit is principal, the rest is fee.
    fn all_but_one(&self, total: Minor) -> Self {
        let Some(least) = Principal::new(1).map(|principal| self.on(principal)) else { return *self };
        let fee = total.checked_sub(least.principal.into()).unwrap_or(Minor::ZERO);
        let platform = least.platform.fee.min(fee);
        let organization = fee.checked_sub(platform).unwrap_or(Minor::ZERO);
        let mut amounts = Self { fee, total_debit: total, ..least };
        (amounts.platform.fee, amounts.organization.fee) = (platform, organization);
        amounts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        card_fee::FeeKind,
        fee::{FeeEntry, FeeLayer},
        money::BasisPoints,
    };

    fn minor(amount: u64) -> Minor {
        Minor::new(amount).unwrap()
    }

    fn principal(amount: u64) -> Principal {
        Principal::new(amount).unwrap()
    }

    /// 0.30 + 2.9 % and 0.5 %, at least 0.10, on 100.00.
    fn authorized() -> FeeSnapshot {
        let layer = |fixed, percent, minimum: Option<u64>| FeeLayer {
            enabled: true,
            fixed: minor(fixed),
            percent: BasisPoints::new(percent).unwrap(),
            minimum: minimum.map(minor),
            cap: None,
        };
        let entry = FeeEntry { platform: layer(30, 290, None), organization: layer(0, 50, Some(10)) };
        entry.assess(principal(10_000))
    }

    fn action(kind: HoldActionKind, asked: Option<u64>) -> HoldAction {
        let at = Timestamp::from_unix_millis(1_790_000_000_000);
        HoldAction {
            id: HoldActionId::new(at, [3; 10]),
            kind,
            asked: asked.map(principal),
            status: HoldActionStatus::Pending,
            failure: None,
            request: "req".to_owned(),
            created_at: at,
            updated_at: at,
        }
    }

    #[test]
    fn fees_are_computed_anew_on_what_is_captured() {
        let all = authorized();
        assert_eq!((all.fee, all.total_debit), (minor(370), minor(10_370)));
        let part = action(HoldActionKind::Capture, Some(1_000)).amounts(&all);
        assert_eq!((part.platform.fee, part.organization.fee), (minor(59), minor(10)));
        assert_eq!(part.total_debit, minor(1_069));
        assert_eq!(action(HoldActionKind::Capture, None).amounts(&all), all);
    }

    #[test]
    fn a_decided_fee_never_rises_with_a_partial_capture() {
        // Decided lower than the layers, as by a cap of 3 %.
        let decided = authorized().with_fees(FeeKind::Surcharge, minor(250), minor(50));
        for amount in (1..=10_000).step_by(13).chain([9_999]) {
            let part = decided.on(principal(amount));
            assert!(part.fee.get() * 10_000 <= 300 * amount, "{amount}: {}", part.fee);
            assert!(part.fee <= authorized().on(principal(amount)).fee);
            assert_eq!(part.platform.fee.get() + part.organization.fee.get(), part.fee.get());
            assert_eq!(decided.of_total(part.total_debit).total_debit, part.total_debit);
        }
        assert_eq!(decided.on(principal(10_000)), decided);
        assert_eq!(
            decided.with_fees(FeeKind::Surcharge, Minor::ZERO, Minor::ZERO).on(principal(5_000)).fee,
            Minor::ZERO
        );
    }

    #[test]
    fn every_total_leads_back_to_its_principal_and_any_other_adds_up() {
        let all = authorized();
        for amount in (1..=10_000).step_by(7).chain([2, 9_999, 10_000]) {
            let part = all.on(principal(amount));
            assert_eq!(all.of_total(part.total_debit), part, "{amount}");
        }
        for total in (1..=10_370).step_by(3) {
            let amounts = all.of_total(minor(total));
            assert_eq!(amounts.total_debit, minor(total));
            assert_eq!(amounts.principal.minor() + amounts.fee.get(), total);
            assert_eq!(amounts.platform.fee.get() + amounts.organization.fee.get(), amounts.fee.get());
            assert!(amounts.fee <= all.fee);
        }
        let largest = FeeEntry::default().assess(principal(1_000_000_000_000_000_000));
        assert_eq!(largest.of_total(minor(999_999_999_999_999_999)).fee, Minor::ZERO);
    }

    #[test]
    fn an_action_ends_as_the_payment_does() {
        use HoldActionKind::{Capture, Void};
        use HoldActionStatus::{Failed, Succeeded};
        let all = authorized();
        let state = |status, captured: Option<FeeSnapshot>| TransactionState {
            status,
            hold: Some(Hold { captured, ..Hold::default() }),
            ..TransactionState::pending()
        };
        let part = all.on(principal(1_000));
        for (kind, asked, state, ended) in [
            (Capture, Some(1_000), state(Status::Succeeded, Some(part)), Some(Succeeded)),
            (Capture, None, state(Status::Succeeded, Some(all)), Some(Succeeded)),
            (Capture, None, state(Status::Succeeded, Some(part)), Some(Failed)),
            (Capture, None, state(Status::Canceled, None), Some(Failed)),
            (Capture, None, state(Status::Authorized, None), None),
            (Void, None, state(Status::Canceled, None), Some(Succeeded)),
            (Void, None, state(Status::Succeeded, Some(all)), Some(Failed)),
            (Void, None, state(Status::Processing, None), None),
        ] {
            let settled = action(kind, asked).settled_by(&all, &state, Timestamp::from_unix_millis(9));
            assert_eq!(settled.as_ref().map(|it| it.status), ended, "{kind:?} {state:?}");
            let again = settled.and_then(|it| it.settled_by(&all, &state, Timestamp::from_unix_millis(9)));
            assert_eq!(again, None, "an outcome stays");
        }
    }
}
