//! Texts that must fit somewhere else: fields of limited length, paths, lines shown to people.

use serde::{Deserialize as _, Deserializer, de::Error as _};

/// As much of a text as fits into so many bytes, cut between characters. Bytes, because providers that count say so of
/// characters outside ASCII.
pub(crate) fn fit(text: &str, bytes_max: usize) -> String {
    let mut fitted = String::new();
    for letter in text.chars() {
        if fitted.len() + letter.len_utf8() > bytes_max {
            break;
        }
        fitted.push(letter);
    }
    fitted
}

/// Whether a text can be a provider's id and stand in a path as it is. An empty one would turn "read this" into "list
/// all".
pub(crate) fn is_id(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b':');
    (1..=255).contains(&text.len()) && text.bytes().all(plain)
}

/// The name of something the provider has made. One that cannot be makes the whole answer unreadable: nothing could be
/// asked about it later.
pub(crate) fn id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let id = String::deserialize(deserializer)?;
    if is_id(&id) { Ok(id) } else { Err(D::Error::custom("an id cannot be one")) }
}

/// A provider's code as a word for a log: what is no plain word is not repeated.
pub(crate) fn word(text: &str) -> String {
    if is_id(text) { fit(text, 64) } else { "unreadable code".to_owned() }
}

/// A provider's sentence, made fit to be shown: at most 200 characters, and without any word that could be an address,
/// a key or a token.
pub(crate) fn quote(text: &str) -> String {
    const HIDDEN: [&str; 9] =
        ["sk_", "rk_", "pk_", "whsec_", "_secret_", "cnon:", "ccof:", "verf:", "bearer"];
    let mut quoted = String::new();
    for part in text.split(|letter: char| letter.is_whitespace() || letter.is_control()) {
        let lower = part.to_ascii_lowercase();
        let hidden = part.contains('@') || HIDDEN.iter().any(|mark| lower.contains(mark)) || part.len() > 60;
        let shown = if hidden { "[hidden]" } else { part };
        if shown.is_empty() {
            continue;
        }
        if quoted.chars().count() + 1 + shown.chars().count() > 200 {
            break;
        }
        if !quoted.is_empty() {
            quoted.push(' ');
        }
        quoted.push_str(shown);
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(fit("größe", 4), "grö");
        assert_eq!(fit("größe", 3), "gr");
        assert_eq!(fit("", 0), "");
    }

    #[test]
    fn ids_cannot_bend_a_path() {
        for id in ["pi_3Nx", "cs_test_a1", "hYy9pRFVxpDsO1FB05SunFWUe9JZY", "a-b:c"] {
            assert!(is_id(id), "{id}");
        }
        for other in ["", ".", "..", "pi_1/cancel", "pi_1?x=y", "pi 1", "pi_ü", "%2e", &"x".repeat(256)] {
            assert!(!is_id(other), "{other}");
        }
    }

    #[test]
    fn quotes_hide_addresses_keys_and_tokens_and_end() {
        assert_eq!(
            quote("Invalid email: ada@example.com,\n key sk_live_abc (pi_1_secret_2) cnon:card-nonce-ok ok"),
            "Invalid email: [hidden] key [hidden] [hidden] [hidden] ok"
        );
        let long = quote(&"word ".repeat(100));
        assert!(long.chars().count() <= 200 && long.ends_with("word"), "{long}");
        assert_eq!(quote(&"x".repeat(5_000)), "[hidden]");
    }
}
