//! Fees against a second, naive computation in arbitrary precision.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;

use std::cell::RefCell;

use num_bigint::BigInt;
use proptest::{option, prelude::*};
use tollgate_domain::{
    BasisPoints, Minor, Principal,
    fee::{Bound, FeeEntry, FeeLayer, FeeSnapshot, LayerFee},
};

const LARGEST: u64 = 1_000_000_000_000_000_000;
const CASES: u32 = 120_000;

#[test]
fn fees_are_exact() {
    let seen = RefCell::new(Seen::default());
    common::check(CASES, &(principal(), layer(), layer()), |(principal, platform, organization)| {
        let snapshot = FeeEntry { platform, organization }.assess(principal);
        let first = Naive::of(&platform, principal);
        let second = Naive::of(&organization, principal);
        first.agrees_with(&snapshot.platform, &platform)?;
        second.agrees_with(&snapshot.organization, &organization)?;
        totals_agree(&snapshot, principal, &first, &second)?;
        seen.borrow_mut().note(&snapshot.platform);
        Ok(())
    });
    seen.into_inner().assert_everything_was_met();
}

fn totals_agree(
    snapshot: &FeeSnapshot,
    principal: Principal,
    one: &Naive,
    two: &Naive,
) -> Result<(), TestCaseError> {
    let fee = &one.fee + &two.fee;
    prop_assert_eq!(snapshot.principal, principal);
    prop_assert_eq!(BigInt::from(snapshot.fee.get()), fee.clone());
    prop_assert_eq!(BigInt::from(snapshot.total_debit.get()), fee + principal.minor());
    Ok(())
}

/// The same rule, written down a second time and without any bound on the numbers.
struct Naive {
    percent_part: BigInt,
    before_bounds: BigInt,
    bound: Option<Bound>,
    fee: BigInt,
}

impl Naive {
    fn of(layer: &FeeLayer, principal: Principal) -> Self {
        if !layer.enabled {
            return Self { percent_part: 0.into(), before_bounds: 0.into(), bound: None, fee: 0.into() };
        }
        // Half up: floor(x + 1/2) with x = principal × bps / 10,000, all over 20,000.
        let twice = BigInt::from(2) * principal.minor() * layer.percent.get();
        let percent_part: BigInt = (twice + 10_000) / BigInt::from(20_000);
        let before_bounds: BigInt = &percent_part + layer.fixed.get();
        let raised = match layer.minimum {
            Some(minimum) => before_bounds.clone().max(minimum.get().into()),
            None => before_bounds.clone(),
        };
        let fee = match layer.cap {
            Some(cap) => raised.clone().min(cap.get().into()),
            None => raised.clone(),
        };
        let bound = match (fee < raised, raised > before_bounds) {
            (true, _) => Some(Bound::Cap),
            (false, true) => Some(Bound::Minimum),
            (false, false) => None,
        };
        Self { percent_part, before_bounds, bound, fee }
    }

    fn agrees_with(&self, assessed: &LayerFee, layer: &FeeLayer) -> Result<(), TestCaseError> {
        prop_assert_eq!(&assessed.layer, layer);
        prop_assert_eq!(BigInt::from(assessed.percent_part.get()), self.percent_part.clone());
        prop_assert_eq!(BigInt::from(assessed.before_bounds.get()), self.before_bounds.clone());
        prop_assert_eq!(assessed.bound, self.bound);
        prop_assert_eq!(BigInt::from(assessed.fee.get()), self.fee.clone());
        Ok(())
    }
}

/// How often each way to a fee was met, so that the test cannot come to say nothing.
#[derive(Debug, Default)]
struct Seen {
    disabled: u32,
    unbounded: u32,
    raised: u32,
    capped: u32,
    rounded_up: u32,
}

impl Seen {
    fn note(&mut self, fee: &LayerFee) {
        *match (fee.layer.enabled, fee.bound) {
            (false, _) => &mut self.disabled,
            (true, None) => &mut self.unbounded,
            (true, Some(Bound::Minimum)) => &mut self.raised,
            (true, Some(Bound::Cap)) => &mut self.capped,
        } += 1;
        self.rounded_up += u32::from(fee.percent_part.get() == 1);
    }

    fn assert_everything_was_met(&self) {
        let rarest = [self.disabled, self.unbounded, self.raised, self.capped].into_iter().min().unwrap();
        assert!(rarest >= CASES / 50 && self.rounded_up >= CASES / 500, "{self:?}");
    }
}

fn principal() -> impl Strategy<Value = Principal> {
    let minor = prop_oneof![
        4 => 1..=20_000_u64,
        4 => 1..=LARGEST,
        1 => (1..=LARGEST / 10_000).prop_map(|whole| whole * 10_000 - 5_000),
        1 => Just(1),
        1 => Just(9_007_199_254_740_993),
        1 => LARGEST - 10..=LARGEST,
    ];
    minor.prop_map(|minor| Principal::new(minor).unwrap())
}

fn amount() -> impl Strategy<Value = Minor> {
    let minor = prop_oneof![
        3 => 0..=1_000_u64,
        3 => 0..=LARGEST,
        1 => Just(0),
        1 => Just(LARGEST),
    ];
    minor.prop_map(|minor| Minor::new(minor).unwrap())
}

fn layer() -> impl Strategy<Value = FeeLayer> {
    let percent =
        prop_oneof![4 => 0..=10_000_u16, 1 => Just(0), 1 => Just(1), 1 => Just(9_999), 1 => Just(10_000)];
    let percent = percent.prop_map(|bps| BasisPoints::new(bps).unwrap());
    let parts = (prop::bool::weighted(0.9), amount(), percent, option::of(amount()), option::of(amount()));
    parts.prop_map(|(enabled, fixed, percent, minimum, cap)| FeeLayer {
        enabled,
        fixed,
        percent,
        minimum,
        cap,
    })
}
