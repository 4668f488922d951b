//! Keys of an issuer, and tokens signed with them.

use data_encoding::{BASE64, BASE64URL_NOPAD};
use ring::{
    rand::SystemRandom,
    rsa::PublicKeyComponents,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, RSA_PKCS1_SHA256, RSA_PSS_SHA256,
        RsaKeyPair,
    },
};
use serde_json::{Value, json};

/// A key of its own for tests; it opens nothing.
const RSA_KEY: &str = include_str!("rsa.base64");

pub(crate) struct Signer {
    pub(crate) id: String,
    pair: Pair,
}

enum Pair {
    Rsa(RsaKeyPair),
    Ec(EcdsaKeyPair),
}

impl Signer {
    pub(crate) fn rsa(id: &str) -> Self {
        let text: String = RSA_KEY.split_whitespace().collect();
        let pair = RsaKeyPair::from_der(&BASE64.decode(text.as_bytes()).unwrap()).unwrap();
        Self { id: id.to_owned(), pair: Pair::Rsa(pair) }
    }

    /// A new key.
    pub(crate) fn ec(id: &str) -> Self {
        let random = SystemRandom::new();
        let written = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, written.as_ref(), &random);
        Self { id: id.to_owned(), pair: Pair::Ec(pair.unwrap()) }
    }

    /// As an issuer publishes it.
    pub(crate) fn jwk(&self) -> Value {
        let text = |bytes: &[u8]| BASE64URL_NOPAD.encode(bytes);
        match &self.pair {
            Pair::Rsa(pair) => {
                let PublicKeyComponents { n, e } = PublicKeyComponents::<Vec<u8>>::from(pair.public());
                json!({"kty": "RSA", "kid": self.id, "use": "sig", "n": text(&n), "e": text(&e)})
            }
            Pair::Ec(pair) => {
                let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
                json!({"kty": "EC", "kid": self.id, "crv": "P-256", "x": text(x), "y": text(y)})
            }
        }
    }

    /// A token with the algorithm that goes with the key.
    pub(crate) fn token(&self, claims: &Value) -> String {
        let algorithm = if matches!(self.pair, Pair::Rsa(_)) { "RS256" } else { "ES256" };
        self.token_with(&json!({"alg": algorithm, "kid": self.id}), claims)
    }

    pub(crate) fn token_with(&self, header: &Value, claims: &Value) -> String {
        let part = |value: &Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
        let message = format!("{}.{}", part(header), part(claims));
        let random = SystemRandom::new();
        let signature = match &self.pair {
            Pair::Ec(pair) => pair.sign(&random, message.as_bytes()).unwrap().as_ref().to_vec(),
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                if header["alg"] == "PS256" {
                    pair.sign(&RSA_PSS_SHA256, &random, message.as_bytes(), &mut signature).unwrap();
                } else {
                    pair.sign(&RSA_PKCS1_SHA256, &random, message.as_bytes(), &mut signature).unwrap();
                }
                signature
            }
        };
        format!("{message}.{}", BASE64URL_NOPAD.encode(&signature))
    }
}
