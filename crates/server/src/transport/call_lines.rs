//! How many calls get a line of their own for whoever watches the sandbox. Nobody reads thousands a second, and writing them
//! would cost more than a quote does.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tollgate_domain::Timestamp;

/// The most calls of one second that are shown one by one.
const MAX_A_SECOND: u64 = 100;

/// The bits that count the calls of a second; those above are the second.
const COUNT_BITS: u32 = 32;

/// Counts the calls of the current second.
#[derive(Debug, Default)]
pub(super) struct CallLines {
    second_and_count: AtomicU64,
}

/// What is shown of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallLine {
    /// The call, after so many that were not shown.
    Shown { left_out: u64 },
    /// Nothing for now; it is counted.
    LeftOut,
}

impl CallLines {
    pub(super) fn next(&self, at: Timestamp) -> CallLine {
        let second = u64::try_from(at.unix_millis() / 1_000).unwrap_or_default();
        let seen = self.second_and_count.load(Relaxed);
        if seen >> COUNT_BITS == second {
            let before = self.second_and_count.fetch_add(1, Relaxed) & count_mask();
            return if before < MAX_A_SECOND { CallLine::Shown { left_out: 0 } } else { CallLine::LeftOut };
        }
        let begun = second << COUNT_BITS | 1;
        // Whoever begins a second tells what was left out of the one before; whoever comes too late for that is one of its own.
        match self.second_and_count.compare_exchange(seen, begun, Relaxed, Relaxed) {
            Ok(before) => CallLine::Shown { left_out: (before & count_mask()).saturating_sub(MAX_A_SECOND) },
            Err(_) => CallLine::Shown { left_out: 0 },
        }
    }
}

const fn count_mask() -> u64 {
    (1 << COUNT_BITS) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_counted_instead_of_shown() {
        let lines = CallLines::default();
        let at = |millis| Timestamp::from_unix_millis(1_800_000_000_000 + millis);
        for call in 0..MAX_A_SECOND + 7 {
            let expected =
                if call < MAX_A_SECOND { CallLine::Shown { left_out: 0 } } else { CallLine::LeftOut };
            assert_eq!(lines.next(at(call.cast_signed())), expected, "call {call}");
        }
        assert_eq!(lines.next(at(1_000)), CallLine::Shown { left_out: 7 });
        assert_eq!(lines.next(at(1_001)), CallLine::Shown { left_out: 0 });
        assert_eq!(lines.next(at(9_000)), CallLine::Shown { left_out: 0 }, "two calls were not too many");
    }
}
