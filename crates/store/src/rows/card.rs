//! The card a payment was tried with, as JSON.

use serde::{Deserialize, Serialize};
use tollgate_domain::payment_card::{CardChecks, CheckResult, PaymentCard};

use crate::prelude::*;

/// A card; what is not known of it is left out.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredCard {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    brand: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last4: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    funding: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    country: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expiry_month: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expiry_year: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    three_d_secure: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    address_check: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    postal_code_check: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cvc_check: Option<String>,
}

impl StoredCard {
    /// Leaves only what fees and statistics are about.
    pub(crate) fn erase(&mut self) {
        let (brand, funding, country) = (self.brand.take(), self.funding.take(), self.country.take());
        *self = Self { brand, funding, country, ..Self::of(&PaymentCard::default()) };
    }

    pub(crate) fn of(card: &PaymentCard) -> Self {
        let check = |result: Option<CheckResult>| result.map(|result| result.as_str().to_owned());
        Self {
            brand: card.brand.clone(),
            last4: card.last_four.clone(),
            funding: card.funding.clone(),
            country: card.country.clone(),
            expiry_month: card.expiry_month,
            expiry_year: card.expiry_year,
            three_d_secure: card.three_d_secure.clone(),
            address_check: check(card.checks.address),
            postal_code_check: check(card.checks.postal_code),
            cvc_check: check(card.checks.cvc),
        }
    }

    pub(crate) fn read(self) -> Result<PaymentCard, CorruptRow> {
        let result = |text: String| CheckResult::parse(&text).ok_or(CorruptRow("check of a card"));
        let check = |text: Option<String>| text.map(result).transpose();
        Ok(PaymentCard {
            brand: self.brand,
            last_four: self.last4,
            funding: self.funding,
            country: self.country,
            expiry_month: self.expiry_month,
            expiry_year: self.expiry_year,
            three_d_secure: self.three_d_secure,
            checks: CardChecks {
                address: check(self.address_check)?,
                postal_code: check(self.postal_code_check)?,
                cvc: check(self.cvc_check)?,
            },
        })
    }
}

#[expect(clippy::borrowed_box, reason = "a transaction has its card in a box")]
fn write(card: &Box<PaymentCard>) -> String {
    // Texts and numbers under fixed names always make JSON.
    serde_json::to_string(&StoredCard::of(card)).unwrap_or_default()
}

pub(crate) fn read(stored: &str) -> Result<Box<PaymentCard>, CorruptRow> {
    let stored: StoredCard = serde_json::from_str(stored).map_err(|_| CorruptRow("card"))?;
    stored.read().map(Box::new)
}

/// What is left of a stored card once it is erased.
pub(crate) fn erased(stored: &str) -> Result<String, CorruptRow> {
    let mut stored: StoredCard = serde_json::from_str(stored).map_err(|_| CorruptRow("card"))?;
    stored.erase();
    Ok(serde_json::to_string(&stored).unwrap_or_default())
}

/// True if erasing it takes something out of a stored card.
pub(crate) fn has_personal_data(stored: &str) -> Result<bool, CorruptRow> {
    Ok(erased(stored)? != stored)
}

texts! { Box<PaymentCard>: write, read; }
