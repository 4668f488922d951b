//! Stored metadata as routing sees it.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use tollgate_domain::metadata::{Metadata, MetadataValue};

/// The pairs of a JSON object, numbers letter for letter; `None` if the text is not an object.
pub fn metadata_pairs(json: &str) -> Option<Metadata> {
    let pairs: BTreeMap<String, &RawValue> = serde_json::from_str(json).ok()?;
    Some(pairs.into_iter().map(|(key, value)| (key, read(value.get()))).collect())
}

fn read(json: &str) -> MetadataValue {
    match json.chars().next() {
        Some('"') => serde_json::from_str(json).map_or(MetadataValue::Composite, MetadataValue::Scalar),
        Some('{' | '[' | 'n') | None => MetadataValue::Composite,
        Some(_) => MetadataValue::Scalar(json.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_are_told_from_the_rest() {
        let read = metadata_pairs(r#"{"a":"x","b":1.50,"c":true,"d":null,"e":[1],"f":{}}"#).unwrap();
        let scalar = |text: &str| Some(MetadataValue::Scalar(text.to_owned()));
        assert_eq!(read.get("a").cloned(), scalar("x"));
        assert_eq!(read.get("b").cloned(), scalar("1.50"));
        assert_eq!(read.get("c").cloned(), scalar("true"));
        for key in ["d", "e", "f"] {
            assert_eq!(read.get(key).cloned(), Some(MetadataValue::Composite));
        }
        assert!(metadata_pairs("[]").is_none());
    }
}
