//! What is known of a payment besides its amount: the card, the places, whether it repeats.

use std::{
    fmt,
    hash::{Hash, Hasher},
};

/// A card network, as providers report it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Brand {
    Visa,
    Mastercard,
    Amex,
    Discover,
    Diners,
    Jcb,
    Unionpay,
    CartesBancaires,
    EftposAustralia,
    Interac,
    /// A network that the provider does not name, or that is not in this list.
    Unknown,
}

impl Brand {
    pub const ALL: [Self; 11] = [
        Self::Visa,
        Self::Mastercard,
        Self::Amex,
        Self::Discover,
        Self::Diners,
        Self::Jcb,
        Self::Unionpay,
        Self::CartesBancaires,
        Self::EftposAustralia,
        Self::Interac,
        Self::Unknown,
    ];

    /// The name in the API and in the stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Visa => "visa",
            Self::Mastercard => "mastercard",
            Self::Amex => "amex",
            Self::Discover => "discover",
            Self::Diners => "diners",
            Self::Jcb => "jcb",
            Self::Unionpay => "unionpay",
            Self::CartesBancaires => "cartes_bancaires",
            Self::EftposAustralia => "eftpos_au",
            Self::Interac => "interac",
            Self::Unknown => "unknown",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|brand| brand.as_str() == text)
    }

    /// The name as it is printed on cards.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Visa => "Visa",
            Self::Mastercard => "Mastercard",
            Self::Amex => "American Express",
            Self::Discover => "Discover",
            Self::Diners => "Diners Club",
            Self::Jcb => "JCB",
            Self::Unionpay => "UnionPay",
            Self::CartesBancaires => "Cartes Bancaires",
            Self::EftposAustralia => "eftpos",
            Self::Interac => "Interac",
            Self::Unknown => "an unknown network",
        }
    }
}

/// Whose money a card spends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Funding {
    Credit,
    Debit,
    Prepaid,
    /// The provider does not say.
    Unknown,
}

impl Funding {
    pub const ALL: [Self; 4] = [Self::Credit, Self::Debit, Self::Prepaid, Self::Unknown];

    /// The name in the API and in the stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Credit => "credit",
            Self::Debit => "debit",
            Self::Prepaid => "prepaid",
            Self::Unknown => "unknown",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|funding| funding.as_str() == text)
    }
}

/// A card, as far as a fee depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CardFacts {
    pub brand: Brand,
    pub funding: Funding,
    /// The country of its issuer.
    pub country: Option<Country>,
    /// Whether it was issued to a business; `None` if nobody says.
    pub commercial: Option<bool>,
}

/// What the payer pays with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Instrument {
    /// Nothing was entered yet, or nobody has told us.
    #[default]
    Unknown,
    /// A card of which the network alone is known.
    Brand(Brand),
    Card(CardFacts),
    /// Another method of the same provider: a bank debit, a voucher.
    NotCard,
}

impl Instrument {
    /// The card, where it is one and known.
    pub const fn card(&self) -> Option<&CardFacts> {
        match self {
            Self::Card(card) => Some(card),
            Self::Unknown | Self::Brand(_) | Self::NotCard => None,
        }
    }

    /// Whether more is still to be learned of it.
    pub const fn is_open(&self) -> bool {
        matches!(self, Self::Unknown | Self::Brand(_))
    }
}

/// A country by its two letters (ISO 3166-1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Country([u8; 2]);

/// As one number: every card fee is looked up by its places.
impl Hash for Country {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u16(u16::from_le_bytes(self.0));
    }
}

impl Country {
    /// Reads two ASCII letters of either case.
    pub fn parse(text: &str) -> Option<Self> {
        let letters: [u8; 2] = text.as_bytes().try_into().ok()?;
        letters
            .iter()
            .all(u8::is_ascii_alphabetic)
            .then(|| Self(letters.map(|letter| letter.to_ascii_uppercase())))
    }

    /// The letters, in capitals.
    pub fn as_str(&self) -> &str {
        // Only ASCII letters get past `parse`.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A state or province by the one to three characters behind its country's (ISO 3166-2), padded with zeros.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct State([u8; 3]);

/// As one number, like its country.
impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let [first, second, third] = self.0;
        hasher.write_u32(u32::from_le_bytes([first, second, third, 0]));
    }
}

impl State {
    /// Reads one to three ASCII letters or digits, letters of either case.
    pub fn parse(text: &str) -> Option<Self> {
        let mut code = [0; 3];
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return None;
        }
        code.get_mut(..text.len())?.copy_from_slice(text.to_ascii_uppercase().as_bytes());
        Some(Self(code))
    }

    /// The characters, in capitals.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default().trim_end_matches('\0')
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A country and, where it is known, the state or province.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub country: Country,
    pub state: Option<State>,
}

impl Place {
    /// Reads what [`Display`](fmt::Display) writes: `US-GA`, `JP`.
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once('-') {
            None => Some(Self { country: Country::parse(text)?, state: None }),
            Some((country, state)) => {
                Some(Self { country: Country::parse(country)?, state: Some(State::parse(state)?) })
            }
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.state {
            None => self.country.fmt(f),
            Some(state) => write!(f, "{}-{state}", self.country),
        }
    }
}

/// What a caller says of a payment that decides its card fee. The default is a payment of which nothing is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PaymentFacts {
    pub instrument: Instrument,
    /// Where the payer is.
    pub payer: Option<Place>,
    /// Whether it is one of a series: a subscription, installments.
    pub recurring: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_they_are_written() {
        for (text, written) in [
            ("US-GA", Some("US-GA")),
            ("us-ga", Some("US-GA")),
            ("JP", Some("JP")),
            ("GB-ENG", Some("GB-ENG")),
        ] {
            assert_eq!(Place::parse(text).map(|place| place.to_string()).as_deref(), written);
        }
        for text in ["", "U", "USA", "US-", "US-GEOR", "U1", "US-G\u{e4}", "-GA"] {
            assert_eq!(Place::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        assert!(Brand::ALL.into_iter().all(|brand| Brand::parse(brand.as_str()) == Some(brand)));
        assert!(Funding::ALL.into_iter().all(|funding| Funding::parse(funding.as_str()) == Some(funding)));
    }
}
