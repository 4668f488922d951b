//! A circuit: whether a provider is given new work, by how it has answered lately.
//!
//! Times come in as arguments; nothing here knows a clock.

use std::time::Duration;

use crate::time::Timestamp;

/// The window is counted in so many parts, so that old outcomes leave it little by little.
const PARTS: i64 = 10;
/// How many pieces of new work a provider is given after its pause, before its answers are known.
const PROBES: u32 = 3;

/// When a circuit opens, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CircuitSettings {
    pub is_enabled: bool,
    /// Outcomes count for so long.
    pub window: Duration,
    /// It takes so many outcomes to judge by.
    pub minimum_calls: u64,
    /// The share of failures at which it opens, in percent.
    pub failure_percent: u64,
    /// How long it stays open before it is probed.
    pub open_for: Duration,
}

impl Default for CircuitSettings {
    fn default() -> Self {
        Self {
            is_enabled: true,
            window: Duration::from_mins(1),
            minimum_calls: 20,
            failure_percent: 50,
            open_for: Duration::from_secs(30),
        }
    }
}

/// How a provider has answered lately, and what follows from it.
#[derive(Debug, Clone, Default)]
pub struct Circuit {
    state: State,
    /// Outcomes by their part of the window, oldest first; at most as many as there are parts.
    parts: Vec<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    number: i64,
    calls: u64,
    failures: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Closed,
    /// No new work until then.
    Open { since: Timestamp, until: Timestamp },
    /// A few pieces of new work, whose outcomes decide.
    Probing { since: Timestamp, begun: Timestamp, given: u32, succeeded: u32 },
}

/// Whether a provider is given a piece of new work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    Admitted,
    /// It is not, and may be after this time.
    Refused {
        since: Timestamp,
        retry_after: Duration,
    },
}

/// What an outcome did to a circuit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CircuitChange {
    Opened,
    Closed,
}

/// An event for operators: a provider's circuit opened or closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CircuitNotice {
    pub provider: String,
    pub is_open: bool,
    /// Since when it is open, or closed again.
    pub since: Timestamp,
    /// By an operator, rather than by how the provider answers.
    pub is_forced: bool,
    /// Why it is open: the provider's last failure, or that an operator decided so.
    pub reason: Option<String>,
}

impl CircuitNotice {
    /// Whether it is worth an event after the latest one about the provider.
    pub fn is_news_after(&self, latest: Option<&Self>) -> bool {
        match latest {
            None => self.is_open,
            Some(latest) if self.is_open && latest.is_open => self.is_forced != latest.is_forced,
            Some(latest) => self.is_open != latest.is_open,
        }
    }
}

impl Circuit {
    /// Whether everything is admitted, whatever the time.
    pub fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    /// Since when new work is not, or not always, admitted.
    pub fn open_since(&self) -> Option<Timestamp> {
        match self.state {
            State::Closed => None,
            State::Open { since, .. } | State::Probing { since, .. } => Some(since),
        }
    }

    /// Whether the provider is being probed at this time, or would be by the next piece of work.
    pub fn is_probing(&self, now: Timestamp) -> bool {
        match self.state {
            State::Closed => false,
            State::Open { until, .. } => now >= until,
            State::Probing { .. } => true,
        }
    }

    /// Decides on a piece of new work.
    pub fn admit(&mut self, now: Timestamp, settings: &CircuitSettings) -> Admission {
        if !settings.is_enabled {
            return Admission::Admitted;
        }
        match self.state {
            State::Closed => Admission::Admitted,
            State::Open { since, until } if now < until => {
                Admission::Refused { since, retry_after: duration(now, until) }
            }
            State::Open { since, .. } => {
                self.state = State::Probing { since, begun: now, given: 1, succeeded: 0 };
                Admission::Admitted
            }
            State::Probing { since, begun, given, succeeded } => {
                let again = begun.saturating_add(settings.open_for);
                // Probes whose outcome never came are given once more.
                let (begun, given) = if now >= again { (now, 0) } else { (begun, given) };
                if given >= PROBES {
                    return Admission::Refused { since, retry_after: duration(now, again) };
                }
                self.state = State::Probing { since, begun, given: given.saturating_add(1), succeeded };
                Admission::Admitted
            }
        }
    }

    /// Takes note of how a call ended: of new work, of probes and of work begun before alike.
    pub fn note(
        &mut self,
        now: Timestamp,
        has_failed: bool,
        settings: &CircuitSettings,
    ) -> Option<CircuitChange> {
        if !settings.is_enabled {
            let was_open = !self.is_closed();
            *self = Self::default();
            return was_open.then_some(CircuitChange::Closed);
        }
        self.count(now, has_failed, settings);
        match self.state {
            State::Closed if self.is_bad(settings) => {
                self.open(now, now, settings);
                Some(CircuitChange::Opened)
            }
            State::Closed => None,
            // What was sent before it opened says nothing new.
            State::Open { until, .. } if now < until => None,
            State::Open { since, .. } | State::Probing { since, .. } if has_failed => {
                self.open(since, now, settings);
                None
            }
            State::Open { since, .. } => {
                self.state = State::Probing { since, begun: now, given: 0, succeeded: 1 };
                None
            }
            State::Probing { since, begun, given, succeeded } => {
                let succeeded = succeeded.saturating_add(1);
                if succeeded < PROBES {
                    self.state = State::Probing { since, begun, given, succeeded };
                    return None;
                }
                // What it opened for is over.
                *self = Self::default();
                Some(CircuitChange::Closed)
            }
        }
    }

    fn open(&mut self, since: Timestamp, now: Timestamp, settings: &CircuitSettings) {
        self.state = State::Open { since, until: now.saturating_add(settings.open_for) };
        self.parts.clear();
    }

    fn count(&mut self, now: Timestamp, has_failed: bool, settings: &CircuitSettings) {
        let window = i64::try_from(settings.window.as_millis()).unwrap_or(i64::MAX);
        let length = window.checked_div(PARTS).unwrap_or(1).max(1);
        // A clock that was set back counts where it was.
        let number = now.unix_millis().div_euclid(length);
        let number = self.parts.last().map_or(number, |last| number.max(last.number));
        self.parts.retain(|part| part.number > number.saturating_sub(PARTS) && part.number <= number);
        if self.parts.last().is_none_or(|last| last.number < number) {
            self.parts.push(Part { number, calls: 0, failures: 0 });
        }
        if let Some(part) = self.parts.last_mut() {
            part.calls = part.calls.saturating_add(1);
            part.failures = part.failures.saturating_add(u64::from(has_failed));
        }
    }

    fn is_bad(&self, settings: &CircuitSettings) -> bool {
        let sum = |of: fn(&Part) -> u64| self.parts.iter().map(of).fold(0_u64, u64::saturating_add);
        let (calls, failures) = (sum(|part| part.calls), sum(|part| part.failures));
        failures > 0
            && calls >= settings.minimum_calls
            && failures.saturating_mul(100) >= calls.saturating_mul(settings.failure_percent)
    }
}

fn duration(from: Timestamp, until: Timestamp) -> Duration {
    let millis = until.unix_millis().saturating_sub(from.unix_millis());
    Duration::from_millis(u64::try_from(millis).unwrap_or(0).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(1_790_000_000_000 + millis)
    }

    fn opened() -> (Circuit, CircuitSettings) {
        let (mut circuit, settings) = (Circuit::default(), CircuitSettings::default());
        for call in 0..19 {
            assert_eq!(circuit.note(at(call), call % 2 == 0, &settings), None);
            assert_eq!(circuit.admit(at(call), &settings), Admission::Admitted);
        }
        assert_eq!(circuit.note(at(20), true, &settings), Some(CircuitChange::Opened));
        (circuit, settings)
    }

    fn is_admitted(circuit: &mut Circuit, now: i64, settings: &CircuitSettings) -> bool {
        circuit.admit(at(now), settings) == Admission::Admitted
    }

    #[test]
    fn half_of_twenty_failing_calls_open_it_for_half_a_minute() {
        let (mut circuit, settings) = opened();
        let refused = circuit.admit(at(20 + 10 * SECOND), &settings);
        let (since, retry_after) = (at(20), Duration::from_secs(20));
        assert_eq!(refused, Admission::Refused { since, retry_after });
        assert_eq!(circuit.open_since(), Some(at(20)));
    }

    #[test]
    fn probes_decide() {
        let (mut circuit, settings) = opened();
        let later = 20 + 30 * SECOND;
        for _ in 0..PROBES {
            assert!(is_admitted(&mut circuit, later, &settings));
        }
        assert!(!is_admitted(&mut circuit, later, &settings), "no more of them at once");
        assert_eq!(circuit.note(at(later), false, &settings), None);
        assert_eq!(circuit.note(at(later), false, &settings), None);
        assert_eq!(circuit.note(at(later), false, &settings), Some(CircuitChange::Closed));
        assert!(is_admitted(&mut circuit, later, &settings));

        let (mut circuit, settings) = opened();
        assert!(is_admitted(&mut circuit, later, &settings));
        assert_eq!(circuit.note(at(later), true, &settings), None, "it stays open");
        assert!(!is_admitted(&mut circuit, later + 29 * SECOND, &settings));
        assert_eq!(circuit.open_since(), Some(at(20)));
        assert!(is_admitted(&mut circuit, later + 30 * SECOND, &settings));
    }

    #[test]
    fn probes_whose_outcome_never_came_are_given_again() {
        let (mut circuit, settings) = opened();
        let later = 20 + 30 * SECOND;
        for _ in 0..PROBES {
            assert!(is_admitted(&mut circuit, later, &settings));
        }
        assert!(!is_admitted(&mut circuit, later + 29 * SECOND, &settings));
        assert!(is_admitted(&mut circuit, later + 30 * SECOND, &settings));
    }

    #[test]
    fn outcomes_leave_the_window() {
        let (mut circuit, settings) = (Circuit::default(), CircuitSettings::default());
        for call in 0..15 {
            circuit.note(at(call), true, &settings);
        }
        for call in 0..10 {
            assert_eq!(circuit.note(at(61 * SECOND + call), true, &settings), None, "{call}");
        }
        assert_eq!(circuit.parts.len(), 1);
    }

    #[test]
    fn disabled_it_is_always_closed() {
        let (mut circuit, settings) = opened();
        let settings = CircuitSettings { is_enabled: false, ..settings };
        assert!(is_admitted(&mut circuit, 30, &settings));
        assert_eq!(circuit.note(at(30), true, &settings), Some(CircuitChange::Closed));
        assert!((0..100).all(|call| circuit.note(at(call), true, &settings).is_none()));
    }
}
