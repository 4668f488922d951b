use std::fmt;

/// What is wrong with a file, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Counted from 1.
    pub line: usize,
    pub field: String,
    pub message: String,
}

impl Fault {
    pub(crate) fn new(line: usize, field: &str, message: impl Into<String>) -> Self {
        Self { line, field: field.to_owned(), message: message.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, {}: {}", self.line, self.field, self.message)
    }
}

/// A file that is something else altogether has a fault on every line; these are enough to see that.
const MAX_FAULTS: usize = 100;

/// Every fault of a file, up to a bound.
#[derive(Debug, Default)]
pub(crate) struct FaultList(Vec<Fault>);

impl FaultList {
    pub(crate) fn add(&mut self, line: usize, field: &str, message: impl Into<String>) {
        self.push(Fault::new(line, field, message));
    }

    pub(crate) fn push(&mut self, fault: Fault) {
        if self.0.len() < MAX_FAULTS {
            self.0.push(fault);
        }
    }

    /// The value, or the fault that is noted.
    pub(crate) fn keep<T>(&mut self, line: usize, field: &str, result: Result<T, String>) -> Option<T> {
        result.map_err(|message| self.add(line, field, message)).ok()
    }

    /// The value if there are no faults.
    pub(crate) fn finish<T>(mut self, value: T) -> Result<T, Vec<Fault>> {
        if self.0.is_empty() {
            return Ok(value);
        }
        self.0.sort_by_key(|fault| fault.line);
        Err(self.0)
    }
}
