//! Card numbers in texts, against a second, naive check.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "a test stops where something is not as it must be"
)]

use proptest::{prelude::*, strategy::ValueTree as _};
use tollgate_domain::{card_number::holds_card_number, id::PaymentId};

/// The Luhn check as its definition has it, from the right.
fn passes_luhn(digits: &[u32]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| if place % 2 == 0 { *digit } else { digit * 2 / 10 + digit * 2 % 10 })
        .sum();
    sum.is_multiple_of(10)
}

/// A number that some scheme could issue, with its check digit.
fn card_number() -> impl Strategy<Value = String> {
    (2..=9_u32, proptest::collection::vec(0..10_u32, 11..=17)).prop_map(|(first, rest)| {
        let mut digits: Vec<u32> = std::iter::once(first).chain(rest).chain([0]).collect();
        let check = (0..10).find(|check| {
            *digits.last_mut().unwrap() = *check;
            passes_luhn(&digits)
        });
        *digits.last_mut().unwrap() = check.unwrap();
        digits.iter().map(ToString::to_string).collect()
    })
}

fn grouped(number: &str, separator: &str) -> String {
    let groups: Vec<_> =
        number.as_bytes().chunks(4).map(|group| std::str::from_utf8(group).unwrap()).collect();
    groups.join(separator)
}

proptest! {
    #[test]
    fn a_card_number_is_found_within_any_words(
        number in card_number(),
        before in "([A-Za-z]{1,8}[ :,.]{1,3})?",
        behind in "([ ;,.!]{1,3}[A-Za-z]{1,8})?",
        separator in "[ -]?",
    ) {
        let text = format!("{before}{}{behind}", grouped(&number, &separator));
        prop_assert!(holds_card_number(&text), "{text}");
    }

    #[test]
    fn another_check_digit_is_no_card_number(number in card_number(), off in 1..10_u32, separator in "[ -]?") {
        let (rest, last) = number.split_at(number.len() - 1);
        let wrong = format!("{rest}{}", (last.parse::<u32>().unwrap() + off) % 10);
        // In groups, a part of it may be one of its own.
        let is_whole = separator.is_empty();
        prop_assume!(is_whole || wrong.len() <= 16);
        let is_found = holds_card_number(&grouped(&wrong, &separator));
        prop_assert!(!is_found, "{wrong}");
    }

    #[test]
    fn letters_that_touch_it_hide_no_card_number(
        number in card_number(),
        before in "([A-Za-z_]{0,7}[g-z])?",
        behind in "([g-z_][A-Za-z_]{0,7})?",
    ) {
        let text = format!("{before}{number}{behind}");
        prop_assert!(holds_card_number(&text), "{text}");
    }

    #[test]
    fn no_text_stops_it(text in "\\PC*") {
        holds_card_number(&text);
    }

    #[test]
    fn rows_of_digits_are_searched_in_bounded_time(text in "[0-9 -]{0,16384}") {
        holds_card_number(&text);
    }
}

/// IDs as systems make them, ours among them: random ones, with digits by chance.
#[test]
fn random_ids_are_no_card_numbers() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut refused = Vec::new();
    for _ in 0..200_000 {
        let random = any::<u128>().new_tree(&mut runner).unwrap().current();
        let hex = format!("{random:032x}");
        let uuid = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| hex.get(range).unwrap()).join("-");
        let payment = PaymentId::from_bytes(random.to_be_bytes()).to_string();
        let [upper, urn] = [payment.to_uppercase(), format!("urn:uuid:{uuid}")];
        let shorter = [16, 20, 24].map(|length| hex.get(..length).unwrap().to_owned());
        let shorter =
            shorter.into_iter().filter(|id| id.contains(|letter: char| letter.is_ascii_alphabetic()));
        for id in [hex.clone(), uuid, payment, upper, urn].into_iter().chain(shorter) {
            if holds_card_number(&id) {
                refused.push(id);
            }
        }
    }
    assert_eq!(refused, Vec::<String>::new());
}
