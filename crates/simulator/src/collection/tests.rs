use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::*;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Thing {
    number: usize,
    #[serde(with = "word")]
    color: Word,
    #[serde(with = "word::optional")]
    shape: Option<Word>,
    value: Value,
}

impl Kept for Thing {
    fn label(&self) -> Option<&str> {
        self.value.get("label").and_then(Value::as_str)
    }

    fn class(&self) -> Class {
        if self.color == "red" { Class::Done } else { Class::Open }
    }
}

impl Kept for usize {}

/// One of many, with what is hard to write: order of fields, fractions, odd letters, nesting.
fn thing(number: usize) -> Thing {
    let depth = if number.is_multiple_of(50) { 130 } else { 1 };
    let nested = (0..depth).fold(json!(1), |inner, _| json!([inner]));
    // All sorts of bits: hardly a reader of fractions gets every one right.
    let bits = 0x3ff0_0000_0000_0000 + (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) / 4096;
    let fraction = f64::from_bits(bits);
    Thing {
        number,
        color: if number.is_multiple_of(3) { "red" } else { "blue" },
        shape: number.is_multiple_of(2).then_some("round"),
        value: json!({
            "z": fraction,
            "a": "\u{1F600} \"quoted\"  ",
            "label": format!("l-{}", number / 2),
            "nested": nested,
        }),
    }
}

fn id(number: usize) -> String {
    format!("id-{number}")
}

fn things(archive: Archive, count: usize, objects_max: usize) -> Collection<Thing> {
    let mut collection = Collection::over(archive, objects_max);
    for number in 0..count {
        collection.put(&id(number), thing(number));
    }
    collection
}

fn in_memory<T>(collection: &Collection<T>) -> usize {
    collection.fresh.len() + collection.stale.len()
}

#[test]
fn the_oldest_is_dropped_and_places_are_kept() {
    let mut collection = Collection::new(3);
    for (id, object) in [("a", 1), ("b", 2), ("c", 3), ("d", 4), ("c", 5)] {
        collection.put(id, object);
    }
    let all =
        |collection: &Collection<usize>| collection.newest_first().map(Cow::into_owned).collect::<Vec<_>>();
    assert_eq!(collection.get("a"), None);
    assert_eq!(all(&collection), [4, 5, 2]);
    let page = |cursor, oldest_first, limit| {
        collection.page(cursor, oldest_first, limit, None, |object| (*object != 2).then_some(*object))
    };
    assert_eq!(page(None, false, 1), Some((vec![4], true)));
    assert_eq!(page(None, true, 2), Some((vec![5, 4], false)));
    assert_eq!(page(Some("d"), false, 2), Some((vec![5], false)));
    assert_eq!(page(Some("b"), true, 1), Some((vec![5], true)));
    assert_eq!(page(Some("a"), true, 1), None);
    assert_eq!(collection.created(), 4);
    collection.remove("d");
    assert_eq!((collection.get("d"), all(&collection)), (None, vec![5, 2]));
    collection.remove("b");
    collection.put("e", 6);
    assert_eq!(all(&collection), [6, 5]);
}

#[test]
fn what_is_read_from_a_file_is_what_was_put() {
    let mut collection = things(Archive::default(), 1_000, 10_000);
    assert!(in_memory(&collection) < 2 * GENERATION);
    for number in 0..1_000 {
        assert_eq!(collection.get_owned(&id(number)), Some(thing(number)));
    }
    assert_eq!(collection.get(&id(1_000)), None);
    assert_eq!(collection.count(Class::Done), 334);
    // A change brings it back, and it goes again later.
    let changed = Thing { color: "green", ..thing(3) };
    collection.put(&id(3), changed.clone());
    assert_eq!(collection.count(Class::Done), 333);
    for number in 1_000..2_000 {
        assert_eq!(collection.get_owned(&id(3)).as_ref(), Some(&changed));
        collection.put(&id(number), thing(number));
    }
    collection.remove(&id(4));
    assert_eq!(collection.get(&id(4)), None);
    assert!(in_memory(&collection) < 2 * GENERATION);
    assert_eq!(collection.created(), 2_000);
    collection.clear();
    assert_eq!((collection.created(), collection.newest_first().count()), (0, 0));
}

#[test]
fn lists_are_in_order_over_files_and_memory() {
    let mut collection = things(Archive::default(), 700, 10_000);
    // Old places with new content, which is in memory again.
    for number in [5, 300] {
        collection.put(&id(number), thing(number));
    }
    collection.remove(&id(6));
    let expected: Vec<usize> = (0..700).filter(|number| *number != 6).collect();
    let newest: Vec<usize> = collection.newest_first().map(|thing| thing.number).collect();
    assert!(newest.iter().rev().eq(&expected));
    let mut seen = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let (rows, has_more) =
            collection.page(cursor.as_deref(), true, 9, None, |thing| Some(thing.number)).unwrap_or_default();
        seen.extend(rows);
        if !has_more {
            break;
        }
        cursor = seen.last().map(|last| id(*last));
    }
    assert_eq!(seen, expected);
    for (label, oldest_first, numbers) in [("l-2", true, vec![4, 5]), ("l-340", false, vec![681, 680])] {
        let row = |thing: &Thing| (thing.label() == Some(label)).then_some(thing.number);
        assert_eq!(collection.page(None, oldest_first, 9, Some(label), row), Some((numbers, false)));
    }
    assert_eq!(collection.labeled(Some("nobody's")).count(), 0);
}

#[test]
fn files_go_once_nothing_in_them_is_wanted() {
    let mut collection = things(Archive::default(), 1_000, 10_000);
    assert_eq!(collection.archive.files(), 1);
    for number in 0..1_000 {
        collection.remove(&id(number));
    }
    assert_eq!((collection.archive.files(), collection.newest_first().count()), (0, 0));
    // Beyond the bound, the index and the list of places stay bounded too.
    let collection = things(Archive::default(), 5_000, 500);
    let newest: Vec<usize> = collection.newest_first().map(|thing| thing.number).collect();
    assert!(newest.into_iter().eq((4_500..5_000).rev()));
    assert_eq!((collection.slots.len(), collection.numbers.len() <= 500 + 500 / DROPPED_SHARE), (500, true));
}

#[test]
fn numbers_begin_again_after_the_largest() {
    let mut collection = Collection::over(Archive::default(), 500);
    collection.first = u32::MAX - 700;
    for number in 0..1_500 {
        collection.put(&id(number), thing(number));
    }
    let newest: Vec<usize> = collection.newest_first().map(|thing| thing.number).collect();
    assert!(newest.into_iter().eq((1_000..1_500).rev()));
    assert_eq!(collection.get_owned(&id(1_100)), Some(thing(1_100)));
}

#[test]
fn without_a_file_all_stays_in_memory() {
    let nowhere = PathBuf::from("/nonexistent/directory");
    let mut collection = things(Archive::within(nowhere), 1_000, 10_000);
    assert_eq!((in_memory(&collection), collection.archive.files()), (1_000, 0));
    collection.put(&id(3), thing(7));
    assert_eq!(collection.get_owned(&id(3)), Some(thing(7)));
    assert!(collection.newest_first().map(|thing| thing.number).eq((0..1_000).rev().map(|n| if n == 3 {
        7
    } else {
        n
    })));
}

#[test]
fn what_is_too_large_stays_in_memory() {
    let mut collection = things(Archive::default(), 10, 10_000);
    let large = Thing { value: json!("x".repeat(1 << 20)), ..thing(10) };
    collection.put("large", large.clone());
    for number in 11..1_000 {
        collection.put(&id(number), thing(number));
    }
    assert_eq!(collection.get("large").map(|found| *found == large), Some(true));
    assert!(in_memory(&collection) <= 2 * GENERATION);
    assert_eq!(collection.get_owned(&id(9)), Some(thing(9)));
}
