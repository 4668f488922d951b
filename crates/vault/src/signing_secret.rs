//! Secrets that events are signed with, as the Standard Webhooks specification has them: `whsec_` and base64.

use std::fmt;

use data_encoding::BASE64;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::{
    random::{RandomnessUnavailable, random_bytes},
    secret::Secret,
};

const PREFIX: &str = "whsec_";
const LENGTH: usize = 32;
const SHORTEST: usize = 24;
const LONGEST: usize = 64;

/// What an endpoint's deliveries are signed with. It cannot be printed.
#[derive(Clone)]
pub struct SigningSecret {
    key: Zeroizing<Vec<u8>>,
}

/// The text is not a signing secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a signing secret is `{PREFIX}` and the base64 of {SHORTEST} to {LONGEST} bytes")]
pub struct NoSigningSecret;

impl SigningSecret {
    /// Makes a new one: 256 random bits.
    pub fn generate() -> Result<Self, RandomnessUnavailable> {
        Ok(Self { key: Zeroizing::new(random_bytes::<LENGTH>()?.to_vec()) })
    }

    /// The secret of this text.
    pub fn parse(text: &Secret) -> Result<Self, NoSigningSecret> {
        let encoded = text.expose().strip_prefix(PREFIX).ok_or(NoSigningSecret)?;
        let key = Zeroizing::new(BASE64.decode(encoded.as_bytes()).map_err(|_| NoSigningSecret)?);
        if !(SHORTEST..=LONGEST).contains(&key.len()) {
            return Err(NoSigningSecret);
        }
        Ok(Self { key })
    }

    /// Its text, to be shown once or sealed.
    pub fn expose(&self) -> Secret {
        Secret::new(format!("{PREFIX}{}", BASE64.encode(&self.key)))
    }

    /// The signature of a delivery made at this second: `v1,` and the base64 of an HMAC-SHA256.
    pub fn sign(&self, id: &str, unix_seconds: i64, body: &[u8]) -> String {
        // A key of any length will do, so this does not fail.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.key) else { return String::new() };
        mac.update(format!("{id}.{unix_seconds}.").as_bytes());
        mac.update(body);
        format!("v1,{}", BASE64.encode(&mac.finalize().into_bytes()))
    }
}

impl fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[signing secret]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<SigningSecret, NoSigningSecret> {
        SigningSecret::parse(&Secret::new(text))
    }

    #[test]
    fn the_specifications_own_example_is_signed_alike() {
        let secret = parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signature =
            secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, br#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn texts_go_round_and_others_are_refused() {
        let made = SigningSecret::generate().unwrap();
        let text = made.expose();
        assert_eq!(text.expose().len(), PREFIX.len() + 44);
        assert_eq!(parse(text.expose()).unwrap().sign("a", 1, b"b"), made.sign("a", 1, b"b"));
        let of_bytes = |count: usize| format!("{PREFIX}{}", BASE64.encode(&vec![7; count]));
        for (text, is_right) in [
            (of_bytes(23), false),
            (of_bytes(24), true),
            (of_bytes(64), true),
            (of_bytes(65), false),
            (of_bytes(32).replace(PREFIX, ""), false),
            (of_bytes(32).replace(PREFIX, "whsk_"), false),
            (of_bytes(32).replace('=', ""), false),
            (format!("{} ", of_bytes(32)), false),
            (String::new(), false),
        ] {
            assert_eq!(parse(&text).is_ok(), is_right, "{text}");
        }
    }

    #[test]
    fn nothing_prints_it() {
        let made = SigningSecret::generate().unwrap();
        assert_eq!(format!("{made:?} {:?}", made.expose()), "[signing secret] [secret]");
    }
}
