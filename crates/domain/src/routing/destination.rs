//! Where a rule sends payments: to one target, or to several in given shares, and where to if those cannot take them.

use std::sync::Arc;

use crate::{
    metadata::{Metadata, MetadataValue},
    payment::Channel,
};

/// What a route leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// A provider of the same configuration.
    pub provider: Arc<str>,
    /// A channel of the payment method.
    pub channel: Channel,
}

/// Everything a rule, or the default, says about where payments go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// The only target, or the heaviest one of a split.
    target: Target,
    split: Option<Arc<Split>>,
    fallbacks: Arc<[Target]>,
}

/// Payments shared out among several targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    shares: Vec<Share>,
    /// The metadata key whose value decides, where a payment has it.
    by: Option<Arc<str>>,
    total: u64,
}

/// A target and its part of the payments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    pub target: Target,
    /// In relation to the weights of the others; 0 never gets a payment.
    pub weight: u32,
}

impl Destination {
    /// Payments shared out by weight; `by` is a metadata key. `None` if no target has a weight.
    pub fn split(shares: Vec<Share>, by: Option<Arc<str>>) -> Option<Self> {
        let heaviest = shares.iter().map(|share| share.weight).max().filter(|weight| *weight > 0)?;
        let target = shares.iter().find(|share| share.weight == heaviest)?.target.clone();
        let total = shares.iter().fold(0_u64, |sum, share| sum.saturating_add(share.weight.into()));
        Some(Self { target, split: Some(Arc::new(Split { shares, by, total })), fallbacks: Arc::default() })
    }

    /// The same with targets to try, in order, where the picked one cannot take a payment.
    #[must_use]
    pub fn with_fallbacks(self, fallbacks: Vec<Target>) -> Self {
        Self { fallbacks: fallbacks.into(), ..self }
    }

    /// The targets to try, in order, where the picked one cannot take a payment.
    pub fn fallbacks(&self) -> &[Target] {
        &self.fallbacks
    }

    /// The only target; of a split the heaviest, the first of several.
    pub const fn target(&self) -> &Target {
        &self.target
    }

    /// The shares, where there are several targets.
    pub fn shares(&self) -> Option<&Split> {
        self.split.as_deref()
    }

    /// The target of one payment. Depends on nothing but the weights, the payment's reference and the metadata value that
    /// the split names, so that every node, a repetition and a replay pick the same.
    pub fn pick(&self, reference: &[u8; 16], metadata: &Metadata) -> &Target {
        match self.shares() {
            Some(split) => split.pick(reference, metadata).unwrap_or(&self.target),
            None => &self.target,
        }
    }
}

impl From<Target> for Destination {
    fn from(target: Target) -> Self {
        Self { target, split: None, fallbacks: Arc::default() }
    }
}

impl Split {
    /// In the configuration's order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Share> {
        self.shares.iter()
    }

    /// The metadata key whose value decides, where a payment has it.
    pub fn by(&self) -> Option<&str> {
        self.by.as_deref()
    }

    fn pick(&self, reference: &[u8; 16], metadata: &Metadata) -> Option<&Target> {
        let hash = match self.by().and_then(|key| metadata.get(key)) {
            Some(MetadataValue::Scalar(value)) => hash(value.as_bytes()),
            Some(MetadataValue::Composite) | None => hash(reference),
        };
        // A point between 0 and the total. Shares lie side by side in order, so that changing two neighbors' weights moves
        // only the payments between their old and their new border.
        let mut point = u64::try_from((u128::from(hash) * u128::from(self.total)) >> 64).unwrap_or(0);
        for Share { target, weight } in &self.shares {
            match point.checked_sub(u64::from(*weight)) {
                None => return Some(target),
                Some(rest) => point = rest,
            }
        }
        None
    }
}

/// FNV-1a, then the finalizer of `SplitMix64`, which spreads references that differ in their last bits only. Payments are
/// picked by it: a change would send customers elsewhere.
fn hash(bytes: &[u8]) -> u64 {
    let fnv = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mixed = (fnv ^ (fnv >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_never_changes() {
        assert_eq!(hash(b""), 0xf52a_15e9_a9b5_e89b);
        assert_eq!(hash(b"customer-1"), 0x2cb0_0644_b7ae_349b);
    }
}
