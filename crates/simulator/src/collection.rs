//! Objects of one kind: found by id, listed by age, bounded in number.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Takes a lock. A panic elsewhere leaves whole objects behind, so a poisoned lock is still good.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Objects of one kind. Beyond `objects_max` the oldest is dropped.
#[derive(Debug)]
pub(crate) struct Collection<T> {
    by_number: BTreeMap<u64, (Arc<str>, T)>,
    numbers: HashMap<Arc<str>, u64>,
    created: u64,
    objects_max: usize,
}

impl<T> Collection<T> {
    pub(crate) fn new(objects_max: usize) -> Self {
        Self {
            by_number: BTreeMap::new(),
            numbers: HashMap::new(),
            created: 0,
            objects_max: objects_max.max(1),
        }
    }

    /// Adds an object, or replaces the one of that id where it stands.
    pub(crate) fn put(&mut self, id: &str, object: T) {
        if let Some(slot) = self.numbers.get(id).and_then(|number| self.by_number.get_mut(number)) {
            slot.1 = object;
            return;
        }
        self.created += 1;
        let id: Arc<str> = id.into();
        self.numbers.insert(Arc::clone(&id), self.created);
        self.by_number.insert(self.created, (id, object));
        while self.by_number.len() > self.objects_max {
            if let Some((_, (dropped, _))) = self.by_number.pop_first() {
                self.numbers.remove(&dropped);
            }
        }
    }

    pub(crate) fn get(&self, id: &str) -> Option<&T> {
        self.by_number.get(self.numbers.get(id)?).map(|(_, object)| object)
    }

    pub(crate) fn remove(&mut self, id: &str) -> Option<T> {
        let number = self.numbers.remove(id)?;
        self.by_number.remove(&number).map(|(_, object)| object)
    }

    pub(crate) fn clear(&mut self) {
        self.by_number.clear();
        self.numbers.clear();
        self.created = 0;
    }

    /// How many were ever added, dropped ones included.
    pub(crate) fn created(&self) -> u64 {
        self.created
    }

    pub(crate) fn newest_first(&self) -> impl Iterator<Item = &T> {
        self.by_number.values().rev().map(|(_, object)| object)
    }

    /// A page of at most `limit` rows from the object after `cursor` on, and whether more follow. `row` answers `None`
    /// for an object that is left out. `None`: there is no object of the cursor's id.
    pub(crate) fn page<'a, R>(
        &'a self,
        cursor: Option<&str>,
        oldest_first: bool,
        limit: usize,
        row: impl Fn(&'a T) -> Option<R>,
    ) -> Option<(Vec<R>, bool)> {
        let cursor = cursor.map(|id| self.numbers.get(id).copied().ok_or(())).transpose().ok()?;
        let row = |(_, (_, object)): (&u64, &'a (Arc<str>, T))| row(object);
        let mut rows: Vec<R> = if oldest_first {
            let rest = self.by_number.range(cursor.map_or(0, |number| number + 1)..);
            rest.filter_map(row).take(limit + 1).collect()
        } else {
            let rest = self.by_number.range(..cursor.unwrap_or(u64::MAX)).rev();
            rest.filter_map(row).take(limit + 1).collect()
        };
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        Some((rows, has_more))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_dropped_and_places_are_kept() {
        let mut collection = Collection::new(3);
        for (id, object) in [("a", 1), ("b", 2), ("c", 3), ("d", 4), ("c", 5)] {
            collection.put(id, object);
        }
        assert_eq!(collection.get("a"), None);
        assert_eq!(collection.newest_first().copied().collect::<Vec<_>>(), [4, 5, 2]);
        let page = |cursor, oldest_first, limit| {
            collection.page(cursor, oldest_first, limit, |object| (*object != 2).then_some(*object))
        };
        assert_eq!(page(None, false, 1), Some((vec![4], true)));
        assert_eq!(page(None, true, 2), Some((vec![5, 4], false)));
        assert_eq!(page(Some("d"), false, 2), Some((vec![5], false)));
        assert_eq!(page(Some("b"), true, 1), Some((vec![5], true)));
        assert_eq!(page(Some("a"), true, 1), None);
        assert_eq!(collection.created(), 4);
        assert_eq!(collection.remove("d"), Some(4));
        assert_eq!(collection.newest_first().copied().collect::<Vec<_>>(), [5, 2]);
    }
}
