//! Numbers of accounts and banks, taken out of texts that are shown or kept.

/// So many digits can be part of an account's or a bank's number.
const TELLING_DIGITS: usize = 4;
/// So many other signs between two digits do not end a number: `021 - 000 - 021`.
const GAP_MAX: usize = 3;

/// A text without any number long enough to be part of an account's or a bank's.
pub(crate) fn masked(text: &str) -> String {
    let mut shown = String::new();
    // The number being read, its digits, and what follows its last digit so far.
    let (mut number, mut digits, mut gap) = (String::new(), 0, String::new());
    for letter in text.chars() {
        if letter.is_numeric() {
            number.push_str(&gap);
            gap.clear();
            number.push(letter);
            digits += 1;
        } else if digits > 0 && !letter.is_alphabetic() && gap.chars().count() < GAP_MAX {
            gap.push(letter);
        } else {
            end_number(&mut shown, &mut number, &mut digits);
            shown.push_str(&gap);
            gap.clear();
            shown.push(letter);
        }
    }
    end_number(&mut shown, &mut number, &mut digits);
    shown.push_str(&gap);
    shown
}

fn end_number(shown: &mut String, number: &mut String, digits: &mut usize) {
    shown.push_str(if *digits < TELLING_DIGITS { number.as_str() } else { "****" });
    number.clear();
    *digits = 0;
}

/// Stars for all but the last four characters; for all of them where there are not more.
pub(crate) fn last_four(text: &str) -> String {
    let length = text.chars().count();
    let hidden = if length > 4 { length - 4 } else { length };
    text.chars().enumerate().map(|(place, letter)| if place < hidden { '*' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_of_four_digits_is_left() {
        for (text, expected) in [
            ("", ""),
            ("Account 000123456789 is closed.", "Account **** is closed."),
            ("routing_number: 021000021", "routing_number: ****"),
            ("(021)-000-021", "(****"),
            ("021 - 000 - 021 is no bank", "**** is no bank"),
            ("0 2 1 0 0 0 0 2 1", "****"),
            ("must have 1 to 17 characters", "must have 1 to 17 characters"),
            ("R03, code 123", "R03, code 123"),
            ("x1234y567z", "x****y567z"),
            ("０２１０００", "****"),
            ("12 apples", "12 apples"),
            ("ends in 123. ", "ends in 123. "),
            ("1....2", "1....2"),
        ] {
            assert_eq!(masked(text), expected, "{text}");
        }
    }

    #[test]
    fn the_last_four_are_left_where_there_are_more() {
        for (text, expected) in
            [("000123456789", "********6789"), ("12345", "*2345"), ("1234", "****"), ("", "")]
        {
            assert_eq!(last_four(text), expected);
        }
    }
}
