//! Words of the program inside objects that are kept in a file: written as numbers, read as the same words.

use std::sync::Mutex;

use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

use super::lock;

/// A word of the program. By this name, serde does not take it for something to borrow.
pub(crate) type Word = &'static str;

/// Every word that was ever written. There are only so many in the program.
static WORDS: Mutex<Vec<Word>> = Mutex::new(Vec::new());

fn number_of(word: Word) -> usize {
    let mut words = lock(&WORDS);
    words.iter().position(|known| *known == word).unwrap_or_else(|| {
        words.push(word);
        words.len() - 1
    })
}

fn word_of<E: serde::de::Error>(number: usize) -> Result<Word, E> {
    lock(&WORDS).get(number).copied().ok_or_else(|| E::custom("no such word"))
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
pub(crate) fn serialize<S: Serializer>(word: &Word, to: S) -> Result<S::Ok, S::Error> {
    number_of(word).serialize(to)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Word, D::Error> {
    word_of(usize::deserialize(from)?)
}

/// The same for words that may be absent.
pub(crate) mod optional {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    use super::{Word, number_of, word_of};

    #[allow(clippy::ref_option, reason = "serde asks for it")]
    pub(crate) fn serialize<S: Serializer>(word: &Option<Word>, to: S) -> Result<S::Ok, S::Error> {
        word.map(number_of).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Word>, D::Error> {
        Option::<usize>::deserialize(from)?.map(word_of).transpose()
    }
}
