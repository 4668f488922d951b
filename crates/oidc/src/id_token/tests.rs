use serde_json::json;

use super::*;
use crate::keys;

#[path = "../../tests/it/signer.rs"]
mod signer;
use signer::Signer;

const NOW: i64 = 1_800_000_000;
static ANY: Assurance = Assurance { contexts: Vec::new(), methods: Vec::new(), max_age: None };

fn expected() -> Expected<'static> {
    Expected {
        issuer: "https://id.example.com",
        client_id: "console",
        nonce: "a nonce",
        now: Timestamp::from_unix_millis(NOW * 1_000),
        assurance: &ANY,
    }
}

fn claims(change: &Value) -> Value {
    let mut claims = json!({
        "iss": "https://id.example.com", "sub": "ada", "aud": "console", "exp": NOW + 300, "iat": NOW,
        "nonce": "a nonce", "email": "ada@example.com", "email_verified": true,
    });
    for (name, value) in change.as_object().unwrap() {
        claims[name] = value.clone();
    }
    claims
}

fn published(signers: &[&Signer]) -> Vec<Key> {
    let keys: Vec<_> = signers.iter().map(|signer| signer.jwk()).collect();
    keys::read(json!({ "keys": keys }).to_string().as_bytes()).unwrap()
}

fn fault(token: &str, keys: &[Key]) -> Option<TokenFault> {
    verify(token, keys, expected()).err()
}

#[test]
fn a_second_factor_can_be_demanded() {
    let signer = Signer::ec("one");
    let keys = published(&[&signer]);
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let contexts = Assurance { contexts: words(&["phr", "phrh"]), ..Assurance::default() };
    let methods = Assurance { methods: words(&["mfa", "hwk"]), ..Assurance::default() };
    let recent = Assurance { max_age: Some(Duration::from_mins(10)), ..Assurance::default() };
    for (assurance, change, expected) in [
        (&contexts, json!({"acr": "phr"}), None),
        (&contexts, json!({"acr": "pwd"}), Some(TokenFault::Assurance)),
        (&contexts, json!({}), Some(TokenFault::Assurance)),
        (&methods, json!({"amr": ["pwd", "hwk"]}), None),
        (&methods, json!({"amr": ["pwd"]}), Some(TokenFault::Assurance)),
        (&methods, json!({}), Some(TokenFault::Assurance)),
        (&recent, json!({"auth_time": NOW - 600}), None),
        (&recent, json!({"auth_time": NOW - 661}), Some(TokenFault::Stale)),
        (&recent, json!({}), Some(TokenFault::Stale)),
    ] {
        let found =
            verify(&signer.token(&claims(&change)), &keys, Expected { assurance, ..self::expected() });
        assert_eq!(found.err(), expected, "{change}");
    }
}

#[test]
fn claims_must_be_meant_for_this_sign_in() {
    let signer = Signer::ec("one");
    let keys = published(&[&signer]);
    for (change, expected) in [
        (json!({}), None),
        (json!({"aud": ["console"]}), None),
        (json!({"aud": ["console", "other"], "azp": "console"}), None),
        (json!({"azp": "console"}), None),
        (json!({"exp": NOW - 59}), None),
        (json!({"iat": NOW + 60}), None),
        (json!({"iss": "https://other.example.com"}), Some(TokenFault::Issuer)),
        (json!({"iss": "https://id.example.com/"}), Some(TokenFault::Issuer)),
        (json!({"aud": "other"}), Some(TokenFault::Audience)),
        (json!({"aud": []}), Some(TokenFault::Audience)),
        (json!({"aud": ["console", "other"]}), Some(TokenFault::Audience)),
        (json!({"aud": ["console", "other"], "azp": "other"}), Some(TokenFault::Audience)),
        (json!({"azp": "other"}), Some(TokenFault::Audience)),
        (json!({"exp": NOW - 60}), Some(TokenFault::Expired)),
        (json!({"exp": "never"}), Some(TokenFault::Malformed)),
        (json!({"exp": null}), Some(TokenFault::Malformed)),
        (json!({"iat": NOW + 61}), Some(TokenFault::Early)),
        (json!({"nbf": NOW + 61}), Some(TokenFault::Early)),
        (json!({"nonce": "another nonce"}), Some(TokenFault::Nonce)),
        (json!({"nonce": null}), Some(TokenFault::Nonce)),
        (json!({"sub": ""}), Some(TokenFault::Malformed)),
    ] {
        assert_eq!(fault(&signer.token(&claims(&change)), &keys), expected, "{change}");
    }
}

#[test]
fn only_the_issuers_keys_count() {
    let (rsa, ec, other) = (Signer::rsa("rsa"), Signer::ec("ec"), Signer::ec("other"));
    let keys = published(&[&rsa, &ec]);
    let of = |signer: &Signer, header: Value| signer.token_with(&header, &claims(&json!({})));
    for (token, expected) in [
        (of(&rsa, json!({"alg": "RS256", "kid": "rsa"})), None),
        (of(&rsa, json!({"alg": "PS256", "kid": "rsa"})), None),
        (of(&ec, json!({"alg": "ES256", "kid": "ec"})), None),
        // Without an id, whichever fits.
        (of(&ec, json!({"alg": "ES256"})), None),
        (of(&other, json!({"alg": "ES256", "kid": "other"})), Some(TokenFault::UnknownKey)),
        (of(&other, json!({"alg": "ES256"})), Some(TokenFault::UnknownKey)),
        // Another key under the name of a known one.
        (of(&other, json!({"alg": "ES256", "kid": "ec"})), Some(TokenFault::Signature)),
        // A key of another kind than the signature.
        (of(&ec, json!({"alg": "ES256", "kid": "rsa"})), Some(TokenFault::UnknownKey)),
        (of(&ec, json!({"alg": "none", "kid": "ec"})), Some(TokenFault::Algorithm)),
        (of(&ec, json!({"alg": "HS256", "kid": "ec"})), Some(TokenFault::Algorithm)),
        (of(&ec, json!({"alg": "es256", "kid": "ec"})), Some(TokenFault::Algorithm)),
        (of(&ec, json!({"alg": "ES256", "kid": "ec", "crit": ["b64"]})), Some(TokenFault::Malformed)),
    ] {
        assert_eq!(fault(&token, &keys), expected, "{token}");
    }
}

#[test]
fn a_key_says_what_it_is_for() {
    let signer = Signer::rsa("rsa");
    let token = signer.token(&claims(&json!({})));
    for (name, value, expected) in [
        ("alg", "RS256", None),
        ("alg", "PS256", Some(TokenFault::UnknownKey)),
        ("use", "enc", Some(TokenFault::UnknownKey)),
        ("kty", "oct", Some(TokenFault::UnknownKey)),
    ] {
        let mut jwk = signer.jwk();
        jwk[name] = json!(value);
        // Keys of kinds that are not known here do not spoil the others.
        let document = json!({"keys": [{"kty": "OKP"}, 7, jwk]});
        let keys = keys::read(document.to_string().as_bytes()).unwrap();
        assert_eq!(fault(&token, &keys), expected, "{name} {value}");
    }
}

#[test]
fn what_is_altered_is_noticed() {
    let signer = Signer::ec("one");
    let keys = published(&[&signer]);
    let token = signer.token(&claims(&json!({})));
    assert_eq!(fault(&token, &keys), None);
    let (message, signature) = token.rsplit_once('.').unwrap();
    let (header, _) = message.split_once('.').unwrap();
    let forged = BASE64URL_NOPAD.encode(claims(&json!({"email": "eve@example.com"})).to_string().as_bytes());
    assert_eq!(fault(&format!("{header}.{forged}.{signature}"), &keys), Some(TokenFault::Signature));
    assert_eq!(fault(&format!("{message}."), &keys), Some(TokenFault::Signature));
    for broken in ["", ".", "..", "a.b.c", message] {
        assert!(fault(broken, &keys).is_some(), "{broken}");
    }
}
