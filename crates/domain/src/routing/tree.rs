//! Which rules want a coordinate: a segment tree over one axis.

use std::ops::Range;

use super::ranges::Ranges;

/// Rules filed under sets of coordinates. A range costs two entries for each level at most, and a coordinate finds its
/// rules on the way from its leaf to the root.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    /// How many coordinates there are.
    leaves: usize,
    /// Node 1 is the root, node `n` has the children `2n` and `2n + 1`, and the leaves come last. Each node holds
    /// ascending rule numbers. Empty until something is filed, since most axes of a large table carry little.
    nodes: Vec<Vec<usize>>,
}

impl Tree {
    /// A tree over the coordinates below `leaves`.
    pub(super) const fn new(leaves: usize) -> Self {
        Self { leaves, nodes: Vec::new() }
    }

    /// Files a rule under every coordinate of the set. Rules are filed in ascending order.
    pub(super) fn file(&mut self, rule: usize, coordinates: &Ranges) {
        self.nodes.resize_with(2 * self.leaves, Vec::new);
        for range in coordinates.as_slice() {
            self.file_range(rule, range);
        }
    }

    fn file_range(&mut self, rule: usize, range: &Range<usize>) {
        // Climbs from both ends at once, taking the nodes that lie wholly inside.
        let (mut left, mut right) = (range.start + self.leaves, range.end + self.leaves);
        while left < right {
            if left % 2 == 1 {
                self.push(left, rule);
                left += 1;
            }
            if right % 2 == 1 {
                right -= 1;
                self.push(right, rule);
            }
            left /= 2;
            right /= 2;
        }
    }

    fn push(&mut self, node: usize, rule: usize) {
        if let Some(list) = self.nodes.get_mut(node) {
            list.push(rule);
        }
    }

    /// The lists of rules filed under the coordinate, each ascending; together they name a rule once.
    pub(super) fn lists(&self, coordinate: usize) -> impl Iterator<Item = &[usize]> {
        let path = std::iter::successors(Some(coordinate + self.leaves), |node| Some(node / 2));
        // The path of an empty tree ends at once, that of any other at the root.
        path.map_while(|node| self.nodes.get(node).filter(|_| node > 0)).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coordinate_finds_each_rule_filed_under_it_once() {
        for leaves in 1..12 {
            let ranges = (0..leaves).flat_map(|start| (start + 1..=leaves).map(move |end| start..end));
            let ranges: Vec<_> = ranges.collect();
            let mut tree = Tree::new(leaves);
            for (rule, range) in ranges.iter().enumerate() {
                tree.file(rule, &Ranges::union(vec![range.clone()]));
            }
            for coordinate in 0..leaves {
                let mut found: Vec<_> = tree.lists(coordinate).flatten().copied().collect();
                found.sort_unstable();
                let expected: Vec<_> =
                    (0..ranges.len()).filter(|rule| ranges[*rule].contains(&coordinate)).collect();
                assert_eq!(found, expected, "coordinate {coordinate} of {leaves}");
                assert!(tree.lists(coordinate).all(<[_]>::is_sorted));
            }
        }
    }

    #[test]
    fn an_empty_tree_has_no_lists() {
        assert_eq!(Tree::new(3).lists(2).count(), 0);
    }
}
