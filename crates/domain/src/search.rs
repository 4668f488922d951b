//! What a payment is found by, besides its reference: short texts, kept in an index beside the payments.
//!
//! The same functions make the texts that are kept and those that are asked for, so that both always agree.

use std::collections::HashSet;

use crate::money::{Minor, Principal};

/// Longer texts are cut off, in characters: the index is for names and numbers, not for letters.
const LONGEST: usize = 120;
/// A payment has no more of them than this.
const MOST: usize = 48;
/// Words of a description that a payment is found by, and how long they are at least.
const MAX_WORDS: usize = 8;
const MIN_WORD_LENGTH: usize = 3;

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
    /// The request that made it.
    pub request: Option<&'a str>,
    /// The caller's description: found by its words.
    pub description: Option<&'a str>,
    /// The end of the bank account's number.
    pub last_four: Option<&'a str>,
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
        let words = self.description.unwrap_or_default().split(|letter: char| !letter.is_alphanumeric());
        let words = words.filter(|word| word.chars().count() >= MIN_WORD_LENGTH);
        terms.extend(words.take(MAX_WORDS).filter_map(text_term));
        // Last: where there are too many, it is these that go.
        for (key, value) in &self.metadata {
            terms.extend(metadata_term(key, value));
            terms.extend(text_term(value));
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
    plain(name).map(|name| format!("customer:{name}"))
}

/// By an entry of the metadata.
pub fn metadata_term(key: &str, value: &str) -> Option<String> {
    Some(format!("metadata:{}={}", plain(key)?, plain(value)?))
}

/// By a value of the metadata whatever its key, or a provider's name for it.
pub fn text_term(text: &str) -> Option<String> {
    plain(text).map(|text| format!("text:{text}"))
}

/// By the last four digits of the bank account's number.
pub fn last_four_term(digits: &str) -> Option<String> {
    let is_four = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_four.then(|| format!("last4:{digits}"))
}

/// In lower case, with single spaces, and not too long.
fn plain(text: &str) -> Option<String> {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    let plain: String = words.join(" ").chars().filter(|c| !c.is_control()).take(LONGEST).collect();
    (!plain.is_empty()).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            metadata: vec![("orderId", "A-17"), ("empty", " ")],
        };
        let terms = payment.terms();
        for asked in [
            Some(amount_term(Minor::from(Principal::new(10_350).unwrap()))),
            customer_term("ada lovelace"),
            customer_term("LOVELACE"),
            customer_term("ada@example.com"),
            metadata_term("orderid", "a-17"),
            text_term("a-17"),
            text_term("PI_123"),
            text_term("req_01"),
            text_term("order"),
            text_term("1044"),
            text_term("FAIR"),
            last_four_term("6789"),
        ] {
            assert!(terms.contains(&asked.clone().unwrap()), "{asked:?} in {terms:?}");
        }
        assert_eq!(terms.len(), 16, "{terms:?}");
        let keys: Vec<String> = (0..100).map(|number| format!("key {number}")).collect();
        let metadata = keys.iter().map(|key| (key.as_str(), "value")).collect();
        let terms = SearchFields { metadata, ..payment }.terms();
        assert!(terms.len() == MOST && terms.contains(&text_term("req_01").unwrap()), "{terms:?}");
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
