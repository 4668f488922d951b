//! Coordinates: a field's endless values cut into the few stretches the rules can tell apart.
//!
//! Rules mention finitely many values. Sort them, and every payment's value falls into one of the stretches between
//! two neighbors; which one is its coordinate. All tests of the rules then become sets of coordinates: an equality is
//! a stretch that holds one value, a prefix is the stretch from itself up to its successor, an order test is
//! everything on one side.

use std::{borrow::Borrow, collections::BTreeMap, ops::Range, sync::Arc};

use super::{
    Facts, Rule,
    condition::{Condition, Field, Test, whole_number},
    ranges::Ranges,
};
use crate::metadata::MetadataValue;

/// Texts are ordered as bytes: the successor of a prefix need not be valid UTF-8.
type Bytes = Box<[u8]>;

/// The coordinate of a field that is not there (or is no number, where only numbers count).
pub(super) const ABSENT: usize = 0;
/// The coordinate of an object, a list or null.
const COMPOSITE: usize = 1;
/// The coordinate below the lowest boundary.
const LOWEST: usize = 2;

/// The axes every payment has, by number; those of metadata keys follow.
const AMOUNT: usize = 0;
const CURRENCY: usize = 1;
const FLOW: usize = 2;
const METADATA: usize = 3;

/// All axes of a table.
#[derive(Debug, Clone)]
pub(super) struct Axes {
    amount: Axis<i128>,
    currency: Axis<Bytes>,
    flow: Axis<Bytes>,
    /// Ordered rather than hashed: keys come from outside, and no choice of keys can make a tree search slow.
    keys: BTreeMap<Arc<str>, KeyAxes>,
    /// How many axes there are.
    count: usize,
}

/// A metadata value is looked at as text by most tests and as a number by order tests.
#[derive(Debug, Clone, Default)]
struct KeyAxes {
    text: Option<Axis<Bytes>>,
    number: Option<Axis<i128>>,
}

/// Where a payment stands on every axis.
pub(super) struct Position {
    /// By axis number.
    coordinates: Vec<usize>,
    /// The axes of the payment's own metadata, as far as rules mention them.
    pub(super) metadata_axes: Vec<usize>,
}

impl Axes {
    /// Axes that tell apart everything these rules tell apart.
    pub(super) fn of<'a>(rules: impl Iterator<Item = &'a Rule>) -> Self {
        let (amount, currency, flow) = (Axis::new(AMOUNT), Axis::new(CURRENCY), Axis::new(FLOW));
        let mut axes = Self { amount, currency, flow, keys: BTreeMap::new(), count: METADATA };
        for condition in rules.flat_map(|rule| &rule.conditions) {
            match condition.field() {
                Field::Amount => axes.amount.mark(amount_wanted(condition)),
                Field::Currency => axes.currency.mark(text_wanted(condition)),
                Field::Flow => axes.flow.mark(text_wanted(condition)),
                Field::Metadata(key) => {
                    let key = axes.keys.entry(Arc::clone(key)).or_default();
                    if let Some(wanted) = order_wanted(condition.test()) {
                        key.number.get_or_insert_with(|| Axis::next(&mut axes.count)).mark(wanted);
                    } else {
                        let text = key.text.get_or_insert_with(|| Axis::next(&mut axes.count));
                        text.mark(text_wanted(condition));
                    }
                }
            }
        }
        axes.amount.seal();
        axes.currency.seal();
        axes.flow.seal();
        for key in axes.keys.values_mut() {
            key.text.iter_mut().for_each(Axis::seal);
            key.number.iter_mut().for_each(Axis::seal);
        }
        axes
    }

    /// The condition as an axis and the coordinates it admits there.
    pub(super) fn admitted(&self, condition: &Condition) -> Option<(usize, Ranges)> {
        Some(match condition.field() {
            Field::Amount => self.amount.admitted(amount_wanted(condition)),
            Field::Currency => self.currency.admitted(text_wanted(condition)),
            Field::Flow => self.flow.admitted(text_wanted(condition)),
            Field::Metadata(key) => {
                let key = self.keys.get(key)?;
                match order_wanted(condition.test()) {
                    Some(wanted) => key.number.as_ref()?.admitted(wanted),
                    None => key.text.as_ref()?.admitted(text_wanted(condition)),
                }
            }
        })
    }

    /// The number of coordinates on each axis, by axis number.
    pub(super) fn lengths(&self) -> Vec<usize> {
        let fixed =
            [(AMOUNT, self.amount.length()), (CURRENCY, self.currency.length()), (FLOW, self.flow.length())];
        let texts =
            self.keys.values().filter_map(|key| key.text.as_ref().map(|axis| (axis.number, axis.length())));
        let numbers =
            self.keys.values().filter_map(|key| key.number.as_ref().map(|axis| (axis.number, axis.length())));
        let mut lengths = vec![0; self.count];
        for (axis, length) in fixed.into_iter().chain(texts).chain(numbers) {
            if let Some(slot) = lengths.get_mut(axis) {
                *slot = length;
            }
        }
        lengths
    }

    /// The axes every payment is looked up on, whatever metadata it carries.
    pub(super) const FIXED: Range<usize> = 0..METADATA;

    /// Where the payment stands.
    pub(super) fn locate(&self, facts: &Facts<'_>) -> Position {
        let mut position = Position { coordinates: vec![ABSENT; self.count], metadata_axes: Vec::new() };
        position.set(AMOUNT, self.amount.coordinate(&i128::from(facts.amount.minor())));
        position.set(CURRENCY, self.currency.coordinate(facts.currency.code().as_bytes()));
        if let Some(flow) = facts.flow {
            position.set(FLOW, self.flow.coordinate(flow.as_str().as_bytes()));
        }
        if self.keys.is_empty() {
            return position;
        }
        for (key, value) in facts.metadata.iter() {
            let Some(key) = self.keys.get(key) else { continue };
            let text = match value {
                MetadataValue::Scalar(text) => Some(text),
                MetadataValue::Composite => None,
            };
            if let Some(axis) = &key.text {
                let coordinate = text.map_or(COMPOSITE, |text| axis.coordinate(text.as_bytes()));
                position.set_metadata(axis.number, coordinate);
            }
            if let Some(axis) = &key.number
                && let Some(number) = text.and_then(|text| whole_number(text))
            {
                position.set_metadata(axis.number, axis.coordinate(&number));
            }
        }
        position
    }
}

impl Position {
    /// Where the payment stands on the axis.
    pub(super) fn coordinate(&self, axis: usize) -> usize {
        self.coordinates.get(axis).copied().unwrap_or(ABSENT)
    }

    fn set(&mut self, axis: usize, coordinate: usize) {
        if let Some(slot) = self.coordinates.get_mut(axis) {
            *slot = coordinate;
        }
    }

    fn set_metadata(&mut self, axis: usize, coordinate: usize) {
        self.set(axis, coordinate);
        self.metadata_axes.push(axis);
    }
}

/// One field, cut at its boundaries.
#[derive(Debug, Clone)]
struct Axis<B> {
    number: usize,
    /// Ascending once sealed. Each opens a stretch that lasts until the next.
    boundaries: Vec<B>,
}

/// What a test wants of an axis.
enum Wanted<B> {
    Within(Vec<Stretch<B>>),
    Outside(Vec<Stretch<B>>),
    Present,
    Absent,
}

/// From one boundary up to, not including, another; `None` is without end.
struct Stretch<B> {
    from: Option<B>,
    until: Option<B>,
}

impl<B: Ord> Axis<B> {
    const fn new(number: usize) -> Self {
        Self { number, boundaries: Vec::new() }
    }

    /// An axis with the next free number.
    fn next(count: &mut usize) -> Self {
        *count += 1;
        Self::new(*count - 1)
    }

    fn mark(&mut self, wanted: Wanted<B>) {
        if let Wanted::Within(stretches) | Wanted::Outside(stretches) = wanted {
            self.boundaries
                .extend(stretches.into_iter().flat_map(|stretch| [stretch.from, stretch.until]).flatten());
        }
    }

    fn seal(&mut self) {
        self.boundaries.sort_unstable();
        self.boundaries.dedup();
        self.boundaries.shrink_to_fit();
    }

    fn length(&self) -> usize {
        LOWEST + self.boundaries.len() + 1
    }

    fn coordinate<V: Ord + ?Sized>(&self, value: &V) -> usize
    where
        B: Borrow<V>,
    {
        LOWEST + self.boundaries.partition_point(|boundary| boundary.borrow() <= value)
    }

    fn admitted(&self, wanted: Wanted<B>) -> (usize, Ranges) {
        let cover = |stretches: Vec<Stretch<B>>| {
            let range = |stretch: Stretch<B>| {
                let start = stretch.from.map_or(LOWEST, |from| self.coordinate(&from));
                let end = stretch.until.map_or(self.length(), |until| self.coordinate(&until));
                start..end
            };
            Ranges::union(stretches.into_iter().map(range).collect())
        };
        let absent = Ranges::union(std::iter::once(ABSENT..COMPOSITE).collect());
        let admitted = match wanted {
            Wanted::Within(stretches) => cover(stretches),
            Wanted::Outside(stretches) => cover(stretches).complement(self.length()),
            Wanted::Present => absent.complement(self.length()),
            Wanted::Absent => absent,
        };
        (self.number, admitted)
    }
}

fn amount_wanted(condition: &Condition) -> Wanted<i128> {
    let amounts = || {
        let stretch = |amount: &u64| {
            let amount = i128::from(*amount);
            Stretch { from: Some(amount), until: Some(amount + 1) }
        };
        condition.amounts().iter().map(stretch).collect()
    };
    let test = condition.test();
    order_wanted(test).unwrap_or_else(|| equality_wanted(test, amounts))
}

fn text_wanted(condition: &Condition) -> Wanted<Bytes> {
    let exactly = |text: &String| {
        // Nothing lies between a text and the same text with a zero byte behind it.
        let mut next = text.as_bytes().to_vec();
        next.push(0);
        Stretch { from: Some(text.as_bytes().into()), until: Some(next.into()) }
    };
    let test = condition.test();
    if let Test::StartsWith(prefix) = test {
        return Wanted::Within(vec![Stretch {
            from: Some(prefix.as_bytes().into()),
            until: successor(prefix),
        }]);
    }
    equality_wanted(test, || test.operands().iter().map(exactly).collect())
}

fn equality_wanted<B>(test: &Test, stretches: impl Fn() -> Vec<Stretch<B>>) -> Wanted<B> {
    match test {
        Test::Ne(_) | Test::NotIn(_) => Wanted::Outside(stretches()),
        Test::Exists(true) => Wanted::Present,
        Test::Exists(false) => Wanted::Absent,
        _ => Wanted::Within(stretches()),
    }
}

fn order_wanted(test: &Test) -> Option<Wanted<i128>> {
    // Behind the largest number there is no boundary: `until` has no end there, and `from` admits nothing.
    let (from, until) = match test {
        Test::Lt(bound) => (None, Some(*bound)),
        Test::Lte(bound) => (None, bound.checked_add(1)),
        Test::Gte(bound) => (Some(*bound), None),
        Test::Gt(bound) => match bound.checked_add(1) {
            Some(from) => (Some(from), None),
            None => return Some(Wanted::Within(Vec::new())),
        },
        _ => return None,
    };
    Some(Wanted::Within(vec![Stretch { from, until }]))
}

/// The first text behind all that begin with the prefix; `None` for the empty prefix, which all begin with.
fn successor(prefix: &str) -> Option<Bytes> {
    let mut bytes = prefix.as_bytes().to_vec();
    // UTF-8 never uses the byte 0xFF, so the last byte always has a successor.
    *bytes.last_mut()? += 1;
    Some(bytes.into())
}
