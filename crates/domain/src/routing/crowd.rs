//! Rules that have no good place: whichever axis they were filed on, many others would be found with them.
//!
//! They are filed on all the axes many of them mention, and a payment narrows the whole crowd down axis by axis, as
//! bits. That costs about a nanosecond for each condition that holds, and stops as soon as few rules are left.

use super::{axis::Position, checks::Demands, tree::Tree};

/// With so few rules left it is quicker to check each.
const FEW: usize = 32;

/// Crowded rules, numbered again from zero so that their bits lie close together.
#[derive(Debug, Clone)]
pub(super) struct Crowd {
    /// The number in the table of each rule, ascending.
    rules: Vec<usize>,
    places: Vec<Place>,
}

/// One axis of the crowd.
#[derive(Debug, Clone)]
struct Place {
    axis: usize,
    tree: Tree,
    /// The rules that do not mention the axis: no coordinate rules them out.
    indifferent: Bits,
    indifferent_count: usize,
}

impl Crowd {
    /// Nobody yet, on the axes given with their lengths.
    pub(super) fn new(axes: impl Iterator<Item = (usize, usize)>) -> Self {
        let place = |(axis, length)| Place {
            axis,
            tree: Tree::new(length),
            indifferent: Bits::default(),
            indifferent_count: 0,
        };
        Self { rules: Vec::new(), places: axes.map(place).collect() }
    }

    /// Adds a rule. Rules come in ascending order.
    pub(super) fn add(&mut self, rule: usize, demands: &Demands) {
        let member = self.rules.len();
        self.rules.push(rule);
        for place in &mut self.places {
            place.indifferent.make_room_for(member);
            if let Some((_, admitted)) = demands.iter().find(|(axis, _)| *axis == place.axis) {
                place.tree.file(member, admitted);
            } else {
                place.indifferent.set(member);
                place.indifferent_count += 1;
            }
        }
    }

    /// The rules worth checking, ascending.
    pub(super) fn candidates(&self, position: &Position) -> impl Iterator<Item = usize> {
        let members = self.remaining(position).into_members();
        members.filter_map(|member| self.rules.get(member).copied())
    }

    fn remaining(&self, position: &Position) -> Bits {
        // The axis that leaves the fewest comes first: often that is the end of it.
        let mut places: Vec<_> = self.places.iter().map(|place| (place.leaves(position), place)).collect();
        places.sort_unstable_by_key(|(leaves, _)| *leaves);
        let mut places = places.into_iter();
        let Some((leaves, first)) = places.next().filter(|(leaves, _)| *leaves > 0) else {
            return Bits::default();
        };
        let mut remaining = first.admitted(position);
        let mut count = leaves;
        for (_, place) in places {
            if count <= FEW {
                break;
            }
            remaining.keep_only(&place.admitted(position));
            count = remaining.count();
        }
        remaining
    }
}

impl Place {
    /// How many rules the payment's coordinate leaves.
    fn leaves(&self, position: &Position) -> usize {
        let filed: usize = self.tree.lists(position.coordinate(self.axis)).map(<[_]>::len).sum();
        filed + self.indifferent_count
    }

    fn admitted(&self, position: &Position) -> Bits {
        let mut bits = self.indifferent.clone();
        for members in self.tree.lists(position.coordinate(self.axis)) {
            bits.set_all(members);
        }
        bits
    }
}

/// A set of members.
#[derive(Debug, Clone, Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn make_room_for(&mut self, member: usize) {
        self.0.resize(member / 64 + 1, 0);
    }

    fn set(&mut self, member: usize) {
        self.set_word(member / 64, 1 << (member % 64));
    }

    /// Sets ascending members, gathering those of a word before touching it: most of the time is spent here.
    fn set_all(&mut self, ascending: &[usize]) {
        let (mut at, mut gathered) = (0, 0);
        for member in ascending {
            if member / 64 != at {
                self.set_word(at, gathered);
                (at, gathered) = (member / 64, 0);
            }
            gathered |= 1 << (member % 64);
        }
        self.set_word(at, gathered);
    }

    fn set_word(&mut self, at: usize, bits: u64) {
        if let Some(word) = self.0.get_mut(at) {
            *word |= bits;
        }
    }

    fn keep_only(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= other;
        }
    }

    fn count(&self) -> usize {
        self.0.iter().map(|word| usize::try_from(word.count_ones()).unwrap_or_default()).sum()
    }

    fn into_members(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().filter(|(_, word)| *word != 0).flat_map(|(at, word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_a_set() {
        let set = |members: &[usize]| {
            let mut bits = Bits::default();
            bits.make_room_for(200);
            bits.set_all(members);
            bits
        };
        let mut bits = set(&[0, 63, 64, 130, 200]);
        assert_eq!(bits.count(), 5);
        bits.keep_only(&set(&[1, 63, 64, 200]));
        bits.set(5);
        assert_eq!(bits.into_members().collect::<Vec<_>>(), [5, 63, 64, 200]);
    }
}
