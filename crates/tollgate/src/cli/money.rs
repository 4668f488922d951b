//! Amounts as people write them. Minor units inside, never a float.

use clap::Args;
use tollgate_domain::Currency;

use crate::failure::Failure;

/// `129.56 USD` of `12956`; a sign is kept. What is not a number is shown as it is.
pub(crate) fn major(minor: &str, currency: &str) -> String {
    format!("{} {currency}", digits(minor, currency))
}

/// The same without the currency.
pub(crate) fn digits(minor: &str, currency: &str) -> String {
    let (sign, number) = minor.strip_prefix('-').map_or(("", minor), |rest| ("-", rest));
    let exponent = Currency::parse(currency).map_or(2, |currency| usize::from(currency.exponent()));
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return minor.to_owned();
    }
    if exponent == 0 {
        return format!("{sign}{number}");
    }
    let padded = format!("{number:0>width$}", width = exponent + 1);
    let (whole, part) = padded.split_at_checked(padded.len() - exponent).unwrap_or((&padded, ""));
    format!("{sign}{whole}.{part}")
}

/// An amount and its currency on the command line.
#[derive(Debug, Clone, Args)]
pub(crate) struct Amount {
    /// The amount, such as 125.00; with --minor in minor units, such as 12500.
    #[arg(value_name = "AMOUNT")]
    number: String,
    /// Three letters, such as USD.
    #[arg(value_name = "CURRENCY")]
    currency: String,
    /// AMOUNT is in minor units.
    #[arg(long)]
    minor: bool,
}

impl Amount {
    pub(crate) fn currency(&self) -> Result<Currency, Failure> {
        currency(&self.currency)
    }

    /// The amount in minor units.
    pub(crate) fn minor(&self) -> Result<String, Failure> {
        if self.minor {
            return whole(&self.number);
        }
        to_minor(&self.number, self.currency()?)
    }
}

pub(crate) fn currency(text: &str) -> Result<Currency, Failure> {
    Currency::parse(text).ok_or_else(|| {
        Failure::new(format!("`{text}` is not a currency; use a three-letter ISO 4217 code, such as USD"))
    })
}

/// Minor units of an amount that may have a decimal point and no more digits behind it than its currency has.
pub(crate) fn to_minor(text: &str, currency: Currency) -> Result<String, Failure> {
    let exponent = usize::from(currency.exponent());
    let (whole_part, part) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let dotted_well = !text.contains('.') || !part.is_empty();
    if whole_part.is_empty()
        || !is_number(whole_part)
        || !is_number(part)
        || !dotted_well
        || part.len() > exponent
    {
        let example = digits("12500", currency.code());
        return Err(Failure::new(format!(
            "`{text}` is not an amount in {currency}; use the form {example}, or pass minor units with --minor"
        )));
    }
    whole(&format!("{whole_part}{part:0<exponent$}"))
}

fn whole(text: &str) -> Result<String, Failure> {
    let number = text.trim_start_matches('0');
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Failure::new(format!("`{text}` is not an amount above zero")));
    }
    Ok(number.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minor_units_are_written_as_their_currency_is() {
        for (minor, currency, shown) in [
            ("12956", "USD", "129.56 USD"),
            ("5", "USD", "0.05 USD"),
            ("-5", "USD", "-0.05 USD"),
            ("0", "USD", "0.00 USD"),
            ("12956", "JPY", "12956 JPY"),
            ("12956", "KWD", "12.956 KWD"),
            ("1000000000000000000", "USD", "10000000000000000.00 USD"),
            ("", "USD", " USD"),
        ] {
            assert_eq!(major(minor, currency), shown);
        }
    }

    #[test]
    fn what_is_shown_is_read_back() {
        for (shown, currency, minor) in [
            ("129.56", "USD", "12956"),
            ("129.5", "USD", "12950"),
            ("129", "USD", "12900"),
            ("0.05", "USD", "5"),
            ("12956", "JPY", "12956"),
            ("12.956", "KWD", "12956"),
        ] {
            assert_eq!(to_minor(shown, Currency::parse(currency).unwrap()).unwrap(), minor);
        }
        for wrong in ["", ".", "1.", ".5", "1.234", "-1", "1e3", "1,00", " 1", "0", "0.00", "1.5.5"] {
            assert!(to_minor(wrong, Currency::USD).is_err(), "{wrong}");
        }
        assert!(to_minor("1.5", Currency::parse("JPY").unwrap()).is_err());
    }
}
