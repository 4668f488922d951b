//! Objects of one kind: found by id, listed by age, bounded in number.
//!
//! What changed lately is in memory. The rest is in files, with a few bytes about each object left in memory.

mod archive;
mod kept;
mod slot;
pub(crate) mod word;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sha2::{Digest as _, Sha256};

use archive::Archive;
use slot::{Rest, Slot};

pub(crate) use kept::{Class, Kept, as_text};
pub(crate) use word::Word;

/// How many changed objects make a generation. The last one or two generations are in memory.
const GENERATION: usize = 32;
/// One in so many entries of the index may belong to an object that was dropped.
const DROPPED_SHARE: usize = 8;

/// Takes a lock. A panic elsewhere leaves whole objects behind, so a poisoned lock is still good.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The beginning of an id's SHA-256: among hundreds of thousands of ids, two share it once in billions of times.
type Key = [u8; 9];
/// An object's number in bytes, so that nothing is lost between it and the key.
type Number = [u8; 4];

fn key_of(id: &str) -> Key {
    Sha256::digest(id).first_chunk().copied().unwrap_or_default()
}

/// Objects of one kind. Beyond `objects_max` the oldest is dropped.
#[derive(Debug)]
pub(crate) struct Collection<T> {
    /// One for each object, by age. Their numbers count up from `first`, and from the largest on to zero.
    slots: VecDeque<Slot>,
    first: u32,
    /// Some belong to objects that were dropped.
    numbers: HashMap<Key, Number>,
    /// How many slots have an object.
    filled: usize,
    created: u64,
    objects_max: usize,
    /// What changed since the last generation was complete.
    fresh: BTreeMap<u32, T>,
    /// What changed in the generation before, and has not since.
    stale: BTreeMap<u32, T>,
    archive: Archive,
}

impl<T: Kept> Collection<T> {
    pub(crate) fn new(objects_max: usize) -> Self {
        Self::over(Archive::default(), objects_max)
    }

    fn over(archive: Archive, objects_max: usize) -> Self {
        Self {
            slots: VecDeque::new(),
            first: 0,
            numbers: HashMap::new(),
            filled: 0,
            created: 0,
            objects_max: objects_max.max(1),
            fresh: BTreeMap::new(),
            stale: BTreeMap::new(),
            archive,
        }
    }

    /// Adds an object, or replaces the one of that id where it stands.
    pub(crate) fn put(&mut self, id: &str, object: T) {
        let key = key_of(id);
        let number = self.number_of(&key).unwrap_or_else(|| self.add(key));
        self.empty(number);
        if let Some(slot) = self.slot_mut(number) {
            *slot = Slot::in_memory(&object);
        }
        self.fresh.insert(number, object);
        while self.filled > self.objects_max {
            self.drop_oldest();
        }
        if self.fresh.len() >= GENERATION && self.archive.is_open() {
            self.end_generation();
        }
    }

    pub(crate) fn get(&self, id: &str) -> Option<Cow<'_, T>> {
        self.at(self.number_of(&key_of(id))?)
    }

    /// The object to be changed and put again.
    pub(crate) fn get_owned(&self, id: &str) -> Option<T> {
        self.get(id).map(Cow::into_owned)
    }

    pub(crate) fn remove(&mut self, id: &str) {
        let key = key_of(id);
        let Some(number) = self.number_of(&key) else { return };
        self.empty(number);
        self.numbers.remove(&key);
        if let Some(slot) = self.slot_mut(number) {
            *slot = Slot::EMPTY;
        }
        self.filled -= 1;
        while self.slots.back().is_some_and(|slot| slot.rest == Rest::Nowhere) {
            self.slots.pop_back();
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.objects_max);
    }

    /// How many were ever added, dropped ones included.
    pub(crate) fn created(&self) -> u64 {
        self.created
    }

    /// How many are of a class.
    pub(crate) fn count(&self, class: Class) -> usize {
        self.slots.iter().filter(|slot| slot.rest != Rest::Nowhere && slot.class == class).count()
    }

    pub(crate) fn newest_first(&self) -> impl Iterator<Item = Cow<'_, T>> {
        self.rows(self.positions(None, false, None))
    }

    /// Where a label is given, those that may have it; a few others can be among them.
    pub(crate) fn labeled(&self, label: Option<&str>) -> impl Iterator<Item = Cow<'_, T>> {
        self.rows(self.positions(None, false, label))
    }

    /// A page of at most `limit` rows from the object after `cursor` on, and whether more follow. `row` answers `None`
    /// for an object that is left out; with a `label`, those of other labels need not be asked about. `None`: there is
    /// no object of the cursor's id.
    pub(crate) fn page<R>(
        &self,
        cursor: Option<&str>,
        oldest_first: bool,
        limit: usize,
        label: Option<&str>,
        row: impl Fn(&T) -> Option<R>,
    ) -> Option<(Vec<R>, bool)> {
        let cursor = cursor.map(|id| self.number_of(&key_of(id)).ok_or(())).transpose().ok()?;
        let rest = self.rows(self.positions(cursor, oldest_first, label));
        let mut rows: Vec<R> = rest.filter_map(|object| row(&object)).take(limit + 1).collect();
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        Some((rows, has_more))
    }

    fn rows(&self, positions: impl Iterator<Item = u32>) -> impl Iterator<Item = Cow<'_, T>> {
        positions.filter_map(|position| self.at(self.first.wrapping_add(position)))
    }

    /// Where to look, beginning after the object of this number.
    fn positions(
        &self,
        after: Option<u32>,
        oldest_first: bool,
        label: Option<&str>,
    ) -> impl Iterator<Item = u32> {
        let after = after.map(|number| number.wrapping_sub(self.first));
        let end = u32::try_from(self.slots.len()).unwrap_or(u32::MAX);
        let range = match after {
            Some(position) if oldest_first => position + 1..end,
            Some(position) => 0..position,
            None => 0..end,
        };
        let label = label.map(slot::label_hash);
        let has_label = move |position: &u32| {
            label.is_none_or(|label| {
                self.slots.get(*position as usize).is_some_and(|slot| slot.label == label)
            })
        };
        let (upward, downward) = if oldest_first { (Some(range), None) } else { (None, Some(range.rev())) };
        upward.into_iter().flatten().chain(downward.into_iter().flatten()).filter(has_label)
    }

    fn slot(&self, number: u32) -> Option<Slot> {
        let slot = self.slots.get(number.wrapping_sub(self.first) as usize).copied();
        slot.filter(|slot| slot.rest != Rest::Nowhere)
    }

    fn slot_mut(&mut self, number: u32) -> Option<&mut Slot> {
        self.slots.get_mut(number.wrapping_sub(self.first) as usize)
    }

    fn number_of(&self, key: &Key) -> Option<u32> {
        let number = u32::from_le_bytes(*self.numbers.get(key)?);
        self.slot(number).map(|_| number)
    }

    fn at(&self, number: u32) -> Option<Cow<'_, T>> {
        let slot = self.slot(number)?;
        if let Rest::InFile = slot.rest {
            return self.archive.read(slot.place()).map(Cow::Owned);
        }
        self.fresh.get(&number).or_else(|| self.stale.get(&number)).map(Cow::Borrowed)
    }

    fn add(&mut self, key: Key) -> u32 {
        // Nobody keeps so many that this saturates.
        let position = u32::try_from(self.slots.len()).unwrap_or(u32::MAX);
        let number = self.first.wrapping_add(position);
        self.slots.push_back(Slot::EMPTY);
        self.numbers.insert(key, number.to_le_bytes());
        self.filled += 1;
        self.created += 1;
        number
    }

    /// Forgets what was the object of this number.
    fn empty(&mut self, number: u32) {
        if let Some(slot) = self.slot(number).filter(|slot| slot.rest == Rest::InFile) {
            self.archive.forget(slot.place());
        }
        self.fresh.remove(&number);
        self.stale.remove(&number);
    }

    fn drop_oldest(&mut self) {
        self.empty(self.first);
        let dropped = self.slots.pop_front();
        self.first = self.first.wrapping_add(1);
        if dropped.is_some_and(|slot| slot.rest != Rest::Nowhere) {
            self.filled -= 1;
        }
        if self.numbers.len() > self.filled + self.objects_max / DROPPED_SHARE {
            let (first, slots) = (self.first, &self.slots);
            self.numbers.retain(|_, number| {
                let position = u32::from_le_bytes(*number).wrapping_sub(first);
                (position as usize) < slots.len()
            });
        }
    }

    /// Moves what did not change for a generation into a file.
    fn end_generation(&mut self) {
        let unchanged = std::mem::replace(&mut self.stale, std::mem::take(&mut self.fresh));
        let mut batch = self.archive.batch();
        let mut moved = Vec::with_capacity(unchanged.len());
        for (number, object) in &unchanged {
            if let Some(units) = batch.add(object) {
                moved.push((*number, units));
            }
        }
        let Some(places) = self.archive.append(batch, &moved) else {
            self.stale.extend(unchanged);
            return;
        };
        for (number, place) in places {
            if let Some(slot) = self.slot_mut(number) {
                slot.move_to(place);
            }
        }
        let stays = |number: &u32| self.slot(*number).is_some_and(|slot| slot.rest == Rest::InMemory);
        let staying: Vec<_> = unchanged.into_iter().filter(|(number, _)| stays(number)).collect();
        self.stale.extend(staying);
    }
}

#[cfg(test)]
mod tests;
