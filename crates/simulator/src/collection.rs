//! Objects of one kind: found by id, listed by age, bounded in number.

use crate::archive::{Part, Row, Rows};
use crate::json::Packed;
use crate::prelude::*;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::sync::{MutexGuard, PoisonError};

/// So many times more objects than the bound are kept while they are open.
const OPEN_SHARE: usize = 4;

/// Takes a lock. A panic elsewhere leaves whole objects behind, so a poisoned lock is still good.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) trait Kept {
    /// What such objects are looked for by, beside their id. It never changes.
    fn label(&self) -> Option<&str> {
        None
    }

    fn class(&self) -> Class {
        Class::Closed
    }
}

impl Kept for Packed {}

/// What objects are counted by, and dropped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// The provider has still to do something with it.
    Open,
    Closed,
    /// It came through: settled, complete, charged.
    Done,
    /// It came through and was sent back.
    Returned,
}

/// Objects of one kind. Beyond `objects_max` the oldest that is not open is dropped.
#[derive(Debug)]
pub(crate) struct Collection<T> {
    /// By age, each with its id.
    objects: BTreeMap<u64, (String, T)>,
    numbers: HashMap<String, u64>,
    labels: BTreeSet<(String, u64)>,
    classes: BTreeSet<(Class, u64)>,
    created: u64,
    objects_max: usize,
    /// What is to be written to a file, if anything is: the id where the object was removed.
    changes: Option<BTreeMap<u64, Option<String>>>,
}

/// One without a bound.
impl<T: Kept> Default for Collection<T> {
    fn default() -> Self {
        Self::new(usize::MAX)
    }
}

impl<T: Kept> Collection<T> {
    pub(crate) fn new(objects_max: usize) -> Self {
        Self {
            objects: BTreeMap::new(),
            numbers: HashMap::new(),
            labels: BTreeSet::new(),
            classes: BTreeSet::new(),
            created: 0,
            objects_max: objects_max.max(1),
            changes: None,
        }
    }

    /// Adds an object, or replaces the one of that id where it stands.
    pub(crate) fn put(&mut self, id: &str, object: T) {
        let number = self.numbers.get(id).copied().unwrap_or(self.created + 1);
        self.place(number, id, object);
    }

    fn place(&mut self, number: u64, id: &str, object: T) {
        let (label, class) = (object.label().map(str::to_owned), object.class());
        if !self.numbers.contains_key(id) {
            self.created = self.created.max(number);
            self.numbers.insert(id.to_owned(), number);
            self.labels.extend(label.map(|label| (label, number)));
        }
        let replaced = self.objects.insert(number, (id.to_owned(), object));
        if let Some((_, replaced)) = replaced.filter(|(_, replaced)| replaced.class() != class) {
            self.classes.remove(&(replaced.class(), number));
        }
        self.classes.insert((class, number));
        self.note_change(number, None);
        while let Some(number) = self.surplus() {
            self.remove_number(number);
        }
    }

    fn note_change(&mut self, number: u64, removed: Option<String>) {
        if let Some(changes) = &mut self.changes {
            changes.insert(number, removed);
        }
    }

    /// The object to be dropped where there are too many.
    fn surplus(&self) -> Option<u64> {
        if self.objects.len() <= self.objects_max {
            return None;
        }
        let oldest = [Class::Closed, Class::Done, Class::Returned].into_iter().filter_map(|class| {
            self.classes.range((class, 0)..=(class, u64::MAX)).next().map(|(_, number)| *number)
        });
        let has_room = self.objects.len() <= self.objects_max.saturating_mul(OPEN_SHARE);
        oldest.min().or_else(|| self.objects.keys().next().copied().filter(|_| !has_room))
    }

    pub(crate) fn get(&self, id: &str) -> Option<&T> {
        self.numbers.get(id).and_then(|number| self.at(*number))
    }

    fn at(&self, number: u64) -> Option<&T> {
        self.objects.get(&number).map(|(_, object)| object)
    }

    pub(crate) fn remove(&mut self, id: &str) {
        if let Some(number) = self.numbers.get(id) {
            self.remove_number(*number);
        }
    }

    fn remove_number(&mut self, number: u64) {
        let Some((id, object)) = self.objects.remove(&number) else { return };
        self.numbers.remove(&id);
        self.classes.remove(&(object.class(), number));
        if let Some(label) = object.label() {
            self.labels.remove(&(label.to_owned(), number));
        }
        self.note_change(number, Some(id));
    }

    /// Those that the provider has still to do something with.
    pub(crate) fn open(&self) -> impl Iterator<Item = &T> {
        let open = self.classes.range((Class::Open, 0)..=(Class::Open, u64::MAX));
        open.filter_map(|(_, number)| self.at(*number))
    }

    /// How many were ever added, dropped ones included.
    pub(crate) fn created(&self) -> u64 {
        self.created
    }

    pub(crate) fn count(&self, class: Class) -> usize {
        self.classes.range((class, 0)..=(class, u64::MAX)).count()
    }

    pub(crate) fn clear(&mut self) {
        let changes = self.changes.as_ref().map(|_| BTreeMap::new());
        *self = Self { changes, ..Self::new(self.objects_max) };
    }

    pub(crate) fn oldest_first(&self) -> impl Iterator<Item = &T> {
        self.objects.values().map(|(_, object)| object)
    }

    pub(crate) fn newest_first(&self) -> impl Iterator<Item = &T> {
        self.objects.values().rev().map(|(_, object)| object)
    }

    /// Those of a label, or all, newest first.
    pub(crate) fn labeled<'a>(&'a self, label: Option<&str>) -> Box<dyn Iterator<Item = &'a T> + 'a> {
        match label {
            None => Box::new(self.newest_first()),
            Some(label) => Box::new(self.numbers_of(label).rev().filter_map(|number| self.at(number))),
        }
    }

    fn numbers_of<'a>(&'a self, label: &str) -> impl DoubleEndedIterator<Item = u64> + use<'a, T> {
        let range = (label.to_owned(), 0)..=(label.to_owned(), u64::MAX);
        self.labels.range(range).map(|(_, number)| *number)
    }

    /// A page of at most `limit` rows from the object after `cursor` on, and whether more follow. `row` answers `None`
    /// for an object that is left out; with a `label`, those of other labels are. `None`: there is no object of the
    /// cursor's id.
    pub(crate) fn page<R>(
        &self,
        cursor: Option<&str>,
        oldest_first: bool,
        limit: usize,
        label: Option<&str>,
        row: impl Fn(&T) -> Option<R>,
    ) -> Option<(Vec<R>, bool)> {
        let cursor = cursor.map(|id| self.numbers.get(id).copied().ok_or(())).transpose().ok()?;
        let numbers: Box<dyn DoubleEndedIterator<Item = u64>> = match label {
            Some(label) => Box::new(self.numbers_of(label)),
            None => Box::new(self.objects.keys().copied()),
        };
        let ordered: Box<dyn Iterator<Item = u64>> =
            if oldest_first { numbers } else { Box::new(numbers.rev()) };
        let follows = |number: &u64| {
            cursor.is_none_or(|cursor| if oldest_first { *number > cursor } else { *number < cursor })
        };
        let objects = ordered.filter(follows).filter_map(|number| self.at(number));
        let mut rows: Vec<R> = objects.filter_map(row).take(limit + 1).collect();
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        Some((rows, has_more))
    }
}

impl<T: Clone + Kept> Collection<T> {
    /// The object to be changed and put again.
    pub(crate) fn get_owned(&self, id: &str) -> Option<T> {
        self.get(id).cloned()
    }
}

impl<T: Kept + Serialize + DeserializeOwned> Part for Collection<T> {
    fn bound(&mut self, objects_max: usize) {
        self.objects_max = objects_max.max(1);
    }

    fn keep_changes(&mut self) {
        self.changes = Some(BTreeMap::new());
    }

    fn write_changes(&mut self, rows: &mut Rows<'_>) {
        for (number, removed) in self.changes.as_mut().map(std::mem::take).unwrap_or_default() {
            match (removed, self.objects.get(&number)) {
                (None, Some((id, object))) => rows.add(number, id, Some(object)),
                (Some(id), _) => rows.add(number, &id, None::<&T>),
                (None, None) => {}
            }
        }
    }

    fn write_all(&self, rows: &mut Rows<'_>) {
        for (number, (id, object)) in &self.objects {
            rows.add(*number, id, Some(object));
        }
    }

    fn restore(&mut self, row: &Row) -> serde_json::Result<()> {
        match row.object()? {
            Some(object) => self.place(row.number, &row.id, object),
            None => self.remove(&row.id),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, PartialEq)]
    struct Thing(u64, Class);

    impl Kept for Thing {
        fn label(&self) -> Option<&str> {
            Some(if self.0.is_multiple_of(2) { "even" } else { "odd" })
        }

        fn class(&self) -> Class {
            self.1
        }
    }

    fn filled(objects_max: usize, things: impl IntoIterator<Item = (u64, Class)>) -> Collection<Thing> {
        let mut collection = Collection::new(objects_max);
        for (number, class) in things {
            collection.put(&number.to_string(), Thing(number, class));
        }
        collection
    }

    fn newest(collection: &Collection<Thing>) -> Vec<u64> {
        collection.newest_first().map(|thing| thing.0).collect()
    }

    #[test]
    fn the_oldest_is_dropped_and_places_are_kept() {
        let mut collection = filled(3, [1, 2, 3, 4].map(|number| (number, Class::Closed)));
        assert_eq!((newest(&collection), collection.get("1")), (vec![4, 3, 2], None));
        collection.put("3", Thing(3, Class::Done));
        assert_eq!((newest(&collection), collection.count(Class::Done)), (vec![4, 3, 2], 1));
        let page = |cursor, oldest_first, limit| {
            collection.page(cursor, oldest_first, limit, None, |thing| (thing.0 != 2).then_some(thing.0))
        };
        assert_eq!(page(None, false, 1), Some((vec![4], true)));
        assert_eq!(page(None, true, 2), Some((vec![3, 4], false)));
        assert_eq!(page(Some("4"), false, 2), Some((vec![3], false)));
        assert_eq!(page(Some("2"), true, 1), Some((vec![3], true)));
        assert_eq!(page(Some("1"), true, 1), None);
        collection.remove("4");
        collection.put("5", Thing(5, Class::Closed));
        assert_eq!((newest(&collection), collection.created()), (vec![5, 3, 2], 5));
    }

    #[test]
    fn what_is_open_is_dropped_last() {
        let open = (1..=3).map(|number| (number, Class::Open));
        let collection = filled(4, open.chain((4..=9).map(|number| (number, Class::Done))));
        assert_eq!((newest(&collection), collection.count(Class::Open)), (vec![9, 3, 2, 1], 3));
        // Even they are bounded.
        let collection = filled(4, (1..=40).map(|number| (number, Class::Open)));
        assert_eq!(newest(&collection), (25..=40).rev().collect::<Vec<_>>());
        assert_eq!(
            (collection.numbers.len(), collection.labels.len(), collection.classes.len()),
            (16, 16, 16)
        );
    }

    #[test]
    fn labels_find_their_own() {
        let mut collection = filled(100, (1..=6).map(|number| (number, Class::Closed)));
        collection.remove("4");
        let even: Vec<_> = collection.labeled(Some("even")).map(|thing| thing.0).collect();
        assert_eq!(even, [6, 2]);
        assert_eq!(collection.labeled(Some("nobody's")).count(), 0);
        assert_eq!(collection.labeled(None).count(), 5);
        let odd = collection.page(Some("1"), true, 1, Some("odd"), |thing| Some(thing.0));
        assert_eq!(odd, Some((vec![3], true)));
    }
}
