//! Faults of a document, collected rather than thrown.

/// One thing wrong with one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidationError {
    /// Where, as a path: `routing.web_card.rules[0].target.provider`.
    pub field: String,
    /// What is wrong and what would be right.
    pub message: String,
}

/// Every fault of a document, in the order they were met.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ValidationErrors {
    errors: Vec<ValidationError>,
    unlisted: usize,
}

/// Beyond this many a list helps nobody; the rest is counted.
const MAX_LISTED: usize = 5_000;

impl ValidationErrors {
    /// Notes one more.
    pub fn add(&mut self, field: impl Into<String>, message: impl Into<String>) {
        if self.errors.len() < MAX_LISTED {
            self.errors.push(ValidationError { field: field.into(), message: message.into() });
        } else {
            self.unlisted = self.unlisted.saturating_add(1);
        }
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// How many there are, also beyond those listed.
    pub fn count(&self) -> usize {
        self.errors.len().saturating_add(self.unlisted)
    }

    /// Those listed.
    pub fn iter(&self) -> impl Iterator<Item = &ValidationError> {
        self.errors.iter()
    }
}

impl IntoIterator for ValidationErrors {
    type Item = ValidationError;
    type IntoIter = std::vec::IntoIter<ValidationError>;

    fn into_iter(self) -> Self::IntoIter {
        self.errors.into_iter()
    }
}
