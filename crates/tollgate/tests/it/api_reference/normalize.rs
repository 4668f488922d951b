//! Makes recorded answers the same at every recording, and free of anything that looks like a secret.

use std::collections::BTreeMap;

use jiff::{Timestamp, ToSpan};
use serde_json::Value;

const CUSTOMER_TOKEN: &str = "eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0…";
const CREDENTIALS: [&str; 5] = ["sk_test_", "pk_test_", "pat_", "tgwh_", "whsec_"];
/// Longer runs of letters and digits are made at random.
const WORD_MAX: usize = 14;
const FIRST_MOMENT: &str = "2026-01-15T09:30:00.000Z";
const FORMAT: &str = "%Y-%m-%dT%H:%M:%S.%3fZ";

pub struct Normalizer<'a> {
    address: &'a str,
    words: BTreeMap<String, usize>,
    now: Timestamp,
}

impl<'a> Normalizer<'a> {
    pub fn new(address: &'a str) -> Self {
        Self { address, words: BTreeMap::new(), now: Timestamp::now() }
    }

    /// Everything that was recorded. Moments count from the first of each answer.
    pub fn whole(mut self, mut recorded: Value) -> Value {
        for answers in recorded.as_object_mut().unwrap().values_mut() {
            for answer in answers.as_object_mut().unwrap().values_mut() {
                let mut moments = Vec::new();
                self.collect_moments(answer, &mut moments);
                moments.sort();
                moments.dedup();
                for (name, part) in answer.as_object_mut().unwrap() {
                    // What is sent says its own times.
                    let moments = if name == "body" { None } else { Some(moments.as_slice()) };
                    self.value(name, part, moments);
                }
            }
        }
        recorded
    }

    /// The moments of the recording itself.
    fn collect_moments(&self, value: &Value, moments: &mut Vec<Timestamp>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.collect_moments(item, moments)),
            Value::Object(fields) => fields.values().for_each(|field| self.collect_moments(field, moments)),
            Value::String(text) => moments.extend(moment(text).filter(|at| self.minutes_away(*at) == 0)),
            _ => {}
        }
    }

    /// How far from the recording, to the next ten minutes.
    fn minutes_away(&self, at: Timestamp) -> i64 {
        let seconds = at.as_second() - self.now.as_second();
        (seconds + 300).div_euclid(600) * 10
    }

    fn value(&mut self, name: &str, value: &mut Value, moments: Option<&[Timestamp]>) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(name, item, moments)),
            Value::Object(fields) => {
                fields.iter_mut().for_each(|(name, field)| self.value(name, field, moments));
            }
            Value::String(text) if name == "customerToken" => CUSTOMER_TOKEN.clone_into(text),
            Value::String(text) => *text = self.text(text, moments),
            _ => {}
        }
    }

    fn text(&mut self, text: &str, moments: Option<&[Timestamp]>) -> String {
        if let Some((first, rest)) = text.split_once(',').filter(|(first, _)| moment(first).is_some()) {
            return format!("{},{}", self.text(first, moments), self.text(rest, moments));
        }
        if let (Some(at), Some(moments)) = (moment(text), moments) {
            let first: Timestamp = FIRST_MOMENT.parse().unwrap();
            let place = moments.iter().position(|known| *known == at).unwrap_or_default();
            let seconds = i64::try_from(place).unwrap();
            let moved = first + self.minutes_away(at).minutes() + seconds.seconds();
            return moved.strftime(FORMAT).to_string();
        }
        if is_uuid(text) {
            let number = self.number(text);
            return format!("00000000-0000-4000-8000-{number:012}");
        }
        let text = text.replace(self.address, "127.0.0.1:8080");
        for prefix in CREDENTIALS {
            if text.strip_prefix(prefix).is_some_and(|rest| !rest.contains('_') && rest.len() > WORD_MAX) {
                return format!("{prefix}…");
            }
        }
        let mut normal = String::new();
        for part in text.split_inclusive(|it: char| !it.is_ascii_alphanumeric()) {
            let word = part.trim_end_matches(|it: char| !it.is_ascii_alphanumeric());
            let has = |kind: fn(&u8) -> bool| word.as_bytes().iter().any(kind);
            if word.len() > WORD_MAX && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) {
                normal.push_str(&self.word(word));
                normal.push_str(&part[word.len()..]);
            } else {
                normal.push_str(part);
            }
        }
        normal
    }

    /// The same for the same word, and as long.
    fn word(&mut self, word: &str) -> String {
        format!("01ka{:0>width$}", self.number(word), width = word.len() - 4)
    }

    /// Words are numbered as they come.
    fn number(&mut self, word: &str) -> usize {
        let next = self.words.len() + 1;
        *self.words.entry(word.to_owned()).or_insert(next)
    }
}

fn is_uuid(text: &str) -> bool {
    let lengths: Vec<_> = text.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12] && text.bytes().all(|it| it == b'-' || it.is_ascii_hexdigit())
}

/// A moment as the API writes it.
fn moment(text: &str) -> Option<Timestamp> {
    let is_moment = text.len() == FIRST_MOMENT.len() && text.ends_with('Z');
    is_moment.then(|| text.parse().ok()).flatten()
}
