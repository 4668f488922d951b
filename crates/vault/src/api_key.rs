//! API keys: `sk_<environment>_…` and `pk_<environment>_…`.

use tollgate_domain::tenant::{EnvironmentName, KeyKind};

use crate::{checksum, digest::Digest, random::RandomnessUnavailable, secret::Secret};

/// A key just made: the only moment its text exists here.
#[derive(Debug, Clone)]
pub struct IssuedKey {
    /// The whole key, to be shown once.
    pub key: Secret,
    /// What is kept of it.
    pub digest: Digest,
    /// Its last four characters.
    pub last_four: String,
}

impl IssuedKey {
    /// Makes a key of an environment.
    pub fn generate(kind: KeyKind, environment: &EnvironmentName) -> Result<Self, RandomnessUnavailable> {
        let text = checksum::generate(&format!("{}_{environment}_", kind.prefix()))?;
        let last_four = text.chars().skip(text.len().saturating_sub(4)).collect();
        Ok(Self { digest: Digest::of(&text), last_four, key: Secret::new(text) })
    }
}

/// Why a text cannot be a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ApiKeyError {
    /// It has not the shape of a key.
    #[error("the credential does not look like an API key")]
    Malformed,
    /// It has the shape, but the checksum tells of a typo or a cut.
    #[error("the API key's checksum does not match: it was mistyped or cut off")]
    Mistyped,
}

/// What a text claims to be by its shape; says nothing about whether such a key exists.
pub fn shape_of_key(text: &str) -> Result<KeyKind, ApiKeyError> {
    let kind = KeyKind::ALL
        .into_iter()
        .find(|kind| text.strip_prefix(kind.prefix()).is_some_and(|rest| rest.starts_with('_')))
        .ok_or(ApiKeyError::Malformed)?;
    let mut parts = text.splitn(3, '_').skip(1);
    let (Some(environment), Some(tail)) = (parts.next(), parts.next()) else {
        return Err(ApiKeyError::Malformed);
    };
    if !EnvironmentName::is_valid(environment) || !tail.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(ApiKeyError::Malformed);
    }
    if tail.len() != checksum::TAIL_LENGTH || !checksum::verify(text) {
        return Err(ApiKeyError::Mistyped);
    }
    Ok(kind)
}

/// Whether a text holds one of this service's secret keys, anywhere in it.
pub fn contains_secret_key(text: &str) -> bool {
    let marker = "sk_";
    // Most texts are a few letters long: a plain walk beats a prepared search.
    let starts =
        text.as_bytes().windows(marker.len()).enumerate().filter(|(_, window)| *window == marker.as_bytes());
    starts.map(|(start, _)| start).any(|start| {
        let Some((_, candidate)) = text.split_at_checked(start) else { return false };
        let environment = candidate.split('_').nth(1).unwrap_or_default();
        let length = marker.len() + environment.len() + 1 + checksum::TAIL_LENGTH;
        candidate.split_at_checked(length).is_some_and(|(key, _)| shape_of_key(key).is_ok())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issue(kind: KeyKind) -> IssuedKey {
        IssuedKey::generate(kind, &EnvironmentName::parse("test").unwrap()).unwrap()
    }

    #[test]
    fn an_issued_key_is_read_back() {
        for kind in KeyKind::ALL {
            let issued = issue(kind);
            let text = issued.key.expose();
            assert!(text.starts_with(&format!("{}_test_", kind.prefix())), "{text}");
            assert!(text.ends_with(&issued.last_four));
            assert_eq!(shape_of_key(text), Ok(kind));
            assert_eq!(issued.digest, Digest::of(text));
        }
    }

    #[test]
    fn keys_do_not_repeat() {
        let keys: std::collections::HashSet<_> =
            (0..1_000).map(|_| issue(KeyKind::Secret).key.expose().to_owned()).collect();
        assert_eq!(keys.len(), 1_000);
    }

    #[test]
    fn a_typo_is_told_from_an_unknown_key() {
        let text = issue(KeyKind::Secret).key.expose().to_owned();
        for place in 8..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
            let typo = String::from_utf8(bytes).unwrap();
            assert_eq!(shape_of_key(&typo).unwrap_err(), ApiKeyError::Mistyped);
        }
        let (cut, _) = text.split_at(text.len() - 1);
        assert_eq!(shape_of_key(cut).unwrap_err(), ApiKeyError::Mistyped);
        for other in [
            "",
            "sk",
            "sk_",
            "sk_test",
            "sk_test_é",
            "xk_test_abc",
            "sk_TEST_abc",
            "Bearer x",
            "sk__abc",
            "sk_test_a b",
        ] {
            assert_eq!(shape_of_key(other).unwrap_err(), ApiKeyError::Malformed, "{other}");
        }
    }

    #[test]
    fn secret_keys_are_found_inside_other_text() {
        let secret = issue(KeyKind::Secret).key.expose().to_owned();
        for text in [
            secret.clone(),
            format!("key: {secret}."),
            format!("sk_sk_{secret}"),
            format!("ü{secret}{secret}"),
        ] {
            assert!(contains_secret_key(&text));
        }
        let publishable = issue(KeyKind::Publishable).key.expose().to_owned();
        for text in [
            "",
            "sk_",
            "sk_test_",
            "task_list",
            &publishable,
            "sk_test_0000000000000000000000000000000000000000",
        ] {
            assert!(!contains_secret_key(text), "{text}");
        }
    }
}
