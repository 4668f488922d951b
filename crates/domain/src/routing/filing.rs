//! Rules that have a good place: filed there, and found by few payments.

use super::{
    axis::{ABSENT, Axes, Position},
    ranges::Ranges,
    tree::Tree,
};

/// Rules filed on one axis each: the one where they have the least company.
#[derive(Debug, Clone)]
pub(super) struct Scattered {
    /// By axis number.
    trees: Vec<Tree>,
    /// Metadata axes with the rules filed there that take a payment without the key.
    without_key: Vec<(usize, Vec<usize>)>,
}

impl Scattered {
    /// Nothing filed yet, on axes of these lengths.
    pub(super) fn new(lengths: &[usize]) -> Self {
        Self { trees: lengths.iter().copied().map(Tree::new).collect(), without_key: Vec::new() }
    }

    /// Files a rule. Rules come in ascending order.
    pub(super) fn file(&mut self, rule: usize, axis: usize, admitted: &Ranges) {
        if let Some(tree) = self.trees.get_mut(axis) {
            tree.file(rule, admitted);
        }
        if !admits_absent(axis, admitted) {
            return;
        }
        match self.without_key.binary_search_by_key(&axis, |(axis, _)| *axis) {
            Ok(at) => self.without_key.get_mut(at).into_iter().for_each(|(_, rules)| rules.push(rule)),
            Err(at) => self.without_key.insert(at, (axis, vec![rule])),
        }
    }

    /// Lists of the rules worth checking, each ascending.
    pub(super) fn lists<'a>(&'a self, position: &'a Position) -> impl Iterator<Item = &'a [usize]> {
        let without_key = self.without_key.iter().filter(|(axis, _)| position.coordinate(*axis) == ABSENT);
        let looked_up = Axes::FIXED.chain(position.metadata_axes.iter().copied());
        let filed = looked_up.filter_map(|axis| Some(self.trees.get(axis)?.lists(position.coordinate(axis))));
        without_key.map(|(_, rules)| rules.as_slice()).chain(filed.flatten())
    }
}

/// Whether a payment that is not looked up on the axis is wanted all the same.
pub(super) fn admits_absent(axis: usize, admitted: &Ranges) -> bool {
    !Axes::FIXED.contains(&axis) && admitted.as_slice().first().is_some_and(|range| range.start == ABSENT)
}
