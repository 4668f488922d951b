//! The issuer's public keys, and signatures made with their other halves.

use data_encoding::BASE64URL_NOPAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use serde::Deserialize;
use serde_json::Value;

/// More than any issuer publishes at once.
const MAX_KEYS: usize = 100;

/// How a token may be signed. Signatures with a shared secret, or none, prove nothing about the issuer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Rs256,
    Ps256,
    Es256,
}

impl Algorithm {
    const ALL: [Self; 3] = [Self::Rs256, Self::Ps256, Self::Es256];

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Ps256 => "PS256",
            Self::Es256 => "ES256",
        }
    }
}

#[derive(Deserialize)]
struct KeySet {
    keys: Vec<Value>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    r#use: Option<String>,
    alg: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

/// A public key.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) id: Option<String>,
    /// The only algorithm it is for, if it says so.
    algorithm: Option<String>,
    material: Material,
}

#[derive(Debug)]
enum Material {
    Rsa {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
    /// The uncompressed point.
    P256(Vec<u8>),
}

/// The keys of a document that can check a signature; others are of no use here.
pub(crate) fn read(bytes: &[u8]) -> Option<Vec<Key>> {
    let set: KeySet = serde_json::from_slice(bytes).ok()?;
    let keys = set.keys.into_iter().filter_map(|key| Key::from(serde_json::from_value(key).ok()?));
    Some(keys.take(MAX_KEYS).collect())
}

impl Key {
    fn from(jwk: Jwk) -> Option<Self> {
        if jwk.r#use.is_some_and(|usage| usage != "sig") {
            return None;
        }
        let material = match (jwk.kty.as_str(), jwk.crv.as_deref()) {
            ("RSA", _) => Material::Rsa { modulus: number(&jwk.n?)?, exponent: number(&jwk.e?)? },
            ("EC", Some("P-256")) => {
                let (x, y) = (bytes(&jwk.x?)?, bytes(&jwk.y?)?);
                Material::P256([&[4], x.as_slice(), y.as_slice()].concat())
            }
            _ => return None,
        };
        Some(Self { id: jwk.kid, algorithm: jwk.alg, material })
    }

    /// Whether it checks signatures of this kind.
    pub(crate) fn is_for(&self, algorithm: Algorithm) -> bool {
        let fits = match self.material {
            Material::Rsa { .. } => matches!(algorithm, Algorithm::Rs256 | Algorithm::Ps256),
            Material::P256(_) => algorithm == Algorithm::Es256,
        };
        fits && self.algorithm.as_ref().is_none_or(|only| only == algorithm.name())
    }

    /// Whether its other half signed this.
    pub(crate) fn has_signed(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        let checked = match (&self.material, algorithm) {
            (Material::Rsa { modulus, exponent }, Algorithm::Rs256) => {
                RsaPublicKeyComponents { n: modulus, e: exponent }.verify(
                    &RSA_PKCS1_2048_8192_SHA256,
                    message,
                    signature,
                )
            }
            (Material::Rsa { modulus, exponent }, Algorithm::Ps256) => {
                RsaPublicKeyComponents { n: modulus, e: exponent }.verify(
                    &RSA_PSS_2048_8192_SHA256,
                    message,
                    signature,
                )
            }
            (Material::P256(point), Algorithm::Es256) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            (Material::Rsa { .. }, Algorithm::Es256)
            | (Material::P256(_), Algorithm::Rs256 | Algorithm::Ps256) => return false,
        };
        checked.is_ok()
    }
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    BASE64URL_NOPAD.decode(text.as_bytes()).ok()
}

/// A number's bytes without zeros in front, which some issuers write.
fn number(text: &str) -> Option<Vec<u8>> {
    Some(bytes(text)?.into_iter().skip_while(|byte| *byte == 0).collect())
}
