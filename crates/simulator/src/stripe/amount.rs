//! Amounts the provider would take.

use super::error::StripeError;
use super::form::Params;

pub(super) fn money(params: &Params, amount: &str, currency: &str) -> Result<(i64, String), StripeError> {
    let value = params.integer(amount)?.ok_or_else(|| StripeError::missing(amount))?;
    let code = params.required(currency)?.to_ascii_lowercase();
    if code.len() != 3 || !code.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Err(StripeError::invalid(format!("Invalid currency: {code}.")).param(currency));
    }
    check_amount(value, &code, amount)?;
    Ok((value, code))
}

pub(super) fn check_amount(value: i64, currency: &str, param: &str) -> Result<(), StripeError> {
    let least = if currency == "usd" { 50 } else { 1 };
    if value < 1 {
        let message = "This value must be greater than or equal to 1.";
        return Err(StripeError::invalid(message).code("parameter_invalid_integer").param(param));
    }
    if value < least {
        let message = "Amount must be at least $0.50 usd";
        return Err(StripeError::invalid(message).code("amount_too_small").param(param));
    }
    check_step(value, currency, param)?;
    if value > 99_999_999 {
        let message = "Amount must be no more than 99999999";
        return Err(StripeError::invalid(message).code("amount_too_large").param(param));
    }
    Ok(())
}

/// Of three decimals the provider takes two.
pub(super) fn check_step(value: i64, currency: &str, param: &str) -> Result<(), StripeError> {
    if matches!(currency, "bhd" | "jod" | "kwd" | "omr" | "tnd") && value % 10 != 0 {
        let message = format!(
            "Invalid amount: {value}. In three-decimal currencies the last digit has to be 0. \
             See https://stripe.com/docs/currencies#three-decimal"
        );
        return Err(StripeError::invalid(message).param(param));
    }
    Ok(())
}
