//! The rules of request fields, each in one place. A request's faults are collected and answered all at once.

use std::{borrow::Cow, ops::RangeInclusive};

use serde_json::value::RawValue;
use tollgate_configuration::EnvironmentSettings;
use tollgate_domain::{Currency, PaymentMethod, Principal, Timestamp, card_number::holds_card_number};
use tollgate_vault::contains_secret_key;

use crate::{
    json::text::JsonText,
    request::unknown_fields,
    response::{
        error::{ApiError, Detail},
        error_code::ErrorCode,
    },
};

/// A field of a request body: absent, null, or a value not yet looked at.
pub(crate) type Raw<'a> = Option<&'a RawValue>;

const AMOUNT_RULE: &str = "must be an integer of minor units from 1 to 1000000000000000000, as digits without sign, decimal point or leading zeros";

const RETURN_URL_RULE: &str =
    "must be an https URL (http only on loopback) of at most 2000 characters, without a user name";
/// Of a text that must not be kept, nor sent on.
pub(crate) const SECRET_KEY_RULE: &str =
    "contains one of this service's secret keys; remove it and rotate the key";
/// Of a text that must never be stored, nor repeated.
const CARD_NUMBER_RULE: &str = "contains a card number, which must not be sent here; remove it";
const MAX_EMAIL_LENGTH: usize = 254;
const MAX_URL_LENGTH: usize = 2_000;

/// Collects what is wrong with a request.
#[derive(Debug, Default)]
pub(crate) struct FieldErrors {
    details: Vec<Detail>,
    has_card_number: bool,
}

impl FieldErrors {
    /// Notes a fault; the `None` stands in for the value that could not be read.
    pub(crate) fn add<T>(&mut self, field: &'static str, message: impl Into<Cow<'static, str>>) -> Option<T> {
        self.details.push(Detail { field: field.into(), message: message.into() });
        None
    }

    /// Notes that a field holds a card number, which is said by a code of its own.
    pub(crate) fn add_card_number<T>(&mut self, field: &'static str) -> Option<T> {
        self.has_card_number = true;
        self.add(field, CARD_NUMBER_RULE)
    }

    /// The error to answer, once every field has been looked at.
    pub(crate) fn into_error(self) -> ApiError {
        ApiError::invalid(self.details)
            .coded(|code| if self.has_card_number { ErrorCode::CardDataNotAllowed } else { code })
    }

    /// Puts the faults in the order of these fields; those of other fields come last.
    pub(crate) fn sort(&mut self, fields: &[&str]) {
        let place = |fault: &Detail| fields.iter().position(|field| *field == fault.field);
        self.details.sort_by_key(|fault| place(fault).unwrap_or(fields.len()));
    }

    pub(crate) fn count(&self) -> usize {
        self.details.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.details.is_empty()
    }
}

/// Every value was read, or the faults say why not.
pub(crate) fn complete<T>(mut errors: FieldErrors, value: Option<T>) -> Result<T, ApiError> {
    errors.details.extend(unknown_fields::refused().into_iter().flatten());
    match value {
        Some(value) if errors.is_empty() => Ok(value),
        _ => Err(errors.into_error()),
    }
}

/// `amountMinor`: a JSON integer or a string of digits; exact beyond 2^53.
pub(crate) fn amount(field: &'static str, raw: Raw<'_>, errors: &mut FieldErrors) -> Option<Principal> {
    let Some(raw) = raw else { return errors.add(field, "is required") };
    let read = match JsonText::of(raw) {
        JsonText::String(digits) => Principal::parse(&digits),
        JsonText::Number(digits) => Principal::parse(digits),
        _ => None,
    };
    read.or_else(|| errors.add(field, AMOUNT_RULE))
}

/// `currency`: three letters, active, and USD for ACH.
pub(crate) fn currency(
    raw: Raw<'_>,
    method: Option<PaymentMethod>,
    errors: &mut FieldErrors,
) -> Option<Currency> {
    const FIELD: &str = "currency";
    let Some(raw) = raw else { return errors.add(FIELD, "is required") };
    let read = match JsonText::of(raw) {
        JsonText::String(code) => Currency::parse(&code),
        _ => None,
    };
    match read {
        None => errors.add(FIELD, "must be an active three-letter ISO 4217 code, such as USD"),
        Some(currency) if method == Some(PaymentMethod::Ach) && currency != Currency::USD => {
            errors.add(FIELD, "must be USD for ach")
        }
        read => read,
    }
}

/// One of a few words; `default` where the field is left out.
pub(crate) fn word<T>(
    field: &'static str,
    raw: Raw<'_>,
    default: T,
    parse: impl FnOnce(&str) -> Option<T>,
    known: &'static str,
    errors: &mut FieldErrors,
) -> Option<T> {
    let Some(raw) = raw else { return Some(default) };
    let read = match JsonText::of(raw) {
        JsonText::String(text) => parse(&text),
        _ => None,
    };
    read.or_else(|| errors.add(field, format!("must be one of: {known}")))
}

/// A required text of 1 to `most` characters that is not only white space and holds no control characters, which
/// some databases do not take and no list shows.
pub(crate) fn required_text(
    field: &'static str,
    raw: Raw<'_>,
    most: usize,
    errors: &mut FieldErrors,
) -> Option<String> {
    let text = required_id(field, raw, most, errors)?;
    if holds_card_number(&text) { errors.add_card_number(field) } else { Some(text) }
}

/// The same for an ID of the caller's own, which may be a number of any length.
pub(crate) fn required_id(
    field: &'static str,
    raw: Raw<'_>,
    most: usize,
    errors: &mut FieldErrors,
) -> Option<String> {
    let Some(raw) = raw else { return errors.add(field, "is required") };
    let is_right = |text: &str| {
        !text.trim().is_empty() && text.chars().count() <= most && !text.chars().any(char::is_control)
    };
    match JsonText::of(raw) {
        JsonText::String(text) if contains_secret_key(&text) => errors.add(field, SECRET_KEY_RULE),
        JsonText::String(text) if is_right(&text) => Some(text.into_owned()),
        _ => errors
            .add(field, format!("must be a string of 1 to {most} characters without control characters")),
    }
}

/// An optional text, `None` also where it is faulty: of at most `most` characters. Line breaks and tabs are text, other control characters are not.
pub(crate) fn optional_text(
    field: &'static str,
    raw: Raw<'_>,
    most: usize,
    errors: &mut FieldErrors,
) -> Option<String> {
    let raw = raw?;
    let is_strange = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\r' | '\t');
    match JsonText::of(raw) {
        JsonText::String(text) if contains_secret_key(&text) => errors.add(field, SECRET_KEY_RULE),
        JsonText::String(text) if holds_card_number(&text) => errors.add_card_number(field),
        JsonText::String(text) if text.chars().count() <= most && !text.contains(is_strange) => {
            Some(text.into_owned()).filter(|text| !text.is_empty())
        }
        _ => errors
            .add(field, format!("must be a string of at most {most} characters without control characters")),
    }
}

/// A required text of digits only, of a length within bounds. What is wrong is said without repeating it.
pub(crate) fn digits(
    field: &'static str,
    raw: Raw<'_>,
    length: RangeInclusive<usize>,
    errors: &mut FieldErrors,
) -> Option<String> {
    let Some(raw) = raw else { return errors.add(field, "is required") };
    let is_right =
        |text: &str| length.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    match JsonText::of(raw) {
        JsonText::String(text) if is_right(&text) => Some(text.into_owned()),
        _ if length.start() == length.end() => {
            errors.add(field, format!("must be a string of exactly {} digits", length.start()))
        }
        _ => {
            let (least, most) = length.into_inner();
            errors.add(field, format!("must be a string of {least} to {most} digits"))
        }
    }
}

/// An optional e-mail address: the address alone, without a display name.
pub(crate) fn email(field: &'static str, raw: Raw<'_>, errors: &mut FieldErrors) -> Option<String> {
    let raw = raw?;
    let plain = email_address::Options::default().without_display_text();
    let is_address = |text: &str| {
        text.len() <= MAX_EMAIL_LENGTH && email_address::EmailAddress::parse_with_options(text, plain).is_ok()
    };
    match JsonText::of(raw) {
        JsonText::String(text) if is_address(&text) => Some(text.into_owned()),
        _ => errors.add(
            field,
            format!(
                "must be an email address of at most {MAX_EMAIL_LENGTH} characters, without a display name"
            ),
        ),
    }
}

/// An optional address to send a customer back to: `https`, or `http` on this machine.
pub(crate) fn return_url(
    field: &'static str,
    raw: Raw<'_>,
    settings: &EnvironmentSettings,
    errors: &mut FieldErrors,
) -> Option<String> {
    let raw = raw?;
    let JsonText::String(text) = JsonText::of(raw) else { return errors.add(field, RETURN_URL_RULE) };
    let Some(origin) = return_origin(&text) else { return errors.add(field, RETURN_URL_RULE) };
    if contains_secret_key(&text) {
        return errors.add(field, SECRET_KEY_RULE);
    }
    if !settings.allows_return_to(&origin) {
        return errors.add(field, "is not allowed by this environment's returnOrigins setting");
    }
    Some(text.into_owned())
}

/// The origin of an address customers may be sent to.
fn return_origin(text: &str) -> Option<String> {
    if text.len() > MAX_URL_LENGTH || !text.chars().all(|letter| letter.is_ascii_graphic()) {
        return None;
    }
    let uri: http::Uri = text.parse().ok()?;
    let (scheme, authority) = (uri.scheme_str()?, uri.authority()?);
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let loopback = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    let is_right = scheme == "https" || (scheme == "http" && loopback);
    // A user name before the host is a way to make one address look like another.
    (is_right && !host.is_empty() && !authority.as_str().contains('@'))
        .then(|| format!("{scheme}://{authority}"))
}

pub(crate) fn moment(field: &'static str, raw: Raw<'_>, errors: &mut FieldErrors) -> Option<Timestamp> {
    let read = match raw.map(JsonText::of) {
        Some(JsonText::String(text)) => text.parse::<jiff::Timestamp>().ok(),
        _ => None,
    };
    let read = read.map(|moment| Timestamp::from_unix_millis(moment.as_millisecond()));
    read.or_else(|| errors.add(field, "must be an RFC 3339 timestamp, such as 2026-11-15T02:27:16.000Z"))
}

/// A whole number within bounds; `default` where the field is left out.
pub(crate) fn whole_number(
    field: &'static str,
    raw: Raw<'_>,
    default: u64,
    most: u64,
    errors: &mut FieldErrors,
) -> Option<u64> {
    let Some(raw) = raw else { return Some(default) };
    let read = match JsonText::of(raw) {
        JsonText::Number(digits) => digits.parse().ok().filter(|number| *number <= most),
        _ => None,
    };
    read.or_else(|| errors.add(field, format!("must be an integer from 0 to {most}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T>(
        json: &str,
        reader: impl FnOnce(Raw<'_>, &mut FieldErrors) -> Option<T>,
    ) -> Result<T, Vec<Detail>> {
        let raw: &RawValue = serde_json::from_str(json).unwrap();
        let mut errors = FieldErrors::default();
        reader(Some(raw), &mut errors).ok_or(errors.details)
    }

    #[test]
    fn customers_are_sent_only_where_that_is_safe() {
        for (url, origin) in [
            ("https://shop.example/thanks?order=1#top", Some("https://shop.example")),
            ("https://shop.example:8443/", Some("https://shop.example:8443")),
            ("http://127.0.0.1:3000/back", Some("http://127.0.0.1:3000")),
            ("http://[::1]:3000/back", Some("http://[::1]:3000")),
            ("http://localhost/back", Some("http://localhost")),
            ("https://shop.example/{CHECKOUT_SESSION_ID}", Some("https://shop.example")),
            ("http://shop.example/", None),
            ("https://user@shop.example/", None),
            ("javascript:alert(1)", None),
            ("//shop.example/", None),
            ("https://", None),
            ("https://shop.example/a b", None),
            ("", None),
        ] {
            assert_eq!(return_origin(url).as_deref(), origin, "{url}");
        }
    }

    #[test]
    fn an_e_mail_address_stands_alone() {
        for (address, is_right) in [
            ("ada@example.com", true),
            ("ada+orders@mail.example.co.uk", true),
            ("Ada <ada@example.com>", false),
            ("<ada@example.com>", false),
            (r#"\"Ada\" <ada@example.com>"#, false),
            ("ada@example.com, bob@example.com", false),
            ("ada", false),
        ] {
            let json = format!("\"{address}\"");
            assert_eq!(read(&json, |raw, errors| email("email", raw, errors)).is_ok(), is_right, "{address}");
        }
    }

    #[test]
    fn amounts_are_exact_in_both_forms() {
        for json in ["9007199254740993", "\"9007199254740993\"", "\"900719925474099\\u0033\""] {
            let amount = read(json, |raw, errors| amount("amountMinor", raw, errors)).unwrap();
            assert_eq!(amount.minor(), 9_007_199_254_740_993);
        }
        for json in [
            "0",
            "-1",
            "1.0",
            "1e2",
            "\"\"",
            "\"1.0\"",
            "\" 1\"",
            "\"01\"",
            "true",
            "[1]",
            "{}",
            "10000000000000000000000",
        ] {
            assert!(read(json, |raw, errors| amount("amountMinor", raw, errors)).is_err(), "{json}");
        }
    }
}
