//! The caller's metadata that goes to the provider: what the configuration names, as text.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// The most characters that Stripe keeps of a value.
const VALUE_MAX: usize = 500;

/// The values of these keys, in the order of the keys. What is no string, number or boolean is left out, and so is what is
/// too long: half an id is another id.
pub(crate) fn forwarded(metadata: &str, keys: &[String]) -> Vec<(String, String)> {
    if keys.is_empty() {
        return Vec::new();
    }
    // Numbers stay as they were written, however many digits they have.
    let fields: BTreeMap<String, &RawValue> = serde_json::from_str(metadata).unwrap_or_default();
    let values = keys.iter().filter_map(|key| Some((key.clone(), text(fields.get(key)?.get())?)));
    values.filter(|(_, value)| !value.is_empty() && value.chars().count() <= VALUE_MAX).collect()
}

fn text(value: &str) -> Option<String> {
    match value.as_bytes().first()? {
        b'"' => serde_json::from_str(value).ok(),
        b'{' | b'[' | b'n' => None,
        _ => Some(value.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_named_and_plain_is_forwarded() {
        let (fits, long) = ("é".repeat(500), "é".repeat(501));
        let metadata = format!(
            r#"{{"order":"A \"1\" é","count":12345678901234567890123,"price":1.50,"gift":true,"none":null,
                "cart":{{"a":1}},"tags":["a"],"empty":"","long":"{long}","fits":"{fits}","secret":"x"}}"#
        );
        let keys =
            ["price", "order", "count", "gift", "none", "cart", "tags", "empty", "long", "fits", "absent"];
        let found = forwarded(&metadata, &keys.map(str::to_owned));
        let found: Vec<_> = found.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(
            found,
            [
                ("price", "1.50"),
                ("order", "A \"1\" é"),
                ("count", "12345678901234567890123"),
                ("gift", "true"),
                ("fits", &fits),
            ]
        );
        for nothing in ["{}", "[]", ""] {
            assert_eq!(forwarded(nothing, &["order".to_owned()]), []);
        }
    }
}
