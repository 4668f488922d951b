//! Amounts the provider would take: <https://docs.stripe.com/currencies#minimum-and-maximum-charge-amounts>.

use super::error::StripeError;
use super::form::Params;

/// The least that can be charged, in minor units.
const LEAST: [(&str, i64); 24] = [
    ("aed", 200),
    ("aud", 50),
    ("bgn", 100),
    ("brl", 50),
    ("cad", 50),
    ("chf", 50),
    ("czk", 1_500),
    ("dkk", 250),
    ("eur", 50),
    ("gbp", 30),
    ("hkd", 400),
    ("huf", 17_500),
    ("inr", 50),
    ("jpy", 50),
    ("mxn", 1_000),
    ("myr", 200),
    ("nok", 300),
    ("nzd", 50),
    ("pln", 200),
    ("ron", 200),
    ("sek", 300),
    ("sgd", 50),
    ("thb", 1_000),
    ("usd", 50),
];

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
    let least = LEAST.iter().find(|(code, _)| *code == currency).map_or(1, |(_, least)| *least);
    if value < 1 {
        let message = "This value must be greater than or equal to 1.";
        return Err(StripeError::invalid(message).code("parameter_invalid_integer").param(param));
    }
    if value < least {
        return Err(too_small(least, currency, param));
    }
    check_step(value, currency, param)?;
    if value > 99_999_999 {
        let message = "Amount must be no more than 99999999";
        return Err(StripeError::invalid(message).code("amount_too_large").param(param));
    }
    Ok(())
}

pub(super) fn too_small(least: i64, currency: &str, param: &str) -> StripeError {
    let message = format!("Amount must be at least {}", shown(least, currency));
    StripeError::invalid(message).code("amount_too_small").param(param)
}

pub(super) fn too_large(most: i64, currency: &str, param: &str) -> StripeError {
    let message = format!("Amount must be no more than {}", shown(most, currency));
    StripeError::invalid(message).code("amount_too_large").param(param)
}

fn shown(amount: i64, currency: &str) -> String {
    match currency {
        "jpy" => format!("¥{amount} jpy"),
        "usd" => format!("${}.{:02} usd", amount / 100, amount % 100),
        _ => format!("{}.{:02} {currency}", amount / 100, amount % 100),
    }
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
