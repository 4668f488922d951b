//! Reading JSON bodies field by field, with the provider's own complaints.

use super::prelude::*;
use crate::fields::FieldError;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Amount {
    pub(crate) value: i64,
    pub(crate) currency: String,
}

/// What is to be paid.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Terms {
    pub(crate) amount: Amount,
    /// What the merchant calls it.
    pub(crate) reference: String,
    /// Whether the money is only held until it is captured.
    pub(super) is_manual: bool,
}

impl Terms {
    /// Of another amount, or as much.
    pub(super) fn of(&self, value: Option<i64>) -> Self {
        let value = value.unwrap_or(self.amount.value);
        Self { amount: Amount { value, ..self.amount.clone() }, ..self.clone() }
    }

    /// An object of the control interface, with what stands here.
    pub(crate) fn beside(&self, object: Value) -> Value {
        let Amount { value, currency } = &self.amount;
        merged(object, json!({ "amount": value, "currency": currency, "reference": self.reference }))
    }
}

pub(super) type Fields<'a> = crate::fields::Fields<'a, Error>;

impl FieldError for Error {
    fn unknown(field: &str) -> Self {
        Self::invalid(format!("Structure of the request contains the following unknown fields: [{field}]"))
    }

    fn missing(field: &str) -> Self {
        match field {
            "merchantAccount" => Self::of("901"),
            "amount" => Self::of("100"),
            "reference" => Self::of("130"),
            _ => Self::invalid(format!("Required field '{field}' is not provided.")),
        }
    }

    fn wrong(field: &str, wanted: &str) -> Self {
        Self::invalid(format!("Field '{field}' must be {wanted}."))
    }
}

impl Fields<'_> {
    pub(super) fn text(&self, field: &str) -> Answer<String> {
        Ok(self.string(field)?.unwrap_or_default().to_owned())
    }

    pub(super) fn amount(&self) -> Answer<Amount> {
        let wrong = |error: serde_json::Error| Error::invalid(format!("Field 'amount': {error}"));
        let amount: Amount = serde_json::from_value(self.raw("amount")).map_err(wrong)?;
        let is_code = amount.currency.bytes().all(|byte| byte.is_ascii_uppercase());
        match (amount.value, amount.currency.len()) {
            (..1, _) => Err(Error::of("137")),
            (_, 3) if is_code => Ok(amount),
            _ => Err(Error::of("138")),
        }
    }

    /// A call for money says itself when it is captured, or leaves that to the account's setting.
    pub(super) fn terms(&self, config: &Config) -> Answer<Terms> {
        let by_data = self.raw("additionalData").get("manualCapture").map(|manual| manual == "true");
        let usual = config.adyen.captures_manually && self.value("captureDelayHours").is_none();
        let is_manual = self.boolean("manualCapture")?.or(by_data).unwrap_or(usual);
        Ok(Terms { amount: self.amount()?, reference: self.text("reference")?, is_manual })
    }
}
