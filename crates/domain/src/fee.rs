//! Fees: two layers on the principal, each exact, each able to say how it came about.

use crate::{
    card_fee::FeeKind,
    money::{BasisPoints, Minor, Principal},
};

/// The version of the rule below, shown in every fee breakdown.
pub const BREAKDOWN_VERSION: u32 = 1;

/// One layer as configured. The default, disabled and empty, is what is shown where nothing is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FeeLayer {
    /// A disabled layer costs nothing and is still shown.
    pub enabled: bool,
    /// Added whatever the principal.
    pub fixed: Minor,
    /// Share of the principal.
    pub percent: BasisPoints,
    /// The layer's fee is raised to this.
    pub minimum: Option<Minor>,
    /// And then lowered to this.
    pub cap: Option<Minor>,
}

/// Both layers of one fee entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FeeEntry {
    /// Recovers what the provider costs.
    pub platform: FeeLayer,
    /// The organization's own.
    pub organization: FeeLayer,
}

/// A layer and the way to its fee, step by step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerFee {
    /// The layer as configured.
    pub layer: FeeLayer,
    /// The share of the principal, rounded half up; zero where the layer is disabled.
    pub percent_part: Minor,
    /// Fixed part and share together.
    pub before_bounds: Minor,
    /// Which bound, if any, had the last word.
    pub bound: Option<Bound>,
    /// The resulting fee.
    pub fee: Minor,
}

/// What moved a fee away from fixed part plus share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// Raised to the minimum.
    Minimum,
    /// Lowered to the cap.
    Cap,
}

/// The numbers of one payment, stored with it and never recomputed with another configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeeSnapshot {
    /// What the caller asked to move.
    pub principal: Principal,
    /// The platform layer.
    pub platform: LayerFee,
    /// The organization layer.
    pub organization: LayerFee,
    /// Both fees together.
    pub fee: Minor,
    /// Principal and fee together: what the customer, or the wallet, is debited.
    pub total_debit: Minor,
    /// The kind by which the fee was decided: on a part of the principal it is at most that part of the fee. `None` if the layers
    /// alone decided.
    pub kind: Option<FeeKind>,
}

impl FeeSnapshot {
    /// The layers as they were configured.
    pub const fn entry(&self) -> FeeEntry {
        FeeEntry { platform: self.platform.layer, organization: self.organization.layer }
    }

    /// What a fee with a kind is called on a line of its own, and how much it is; `None` where there is none to show.
    pub fn line(&self) -> Option<(&'static str, Minor)> {
        self.kind.filter(|_| self.fee > Minor::ZERO).map(|kind| (kind.label(), self.fee))
    }

    /// The same payment with the fees that were decided for it; the layers stay as configured.
    #[must_use]
    pub fn with_fees(self, kind: FeeKind, platform: Minor, organization: Minor) -> Self {
        let fee = add(platform, organization);
        Self {
            platform: LayerFee { fee: platform, ..self.platform },
            organization: LayerFee { fee: organization, ..self.organization },
            fee,
            total_debit: add(self.principal.into(), fee),
            kind: Some(kind),
            ..self
        }
    }
}

impl FeeEntry {
    /// Both layers, each on the principal; neither sees the other.
    pub fn assess(&self, principal: Principal) -> FeeSnapshot {
        let platform = self.platform.assess(principal);
        let organization = self.organization.assess(principal);
        let fee = add(platform.fee, organization.fee);
        let total_debit = add(principal.into(), fee);
        FeeSnapshot { principal, platform, organization, fee, total_debit, kind: None }
    }
}

impl FeeLayer {
    /// Fixed part plus share of the principal, raised to the minimum, then lowered to the cap.
    pub fn assess(&self, principal: Principal) -> LayerFee {
        if !self.enabled {
            let zero = Minor::ZERO;
            return LayerFee {
                layer: *self,
                percent_part: zero,
                before_bounds: zero,
                bound: None,
                fee: zero,
            };
        }
        let percent_part = self.percent.of_rounded_half_up(principal);
        let before_bounds = add(self.fixed, percent_part);
        let (mut fee, mut bound) = (before_bounds, None);
        if let Some(minimum) = self.minimum.filter(|minimum| fee < *minimum) {
            (fee, bound) = (minimum, Some(Bound::Minimum));
        }
        if let Some(cap) = self.cap.filter(|cap| fee > *cap) {
            (fee, bound) = (cap, Some(Bound::Cap));
        }
        LayerFee { layer: *self, percent_part, before_bounds, bound, fee }
    }
}

/// Sums here are bounded by 5 × 10^18 (see [`Minor`]), so the fallback is never taken; it is there so that a future
/// wider bound could only ever charge the largest amount, never a wrapped one.
fn add(left: Minor, right: Minor) -> Minor {
    left.checked_add(right).unwrap_or(Minor::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minor(minor: u64) -> Minor {
        Minor::new(minor).unwrap()
    }

    fn layer(fixed: u64, bps: u16, minimum: Option<u64>, cap: Option<u64>) -> FeeLayer {
        let percent = BasisPoints::new(bps).unwrap();
        FeeLayer {
            enabled: true,
            fixed: minor(fixed),
            percent,
            minimum: minimum.map(minor),
            cap: cap.map(minor),
        }
    }

    #[test]
    fn a_layer_is_raised_to_its_minimum_and_then_lowered_to_its_cap() {
        let largest = 1_000_000_000_000_000_000;
        for (principal, layer, expected, bound) in [
            (10_000, layer(30, 290, None, None), 320, None),
            (50, layer(30, 290, None, None), 31, None),
            (10_000, layer(0, 50, Some(10), Some(500)), 50, None),
            (1_000, layer(0, 50, Some(10), Some(500)), 10, Some(Bound::Minimum)),
            (2_000, layer(0, 50, Some(10), Some(500)), 10, None),
            (100_001, layer(0, 50, Some(10), Some(500)), 500, None),
            (200_000, layer(0, 50, Some(10), Some(500)), 500, Some(Bound::Cap)),
            // A minimum above its cap is refused in a configuration; here the cap has the last word.
            (100, layer(0, 0, Some(20), Some(5)), 5, Some(Bound::Cap)),
            (100, layer(7, 0, None, Some(0)), 0, Some(Bound::Cap)),
            (largest, layer(largest, 10_000, None, None), 2 * largest, None),
        ] {
            let assessed = layer.assess(Principal::new(principal).unwrap());
            assert_eq!(
                (assessed.fee, assessed.bound),
                (minor(expected), bound),
                "{principal} with {layer:?}"
            );
        }
    }

    #[test]
    fn a_disabled_layer_costs_nothing_and_is_still_shown() {
        let disabled = FeeLayer { enabled: false, ..layer(30, 290, Some(10), None) };
        let assessed = disabled.assess(Principal::new(10_000).unwrap());
        assert_eq!((assessed.layer, assessed.fee, assessed.bound), (disabled, Minor::ZERO, None));
    }

    #[test]
    fn layers_add_up_without_seeing_one_another() {
        let entry = FeeEntry {
            platform: layer(30, 290, None, None),
            organization: layer(0, 50, Some(10), Some(500)),
        };
        let snapshot = entry.assess(Principal::new(10_000).unwrap());
        assert_eq!(snapshot.platform.fee, minor(320));
        assert_eq!(snapshot.organization.fee, minor(50));
        assert_eq!((snapshot.fee, snapshot.total_debit), (minor(370), minor(10_370)));
    }

    #[test]
    fn a_fee_with_a_kind_has_a_line_of_its_own() {
        let entry = FeeEntry { platform: layer(30, 290, None, None), organization: FeeLayer::default() };
        let plain = entry.assess(Principal::new(10_000).unwrap());
        assert_eq!(plain.line(), None);
        let decided = |fee| plain.with_fees(FeeKind::Service, minor(fee), Minor::ZERO);
        assert_eq!(decided(320).line(), Some(("Service fee", minor(320))));
        assert_eq!(decided(0).line(), None);
    }
}
