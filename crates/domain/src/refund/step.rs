//! Providers that take some currencies only in steps, and what that leaves to refund.

use super::{FeeRefund, Refundable};
use crate::{fee::FeeSnapshot, money::Minor};

/// How far from what was asked for other amounts are looked for.
const SEARCH_MAX: u64 = 1_000;

/// A refund whose total is no multiple of the provider's step, and what would be one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OffStep {
    /// What was asked for comes to this.
    pub share: Refundable,
    /// The provider takes multiples of this many minor units.
    pub step: u64,
    /// The nearest refunds that fit, the smaller one first.
    pub nearest: Vec<Refundable>,
    /// With these the principal that was asked for fits.
    pub fee_refunds: Vec<FeeRefund>,
}

impl Refundable {
    /// Whether a provider that takes multiples of `step` takes a share of what is left.
    pub fn check_step(
        self,
        fee: &FeeSnapshot,
        share: Self,
        fee_refund: FeeRefund,
        step: u64,
    ) -> Result<(), Box<OffStep>> {
        let fits = |share: &Self| share.total().get().is_multiple_of(step.max(1));
        if fits(&share) {
            return Ok(());
        }
        let share_of =
            |principal, fee_refund| self.share(fee, Minor::new(principal), fee_refund).filter(fits);
        let asked = share.principal.get();
        let smaller = (1..=SEARCH_MAX).map_while(|by| asked.checked_sub(by).filter(|&amount| amount > 0));
        let larger = (1..=SEARCH_MAX).map_while(|by| asked.checked_add(by));
        let larger = larger.take_while(|&amount| amount <= self.principal.get());
        let near = |mut amounts: Box<dyn Iterator<Item = u64>>| {
            amounts.find_map(|amount| share_of(amount, fee_refund))
        };
        let nearest = [near(Box::new(smaller)), near(Box::new(larger))].into_iter().flatten().collect();
        let others = FeeRefund::ALL.into_iter().filter(|other| *other != fee_refund);
        let fee_refunds = others.filter(|other| share_of(asked, *other).is_some()).collect();
        Err(Box::new(OffStep { share, step, nearest, fee_refunds }))
    }
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

    /// A payment of 12,340 with a fee of 370.
    fn fee() -> FeeSnapshot {
        let layer = |percent| FeeLayer {
            enabled: true,
            fixed: Minor::ZERO,
            percent: BasisPoints::new(percent).unwrap(),
            minimum: None,
            cap: None,
        };
        let entry = FeeEntry { platform: layer(300), organization: layer(0) };
        entry.assess(Principal::new(12_340).unwrap())
    }

    fn check(amount: Option<u64>, fee_refund: FeeRefund, step: u64) -> Result<(), Box<OffStep>> {
        let left = Refundable::after(&fee(), &[]);
        let share = left.share(&fee(), amount.map(minor), fee_refund).unwrap();
        left.check_step(&fee(), share, fee_refund, step)
    }

    #[test]
    fn the_total_counts_and_what_fits_is_named() {
        assert_eq!(check(Some(1_001), FeeRefund::Proportional, 1), Ok(()));
        assert_eq!(check(None, FeeRefund::Proportional, 10), Ok(()));
        assert_eq!(check(Some(1_000), FeeRefund::Proportional, 10), Ok(()), "with 30 of the fee");
        let off = check(Some(1_005), FeeRefund::Proportional, 10).unwrap_err();
        assert_eq!((off.share.principal, off.share.fee), (minor(1_005), minor(30)));
        let nearest: Vec<_> = off.nearest.iter().map(|near| near.principal.get()).collect();
        assert_eq!(nearest, [1_000, 1_010]);
        for near in &off.nearest {
            assert_eq!(check(Some(near.principal.get()), FeeRefund::Proportional, 10), Ok(()));
        }
        assert_eq!(off.fee_refunds, []);
    }

    #[test]
    fn another_way_to_refund_the_fee_can_fit() {
        let left = Refundable { principal: minor(1_005), fee: minor(35) };
        let share = left.share(&fee(), None, FeeRefund::None).unwrap();
        let off = left.check_step(&fee(), share, FeeRefund::None, 10).unwrap_err();
        assert_eq!(off.fee_refunds, [FeeRefund::Proportional, FeeRefund::Full]);
        let nearest: Vec<_> = off.nearest.iter().map(|near| near.principal.get()).collect();
        assert_eq!(nearest, [1_000], "more is not left");
    }
}
