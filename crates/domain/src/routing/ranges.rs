//! Sets of coordinates as ascending, disjoint ranges.

use std::ops::Range;

/// A set of coordinates. The ranges are ascending, not empty, and no two touch.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Ranges(Vec<Range<usize>>);

impl Ranges {
    /// The union of ranges in any order.
    pub(super) fn union(mut parts: Vec<Range<usize>>) -> Self {
        parts.retain(|part| !part.is_empty());
        parts.sort_unstable_by_key(|part| part.start);
        let mut merged: Vec<Range<usize>> = Vec::with_capacity(parts.len());
        for part in parts {
            match merged.last_mut() {
                Some(last) if part.start <= last.end => last.end = last.end.max(part.end),
                _ => merged.push(part),
            }
        }
        Self(merged)
    }

    /// Everything below `end` that is not in the set.
    pub(super) fn complement(&self, end: usize) -> Self {
        let starts = std::iter::once(0).chain(self.0.iter().map(|part| part.end));
        let ends = self.0.iter().map(|part| part.start).chain(std::iter::once(end));
        Self(starts.zip(ends).map(|(start, end)| start..end).filter(|gap| !gap.is_empty()).collect())
    }

    /// What both sets have.
    pub(super) fn intersection(&self, other: &Self) -> Self {
        let (mut left, mut right) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut common = Vec::new();
        while let (Some(one), Some(two)) = (left.peek(), right.peek()) {
            let shared = one.start.max(two.start)..one.end.min(two.end);
            // The range that ends first meets nothing more on the other side.
            if one.end <= two.end {
                left.next();
            } else {
                right.next();
            }
            if !shared.is_empty() {
                common.push(shared);
            }
        }
        Self(common)
    }

    /// Whether the coordinate is in the set.
    pub(super) fn contains(&self, coordinate: usize) -> bool {
        let next = self.0.partition_point(|part| part.end <= coordinate);
        self.0.get(next).is_some_and(|part| part.contains(&coordinate))
    }

    /// The ranges, ascending.
    pub(super) fn as_slice(&self) -> &[Range<usize>] {
        &self.0
    }

    /// How many coordinates the set has.
    pub(super) fn breadth(&self) -> usize {
        self.0.iter().map(ExactSizeIterator::len).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(set: &Ranges) -> Vec<usize> {
        set.as_slice().iter().cloned().flatten().collect()
    }

    #[test]
    fn sets_behave_like_sets() {
        // Every pair of subsets of 0..6, each written as single coordinates.
        for (left, right) in (0_u32..64).flat_map(|left| (0_u32..64).map(move |right| (left, right))) {
            let has = |bits: u32, at: usize| bits >> at & 1 == 1;
            let set = |bits: u32| {
                Ranges::union((0..6).rev().filter(|at| has(bits, *at)).map(|at| at..at + 1).collect())
            };
            let (one, two) = (set(left), set(right));
            let expect = |bits: u32| (0..6).filter(|at| has(bits, *at)).collect::<Vec<_>>();
            assert_eq!(members(&one), expect(left));
            assert_eq!(members(&one.complement(6)), expect(!left));
            assert_eq!(members(&one.intersection(&two)), expect(left & right));
            assert_eq!(one.breadth(), expect(left).len());
            assert!((0..8).all(|at| one.contains(at) == has(left, at)));
            let touching = one.as_slice().windows(2).any(|pair| pair[0].end >= pair[1].start);
            assert!(!touching, "{one:?}");
        }
    }
}
