//! How many tests passed, read from what the test harness prints.

use std::fmt;

/// The sum over every `test result:` line of a run, doc tests included.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Summary {
    passed: u64,
    failed: u64,
    skipped: u64,
    harnesses: u64,
}

impl Summary {
    /// A step before the tests failed: that is one failure, and no test ran.
    pub(crate) fn failed_step() -> Self {
        Self { failed: 1, ..Self::default() }
    }

    /// Adds the line's counts if it is a harness's result line; any other line changes nothing.
    pub(crate) fn read_line(&mut self, line: &str) {
        if let Some(other) = parse(line) {
            self.passed += other.passed;
            self.failed += other.failed;
            self.skipped += other.skipped;
            self.harnesses += 1;
        }
    }

    /// Settles the counts once the run has ended. A run that failed without naming a test (it did not compile, a
    /// test binary died) and a run in which nothing reported at all are failures too.
    pub(crate) fn finish(mut self, run_succeeded: bool) -> Self {
        if self.failed == 0 && (!run_succeeded || self.harnesses == 0) {
            self.failed = 1;
        }
        self
    }

    pub(crate) fn is_success(&self) -> bool {
        self.failed == 0
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 {
            write!(f, ", {} skipped", self.skipped)?;
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
