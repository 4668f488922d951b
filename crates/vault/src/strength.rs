//! Telling a secret that anybody would try from one that was drawn at random.

/// The most of a text that may consist of runs such as `abcd` or `9876`: half.
const RUN_SHARE: usize = 2;
/// Words that stand in examples and in lists of passwords.
const COMMON: [&str; 7] =
    ["changeme", "change-me", "change_me", "password", "passw0rd", "qwertyui", "letmein"];

/// Whether a text is so regular that it can be guessed, however long it is: few different characters, a part repeated,
/// runs of the alphabet or of digits, or a common word. A text that passes need not be good; `tollgate generate` makes
/// good ones.
pub(crate) fn is_guessable(text: &str) -> bool {
    let letters: Vec<char> = text.chars().flat_map(char::to_lowercase).collect();
    let mut different = letters.clone();
    different.sort_unstable();
    different.dedup();
    let few = different.len() < 8;
    let lower: String = letters.iter().collect();
    few || is_repeated(&letters) || is_run(&letters) || COMMON.iter().any(|word| lower.contains(word))
}

/// Whether the text is a shorter one again and again, the last time perhaps cut off.
fn is_repeated(letters: &[char]) -> bool {
    (1..=letters.len() / 2).any(|period| letters.iter().zip(letters.iter().skip(period)).all(|(a, b)| a == b))
}

fn is_run(letters: &[char]) -> bool {
    let steps = letters.iter().zip(letters.iter().skip(1));
    let in_run = steps.filter(|(one, next)| u32::from(**one).abs_diff(u32::from(**next)) <= 1).count();
    in_run > letters.len() / RUN_SHARE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AdminToken, MasterKey};

    #[test]
    fn what_anybody_would_try_is_told_from_what_was_drawn() {
        for text in [
            "",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "0000000000000000000000000000000000000000",
            "0123456789012345678901234567890123456789",
            "abcdefghijklmnopqrstuvwxyz0123456789",
            "9876543210zyxwvutsrqponmlkjihgfe",
            "correcthorsecorrecthorsecorrecthorse",
            "tollgate-key-tollgate-key-tollgate-key-toll",
            "Password1234Password!Xy-really-long",
            "please-changeme-before-production-9f",
        ] {
            assert!(is_guessable(text), "{text}");
        }
        for text in [
            "a master key of thirty-two letters or more",
            "an admin token for tests",
            "b7e1f04c92d85a36b7e10c4d92f85a31",
        ] {
            assert!(!is_guessable(text), "{text}");
        }
        for _ in 0..1_000 {
            assert!(!is_guessable(MasterKey::generate().unwrap().expose()));
            assert!(!is_guessable(AdminToken::generate().unwrap().expose()));
        }
    }
}
