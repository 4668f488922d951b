//! Finding card numbers in texts that must not have any.
//!
//! A card number is 13 to 19 digits that pass the Luhn check, in one piece, whatever letters touch it, or in groups with white
//! space or dashes between. One number in ten passes that check by chance, so what cannot be a card's is left alone: groups that
//! a dash joins to a word of letters and digits (a UUID), digits within a hexadecimal ID, and numbers that
//! begin with 0, or with 1 unless they have 15 digits (no scheme issues those, and times in milliseconds look so).

use std::ops::RangeInclusive;

const LENGTHS: RangeInclusive<usize> = 13..=19;
/// Between two groups of digits there may be a few spaces and dashes, such as ` - `.
const MAX_GAP: usize = 3;

/// Whether a card number stands anywhere in the text.
pub fn holds_card_number(text: &str) -> bool {
    if text.bytes().filter(u8::is_ascii_digit).count() < *LENGTHS.start() {
        return false;
    }
    let (mut row, mut is_id, mut follows_id) = (Vec::new(), false, false);
    for (gap, word) in words(text) {
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        if is_number && !row.is_empty() && is_gap(gap) {
            row.push(word);
            continue;
        }
        let is_joined_id = gap == "-" && is_part_of_id(word);
        if ends_with_card(&row, is_id || is_joined_id) || (!is_number && has_card_within(word)) {
            return true;
        }
        row.clear();
        if is_number {
            is_id = follows_id && gap == "-";
            row.push(word);
        }
        follows_id = is_part_of_id(word);
    }
    ends_with_card(&row, is_id)
}

/// Whether a row of groups is or has a card number. In an ID, only one in one piece is: no part of a UUID is that long.
fn ends_with_card(row: &[&str], is_id: bool) -> bool {
    if is_id { row.iter().any(|group| is_card_number(&[*group])) } else { has_card(row) }
}

/// Letters and digits, or a group of letters such as a UUID has.
fn is_part_of_id(word: &str) -> bool {
    let has_letter = word.bytes().any(|byte| !byte.is_ascii_digit());
    has_letter
        && (word.bytes().any(|byte| byte.is_ascii_digit()) || (word.len() >= 4 && is_hexadecimal(word)))
}

fn is_hexadecimal(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a word of letters and digits has a card number in one piece. Hexadecimal IDs have such rows of digits by chance: those
/// that are as long as IDs are, and others with more digits around.
fn has_card_within(word: &str) -> bool {
    let mut runs = word.split(|letter: char| !letter.is_ascii_digit()).filter(|run| !run.is_empty());
    let is_id = || matches!(word.len(), 16 | 20 | 24 | 32 | 40 | 64) || runs.clone().count() > 1;
    if is_hexadecimal(word) && is_id() {
        return false;
    }
    runs.any(|run| is_card_number(&[run]))
}

/// The words of a text, each with what stands before it.
fn words(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (gap, from_word) = rest.split_at_checked(rest.find(char::is_alphanumeric)?)?;
        let end = from_word.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(from_word.len());
        let (word, behind) = from_word.split_at_checked(end)?;
        rest = behind;
        Some((gap, word))
    })
}

fn is_gap(gap: &str) -> bool {
    let is_dash = |letter| matches!(letter, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}');
    gap.chars().count() <= MAX_GAP && gap.chars().all(|letter| letter.is_whitespace() || is_dash(letter))
}

/// Whether groups of digits are a card number: all of them together, or some in a row as cards show them.
fn has_card(row: &[&str]) -> bool {
    if is_card_number(row) {
        return true;
    }
    let mut starts = (0..row.len()).filter_map(|start| row.get(start..));
    starts.any(|from| {
        let mut parts = (1..=5).filter_map(|count| from.get(..count));
        parts.any(|groups| is_layout(groups) && is_card_number(groups))
    })
}

/// How numbers are printed on cards: in one piece, in fours, as 4-6-5, 4-6-4 or 6-13.
fn is_layout(groups: &[&str]) -> bool {
    let lengths: Vec<_> = groups.iter().map(|group| group.len()).collect();
    matches!(lengths.as_slice(), [_] | [4, 6, 4 | 5] | [6, 13] | [4, 4, 4, 1..=4] | [4, 4, 4, 4, 1..=3])
}

fn is_card_number(groups: &[&str]) -> bool {
    let length: usize = groups.iter().map(|group| group.len()).sum();
    let digits = || groups.iter().flat_map(|group| group.bytes());
    let is_issued = match digits().next() {
        None | Some(b'0') => false,
        Some(b'1') => length == 15,
        Some(_) => true,
    };
    LENGTHS.contains(&length) && is_issued && passes_luhn(digits().map(|byte| byte & 0x0f), length)
}

/// Every second digit from the right but one counts twice, and the sum ends with 0.
fn passes_luhn(digits: impl Iterator<Item = u8>, length: usize) -> bool {
    let sum = digits.enumerate().fold(0_u32, |sum, (place, digit)| {
        let is_doubled = length.saturating_sub(place) % 2 == 0;
        let value = if is_doubled { u32::from(digit) * 2 } else { u32::from(digit) };
        sum.saturating_add(if value > 9 { value - 9 } else { value })
    });
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn card_numbers_are_found_however_they_are_written() {
        for text in [
            "4111111111111111",
            "4111 1111 1111 1111",
            "4111-1111-1111-1111",
            "4111 - 1111 - 1111 - 1111",
            "4111\u{a0}1111\u{2011}1111\u{2009}1111",
            "card 4111111111111111 cvv 123",
            "4111 1111 1111 1111 12 28 123",
            "12 4111 1111 1111 1111",
            "Visa-4111111111111111",
            "pan:4242424242424242;",
            "\"5555555555554444\"",
            "378282246310005",
            "3782 822463 10005",
            "exp 0128 3782 822463 10005 1234",
            "30569309025904",
            "4222222222222",
            "6304000000000000000",
            "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
            "4111111111111111 4111111111111111",
            "135410014004955",
            "order_4111111111111111",
            "4111111111111111_12_28",
            "A4111111111111111",
            "4111111111111111x",
            "card4111111111111111cvv123",
            "a1b2-4111111111111111",
            "4111111111111111-a1b2",
            "كارت4111111111111111",
        ] {
            assert!(holds_card_number(text), "{text}");
        }
    }

    #[test]
    fn what_is_no_card_number_is_left_alone() {
        for text in [
            "",
            "4111111111111112",
            "411111111111",
            "41111111111111111111",
            "order_4111111111111112",
            "4_1_1_1_1_1_1_1_1_1_1_1_1_1_1_1",
            "f4111111111111111e0b7a1",
            "abb27453857065646711",
            "61559178-4999-8922-cdef-b547ef4f758d",
            "550e8400-e29b-41d4-8123-446655440000",
            "a1b2-4111-1111-1111-1111",
            "4111-1111-1111-1111-a1b2",
            "0000000000000000",
            "1763476800003",
            "1763476800000005",
            "4111.1111.1111.1111",
            "+1 555 123 4567",
            "2026-11-18 2026-11-19",
            "Invoice 1,234,567,890,123.45",
            "٤١١١١١١١١١١١١١١١",
        ] {
            assert!(!holds_card_number(text), "{text}");
        }
    }
}
