//! What is asked before a refund: how much goes back, in amounts.

use serde_json::Value;

use super::{fields::Fields, money::major};
use crate::failure::Failure;

/// What an operator wants to refund of a payment, as the admin API shows it.
pub(crate) struct RefundQuestion<'a> {
    pub(crate) payment: &'a Value,
    pub(crate) reference: &'a str,
    /// In minor units; everything that is left if there is none.
    pub(crate) amount: Option<&'a str>,
    /// `proportional`, `full` or `none`; as the environment is configured if it is not given.
    pub(crate) fee: Option<&'a str>,
}

impl RefundQuestion<'_> {
    /// The question, or why there is nothing to ask.
    pub(crate) fn text(&self) -> Result<String, Failure> {
        let transaction = self.payment.field("transaction").filter(|transaction| !transaction.is_null());
        let Some(transaction) = transaction else {
            return Err(Failure::new(format!(
                "{} is {}: it has not been paid, so there is nothing to refund",
                self.reference,
                self.payment.text("status")
            )));
        };
        let currency = transaction.text("currency");
        let left = |field: &str| {
            let returned = self.payment.list("refunds").iter().filter(|refund| is_live(refund));
            let returned: i128 = returned.map(|refund| minor(refund, field)).sum();
            minor(transaction, field).saturating_sub(returned).max(0)
        };
        let (principal, fee) = (left("amountMinor"), left("feeMinor"));
        let shown = |amount: i128| major(&amount.to_string(), currency);
        let (what, whole) = match self.amount {
            Some(amount) => (format!("{} of the {} left", major(amount, currency), shown(principal)), false),
            None => (format!("{}, everything that is left", shown(principal)), true),
        };
        let with_fee = match (self.fee, fee) {
            (_, 0) => String::new(),
            (Some("none"), _) => ", without the fee,".to_owned(),
            (Some("full"), _) => format!(", with {} of fee,", shown(fee)),
            (Some("proportional"), _) if whole => format!(", with {} of fee,", shown(fee)),
            (Some("proportional"), _) => format!(", with the same share of {} of fee,", shown(fee)),
            _ => format!(", with up to {} of fee as the environment is configured,", shown(fee)),
        };
        Ok(format!("Refund {what}{with_fee} to the customer of {}? It cannot be taken back.", self.reference))
    }
}

/// Whether the money of a refund is on its way back, or there.
fn is_live(refund: &Value) -> bool {
    !matches!(refund.text("status"), "failed" | "canceled")
}

fn minor(value: &Value, field: &str) -> i128 {
    value.text(field).parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_question_says_what_goes_back() {
        let payment = json!({
            "status": "succeeded",
            "transaction": {"amountMinor": "12500", "feeMinor": "456", "currency": "USD"},
            "refunds": [
                {"status": "succeeded", "amountMinor": "2500", "feeMinor": "91"},
                {"status": "failed", "amountMinor": "10000", "feeMinor": "365"},
            ],
        });
        let asked = |amount, fee| {
            RefundQuestion { payment: &payment, reference: "pay_1", amount, fee }.text().unwrap()
        };
        let end = "to the customer of pay_1? It cannot be taken back.";
        for (amount, fee, question) in [
            (Some("500"), Some("none"), "Refund 5.00 USD of the 100.00 USD left, without the fee,"),
            (
                Some("500"),
                Some("proportional"),
                "Refund 5.00 USD of the 100.00 USD left, with the same share of 3.65 USD of fee,",
            ),
            (None, Some("full"), "Refund 100.00 USD, everything that is left, with 3.65 USD of fee,"),
            (
                None,
                None,
                "Refund 100.00 USD, everything that is left, with up to 3.65 USD of fee as the environment is configured,",
            ),
        ] {
            assert_eq!(asked(amount, fee), format!("{question} {end}"));
        }
        let unpaid = json!({"status": "expired", "transaction": null});
        let refused = RefundQuestion { payment: &unpaid, reference: "pay_2", amount: None, fee: None }.text();
        assert!(refused.unwrap_err().sentence().contains("pay_2 is expired: it has not been paid"));
    }
}
