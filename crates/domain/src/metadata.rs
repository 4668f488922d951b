//! The caller's own key–value pairs, as far as routing looks at them.

/// A value of the caller's metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MetadataValue {
    /// A string as it is, or a number, `true` or `false` as JSON writes it: scalars are compared as text.
    Scalar(String),
    /// An object, a list or null: it is there, and it equals nothing.
    Composite,
}

/// The top-level pairs of the caller's metadata, by key. No key stands twice.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Metadata {
    pairs: Vec<(String, MetadataValue)>,
}

impl Metadata {
    /// The value under this key.
    pub fn get(&self, key: &str) -> Option<&MetadataValue> {
        let place = self.pairs.binary_search_by(|(name, _)| name.as_str().cmp(key)).ok()?;
        self.pairs.get(place).map(|(_, value)| value)
    }

    /// Every pair.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &MetadataValue)> {
        self.pairs.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }
}

impl FromIterator<(String, MetadataValue)> for Metadata {
    /// Of a repeated key the last value stays, as JSON readers commonly have it.
    fn from_iter<I: IntoIterator<Item = (String, MetadataValue)>>(pairs: I) -> Self {
        let mut pairs: Vec<_> = pairs.into_iter().collect();
        // Sorting is stable, so that of equal keys the last one is the one that came last; and it keeps the cost of
        // a thousand keys from growing with their square.
        pairs.sort_by(|(left, _), (right, _)| left.cmp(right));
        pairs.reverse();
        pairs.dedup_by(|(later, _), (kept, _)| later == kept);
        pairs.reverse();
        Self { pairs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_repeated_key_the_last_value_stays() {
        let pair = |key: &str, value: &str| (key.to_owned(), MetadataValue::Scalar(value.to_owned()));
        let metadata: Metadata =
            [pair("b", "1"), pair("a", "1"), pair("b", "2"), pair("b", "3")].into_iter().collect();
        assert_eq!(metadata.get("b"), Some(&MetadataValue::Scalar("3".to_owned())));
        assert_eq!(metadata.iter().map(|(key, _)| key).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(metadata.get("c"), None);
    }
}
