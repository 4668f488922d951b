//! Fields of a body that nothing reads: they are ignored, and named in a header, because most of them are typing errors.
//!
//! Which fields are known is what the body's own type says, so that there is no second list of them.

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, Visitor, value},
    forward_to_deserialize_any,
};
use tollgate_vault::contains_secret_key;

use crate::request::call_notes;

const HEADER: HeaderName = HeaderName::from_static("tollgate-warning");
/// Enough to see what is wrong.
const MAX_NAMED: usize = 5;
const MAX_NAME_LENGTH: usize = 60;

/// What to warn of.
#[derive(Debug, Default)]
pub(crate) struct Found {
    warnings: Vec<String>,
    /// The names, in the same order.
    pub(crate) names: Vec<String>,
    /// Unknown fields beyond those.
    more: usize,
}

/// Names what was found in an answer's headers.
pub(crate) fn tell(found: &Found, headers: &mut HeaderMap) {
    let more = (found.more > 0).then(|| format!("and {} more unknown fields", found.more));
    for warning in found.warnings.iter().chain(&more).filter_map(|text| HeaderValue::from_str(text).ok()) {
        headers.append(HEADER, warning);
    }
}

/// Notes the fields of a JSON object that its type does not have. `inside` names the field that holds the object.
pub(crate) fn note<'a, T: Deserialize<'a>>(inside: Option<&str>, object: &'a str) {
    let mut known: &[&str] = &[];
    // The type only says which fields it has; there is nothing to read them from.
    let _ = T::deserialize(FieldNames(&mut known));
    let Ok(Unknown { named, count }) = Unknown::read(object, known) else { return };
    if count == 0 {
        return;
    }
    call_notes::note(|notes| {
        let found = &mut notes.unknown_fields;
        let room = MAX_NAMED.saturating_sub(found.warnings.len());
        for name in named.iter().take(room) {
            let (name, warning) = named_with_warning(inside, name, known);
            found.names.push(name);
            found.warnings.push(warning);
        }
        found.more += count - named.len().min(room);
    });
}

/// A field's path as it may be shown, and what to say about it.
fn named_with_warning(inside: Option<&str>, name: &str, known: &[&str]) -> (String, String) {
    let path = |name: &str| inside.map_or_else(|| name.to_owned(), |inside| format!("{inside}.{name}"));
    let shown = if contains_secret_key(name) { "(a secret key)".to_owned() } else { path(&visible(name)) };
    let warning = match likely(name, known) {
        Some(meant) => format!("unknown field \"{shown}\"; did you mean \"{}\"?", path(meant)),
        None => format!("unknown field \"{shown}\""),
    };
    (shown, warning)
}

/// What of a name a header can carry.
fn visible(name: &str) -> String {
    let letter = |letter: char| if letter.is_ascii_graphic() && letter != '"' { letter } else { '?' };
    name.chars().take(MAX_NAME_LENGTH).map(letter).collect()
}

/// The known name that was probably meant.
fn likely<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    if name.len() > MAX_NAME_LENGTH {
        return None;
    }
    let name = plain(name);
    let most = if name.len() < 5 { 1 } else { 2 };
    let near = known.iter().map(|known| (distance(&name, &plain(known)), *known));
    near.filter(|(distance, _)| *distance <= most).min().map(|(_, known)| known)
}

/// However it is spelled: `amount_minor` is `amountMinor`.
fn plain(name: &str) -> Vec<u8> {
    name.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase()).collect()
}

/// How many letters have to be added, removed or replaced to make one name of another.
fn distance(one: &[u8], other: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (place, letter) in one.iter().enumerate() {
        let mut diagonal = place;
        let mut left = place + 1;
        let mut next = vec![left];
        for (above, same) in row.iter().skip(1).zip(other.iter().map(|known| known == letter)) {
            left = (left + 1).min(above + 1).min(diagonal + usize::from(!same));
            diagonal = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

/// Learns the names of a struct's fields, and reads nothing.
struct FieldNames<'n>(&'n mut &'static [&'static str]);

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(value::Error::custom(""))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Self::Error> {
        *self.0 = fields;
        Err(value::Error::custom(""))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// The names in an object that are not known: the first of them, and how many there are.
#[derive(Default)]
struct Unknown {
    named: Vec<String>,
    count: usize,
}

impl Unknown {
    fn read(object: &str, known: &[&str]) -> serde_json::Result<Self> {
        serde_json::Deserializer::from_str(object).deserialize_map(Names(known))
    }
}

struct Names<'k>(&'k [&'k str]);

impl<'de> Visitor<'de> for Names<'_> {
    type Value = Unknown;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Unknown, A::Error> {
        let mut unknown = Unknown::default();
        while let Some(name) = entries.next_key_seed(Name(self.0))? {
            unknown.count += usize::from(name.is_some());
            unknown.named.extend(name.filter(|_| unknown.named.len() < MAX_NAMED));
            entries.next_value::<IgnoredAny>()?;
        }
        Ok(unknown)
    }
}

/// A name, kept only if it is not known.
struct Name<'k>(&'k [&'k str]);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<String>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Option<String>, E> {
        Ok((!self.0.contains(&name)).then(|| name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::fields::Raw;

    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[expect(dead_code, reason = "only its fields' names are read")]
    struct Order<'a> {
        #[serde(borrow)]
        amount_minor: Raw<'a>,
        #[serde(borrow)]
        success_url: Raw<'a>,
        #[serde(borrow)]
        flow: Raw<'a>,
    }

    async fn found(inside: Option<&'static str>, json: &'static str) -> Vec<String> {
        noted(inside, json).await.warnings
    }

    async fn noted(inside: Option<&'static str>, json: &'static str) -> Found {
        call_notes::collecting(async { note::<Order<'_>>(inside, json) }).await.1.unknown_fields
    }

    #[tokio::test]
    async fn what_is_known_is_not_mentioned() {
        let none: [&str; 0] = [];
        assert_eq!(found(None, r#"{"amountMinor":1,"successUrl":{"a":[1]},"flow":null}"#).await, none);
        assert_eq!(found(None, r#"{"amount\u004dinor":1}"#).await, none, "however it is escaped");
    }

    #[tokio::test]
    async fn what_was_probably_meant_is_told() {
        for (name, told) in [
            ("sucessUrl", r#"unknown field "sucessUrl"; did you mean "successUrl"?"#),
            ("amount_minor", r#"unknown field "amount_minor"; did you mean "amountMinor"?"#),
            ("AMOUNTMINOR", r#"unknown field "AMOUNTMINOR"; did you mean "amountMinor"?"#),
            ("flwo", r#"unknown field "flwo""#),
            ("flows", r#"unknown field "flows"; did you mean "flow"?"#),
            ("color", r#"unknown field "color""#),
            ("é\"\n", r#"unknown field "???""#),
        ] {
            let json = serde_json::to_string(&std::collections::BTreeMap::from([(name, 1)])).unwrap();
            let told_now = found(None, json.leak()).await;
            assert_eq!(told_now, [told], "{name}");
        }
        let nested = found(Some("customer"), r#"{"flwos":1}"#).await;
        assert_eq!(nested, [r#"unknown field "customer.flwos"; did you mean "customer.flow"?"#]);
    }

    #[tokio::test]
    async fn headers_stay_small_and_hold_no_secret() {
        let name = "x".repeat(50);
        let many: Vec<String> = (0..1_000).map(|number| format!("\"{name}{number}\":1,")).collect();
        let many = format!("{{{}\"y\":1}}", many.concat());
        let mut headers = HeaderMap::new();
        tell(&noted(None, many.leak()).await, &mut headers);
        let values: Vec<_> = headers.get_all(HEADER).iter().collect();
        assert_eq!(values.len(), MAX_NAMED + 1);
        assert_eq!(values[MAX_NAMED], "and 996 more unknown fields");
        assert!(values.iter().all(|value| value.len() < 200));
    }
}
