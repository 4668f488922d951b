//! Everything that happened, in order: hashed always, kept where somebody wants to read it.

use crate::world::Violation;

/// Lines kept where nobody asked for all of them.
const KEPT: usize = 400;

/// The steps so far.
pub(crate) struct History {
    hash: u64,
    steps: u64,
    traced: bool,
    lines: std::collections::VecDeque<String>,
    pub(crate) violations: Vec<Violation>,
}

impl History {
    pub(crate) fn new(traced: bool) -> Self {
        let lines = std::collections::VecDeque::new();
        Self { hash: 0xcbf2_9ce4_8422_2325, steps: 0, traced, lines, violations: Vec::new() }
    }

    /// Adds a step. Nothing that differs between two runs of one seed may be in its words.
    pub(crate) fn note(&mut self, at: u64, who: &str, what: &str) {
        self.steps += 1;
        for byte in at.to_le_bytes().iter().chain(who.as_bytes()).chain(&[0]).chain(what.as_bytes()) {
            // FNV-1a.
            self.hash = (self.hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
        if !self.traced && self.lines.len() >= KEPT {
            self.lines.pop_front();
        }
        self.lines.push_back(format!("{:>10}.{:03} {who}: {what}", at / 1_000, at % 1_000));
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.iter().cloned().collect()
    }
}
