//! What a payment is found by, besides its reference: short texts, kept in an index beside the payments.
//!
//! The same functions make the texts that are kept and those that are asked for, so that both always agree.

use std::collections::HashSet;

use crate::{
    id::RequestId,
    money::{Minor, Principal},
};

/// Longer texts are cut off, in characters: the index is for names and numbers, not for letters.
const LONGEST: usize = 120;
/// A payment has no more of them than this.
const MOST: usize = 48;
/// Words of a description that a payment is found by.
const MAX_WORDS: usize = 8;
/// How many letters and digits a word of a longer text has at least that a payment is found by.
pub const MIN_WORD_LENGTH: usize = 3;
/// Between a value of the metadata and its key; no value has this character.
const BEFORE_KEY: char = '\u{1f}';
/// A payment's request began at most so many milliseconds before the payment got its ID, or after it where a clock was set back. Otherwise the
/// payment has a term for it.
const REQUEST_BEFORE: u64 = 10_000;
const REQUEST_AFTER: u64 = 1_000;

/// What a payment is found by.
#[derive(Debug, Clone, Default)]
pub struct SearchFields<'a> {
    /// What it pays.
    pub principal: Option<Principal>,
    /// What the customer is debited.
    pub total_debit: Option<Minor>,
    /// Names of the customer: their own, their address, the caller's name for them.
    pub customer: Vec<&'a str>,
    /// Names that providers have for it.
    pub provider_references: Vec<&'a str>,
    /// The request that made it, if that is not [found by its ID](made_by).
    pub request: Option<&'a str>,
    /// The caller's description: found by its words.
    pub description: Option<&'a str>,
    /// The end of the card's or the bank account's number.
    pub last_four: Option<&'a str>,
    /// The card's network, funding and country, by name: found like entries of the metadata.
    pub card: Vec<(&'a str, &'a str)>,
    /// The metadata's values that are texts, numbers or truths, by key.
    pub metadata: Vec<(&'a str, &'a str)>,
}

impl SearchFields<'_> {
    /// The texts it is found by, each once.
    pub fn terms(&self) -> Vec<String> {
        let mut terms = Vec::new();
        terms.extend(self.principal.map(|amount| amount_term(amount.into())));
        terms.extend(self.total_debit.map(amount_term));
        for name in &self.customer {
            terms.extend(customer_term(name));
            let words: Vec<&str> = name.split_whitespace().collect();
            if words.len() > 1 {
                terms.extend(words.into_iter().filter_map(customer_term));
            }
        }
        terms.extend(self.provider_references.iter().filter_map(|name| text_term(name)));
        terms.extend(self.request.and_then(text_term));
        terms.extend(self.last_four.and_then(last_four_term));
        terms.extend(self.card.iter().filter_map(|(name, value)| metadata_term(name, value)));
        let words = self.description.unwrap_or_default().split(|letter: char| !letter.is_alphanumeric());
        let words = words.filter(|word| word.chars().count() >= MIN_WORD_LENGTH);
        terms.extend(words.take(MAX_WORDS).filter_map(text_term));
        // Last: where there are too many, it is these that go.
        for (key, value) in &self.metadata {
            terms.extend(metadata_term(key, value));
        }
        for (key, value) in &self.metadata {
            let words = value.split_whitespace().filter(|word| word.chars().count() >= MIN_WORD_LENGTH);
            terms.extend(words.take(MAX_WORDS).filter_map(|word| metadata_term(key, word)));
        }
        let mut seen = HashSet::new();
        terms.retain(|term| seen.insert(term.clone()));
        terms.truncate(MOST);
        terms
    }
}

/// By what it pays or debits.
pub fn amount_term(amount: Minor) -> String {
    format!("amount:{amount}")
}

/// By a customer's name, a word of it, or address; `None` if there is nothing to find by.
pub fn customer_term(name: &str) -> Option<String> {
    normalized(name).map(|name| format!("customer:{name}"))
}

/// By an entry of the metadata. Begins with [`value_prefix`].
pub fn metadata_term(key: &str, value: &str) -> Option<String> {
    Some(value_prefix(value)? + &normalized(key)?)
}

/// What the terms of all metadata with this value begin with, whatever its key.
pub fn value_prefix(value: &str) -> Option<String> {
    normalized(value).map(|value| format!("text:{value}{BEFORE_KEY}"))
}

/// As earlier versions kept an entry of the metadata, beside a term for the value alone.
pub fn earlier_metadata_term(key: &str, value: &str) -> Option<String> {
    Some(format!("metadata:{}={}", normalized(key)?, normalized(value)?))
}

/// By a word of the description, or a provider's name for it.
pub fn text_term(text: &str) -> Option<String> {
    normalized(text).map(|text| format!("text:{text}"))
}

/// By the last four digits of a card's or a bank account's number.
pub fn last_four_term(digits: &str) -> Option<String> {
    let is_four = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_four.then(|| format!("last4:{digits}"))
}

/// The first and the last ID that a payment made by this request can have, if it was made soon. Both IDs begin with the time.
pub fn made_by(request: RequestId) -> ([u8; 16], [u8; 16]) {
    const RANDOM_BITS: u32 = 80;
    let bits = u128::from_be_bytes(request.to_bytes());
    let (earlier, later) =
        (u128::from(REQUEST_AFTER) << RANDOM_BITS, u128::from(REQUEST_BEFORE) << RANDOM_BITS);
    (bits.saturating_sub(earlier).to_be_bytes(), bits.saturating_add(later).to_be_bytes())
}

/// Whether a payment with this ID needs no term to be found by the request that made it.
pub fn is_made_soon(request: &str, id: [u8; 16]) -> bool {
    request.parse().is_ok_and(|request| {
        let (first, last) = made_by(request);
        (first..=last).contains(&id)
    })
}

/// In lower case, with single spaces, and not too long.
pub fn normalized(text: &str) -> Option<String> {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    let text: String = words.join(" ").chars().filter(|c| !c.is_control()).take(LONGEST).collect();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Timestamp, id::PaymentId};

    #[test]
    fn what_is_kept_is_what_is_asked_for() {
        let payment = SearchFields {
            principal: Principal::new(10_000),
            total_debit: Some(Minor::from(Principal::new(10_350).unwrap())),
            customer: vec!["Ada  Lovelace", "Ada@Example.com"],
            provider_references: vec!["pi_123"],
            request: Some("req_01"),
            description: Some("Order 1044, for Ada's fair"),
            last_four: Some("6789"),
            card: vec![("brand", "visa"), ("funding", "credit"), ("country", "US")],
            metadata: vec![("orderId", "A-17"), ("empty", " "), ("item", "Desk lamp")],
        };
        let terms = payment.terms();
        for asked in [
            Some(amount_term(Minor::from(Principal::new(10_350).unwrap()))),
            customer_term("ada lovelace"),
            customer_term("LOVELACE"),
            customer_term("ada@example.com"),
            metadata_term("orderid", "a-17"),
            metadata_term("item", "desk lamp"),
            metadata_term("item", "lamp"),
            text_term("PI_123"),
            text_term("req_01"),
            text_term("order"),
            text_term("1044"),
            text_term("FAIR"),
            last_four_term("6789"),
            metadata_term("funding", "Credit"),
            metadata_term("country", "us"),
        ] {
            assert!(terms.contains(&asked.clone().unwrap()), "{asked:?} in {terms:?}");
        }
        assert!(metadata_term("orderId", "A-17").unwrap().starts_with(&value_prefix("a-17").unwrap()));
        assert_eq!(terms.len(), 21, "{terms:?}");
        let keys: Vec<String> = (0..100).map(|number| format!("key {number}")).collect();
        let metadata = keys.iter().map(|key| (key.as_str(), "value")).collect();
        let terms = SearchFields { metadata, ..payment }.terms();
        assert!(terms.len() == MOST && terms.contains(&text_term("req_01").unwrap()), "{terms:?}");
    }

    #[test]
    fn a_payment_that_is_made_soon_is_found_by_its_request() {
        let request = RequestId::new(Timestamp::from_unix_millis(1_000_000), [7; 10]);
        let made = |millis| PaymentId::new(Timestamp::from_unix_millis(millis), [9; 10]).to_bytes();
        for (millis, is_soon) in
            [(998_000, false), (999_500, true), (1_000_000, true), (1_009_000, true), (1_011_000, false)]
        {
            assert_eq!(is_made_soon(&request.to_string(), made(millis)), is_soon, "{millis}");
        }
        assert!(!is_made_soon("a caller's own", made(1_000_000)));
        let first = RequestId::from_bytes([0; 16]);
        let last = RequestId::from_bytes([255; 16]);
        assert_eq!((made_by(first).0, made_by(last).1), ([0; 16], [255; 16]));
    }

    #[test]
    fn nothing_is_found_by_nothing() {
        assert_eq!(customer_term(" \t"), None);
        assert_eq!(metadata_term("", "x"), None);
        assert_eq!(text_term("\u{7}"), None);
        assert_eq!((last_four_term("678"), last_four_term("67a9")), (None, None));
        assert!(text_term(&"é".repeat(10_000)).unwrap().chars().count() <= LONGEST + 5);
    }
}
