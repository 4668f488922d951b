//! How many tests passed, read from what the test harness prints.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

/// What a test prints, past the harness, that cannot run on this machine; its reason follows.
const SKIPPED: &str = "SKIPPED: ";
/// What a test prints, past the harness, that is worth reading at the end; the text follows.
const NOTE: &str = "NOTE: ";
/// What the harness prints of a test that it does not run; its reason follows.
const IGNORED: &str = " ... ignored, ";
/// What the harness prints, past the name, of a test that takes long.
const SLOW: &str = " has been running for over 60 seconds";

/// The sum over every `test result:` line of a run, doc tests included.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Summary {
    passed: u64,
    failed: u64,
    skipped: u64,
    harnesses: u64,
    /// Tests that said so themselves; their harness counts them as passed.
    found_nothing_to_test: u64,
    /// Why tests were skipped, as far as they said so, and how many for each reason.
    reasons: BTreeMap<String, u64>,
    /// What tests had to say.
    notes: BTreeSet<String>,
    /// Tests that take longer than a minute and have not ended.
    slow: BTreeSet<String>,
}

impl Summary {
    /// A step before the tests failed: that is one failure, and no test ran.
    pub(crate) fn failed_step() -> Self {
        Self { failed: 1, ..Self::default() }
    }

    /// Adds what the line says: a harness's counts, or why a test was skipped. Any other line changes nothing.
    pub(crate) fn read_line(&mut self, line: &str) {
        if let Some(test) = line.trim().strip_prefix("test ") {
            if let Some(name) = test.strip_suffix(SLOW) {
                self.slow.insert(name.to_owned());
            } else if let Some((name, _result)) = test.split_once(" ... ") {
                self.slow.remove(name);
            }
        }
        if let Some(counts) = parse(line) {
            self.passed += counts.passed;
            self.failed += counts.failed;
            self.skipped += counts.skipped;
            self.harnesses += 1;
        } else if let Some((_, reason)) = line.trim().split_once(SKIPPED) {
            self.found_nothing_to_test += 1;
            self.skipped_because(reason);
        } else if let Some((_, note)) = line.trim().split_once(NOTE) {
            self.notes.insert(note.to_owned());
        } else if let Some((_, reason)) = line.trim().split_once(IGNORED) {
            self.skipped_because(reason);
        }
    }

    /// The tests that take long and have not ended, as far as is known.
    pub(crate) fn running(&self) -> String {
        if self.slow.is_empty() {
            return "unknown".to_owned();
        }
        self.slow.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
    }

    fn skipped_because(&mut self, reason: &str) {
        *self.reasons.entry(reason.to_owned()).or_default() += 1;
    }

    /// Settles the counts once the run has ended. A run that failed without naming a test (it did not compile, a
    /// test binary died) and a run in which nothing reported at all are failures too.
    pub(crate) fn finish(mut self, run_succeeded: bool) -> Self {
        if self.failed == 0 && (!run_succeeded || self.harnesses == 0) {
            self.failed = 1;
        }
        let nothing_tested = std::mem::take(&mut self.found_nothing_to_test);
        self.passed = self.passed.saturating_sub(nothing_tested);
        self.skipped += nothing_tested;
        self
    }

    pub(crate) fn is_success(&self) -> bool {
        self.failed == 0
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for note in &self.notes {
            writeln!(f, "{note}")?;
        }
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 {
            write!(f, ", {} skipped", self.skipped)?;
        }
        if !self.reasons.is_empty() {
            let reasons = self.reasons.iter().map(|(reason, count)| format!("{count}: {reason}"));
            write!(f, " ({})", reasons.collect::<Vec<_>>().join("; "))?;
        }
        Ok(())
    }
}

/// Reads `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; …`.
fn parse(line: &str) -> Option<Summary> {
    let (_verdict, counts) = line.trim().strip_prefix("test result: ")?.split_once(". ")?;
    let mut summary = Summary::default();
    for count in counts.split("; ") {
        match count.split_once(' ') {
            Some((number, "passed")) => summary.passed = number.parse().ok()?,
            Some((number, "failed")) => summary.failed = number.parse().ok()?,
            Some((number, "ignored")) => summary.skipped = number.parse().ok()?,
            _ => {}
        }
    }
    Some(summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(output: &str, run_succeeded: bool, expected: &str) {
        let mut summary = Summary::default();
        output.lines().for_each(|line| summary.read_line(line));
        let summary = summary.finish(run_succeeded);
        assert_eq!(summary.to_string(), expected);
        assert_eq!(summary.is_success(), expected.contains(" 0 failed"));
    }

    const OK: &str =
        "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 7 filtered out; finished in 0.01s";
    const MIXED: &str =
        "test result: FAILED. 10 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1.20s";

    #[test]
    fn sums_the_result_lines() {
        check(OK, true, "3 passed, 0 failed");
        check(MIXED, false, "10 passed, 2 failed, 1 skipped");
        check(&format!("running 3 tests\n{OK}\r\n\n{MIXED}\n{OK}"), false, "16 passed, 2 failed, 1 skipped");
    }

    #[test]
    fn a_test_that_was_skipped_did_not_pass_and_its_reason_is_named() {
        let output = format!(
            "test slow ... ignored, takes a minute\n{MIXED}\nSKIPPED: no disk\ntest full ... ok\n{OK}\n\
             test alone ... SKIPPED: no documents\nok\nSKIPPED: no disk\n{OK}"
        );
        let expected = "13 passed, 2 failed, 4 skipped (2: no disk; 1: no documents; 1: takes a minute)";
        check(&output, false, expected);
    }

    #[test]
    fn what_tests_had_to_say_stands_before_the_counts() {
        let output = format!("test b ... NOTE: two, 0 faults\nok\nNOTE: one, 0 faults\n{OK}");
        check(&output, true, "one, 0 faults\ntwo, 0 faults\n3 passed, 0 failed");
    }

    #[test]
    fn tests_that_take_long_are_running_until_they_end() {
        let mut summary = Summary::default();
        assert_eq!(summary.running(), "unknown");
        summary.read_line("test a::slow_one has been running for over 60 seconds\n");
        summary.read_line("test b::other has been running for over 60 seconds\n");
        assert_eq!(summary.running(), "a::slow_one, b::other");
        summary.read_line("test b::other ... ok\n");
        assert_eq!(summary.running(), "a::slow_one");
    }

    #[test]
    fn other_lines_count_nothing() {
        check(&format!("{OK}\ntest result_is_kept ... ok\n5 passed; 5 failed"), true, "3 passed, 0 failed");
    }

    #[test]
    fn a_run_that_names_no_failing_test_still_fails() {
        check(OK, false, "3 passed, 1 failed");
        check("", false, "0 passed, 1 failed");
        check("", true, "0 passed, 1 failed");
    }
}
