//! Webhook signatures: an HMAC over raw bytes, compared in constant time.

use data_encoding::BASE64;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::{Choice, ConstantTimeEq as _};

/// A header's value by its name in lower case. A header sent twice is no header: nobody can say which one counts.
pub(crate) fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let mut named = headers.iter().filter(|(known, _)| known == name);
    match (named.next(), named.next()) {
        (Some((_, value)), None) => Some(value),
        _ => None,
    }
}

/// Whether a request comes with basic authentication of this user and password.
pub(crate) fn is_from(headers: &[(String, String)], user: &str, password: &str) -> bool {
    let expected = BASE64.encode(format!("{user}:{password}").as_bytes());
    let given = header(headers, "authorization").and_then(|value| value.strip_prefix("Basic "));
    given.is_some_and(|given| given.as_bytes().ct_eq(expected.as_bytes()).into())
}

/// Whether one of the given signatures is the HMAC-SHA256 of the parts one after the other. How long it takes does not
/// tell which one, or how nearly.
pub(crate) fn any_signs(given: &[Vec<u8>], key: &[u8], parts: &[&[u8]]) -> bool {
    // A key of any length will do, so this does not fail.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return false };
    for part in parts {
        mac.update(part);
    }
    let expected = mac.finalize().into_bytes();
    given.iter().fold(Choice::from(0), |found, one| found | expected.as_slice().ct_eq(one)).into()
}
