//! What browsers report of pages with card fields, counted within bounds. A report's path and query are dropped.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use tollgate_domain::{Timestamp, id::EnvironmentId};

/// So many kinds are kept of a page, so that nobody who floods one page with reports hides those of another.
const KINDS_OF_PAGE_MAX: usize = 100;
/// So many are kept of all pages.
const KINDS_MAX: usize = 20_000;
/// What is counted together: whatever comes after them, by directive.
const OTHER: &str = "other";
const BLOCKED_MAX: usize = 200;

/// What is counted by its name; everything else is `other`.
pub(crate) const DIRECTIVES: [&str; 8] =
    ["script-src", "style-src", "connect-src", "frame-src", "img-src", "font-src", "form-action", "other"];

/// A kind of violation, and how often it was reported to this node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) directive: &'static str,
    /// The origin of what was blocked, or `inline`, `eval`, `data`, …; [`OTHER`] for all that came after the kinds that are kept.
    pub(crate) blocked: String,
    pub(crate) count: u64,
    pub(crate) first_at: Timestamp,
    pub(crate) last_at: Timestamp,
}

/// A provider's card fields in an environment.
pub(crate) type Page = (EnvironmentId, String);

/// What was reported to this node since its start.
#[derive(Debug, Default)]
pub(crate) struct PolicyReports {
    kinds: Mutex<Kinds>,
    by_directive: [AtomicU64; DIRECTIVES.len()],
}

#[derive(Debug, Default)]
struct Kinds {
    by_page: BTreeMap<Page, BTreeMap<(&'static str, String), Violation>>,
    count: usize,
}

impl PolicyReports {
    pub(crate) fn count(&self, page: &Page, directive: &str, blocked: &str, now: Timestamp) {
        let place = DIRECTIVES.iter().position(|known| *known == plain_directive(directive));
        let place = place.unwrap_or(DIRECTIVES.len() - 1);
        if let Some(count) = self.by_directive.get(place) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let directive = DIRECTIVES.get(place).copied().unwrap_or_default();
        let mut key = (directive, origin_of(blocked));
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        let Kinds { by_page, count } = &mut *kinds;
        let of_page = by_page.entry(page.clone()).or_default();
        if !of_page.contains_key(&key) {
            if of_page.len() < KINDS_OF_PAGE_MAX && *count < KINDS_MAX {
                *count += 1;
            } else {
                OTHER.clone_into(&mut key.1);
            }
        }
        let blocked = key.1.clone();
        let new = Violation { directive, blocked, count: 0, first_at: now, last_at: now };
        let violation = of_page.entry(key).or_insert(new);
        violation.count += 1;
        violation.last_at = now;
    }

    /// Those of a page, the newest first.
    pub(crate) fn of(&self, environment: EnvironmentId, provider: &str) -> Vec<Violation> {
        let kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        let of_page = kinds.by_page.get(&(environment, provider.to_owned()));
        let mut violations: Vec<_> = of_page.into_iter().flat_map(BTreeMap::values).cloned().collect();
        violations.sort_by_key(|violation| std::cmp::Reverse(violation.last_at));
        violations
    }

    /// How many were reported, by directive.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        DIRECTIVES.iter().zip(&self.by_directive).map(|(name, count)| (*name, count.load(Ordering::Relaxed)))
    }
}

/// `script-src-elem` is a part of `script-src`; old browsers send the whole directive.
fn plain_directive(directive: &str) -> &str {
    let name = directive.split(' ').next().unwrap_or_default();
    name.strip_suffix("-elem").or_else(|| name.strip_suffix("-attr")).unwrap_or(name)
}

/// Paths and queries may hold what is a customer's own.
fn origin_of(blocked: &str) -> String {
    let end = match blocked.find("://") {
        Some(scheme) => {
            let host = scheme + "://".len();
            let rest = blocked.get(host..).unwrap_or_default();
            host + rest.find(['/', '?', '#']).unwrap_or(rest.len())
        }
        None => blocked.find([':', '/', '?', '#']).unwrap_or(blocked.len()),
    };
    blocked.get(..end).unwrap_or_default().chars().take(BLOCKED_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_the_origin_is_kept() {
        for (blocked, kept) in [
            ("https://a.example:8443/b?c=d", "https://a.example:8443"),
            ("https://a.example?card=4242", "https://a.example"),
            ("inline", "inline"),
            ("data:image/png;base64,xyz", "data"),
            ("wss://é.example/", "wss://é.example"),
            ("", ""),
        ] {
            assert_eq!(origin_of(blocked), kept);
        }
        assert_eq!(origin_of(&"é".repeat(500)).chars().count(), BLOCKED_MAX);
    }

    #[test]
    fn kinds_of_a_page_are_bounded_and_all_are_counted() {
        let reports = PolicyReports::default();
        let [page, quiet] =
            ["cards", "others"].map(|name| (EnvironmentId::from_bytes([1; 16]), name.to_owned()));
        let now = Timestamp::from_unix_millis(0);
        for number in 0..KINDS_OF_PAGE_MAX + 50 {
            reports.count(&page, "script-src-elem", &format!("https://host-{number}.example/x"), now);
        }
        reports.count(&page, "script-src", "https://host-0.example/y", now);
        reports.count(&page, "worker-src", "https://host-0.example/y", now);
        reports.count(&quiet, "script-src", "https://evil.example/y", now);

        let count_of = |page: &Page, directive: &str, blocked: &str| {
            let violations = reports.of(page.0, &page.1);
            let violation =
                violations.into_iter().find(|it| (it.directive, &*it.blocked) == (directive, blocked));
            violation.map_or(0, |it| it.count)
        };
        assert_eq!(reports.of(page.0, &page.1).len(), KINDS_OF_PAGE_MAX + 2);
        assert_eq!(count_of(&page, "script-src", "https://host-0.example"), 2);
        assert_eq!(count_of(&page, "script-src", OTHER), 50);
        assert_eq!(count_of(&page, "other", OTHER), 1);
        assert_eq!(
            count_of(&quiet, "script-src", "https://evil.example"),
            1,
            "a flood elsewhere hides nothing"
        );
        let counts: Vec<_> = reports.counts().filter(|(_, count)| *count > 0).collect();
        assert_eq!(counts, [("script-src", KINDS_OF_PAGE_MAX as u64 + 52), ("other", 1)]);
    }

    #[test]
    fn kinds_of_all_pages_are_bounded() {
        let reports = PolicyReports::default();
        let now = Timestamp::from_unix_millis(0);
        let pages = KINDS_MAX / KINDS_OF_PAGE_MAX;
        let page = |number: usize| (EnvironmentId::from_bytes([2; 16]), format!("cards-{number}"));
        for number in 0..=pages {
            for host in 0..KINDS_OF_PAGE_MAX {
                reports.count(&page(number), "script-src", &format!("https://host-{host}.example"), now);
            }
        }
        let kinds = |number: usize| reports.of(page(number).0, &page(number).1);
        assert!((0..pages).all(|number| kinds(number).len() == KINDS_OF_PAGE_MAX));
        let [last] = &*kinds(pages) else { panic!("{:?}", kinds(pages)) };
        assert_eq!((&*last.blocked, last.count), (OTHER, KINDS_OF_PAGE_MAX as u64));
    }
}
