//! What is left in memory of every object.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::archive::Place;
use super::kept::{Class, Kept};

/// Where an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// It was removed.
    Nowhere,
    InMemory,
    InFile,
}

/// The place of one object in the order of age. There can be hundreds of thousands, so each byte counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    pub(super) label: u32,
    unit: u32,
    units: u16,
    pub(super) class: Class,
    pub(super) rest: Rest,
}

impl Slot {
    pub(super) const EMPTY: Self =
        Self { label: 0, unit: 0, units: 0, class: Class::Open, rest: Rest::Nowhere };

    pub(super) fn in_memory(object: &impl Kept) -> Self {
        let label = object.label().map_or(0, label_hash);
        Self { label, class: object.class(), rest: Rest::InMemory, ..Self::EMPTY }
    }

    pub(super) fn move_to(&mut self, place: Place) {
        (self.unit, self.units, self.rest) = (place.unit, place.units, Rest::InFile);
    }

    pub(super) fn place(self) -> Place {
        Place { unit: self.unit, units: self.units }
    }
}

/// Two labels can share it, so it only tells which objects need not be looked at.
pub(super) fn label_hash(label: &str) -> u32 {
    let mut hasher = DefaultHasher::new();
    label.hash(&mut hasher);
    u32::try_from(hasher.finish() >> u32::BITS).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_small() {
        assert_eq!(size_of::<Slot>(), 12);
    }
}
