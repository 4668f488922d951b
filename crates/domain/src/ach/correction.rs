//! What a receiving bank asks to be corrected before the next transfer.

use std::fmt;

/// A notification of change. Nothing failed by it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Correction {
    /// What was wrong, in the provider's word: `incorrect_account_number`.
    pub code: Option<String>,
    pub routing_number: Option<String>,
    pub account_number: Option<CorrectedNumber>,
    /// What kind of account it is, in the provider's word.
    pub account_funding: Option<String>,
    /// The receiver's own id, without all but its last four characters.
    pub individual_id: Option<String>,
    /// When the bank said so, as RFC 3339.
    pub created_at: Option<String>,
}

/// An account's number, which is never printed: it is sealed before it is stored.
#[derive(Clone, PartialEq, Eq)]
pub struct CorrectedNumber(String);

impl CorrectedNumber {
    pub const fn new(number: String) -> Self {
        Self(number)
    }

    /// The whole number, for sealing.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Stars for all but the last four characters; for all of them where there are not more.
    pub fn masked(&self) -> String {
        let length = self.0.chars().count();
        let hidden = if length > 4 { length - 4 } else { length };
        let letters = self.0.chars().enumerate();
        letters.map(|(place, letter)| if place < hidden { '*' } else { letter }).collect()
    }
}

impl fmt::Debug for CorrectedNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.masked())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_prints_its_last_four_at_most() {
        for (number, shown) in
            [("000123456789", "********6789"), ("12345", "*2345"), ("1234", "****"), ("", "")]
        {
            let number = CorrectedNumber::new(number.to_owned());
            assert_eq!((number.masked().as_str(), format!("{number:?}").as_str()), (shown, shown));
        }
    }
}
