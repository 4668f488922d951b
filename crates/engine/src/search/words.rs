//! The words of a search, all of which must be found.

use tollgate_domain::search::{MIN_WORD_LENGTH, normalized};

/// More words are not looked for.
const MAX_WORDS: usize = 8;

/// The words of a text, in lower case.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    /// Words by themselves, and those in quotation marks one by one.
    single: Vec<String>,
    /// Several words in one pair of quotation marks.
    together: Vec<String>,
}

impl Words {
    pub(super) fn of(text: &str) -> Self {
        let mut words = Self::default();
        for (number, part) in text.split('"').enumerate() {
            let Some(part) = normalized(part) else { continue };
            let is_closed = text.matches('"').count() > number;
            if number % 2 == 1 && is_closed && part.contains(' ') {
                words.together.push(part.clone());
            }
            words.single.extend(part.split(' ').map(str::to_owned));
        }
        words.single.truncate(MAX_WORDS);
        words.together.truncate(MAX_WORDS);
        words
    }

    pub(super) fn are_several(&self) -> bool {
        self.single.len() > 1
    }

    /// The words that the index knows, wherever they stand in a text.
    pub(super) fn indexed(&self) -> impl Iterator<Item = &str> {
        self.single.iter().map(String::as_str).filter(|word| is_indexed(word))
    }

    /// True if the index can answer for all of them.
    pub(super) fn has_all_indexed(&self) -> bool {
        !self.are_several() || (self.together.is_empty() && self.single.iter().all(|word| is_indexed(word)))
    }

    /// True if what the index cannot answer for is in one of the texts: short words at the beginning of a word, words in
    /// quotation marks next to each other.
    pub(super) fn rest_is_in<'a>(&self, texts: impl Iterator<Item = &'a str>) -> bool {
        let texts: Vec<String> = texts.filter_map(normalized).collect();
        let begins_word = |text: &str, word: &str| {
            text.match_indices(word)
                .any(|(at, _)| !text.get(..at).is_some_and(|before| before.ends_with(char::is_alphanumeric)))
        };
        let mut short = self.single.iter().filter(|word| !is_indexed(word));
        short.all(|word| texts.iter().any(|text| begins_word(text, word)))
            && self.together.iter().all(|words| texts.iter().any(|text| begins_word(text, words)))
    }
}

fn is_indexed(word: &str) -> bool {
    word.chars().filter(|letter| letter.is_alphanumeric()).count() >= MIN_WORD_LENGTH
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, single: &[&str], together: &[&str]) {
        let words = Words::of(text);
        assert_eq!((words.single, words.together), (owned(single), owned(together)), "{text}");
    }

    fn owned(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn words_in_quotation_marks_belong_together() {
        check(" Desk  Lamp ", &["desk", "lamp"], &[]);
        check("\"Desk lamp\" black", &["desk", "lamp", "black"], &["desk lamp"]);
        check("\"lamp\"", &["lamp"], &[]);
        check("a \"desk lamp", &["a", "desk", "lamp"], &[]);
        check("\"\" ", &[], &[]);
    }

    #[test]
    fn what_the_index_has_not_is_found_in_the_texts() {
        let rest = |search: &str| {
            Words::of(search).rest_is_in(["Order no. 2012, a desk  lamp", "{\"size\": \"XL\"}"].into_iter())
        };
        for found in ["order no", "\"desk LAMP\"", "xl lamp", "\"a desk\" order"] {
            assert!(rest(found), "{found}");
        }
        for missing in ["order os", "\"lamp desk\"", "q lamp", "\"esk lamp\""] {
            assert!(!rest(missing), "{missing}");
        }
        assert!(Words::of("desk lamp").has_all_indexed() && Words::of("no").has_all_indexed());
        assert!(!Words::of("desk no").has_all_indexed() && !Words::of("\"desk lamp\"").has_all_indexed());
    }
}
