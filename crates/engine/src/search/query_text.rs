//! What a text that somebody typed may mean.

use tollgate_domain::{
    Currency, Minor, PaymentMethod, ServiceReference,
    id::{PaymentId, TransferId},
    search::{amount_term, customer_term, earlier_metadata_term, last_four_term, metadata_term, text_term},
};

/// Digits of an id behind its prefix.
const ID_DIGITS: usize = 26;
/// Fewer letters begin too much to be of help.
const MIN_PREFIX: usize = 3;

/// An amount as people write it, and the currency if they said which.
#[derive(Debug, PartialEq, Eq)]
struct Amount<'a> {
    number: &'a str,
    currency: Option<Currency>,
}

/// `1044.44 USD`, `USD 1044.44`, `$1,044.44`, `€ 5` or only a number. A symbol that several currencies share says nothing.
fn amount(text: &str) -> Amount<'_> {
    let text = text.trim().trim_start_matches(['$', '€', '£', '¥']).trim_start();
    let code = |code: &str| {
        let is_code = code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_alphabetic());
        Currency::parse(&code.to_ascii_uppercase()).filter(|_| is_code)
    };
    if let Some((number, last)) = text.rsplit_once(' ')
        && let Some(currency) = code(last)
    {
        return Amount { number: number.trim(), currency: Some(currency) };
    }
    if let Some((first, number)) = text.split_once(' ')
        && let Some(currency) = code(first)
    {
        return Amount { number: number.trim(), currency: Some(currency) };
    }
    Amount { number: text, currency: None }
}

/// The currency that a text names beside an amount.
pub(super) fn currency(text: &str) -> Option<Currency> {
    amount(text).currency.filter(|_| !amounts(text).is_empty())
}

/// The amounts in minor units that a text may mean. In a currency there is one; a number alone may be minor units, or whole
/// ones with two or three places.
fn amounts(text: &str) -> Vec<Minor> {
    let Amount { number, currency } = amount(text);
    let digits: String = number.chars().filter(|c| *c != ',').collect();
    let (whole, part) = digits.split_once('.').unwrap_or((&digits, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(part) || digits.len() > 19 {
        return Vec::new();
    }
    let scaled = |places: usize| {
        if part.len() > places {
            return None;
        }
        let text = format!("{whole}{part:0<places$}");
        text.parse().ok().and_then(Minor::new)
    };
    if let Some(currency) = currency {
        return scaled(usize::from(currency.exponent())).into_iter().collect();
    }
    let as_it_is = if part.is_empty() { scaled(0) } else { None };
    as_it_is.into_iter().chain(scaled(2)).chain(scaled(3).filter(|_| part.len() == 3)).collect()
}

/// The terms of the index that a text may be.
pub(super) fn terms(text: &str) -> Vec<String> {
    let text = text.trim();
    let mut terms: Vec<String> = amounts(text).into_iter().map(amount_term).collect();
    terms.extend(last_four_term(text));
    if let Some((key, value)) = text.split_once('=') {
        terms.extend([metadata_term(key, value), earlier_metadata_term(key, value)].into_iter().flatten());
    }
    terms.extend(customer_term(text));
    terms.extend(text_term(text));
    terms
}

/// What terms may begin with, of which the text is only a part.
pub(super) fn prefixes(text: &str) -> Vec<String> {
    let text = text.trim();
    if text.chars().count() < MIN_PREFIX {
        return Vec::new();
    }
    [customer_term(text), text_term(text)].into_iter().flatten().collect()
}

/// The references that begin like a text: from one to another.
pub(super) fn references(text: &str) -> Option<(ServiceReference, ServiceReference)> {
    let text = text.trim().to_ascii_lowercase();
    let (kind, digits) = text.split_once('_')?;
    let is_part = (MIN_PREFIX..ID_DIGITS).contains(&digits.len());
    let method = match kind {
        PaymentId::PREFIX => PaymentMethod::WebCard,
        TransferId::PREFIX => PaymentMethod::Ach,
        _ => return None,
    };
    let filled = |digit: &str| {
        let rest = digit.repeat(ID_DIGITS.saturating_sub(digits.len()));
        format!("{kind}_{digits}{rest}").parse::<ServiceReference>().ok()
    };
    let (first, last) = (filled("0")?, filled("z")?);
    (is_part && first.method() == method).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_may_mean_minor_units_or_whole_ones() {
        let meant = |text: &str| amounts(text).into_iter().map(Minor::get).collect::<Vec<_>>();
        assert_eq!(meant("105"), [105, 10_500]);
        assert_eq!(meant("105.5"), [10_550]);
        assert_eq!(meant("1,105.50"), [110_550]);
        assert_eq!(meant("1.234"), [1_234]);
        assert!(meant("1.2345").is_empty());
        for text in ["", "abc", "-5", "1.2.3", "1e5", "99999999999999999999", "USD", "12 apples"] {
            assert!(meant(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn an_amount_with_its_currency_means_one_thing() {
        for (text, minor, code) in [
            ("1044.44 USD", 104_444, Some("USD")),
            ("1,044.44 usd", 104_444, Some("USD")),
            ("USD 1044", 104_400, Some("USD")),
            ("500 JPY", 500, Some("JPY")),
            ("$1,044.44", 104_444, None),
            ("€ 10.44", 1_044, None),
        ] {
            assert_eq!(amounts(text).first().map(|minor| minor.get()), Some(minor), "{text}");
            assert_eq!(currency(text), code.and_then(Currency::parse), "{text}");
            assert!(code.is_none() || amounts(text).len() == 1, "{text}");
        }
        assert_eq!(currency("Ada USD"), None);
    }

    #[test]
    fn a_text_is_looked_for_in_every_way_it_may_be_meant() {
        assert_eq!(terms(" Ada@Example.com "), ["customer:ada@example.com", "text:ada@example.com"]);
        let entry = terms("orderId=A-17");
        assert!(entry.contains(&"text:a-17\u{1f}orderid".to_owned()), "{entry:?}");
        assert!(entry.contains(&"metadata:orderid=a-17".to_owned()), "{entry:?}");
        assert!(terms("17").contains(&"amount:1700".to_owned()));
        assert!(terms("6789").contains(&"last4:6789".to_owned()));
        assert!(terms("  ").is_empty());
        assert_eq!(prefixes("ada@ex"), ["customer:ada@ex", "text:ada@ex"]);
        assert!(prefixes("ad").is_empty());
    }

    #[test]
    fn a_part_of_a_reference_is_a_range_of_them() {
        let whole = ServiceReference::Card(PaymentId::from_bytes([3; 16]));
        let text = whole.to_string();
        let (first, last) = references(text.get(..14).unwrap()).unwrap();
        assert!(first <= whole && whole <= last);
        assert!(references(&text).is_none(), "the whole is found by itself");
        for text in ["pay_", "pay_01", "ord_0123", "pay_01!x", "pay", ""] {
            assert_eq!(references(text), None, "{text}");
        }
    }
}
