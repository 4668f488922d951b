//! Checking an ID token: who signed it, for whom, when and in answer to what.

use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use subtle::ConstantTimeEq as _;
use tollgate_domain::Timestamp;

use crate::{
    Assurance,
    keys::{Algorithm, Key},
};

/// How far the issuer's clock may be from ours.
const CLOCK_SKEW: Duration = Duration::from_mins(1);
/// The longest subject the standard allows.
const MAX_SUBJECT: usize = 255;

/// What is wrong with a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenFault {
    #[error("it cannot be read")]
    Malformed,
    #[error("its signature is not RS256, PS256 or ES256")]
    Algorithm,
    #[error("it is signed with a key that the issuer does not publish")]
    UnknownKey,
    #[error("its signature is wrong")]
    Signature,
    #[error("it is from another issuer")]
    Issuer,
    #[error("it is for another client")]
    Audience,
    #[error("it has expired, or this server's clock is wrong")]
    Expired,
    #[error("it is not valid yet, or this server's clock is wrong")]
    Early,
    #[error("it belongs to another sign-in")]
    Nonce,
    #[error("it is about somebody else than the issuer's user info")]
    Subject,
    #[error("its `acr` or `amr` does not say that they signed in as these settings demand")]
    Assurance,
    #[error("it does not say that they signed in recently (`auth_time`)")]
    Stale,
}

/// What a token has to say.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected<'a> {
    pub(crate) issuer: &'a str,
    pub(crate) client_id: &'a str,
    pub(crate) nonce: &'a str,
    pub(crate) now: Timestamp,
    pub(crate) assurance: &'a Assurance,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    /// Extensions that must be understood; none is.
    crit: Option<Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

#[derive(Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    aud: Audience,
    azp: Option<String>,
    exp: i64,
    iat: i64,
    nbf: Option<i64>,
    nonce: Option<String>,
    acr: Option<String>,
    amr: Option<Vec<String>>,
    auth_time: Option<i64>,
    #[serde(flatten)]
    email: EmailClaims,
}

/// What is said of an email address, in a token or in the user info.
#[derive(Debug, Deserialize)]
pub(crate) struct EmailClaims {
    pub(crate) email: Option<String>,
    /// Only the value `true` is believed.
    pub(crate) email_verified: Option<Value>,
}

/// A token that was checked.
#[derive(Debug)]
pub(crate) struct Verified {
    pub(crate) subject: String,
    pub(crate) email: EmailClaims,
}

/// Checks a token from end to end.
pub(crate) fn verify(token: &str, keys: &[Key], expected: Expected<'_>) -> Result<Verified, TokenFault> {
    let (message, signature) = token.rsplit_once('.').ok_or(TokenFault::Malformed)?;
    let (header, claims) = message.split_once('.').ok_or(TokenFault::Malformed)?;
    let header: Header = part(header)?;
    let algorithm = Algorithm::parse(&header.alg).ok_or(TokenFault::Algorithm)?;
    if header.crit.is_some() {
        return Err(TokenFault::Malformed);
    }
    let signature = BASE64URL_NOPAD.decode(signature.as_bytes()).map_err(|_| TokenFault::Malformed)?;
    let is_meant = |key: &&Key| header.kid.is_none() || key.id == header.kid;
    let mut candidates = keys.iter().filter(|key| key.is_for(algorithm)).filter(is_meant).peekable();
    if candidates.peek().is_none() {
        return Err(TokenFault::UnknownKey);
    }
    if !candidates.any(|key| key.has_signed(algorithm, message.as_bytes(), &signature)) {
        // Without an id, the key may be one that was published since.
        return Err(if header.kid.is_none() { TokenFault::UnknownKey } else { TokenFault::Signature });
    }
    check(part(claims)?, expected)
}

fn part<T: DeserializeOwned>(encoded: &str) -> Result<T, TokenFault> {
    let bytes = BASE64URL_NOPAD.decode(encoded.as_bytes()).map_err(|_| TokenFault::Malformed)?;
    serde_json::from_slice(&bytes).map_err(|_| TokenFault::Malformed)
}

fn check(claims: Claims, expected: Expected<'_>) -> Result<Verified, TokenFault> {
    if claims.iss != expected.issuer {
        return Err(TokenFault::Issuer);
    }
    let is_own = |name: &String| name == expected.client_id;
    let is_for_us = match &claims.aud {
        Audience::One(name) => is_own(name),
        // Made for several, it must say which of them asked for it.
        Audience::Several(names) => names.iter().any(is_own) && (names.len() == 1 || claims.azp.is_some()),
    };
    if !is_for_us || !claims.azp.as_ref().is_none_or(is_own) {
        return Err(TokenFault::Audience);
    }
    let moment = |seconds: i64| Timestamp::from_unix_millis(seconds.saturating_mul(1_000));
    if expected.now >= moment(claims.exp).saturating_add(CLOCK_SKEW) {
        return Err(TokenFault::Expired);
    }
    let begins = claims.iat.max(claims.nbf.unwrap_or(claims.iat));
    if expected.now.saturating_add(CLOCK_SKEW) < moment(begins) {
        return Err(TokenFault::Early);
    }
    let nonce = claims.nonce.unwrap_or_default();
    if !bool::from(nonce.as_bytes().ct_eq(expected.nonce.as_bytes())) {
        return Err(TokenFault::Nonce);
    }
    if claims.sub.is_empty() || claims.sub.len() > MAX_SUBJECT {
        return Err(TokenFault::Malformed);
    }
    let Assurance { contexts, methods, max_age } = expected.assurance;
    let is_assured = contexts.is_empty() || claims.acr.is_some_and(|acr| contexts.contains(&acr));
    let used = claims.amr.unwrap_or_default();
    if !is_assured || !(methods.is_empty() || used.iter().any(|method| methods.contains(method))) {
        return Err(TokenFault::Assurance);
    }
    if let Some(max_age) = max_age {
        let until = claims.auth_time.map(|at| moment(at).saturating_add(*max_age).saturating_add(CLOCK_SKEW));
        if until.is_none_or(|until| expected.now > until) {
            return Err(TokenFault::Stale);
        }
    }
    Ok(Verified { subject: claims.sub, email: claims.email })
}

#[cfg(test)]
mod tests;
