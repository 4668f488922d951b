//! Makes recorded answers the same at every recording, and free of anything that looks like a secret.

use std::collections::BTreeMap;

use jiff::{Timestamp, ToSpan};
use serde_json::Value;

const CUSTOMER_TOKEN: &str = "eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0…";
const CREDENTIALS: [&str; 4] = ["sk_test_", "pk_test_", "pat_", "whsec_"];
/// Longer runs of letters and digits are made at random.
const WORD_MAX: usize = 14;
const NOW: &str = "2026-01-15T09:30:00.000Z";
/// The end of an API key.
const LAST_FOUR: &str = "x7Kq";

pub struct Normalizer<'a> {
    address: &'a str,
    words: BTreeMap<String, usize>,
    now: Timestamp,
    keeps_times: bool,
}

impl<'a> Normalizer<'a> {
    pub fn new(address: &'a str) -> Self {
        Self { address, words: BTreeMap::new(), now: Timestamp::now(), keeps_times: false }
    }

    /// Calls and failures by their names.
    pub fn whole(mut self, mut recorded: Value) -> Value {
        for calls in recorded.as_object_mut().unwrap().values_mut() {
            for call in calls.as_object_mut().unwrap().values_mut() {
                for (name, part) in call.as_object_mut().unwrap() {
                    // What is sent says its own times.
                    self.keeps_times = name == "body";
                    self.value(name, part);
                }
            }
        }
        recorded
    }

    fn value(&mut self, name: &str, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(name, item)),
            Value::Object(fields) => fields.iter_mut().for_each(|(name, field)| self.value(name, field)),
            Value::String(text) if name == "customerToken" => CUSTOMER_TOKEN.clone_into(text),
            Value::String(text) if name == "lastFour" && text.parse::<u16>().is_err() => {
                LAST_FOUR.clone_into(text);
            }
            Value::String(text) => *text = self.text(text),
            Value::Number(number) if ["durationMs", "tookMs"].contains(&name) => *number = 4.into(),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) -> String {
        if let Some((first, rest)) = text.split_once(',').filter(|(first, _)| moment(first).is_some()) {
            return format!("{},{}", self.text(first), self.text(rest));
        }
        if let Some(at) = moment(text).filter(|_| !self.keeps_times) {
            let first: Timestamp = NOW.parse().unwrap();
            // To the next ten minutes, so that the recording takes no time.
            let minutes = (at.as_second() - self.now.as_second() + 300).div_euclid(600) * 10;
            return (first + minutes.minutes()).strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string();
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
            // A random id without a digit is one of many, and would change the file with every recording.
            let is_mixed = |kind: fn(&u8) -> bool| has(kind) && has(u8::is_ascii_alphabetic);
            let is_random = is_mixed(u8::is_ascii_digit)
                || word.len() >= 20 && is_mixed(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
            if word.len() > WORD_MAX && is_random {
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
    let is_moment = text.len() == NOW.len() && text.ends_with('Z');
    is_moment.then(|| text.parse().ok()).flatten()
}
