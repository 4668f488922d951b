//! `amount_details[surcharge]` of payment intents, which is a public preview: what may be added to a card payment, and whether
//! the provider checks that.

use super::prelude::*;

/// The most that the provider lets be added in the account's country.
const MAX_PERCENT: i64 = 3;

const AMOUNT: &str = "amount_details[surcharge][amount]";
const ENFORCE: &str = "amount_details[surcharge][enforce_validation]";

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Surcharge {
    amount: Option<i64>,
    enforce: Option<String>,
}

impl Surcharge {
    /// What a call changes of it.
    pub(super) fn read(&mut self, params: &Params, total: i64) -> Answer<()> {
        if let Some(amount) = params.integer(AMOUNT)? {
            if !(0..=total).contains(&amount) {
                let message = "The surcharge must be at least 0 and at most the amount.";
                return Err(Error::invalid(message).code("parameter_invalid_integer").param(AMOUNT));
            }
            self.amount = Some(amount);
        }
        let Some(enforce) = params.word(ENFORCE, &["automatic", "enabled", "disabled"])? else {
            return Ok(());
        };
        match self.enforce.as_deref() {
            Some(fixed @ ("enabled" | "disabled")) if fixed != enforce => {
                let message = format!("enforce_validation is {fixed} and cannot be changed anymore.");
                Err(Error::invalid(message).param(ENFORCE))
            }
            _ => {
                self.enforce = Some(enforce);
                Ok(())
            }
        }
    }

    /// What a capture lowers of it.
    pub(super) fn lower(&mut self, params: &Params, total: i64) -> Answer<()> {
        let before = self.amount.unwrap_or_default();
        self.read(params, total)?;
        if self.amount.unwrap_or_default() > before {
            let message = format!("The surcharge can only be lowered at capture; it is {before}.");
            return Err(Error::invalid(message).param(AMOUNT));
        }
        Ok(())
    }

    /// Refuses what the method does not allow, where that is checked.
    pub(super) fn check(&self, total: i64, method: &Method) -> Answer<()> {
        let Some(amount) = self.amount.filter(|amount| *amount > 0) else { return Ok(()) };
        if self.enforce.as_deref() == Some("disabled") {
            return Ok(());
        }
        if !is_available(method) {
            let message = "A surcharge is not available for this payment method.";
            return Err(Error::invalid(message).param(AMOUNT));
        }
        let most = most(total, amount);
        if amount > most {
            let message = format!("The surcharge exceeds the maximum amount of {most}.");
            return Err(Error::invalid(message).param(AMOUNT));
        }
        Ok(())
    }

    /// As a version that has it shows it.
    pub(super) fn json(&self, total: i64, method: Option<&Method>) -> Value {
        let enforce = self.enforce.as_deref().unwrap_or("automatic");
        let shown = with_given(json!({ "enforce_validation": enforce }), [("amount", json!(self.amount))]);
        match method {
            Some(method) if is_available(method) => {
                let most = most(total, self.amount.unwrap_or_default());
                with(shown, [("maximum_amount", json!(most)), ("status", json!("available"))])
            }
            Some(_) => with(shown, [("status", json!("unavailable"))]),
            None => shown,
        }
    }
}

fn is_available(method: &Method) -> bool {
    method.kind() == "card" && method.card.funding == Funding::Credit
}

fn most(total: i64, surcharge: i64) -> i64 {
    (total - surcharge) * MAX_PERCENT / 100
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stripe::method_types::CARD;

    fn refusal(number: &str, body: &str) -> Option<String> {
        let method = Method {
            id: "pm_1".to_owned(),
            kind: CARD,
            card: Card::numbered(number),
            created: 0,
            address: Map::new(),
        };
        let mut surcharge = Surcharge::default();
        let read = surcharge.read(&Params::parse(body.as_bytes()), 12_875);
        let checked = read.and_then(|()| surcharge.check(12_875, &method));
        checked.err().map(|error| error.message().to_owned())
    }

    #[test]
    fn only_credit_cards_are_surcharged_and_not_too_much() {
        let (credit, debit) = ("4242424242424242", "4000056655665556");
        let (amount, enforce) =
            ("amount_details[surcharge][amount]", "amount_details[surcharge][enforce_validation]");
        assert_eq!(refusal(credit, &format!("{amount}=375&{enforce}=enabled")), None);
        assert!(refusal(credit, &format!("{amount}=376")).unwrap().contains("maximum amount of 374"));
        assert!(refusal(debit, &format!("{amount}=1")).unwrap().contains("not available"));
        assert_eq!(refusal(debit, &format!("{amount}=375&{enforce}=disabled")), None);
        assert_eq!(refusal(debit, &format!("{amount}=0")), None);
        assert!(refusal(credit, &format!("{amount}=12876")).is_some());
    }

    #[test]
    fn a_capture_lowers_it_and_never_raises_it() {
        let mut surcharge = Surcharge { amount: Some(375), enforce: None };
        let mut lower = |body: &str| {
            let lowered = surcharge.lower(&Params::parse(body.as_bytes()), 2_575);
            lowered.map(|()| surcharge.amount)
        };
        let amount = "amount_details[surcharge][amount]";
        assert_eq!(lower("").unwrap(), Some(375));
        assert_eq!(lower(&format!("{amount}=75")).unwrap(), Some(75));
        assert_eq!(lower(&format!("{amount}=0")).unwrap(), Some(0));
        assert!(lower(&format!("{amount}=1")).unwrap_err().message().contains("only be lowered"));
    }

    #[test]
    fn what_is_fixed_stays() {
        let enforce = "amount_details[surcharge][enforce_validation]";
        let mut surcharge = Surcharge::default();
        let mut read = |word: &str| surcharge.read(&Params::parse(format!("{enforce}={word}").as_bytes()), 1);
        assert!(read("automatic").is_ok() && read("enabled").is_ok() && read("enabled").is_ok());
        assert!(read("disabled").is_err());
    }
}
