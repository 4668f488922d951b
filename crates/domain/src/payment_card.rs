//! What a provider says of the card that a payment was tried with.

/// A card, as far as its provider describes it. Nothing here lets anybody pay.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PaymentCard {
    /// `visa`, `mastercard`, `amex`, `discover`, `diners`, `jcb`, `unionpay`, or another in lower case.
    pub brand: Option<String>,
    pub last_four: Option<String>,
    /// `credit`, `debit` or `prepaid`.
    pub funding: Option<String>,
    /// The country of the bank that issued it, as ISO 3166 writes it.
    pub country: Option<String>,
    pub expiry_month: Option<u8>,
    pub expiry_year: Option<u16>,
    /// How its holder was authenticated, in the provider's word; `None` where that was not tried.
    pub three_d_secure: Option<String>,
    pub checks: CardChecks,
}

/// What the card's bank said of what the customer typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CardChecks {
    pub address: Option<CheckResult>,
    pub postal_code: Option<CheckResult>,
    pub cvc: Option<CheckResult>,
}

/// The result of one check. One that did not apply has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckResult {
    Pass,
    Fail,
    /// The bank does not check it.
    Unavailable,
    /// It has not been checked.
    Unchecked,
}

impl CheckResult {
    pub const ALL: [Self; 4] = [Self::Pass, Self::Fail, Self::Unavailable, Self::Unchecked];

    /// The name in the API and in the stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Unavailable => "unavailable",
            Self::Unchecked => "unchecked",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|result| result.as_str() == text)
    }
}
