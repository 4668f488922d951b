//! Fields of a body that nothing reads: they are ignored, and named in the answer, because most of them are typing errors; an
//! environment can have them refused.
//!
//! Which fields are known is what the body's own type says, so that there is no second list of them.

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue};
use serde::{
    Deserialize, Deserializer,
    de::{self, DeserializeSeed, MapAccess, Visitor},
    forward_to_deserialize_any,
};
use tollgate_vault::contains_secret_key;

use crate::{
    request::call_notes::{self, UnknownFields},
    response::error::Detail,
};

const HEADER: HeaderName = HeaderName::from_static("tollgate-warning");
/// Enough to see what is wrong.
const MAX_NAMED: usize = 5;
const MAX_NAME_LENGTH: usize = 60;

impl UnknownFields {
    /// A sentence for each unknown field.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let more = (self.more > 0).then(|| format!("and {} more unknown fields", self.more));
        let named = self.names.iter().zip(&self.meant).map(|(name, meant)| match meant {
            Some(meant) => format!("unknown field \"{name}\"; did you mean \"{meant}\"?"),
            None => format!("unknown field \"{name}\""),
        });
        named.chain(more).collect()
    }
}

/// Adds a header for each warning.
pub(crate) fn add_warnings(warnings: &[String], headers: &mut HeaderMap) {
    for warning in warnings.iter().filter_map(|text| HeaderValue::from_str(text).ok()) {
        headers.append(HEADER, warning);
    }
}

/// What the call's answer says of its unknown fields.
pub(crate) fn warnings() -> Option<Vec<String>> {
    call_notes::note(|notes| notes.unknown_fields.as_deref().map(UnknownFields::warnings))
}

/// The fields to refuse and why, where the environment wants that.
pub(crate) fn refused() -> Option<Vec<Detail>> {
    let unknown = call_notes::note(|notes| if notes.is_strict { notes.unknown_fields.take() } else { None })?;
    let named = unknown.names.into_iter().zip(unknown.meant);
    let refused = named.map(|(name, meant)| Detail {
        field: name.into(),
        message: match meant {
            Some(meant) => format!("is not a field of this request; did you mean `{meant}`?").into(),
            None => "is not a field of this request".into(),
        },
    });
    Some(refused.collect())
}

/// Reads a JSON object, and notes the fields that its type does not have. `inside` names the field that holds the object.
pub(crate) fn read<'a, T: Deserialize<'a>>(inside: Option<&str>, object: &'a str) -> serde_json::Result<T> {
    let mut unknown = Unknown::default();
    let mut json = serde_json::Deserializer::from_str(object);
    let read = T::deserialize(Noting { inner: &mut json, unknown: &mut unknown })?;
    json.end()?;
    if unknown.count > 0 {
        call_notes::note(|notes| unknown.add_to(notes.unknown_fields.get_or_insert_default(), inside));
    }
    Ok(read)
}

/// A field's path as it may be shown, and that of the one that was probably meant.
fn named(inside: Option<&str>, name: &str, known: &[&str]) -> (String, Option<String>) {
    let path = |name: &str| inside.map_or_else(|| name.to_owned(), |inside| format!("{inside}.{name}"));
    let shown = if contains_secret_key(name) { "(a secret key)".to_owned() } else { path(&visible(name)) };
    (shown, likely(name, known).map(path))
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
    let near = known.iter().map(|known| (strsim::levenshtein(&name, &plain(known)), *known));
    near.filter(|(distance, _)| *distance <= most).min().map(|(_, known)| known)
}

/// However it is spelled: `amount_minor` is `amountMinor`.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// The names in an object that are not known: the first of them, and how many there are.
#[derive(Default)]
struct Unknown {
    known: &'static [&'static str],
    /// How many of the known names have come one after the other, as most callers write them.
    in_order: usize,
    named: Vec<String>,
    count: usize,
}

impl Unknown {
    fn meet(&mut self, name: &str) {
        if self.known.get(self.in_order) == Some(&name) {
            self.in_order += 1;
        } else if !self.known.contains(&name) {
            self.count += 1;
            if self.named.len() < MAX_NAMED {
                self.named.push(name.to_owned());
            }
        }
    }

    fn add_to(&self, noted: &mut UnknownFields, inside: Option<&str>) {
        let room = MAX_NAMED.saturating_sub(noted.names.len());
        for name in self.named.iter().take(room) {
            let (name, meant) = named(inside, name, self.known);
            noted.names.push(name);
            noted.meant.push(meant);
        }
        noted.more += self.count - self.named.len().min(room);
    }
}

/// What reads a struct, a map's entries, a key and its text in turn, and looks at the name on the way.
struct Noting<'u, T> {
    inner: T,
    unknown: &'u mut Unknown,
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Noting<'_, D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_any(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.unknown.known = fields;
        self.inner.deserialize_struct(name, fields, Noting { inner: visitor, unknown: self.unknown })
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_identifier(Noting { inner: visitor, unknown: self.unknown })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum ignored_any
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Noting<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<V::Value, A::Error> {
        self.inner.visit_map(Noting { inner: entries, unknown: self.unknown })
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<V::Value, E> {
        self.unknown.meet(name);
        self.inner.visit_str(name)
    }

    fn visit_borrowed_str<E: de::Error>(self, name: &'de str) -> Result<V::Value, E> {
        self.unknown.meet(name);
        self.inner.visit_borrowed_str(name)
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Noting<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        self.inner.next_key_seed(Noting { inner: seed, unknown: self.unknown })
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.inner.next_value_seed(seed)
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Noting<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        self.inner.deserialize(Noting { inner: deserializer, unknown: self.unknown })
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

    fn warnings(inside: Option<&'static str>, json: &'static str) -> Vec<String> {
        noted(inside, json).warnings()
    }

    fn noted(inside: Option<&'static str>, json: &'static str) -> UnknownFields {
        let (_, notes) = call_notes::collected(|| read::<Order<'_>>(inside, json).map(drop));
        notes.unknown_fields.map(|unknown| *unknown).unwrap_or_default()
    }

    #[test]
    fn what_is_known_is_not_mentioned() {
        let none: [&str; 0] = [];
        assert_eq!(warnings(None, r#"{"amountMinor":1,"successUrl":{"a":[1]},"flow":null}"#), none);
        assert_eq!(warnings(None, r#"{"amount\u004dinor":1}"#), none, "however it is escaped");
    }

    #[test]
    fn what_was_probably_meant_is_suggested() {
        for (name, expected) in [
            ("sucessUrl", r#"unknown field "sucessUrl"; did you mean "successUrl"?"#),
            ("amount_minor", r#"unknown field "amount_minor"; did you mean "amountMinor"?"#),
            ("AMOUNTMINOR", r#"unknown field "AMOUNTMINOR"; did you mean "amountMinor"?"#),
            ("flwo", r#"unknown field "flwo""#),
            ("flows", r#"unknown field "flows"; did you mean "flow"?"#),
            ("color", r#"unknown field "color""#),
            ("é\"\n", r#"unknown field "???""#),
        ] {
            let json = serde_json::to_string(&std::collections::BTreeMap::from([(name, 1)])).unwrap();
            let actual = warnings(None, json.leak());
            assert_eq!(actual, [expected], "{name}");
        }
        let nested = warnings(Some("customer"), r#"{"flwos":1}"#);
        assert_eq!(nested, [r#"unknown field "customer.flwos"; did you mean "customer.flow"?"#]);
    }

    #[test]
    fn a_strict_environment_refuses_what_others_warn_of() {
        let refused = |is_strict| {
            let body = r#"{"amountMinor":1,"sucessUrl":"","color":1}"#;
            call_notes::collected(|| {
                call_notes::note(|notes| notes.is_strict = is_strict);
                read::<Order<'_>>(Some("order"), body).map(drop).unwrap();
                (refused(), super::warnings())
            })
            .0
        };
        let (details, warnings) = refused(true);
        let details: Vec<_> =
            details.unwrap().into_iter().map(|it| format!("{} {}", it.field, it.message)).collect();
        let expected = [
            "order.sucessUrl is not a field of this request; did you mean `order.successUrl`?",
            "order.color is not a field of this request",
        ];
        assert_eq!((details, warnings), (expected.map(str::to_owned).to_vec(), None));
        let (details, warnings) = refused(false);
        assert_eq!((details, warnings.map(|warnings| warnings.len())), (None, Some(2)));
    }

    #[test]
    fn headers_stay_small_and_hold_no_secret() {
        let name = "x".repeat(50);
        let many: Vec<String> = (0..1_000).map(|number| format!("\"{name}{number}\":1,")).collect();
        let many = format!("{{{}\"y\":1}}", many.concat());
        let mut headers = HeaderMap::new();
        add_warnings(&noted(None, many.leak()).warnings(), &mut headers);
        let values: Vec<_> = headers.get_all(HEADER).iter().collect();
        assert_eq!(values.len(), MAX_NAMED + 1);
        assert_eq!(values[MAX_NAMED], "and 996 more unknown fields");
        assert!(values.iter().all(|value| value.len() < 200));
    }
}
