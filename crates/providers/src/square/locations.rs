//! What is known of the sellers' locations: the currency of each, which is the only one it takes.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// A location's currency hardly ever changes; one that was closed and opened anew has another id.
const KNOWN_FOR: Duration = Duration::from_hours(1);
/// How long it is left alone where it could not be read.
const UNKNOWN_FOR: Duration = Duration::from_mins(1);
/// More locations than one process has business with.
const LOCATIONS_MAX: usize = 1_000;

/// The currencies of locations, by the provider's address and the location's id.
#[derive(Debug, Default)]
pub(super) struct Locations(Mutex<HashMap<(String, String), Entry>>);

#[derive(Debug)]
struct Entry {
    known: Known,
    until: Instant,
}

/// What was found out about a location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    /// `None` where it could not be read.
    pub(super) currency: Option<String>,
}

impl Locations {
    /// What was found out a while ago; `None` if the location has to be read.
    pub(super) fn get(&self, address: &str, location: &str, now: Instant) -> Option<Known> {
        let entries = self.lock();
        let entry = entries.get(&key(address, location)).filter(|entry| now < entry.until)?;
        Some(entry.known.clone())
    }

    pub(super) fn put(&self, address: &str, location: &str, known: Known, now: Instant) {
        let kept_for = if known.currency.is_some() { KNOWN_FOR } else { UNKNOWN_FOR };
        let mut entries = self.lock();
        if entries.len() >= LOCATIONS_MAX {
            entries.retain(|_, entry| now < entry.until);
        }
        // Full of others: those can be read again.
        if entries.len() >= LOCATIONS_MAX {
            entries.clear();
        }
        entries.insert(key(address, location), Entry { known, until: now + kept_for });
    }

    /// A panic elsewhere leaves whole entries behind.
    fn lock(&self) -> MutexGuard<'_, HashMap<(String, String), Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(address: &str, location: &str) -> (String, String) {
    (address.to_owned(), location.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usd() -> Known {
        Known { currency: Some("USD".to_owned()) }
    }

    const UNREADABLE: Known = Known { currency: None };

    #[test]
    fn a_currency_is_known_for_a_while_and_not_knowing_it_is_shorter() {
        let (locations, now) = (Locations::default(), Instant::now());
        assert_eq!(locations.get("a", "L1", now), None);
        locations.put("a", "L1", usd(), now);
        locations.put("a", "L2", UNREADABLE, now);
        assert_eq!(locations.get("a", "L1", now), Some(usd()));
        assert_eq!(locations.get("b", "L1", now), None);
        assert_eq!(locations.get("a", "L2", now), Some(UNREADABLE));
        assert_eq!(locations.get("a", "L2", now + UNKNOWN_FOR), None);
        assert_eq!(locations.get("a", "L1", now + UNKNOWN_FOR), Some(usd()));
        assert_eq!(locations.get("a", "L1", now + KNOWN_FOR), None);
    }

    #[test]
    fn no_more_are_kept_than_fit() {
        let (locations, now) = (Locations::default(), Instant::now());
        for number in 0..3 * LOCATIONS_MAX {
            locations.put("a", &number.to_string(), UNREADABLE, now);
            assert!(locations.lock().len() <= LOCATIONS_MAX);
        }
        locations.put("a", "L1", usd(), now);
        for number in 1..LOCATIONS_MAX {
            locations.put("b", &number.to_string(), UNREADABLE, now + UNKNOWN_FOR);
        }
        assert_eq!(locations.get("a", "L1", now + UNKNOWN_FOR), Some(usd()));
    }
}
