//! How many rules want the same coordinates, to tell a good place to file a rule from a crowded one.

use super::{checks::Demands, filing::admits_absent, ranges::Ranges};

/// How many rules want each coordinate.
pub(super) struct Crowds {
    /// By axis: how many rules want the coordinates below the nth, taken together.
    wanted_below: Vec<Vec<usize>>,
    /// By axis: how many rules mention it.
    mentions: Vec<usize>,
}

/// How good a place is for a rule, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Company {
    /// A payment without the metadata key would find the rule, and most payments lack most keys.
    pub(super) found_without_key: bool,
    /// How many rules are found together, the rule itself among them, on average over its coordinates.
    pub(super) rules: usize,
    /// How many coordinates lead to the rule.
    breadth: usize,
}

impl Crowds {
    /// Counts what the rules demand, on axes of these lengths.
    pub(super) fn new(lengths: &[usize], demands: &[(usize, Demands)]) -> Self {
        let mut opened: Vec<Vec<usize>> = lengths.iter().map(|length| vec![0; length + 1]).collect();
        let mut closed = opened.clone();
        let mut mentions = vec![0; lengths.len()];
        for (axis, admitted) in demands.iter().flat_map(|(_, demands)| demands) {
            increment(mentions.get_mut(*axis));
            for range in admitted.as_slice() {
                increment(opened.get_mut(*axis).and_then(|counts| counts.get_mut(range.start)));
                increment(closed.get_mut(*axis).and_then(|counts| counts.get_mut(range.end)));
            }
        }
        let wanted_below =
            opened.into_iter().zip(closed).map(|(opened, closed)| sums(opened, closed)).collect();
        Self { wanted_below, mentions }
    }

    /// How many rules mention the axis.
    pub(super) fn mentions(&self, axis: usize) -> usize {
        self.mentions.get(axis).copied().unwrap_or_default()
    }

    /// The company a rule has on an axis.
    pub(super) fn company(&self, axis: usize, admitted: &Ranges) -> Company {
        let below = self.wanted_below.get(axis).map(Vec::as_slice).unwrap_or_default();
        let at = |coordinate: usize| below.get(coordinate).copied().unwrap_or_default();
        let total: usize = admitted.as_slice().iter().map(|range| at(range.end) - at(range.start)).sum();
        let breadth = admitted.breadth();
        let rules = total.checked_div(breadth).unwrap_or_default();
        Company { found_without_key: admits_absent(axis, admitted), rules, breadth }
    }
}

fn increment(count: Option<&mut usize>) {
    if let Some(count) = count {
        *count += 1;
    }
}

/// From how many ranges open and close at each coordinate, how many rules want all coordinates below it.
fn sums(opened: Vec<usize>, closed: Vec<usize>) -> Vec<usize> {
    let (mut here, mut below) = (0, 0);
    let mut sums = Vec::with_capacity(opened.len());
    for (opened, closed) in opened.into_iter().zip(closed) {
        sums.push(below);
        here = here + opened - closed;
        below += here;
    }
    sums
}
