//! Texts as a bank's file can carry them: printable ASCII and nothing else.

/// A text in printable ASCII, at most so many characters: letters lose their accents, other signs become their usual
/// spelling, and what has none is left out. Blanks do not repeat, and none is at either end.
pub(crate) fn ascii(text: &str, length_max: usize) -> String {
    let mut written = String::new();
    for letter in text.chars() {
        match letter {
            '!'..='~' => written.push(letter),
            _ if letter.is_whitespace() || letter.is_control() => {
                if !written.is_empty() && !written.ends_with(' ') {
                    written.push(' ');
                }
            }
            _ => written.push_str(spelling(letter)),
        }
    }
    // Everything is ASCII by now, so this cuts between characters.
    written.truncate(length_max);
    written.truncate(written.trim_end().len());
    written
}

/// Whether a character is in [`ascii`]'s text in some spelling. Accents that stand by themselves and marks that nobody sees go
/// without a loss.
pub(crate) fn is_spelled(letter: char) -> bool {
    letter.is_ascii()
        || letter.is_whitespace()
        || letter.is_control()
        || matches!(letter, '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{feff}')
        || !spelling(letter).is_empty()
}

/// A letter's usual spelling. Pictures have names, which mean nothing in a bank's file: `:crab:`.
fn spelling(letter: char) -> &'static str {
    let spelling = any_ascii::any_ascii_char(letter);
    if spelling.starts_with(':') { "" } else { spelling }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_lose_their_accents_and_the_rest_goes() {
        for (text, expected) in [
            ("Ada Example", "Ada Example"),
            ("José Núñez-Peña", "Jose Nunez-Pena"),
            ("Straße, Ærø", "Strasse, Aero"),
            ("Łukasz Wałęsa", "Lukasz Walesa"),
            ("Nguyễn Thị Ánh Tuyết", "Nguyen Thi Anh Tuyet"),
            ("ẠạỲỵỹ", "AaYyy"),
            ("e\u{301}te\u{301}", "ete"),
            ("O’Neill — “Inc.”", "O'Neill - \"Inc.\""),
            ("Tea & café, 2 × 10 €", "Tea & cafe, 2 * 10 EUR"),
            ("\t a\r\n\u{0}b  c \u{a0}", "a b c"),
            ("王小明", "WangXiaoMing"),
            ("Мария", "Mariya"),
            ("Wang 🦀 \u{e000}", "Wang"),
            ("", ""),
        ] {
            assert_eq!(ascii(text, 200), expected, "{text}");
        }
    }

    #[test]
    fn what_has_no_spelling_is_noticed() {
        for text in ["Café №7 — 10 €", "e\u{301}te\u{301}", "王小明", "a\tb\u{a0}c", "\u{feff}x"] {
            assert!(text.chars().all(is_spelled), "{text}");
        }
        for text in ["🦀", "paid \u{e000}"] {
            assert!(!text.chars().all(is_spelled), "{text}");
        }
    }

    #[test]
    fn texts_are_cut_to_length_and_hold_nothing_else() {
        assert_eq!(ascii("ßßß", 5), "sssss");
        assert_eq!(ascii("ab cd", 3), "ab");
        assert_eq!(ascii("abc", 0), "");
        for letter in (0..0x3_0000).filter_map(char::from_u32) {
            let written = ascii(&format!("a{letter}b"), 200);
            assert!(written.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{letter:?} {written:?}");
        }
    }
}
