//! What everybody in a run shares: chance, time, the history, and what was found wrong.

use std::{
    collections::BTreeMap,
    fmt::Display,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, sleep};
use tollgate_domain::Timestamp;

use crate::{book::Book, history::History, plants::Plant, profile::Profile, providers::Ledger, rng::Rng};

/// When every run begins, on a clock that is right.
const BEGINNING: i64 = 1_793_000_000_000;

/// A run.
pub(crate) struct World {
    pub(crate) profile: Profile,
    pub(crate) plant: Option<Plant>,
    started: Instant,
    rng: Mutex<Rng>,
    history: Mutex<History>,
    /// Trouble that is on for a while.
    trouble: Mutex<Trouble>,
    /// What the providers know.
    pub(crate) providers: Mutex<Ledger>,
    /// What callers, operators and receivers know.
    pub(crate) book: Mutex<Book>,
}

/// Until when something is in trouble, in milliseconds of the run.
#[derive(Debug, Default)]
struct Trouble {
    /// Faults are injected only from now on.
    began: bool,
    /// No fault is injected anymore.
    over: bool,
    /// Nobody is about: what goes on does so slowly.
    is_gap: bool,
    store_away_until: u64,
    away_until: BTreeMap<&'static str, u64>,
    refuses_until: BTreeMap<&'static str, u64>,
}

impl World {
    pub(crate) fn new(seed: u64, plant: Option<Plant>, traced: bool) -> Arc<Self> {
        let mut rng = Rng::new(seed);
        let mut profile = Profile::draw(&mut rng);
        if let Some(plant) = plant {
            plant.season(&mut profile);
        }
        Arc::new(Self {
            profile,
            plant,
            started: Instant::now(),
            rng: Mutex::new(rng),
            history: Mutex::new(History::new(traced)),
            trouble: Mutex::default(),
            providers: Mutex::default(),
            book: Mutex::default(),
        })
    }

    /// A number of this range.
    pub(crate) fn draw(&self, range: std::ops::Range<u64>) -> u64 {
        lock(&self.rng).within(range)
    }

    /// True so many times out of a thousand, faults or no faults.
    pub(crate) fn chance(&self, permille: u64) -> bool {
        lock(&self.rng).permille(permille)
    }

    /// One of these.
    pub(crate) fn pick<'a, T>(&self, from: &'a [T]) -> &'a T {
        lock(&self.rng).pick(from)
    }

    pub(crate) fn fill(&self, bytes: &mut [u8]) {
        lock(&self.rng).fill(bytes);
    }

    pub(crate) fn providers(&self) -> MutexGuard<'_, Ledger> {
        lock(&self.providers)
    }

    pub(crate) fn book(&self) -> MutexGuard<'_, Book> {
        lock(&self.book)
    }

    pub(crate) fn history(&self) -> MutexGuard<'_, History> {
        lock(&self.history)
    }

    pub(crate) fn is_planted(&self, plant: Plant) -> bool {
        self.plant == Some(plant)
    }

    /// Milliseconds since the run began.
    pub(crate) fn elapsed(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// What a clock says that is ahead by so much.
    pub(crate) fn clock(&self, ahead: i64) -> Timestamp {
        let elapsed = i64::try_from(self.elapsed()).unwrap_or(i64::MAX);
        Timestamp::from_unix_millis(BEGINNING + elapsed + ahead)
    }

    /// Adds a step to the history.
    pub(crate) fn note(&self, who: impl Display, what: impl Display) {
        let at = self.elapsed();
        self.history().note(at, &who.to_string(), &what.to_string());
    }

    /// Something is not as it must be.
    pub(crate) fn violate(&self, rule: &'static str, what: impl Display) {
        let what = what.to_string();
        self.note("VIOLATION", format_args!("{rule}: {what}"));
        self.history().violations.push(Violation { rule, what });
    }

    /// Waits a while of this range, in milliseconds.
    pub(crate) async fn pause(&self, range: std::ops::Range<u64>) {
        let drawn = self.draw(range);
        sleep(Duration::from_millis(drawn)).await;
    }

    /// Whether something happens that has this chance; never once faults are over.
    pub(crate) fn strikes(&self, permille: u64) -> bool {
        if permille == 0 || !self.is_troubled() {
            return false;
        }
        self.chance(permille)
    }

    /// From now on nobody is about.
    pub(crate) fn begin_gap(&self) {
        lock(&self.trouble).is_gap = true;
    }

    /// Whether so much goes on that it is looked at every few seconds.
    pub(crate) fn is_busy(&self) -> bool {
        let trouble = lock(&self.trouble);
        !trouble.over && !trouble.is_gap
    }

    pub(crate) fn is_over(&self) -> bool {
        lock(&self.trouble).over
    }

    /// From now on things go wrong.
    pub(crate) fn begin_trouble(&self) {
        lock(&self.trouble).began = true;
    }

    pub(crate) fn is_troubled(&self) -> bool {
        let trouble = lock(&self.trouble);
        trouble.began && !trouble.over
    }

    /// From now on everything works.
    pub(crate) fn end_trouble(&self) {
        *lock(&self.trouble) = Trouble { began: true, over: true, ..Trouble::default() };
        self.note("world", "faults are over");
    }

    pub(crate) fn store_away(&self, millis: u64) {
        self.note("world", format_args!("the store is away for {millis} ms"));
        lock(&self.trouble).store_away_until = self.elapsed() + millis;
    }

    pub(crate) fn is_store_away(&self) -> bool {
        self.elapsed() < lock(&self.trouble).store_away_until
    }

    pub(crate) fn provider_away(&self, wire: &'static str, millis: u64) {
        self.note("world", format_args!("{wire} is away for {millis} ms"));
        lock(&self.trouble).away_until.insert(wire, self.elapsed() + millis);
    }

    pub(crate) fn is_provider_away(&self, wire: &'static str) -> bool {
        lock(&self.trouble).away_until.get(wire).is_some_and(|until| self.elapsed() < *until)
    }

    pub(crate) fn provider_refuses(&self, wire: &'static str, millis: u64) {
        self.note("world", format_args!("{wire} refuses our credentials for {millis} ms"));
        lock(&self.trouble).refuses_until.insert(wire, self.elapsed() + millis);
    }

    pub(crate) fn does_provider_refuse(&self, wire: &'static str) -> bool {
        lock(&self.trouble).refuses_until.get(wire).is_some_and(|until| self.elapsed() < *until)
    }
}

/// Something that is not as it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which rule is broken.
    pub rule: &'static str,
    /// By what.
    pub what: String,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
