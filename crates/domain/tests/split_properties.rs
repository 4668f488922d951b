//! Splits: shares as configured, and always the same pick for the same payment.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod common;

use std::collections::HashMap;

use common::check;
use proptest::{collection::vec, prelude::*};
use tollgate_domain::{
    Channel,
    metadata::{Metadata, MetadataValue},
    routing::{Destination, Share, Target},
};

const PAYMENTS: u32 = 100_000;

fn split(weights: &[u32], by: Option<&str>) -> Destination {
    let share = |(at, weight): (usize, &u32)| Share {
        target: Target { provider: format!("p{at}").into(), channel: Channel::WebCard },
        weight: *weight,
    };
    let shares = weights.iter().enumerate().map(share).collect();
    Destination::split(shares, by.map(Into::into)).unwrap()
}

/// References are times with a random tail; a tail that only counts is the hardest case.
fn reference(number: u32) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&(1_790_000_000_000_u64 + u64::from(number / 7)).to_be_bytes());
    bytes[12..].copy_from_slice(&number.to_be_bytes());
    bytes
}

fn customer(value: &str) -> Metadata {
    [("customer".to_owned(), MetadataValue::Scalar(value.to_owned()))].into_iter().collect()
}

/// How many payments each provider got.
fn shares_of(picked: impl Iterator<Item = String>) -> HashMap<String, i64> {
    let mut counts = HashMap::new();
    for provider in picked {
        *counts.entry(provider).or_default() += 1;
    }
    counts
}

fn assert_within_one_percent(weights: &[u32], counts: &HashMap<String, i64>) {
    let total: i64 = weights.iter().map(|weight| i64::from(*weight)).sum();
    for (at, weight) in weights.iter().enumerate() {
        let expected = i64::from(PAYMENTS) * i64::from(*weight) / total;
        let got = counts.get(&format!("p{at}")).copied().unwrap_or_default();
        let difference = (got - expected).abs();
        assert!(difference <= i64::from(PAYMENTS) / 100, "{weights:?}: p{at} got {got}, not {expected}");
    }
}

#[test]
fn shares_are_within_one_percent_of_their_weights() {
    let nothing = Metadata::default();
    for weights in [&[70, 30][..], &[1, 1, 1], &[5, 95], &[1, 999], &[50, 30, 15, 5], &[1_000_000, 1]] {
        let by_reference = split(weights, None);
        let picks = (0..PAYMENTS).map(|n| by_reference.pick(&reference(n), &nothing).provider.to_string());
        assert_within_one_percent(weights, &shares_of(picks));
        let by_customer = split(weights, Some("customer"));
        let picks = (0..PAYMENTS).map(|n| {
            let metadata = customer(&format!("customer-{n}"));
            by_customer.pick(&reference(1), &metadata).provider.to_string()
        });
        assert_within_one_percent(weights, &shares_of(picks));
    }
}

#[test]
fn a_payment_and_a_customer_always_get_the_same_target() {
    let weights = vec(1_u32..1_000, 2..8);
    check(
        20_000,
        &(weights, any::<[u8; 16]>(), any::<[u8; 16]>(), ".{0,20}"),
        |(weights, one, other, name)| {
            let by_customer = split(&weights, Some("customer"));
            let named = customer(&name);
            prop_assert_eq!(by_customer.pick(&one, &named), by_customer.pick(&other, &named));
            let by_reference = split(&weights, None);
            let nothing = Metadata::default();
            prop_assert_eq!(by_reference.pick(&one, &named), by_reference.pick(&one, &nothing));
            // Without the value, the reference decides.
            prop_assert_eq!(by_customer.pick(&one, &nothing), by_reference.pick(&one, &nothing));
            Ok(())
        },
    );
}

/// Shifting weight between two targets moves that share of the payments, and never one between other targets or back.
#[test]
fn a_changed_weight_moves_only_payments_to_the_target_that_gained() {
    let strategy = (vec(any::<[u8; 16]>(), 50), 0_u32..=100, 0_u32..=100);
    check(2_000, &strategy, |(references, before, after)| {
        let (less, more) = (before.min(after), before.max(after));
        let nothing = Metadata::default();
        let (narrow, wide) = (split(&[less, 101 - less], None), split(&[more, 101 - more], None));
        for reference in &references {
            let was_first = &*narrow.pick(reference, &nothing).provider == "p0";
            let is_first = &*wide.pick(reference, &nothing).provider == "p0";
            prop_assert!(!was_first || is_first);
        }
        Ok(())
    });
}

#[test]
fn the_heaviest_target_stands_for_the_split() {
    assert_eq!(&*split(&[30, 70], None).target().provider, "p1");
    assert_eq!(&*split(&[50, 50], None).target().provider, "p0");
    assert_eq!(Destination::split(Vec::new(), None), None);
}
