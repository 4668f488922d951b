//! Texts as a bank's file can carry them: printable ASCII and nothing else.

/// A text in printable ASCII, at most so many characters: letters lose their accents, other signs become their usual
/// spelling, and what has none is left out. Blanks do not repeat, and none is at either end.
pub(super) fn ascii(text: &str, length_max: usize) -> String {
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

fn spelling(letter: char) -> &'static str {
    let found = SPELLINGS.iter().find(|(letters, _)| letters.contains(letter));
    found.map_or_else(|| vietnamese(letter), |(_, spelling)| spelling)
}

/// The block of Vietnamese vowels, in which capitals and small letters take turns.
fn vietnamese(letter: char) -> &'static str {
    let (capital, small) = match letter {
        '\u{1ea0}'..='\u{1eb7}' => ("A", "a"),
        '\u{1eb8}'..='\u{1ec7}' => ("E", "e"),
        '\u{1ec8}'..='\u{1ecb}' => ("I", "i"),
        '\u{1ecc}'..='\u{1ee3}' => ("O", "o"),
        '\u{1ee4}'..='\u{1ef1}' => ("U", "u"),
        '\u{1ef2}'..='\u{1ef9}' => ("Y", "y"),
        _ => return "",
    };
    if u32::from(letter).is_multiple_of(2) { capital } else { small }
}

const SPELLINGS: [(&str, &str); 72] = [
    ("ÀÁÂÃÄÅĀĂĄǍ", "A"),
    ("àáâãäåāăąǎª", "a"),
    ("Æ", "AE"),
    ("æ", "ae"),
    ("ÇĆĈĊČ", "C"),
    ("çćĉċč", "c"),
    ("ĎĐÐ", "D"),
    ("ďđð", "d"),
    ("ÈÉÊËĒĔĖĘĚƏ", "E"),
    ("èéêëēĕėęěə", "e"),
    ("ĜĞĠĢǦ", "G"),
    ("ĝğġģǧ", "g"),
    ("ĤĦ", "H"),
    ("ĥħ", "h"),
    ("ÌÍÎÏĨĪĬĮİǏ", "I"),
    ("ìíîïĩīĭįıǐ", "i"),
    ("Ĳ", "IJ"),
    ("ĳ", "ij"),
    ("Ĵ", "J"),
    ("ĵ", "j"),
    ("Ķ", "K"),
    ("ķĸ", "k"),
    ("ĹĻĽĿŁ", "L"),
    ("ĺļľŀł", "l"),
    ("ÑŃŅŇ", "N"),
    ("ñńņňŉ", "n"),
    ("Ŋ", "NG"),
    ("ŋ", "ng"),
    ("ÒÓÔÕÖØŌŎŐƠǑ", "O"),
    ("òóôõöøōŏőơǒº", "o"),
    ("Œ", "OE"),
    ("œ", "oe"),
    ("ŔŖŘ", "R"),
    ("ŕŗř", "r"),
    ("ŚŜŞŠȘ", "S"),
    ("śŝşšșſ", "s"),
    ("ẞ", "SS"),
    ("ß", "ss"),
    ("ŢŤŦȚ", "T"),
    ("ţťŧț", "t"),
    ("Þ", "Th"),
    ("þ", "th"),
    ("ÙÚÛÜŨŪŬŮŰŲƯǓ", "U"),
    ("ùúûüũūŭůűųưǔ", "u"),
    ("Ŵ", "W"),
    ("ŵ", "w"),
    ("ÝŶŸ", "Y"),
    ("ýÿŷ", "y"),
    ("ŹŻŽ", "Z"),
    ("źżž", "z"),
    ("‘’‚‛′ʼʻ´", "'"),
    ("“”„‟″«»", "\""),
    ("‐‑‒–—―−", "-"),
    ("…", "..."),
    ("•·", "*"),
    ("×", "x"),
    ("÷⁄", "/"),
    ("¡", "!"),
    ("¿", "?"),
    ("¢", "c"),
    ("€", "EUR"),
    ("£", "GBP"),
    ("¥", "JPY"),
    ("©", "(c)"),
    ("®", "(R)"),
    ("™", "(TM)"),
    ("№", "No."),
    ("°", "deg"),
    ("±", "+-"),
    ("¼", "1/4"),
    ("½", "1/2"),
    ("¾", "3/4"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_lose_their_accents_and_the_rest_goes() {
        for (text, expected) in [
            ("Ada Example", "Ada Example"),
            ("José Núñez-Peña", "Jose Nunez-Pena"),
            ("Straße, Ærø", "Strasse, AEro"),
            ("Łukasz Wałęsa", "Lukasz Walesa"),
            ("Nguyễn Thị Ánh Tuyết", "Nguyen Thi Anh Tuyet"),
            ("ẠạỲỵỹ", "AaYyy"),
            ("e\u{301}te\u{301}", "ete"),
            ("O’Neill — “Inc.”", "O'Neill - \"Inc.\""),
            ("Tea & café, 2 × 10 €", "Tea & cafe, 2 x 10 EUR"),
            ("\t a\r\n\u{0}b  c \u{a0}", "a b c"),
            ("王小明", ""),
            ("王 Wang 🦀", "Wang"),
            ("", ""),
        ] {
            assert_eq!(ascii(text, 200), expected, "{text}");
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

    #[test]
    fn no_letter_has_two_spellings() {
        let mut seen = std::collections::BTreeSet::new();
        for letter in SPELLINGS.iter().flat_map(|(letters, _)| letters.chars()) {
            assert!(seen.insert(letter), "{letter}");
        }
    }
}
