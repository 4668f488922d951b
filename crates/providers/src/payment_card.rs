//! What providers say of cards, read as words common to all of them.

use tollgate_domain::payment_card::PaymentCard;

use crate::text::is_id;

/// The longest word that is kept of a card.
const LONGEST: usize = 40;

/// A provider's word in lower case. What says that it is not known, or is no word at all, is none.
pub(crate) fn word(text: Option<&str>) -> Option<String> {
    let word = text?.to_ascii_lowercase();
    (is_id(&word) && word.len() <= LONGEST && !word.starts_with("unknown")).then_some(word)
}

/// The end of a card's number.
pub(crate) fn last_four(text: Option<&str>) -> Option<String> {
    let digits = text?;
    let is_end = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_end.then(|| digits.to_owned())
}

/// A country's two letters.
pub(crate) fn country(text: Option<&str>) -> Option<String> {
    let code = text?.to_ascii_uppercase();
    (code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_uppercase())).then_some(code)
}

/// A month and a year, as far as they can be ones.
pub(crate) fn expiry(month: Option<i64>, year: Option<i64>) -> (Option<u8>, Option<u16>) {
    let month = month.and_then(|month| u8::try_from(month).ok()).filter(|month| (1..=12).contains(month));
    (month, year.and_then(|year| u16::try_from(year).ok()))
}

/// `None` where nothing at all is known of a card.
pub(crate) fn known(card: PaymentCard) -> Option<Box<PaymentCard>> {
    (card != PaymentCard::default()).then(|| Box::new(card))
}
