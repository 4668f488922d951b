//! Customer tokens: compact JWE, `dir` with `A256GCM`, and nothing else.
//!
//! The header of a token is compared with the only one that would be written for its key, byte for byte: no other
//! algorithm, compression, extension or spelling is ever looked at. Each environment has keys of its own, counted by
//! generation, so a token brought elsewhere does not open.

use std::fmt;

use aes_gcm::{
    Aes256Gcm, KeyInit, Nonce,
    aead::{Aead, Payload},
};
use data_encoding::BASE64URL_NOPAD;
use zeroize::Zeroizing;

use crate::{
    random::random_bytes,
    seal::{MasterKey, SealError},
};

const NONCE_LENGTH: usize = 12;
const TAG_LENGTH: usize = 16;
/// The most a token can be made of. Metadata of 16 KiB and the rest of a customer is half of it; earlier versions wrote
/// metadata as a text within the text, at up to twice its size, and what they made opens as well.
const MAX_CONTENT: usize = 36 * 1024;

/// The length of the longest token there can be: what is made is never longer, and what is longer is not looked at.
pub const MAX_TOKEN_LENGTH: usize = {
    let longest_header = HEADER_HEAD.len() + "4294967295".len() + HEADER_TAIL.len();
    let dots = 4;
    base64_length(longest_header)
        + base64_length(NONCE_LENGTH)
        + base64_length(MAX_CONTENT)
        + base64_length(TAG_LENGTH)
        + dots
};

const fn base64_length(bytes: usize) -> usize {
    (bytes * 4).div_ceil(3)
}

/// Why a text is not a token that opens here. Whoever sent it learns no more than that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the token was not made for this environment, was altered, or its key is retired")]
pub struct InvalidToken;

/// The key of one environment and generation.
#[derive(Clone)]
pub struct TokenKey {
    key: Zeroizing<[u8; 32]>,
    generation: u32,
}

impl MasterKey {
    /// The key for an environment's new tokens of one generation: the same on every node and after every restart.
    pub fn token_key(&self, environment: &str, generation: u32) -> TokenKey {
        let mut key = Zeroizing::new([0; 32]);
        self.derive(token_info(environment, generation).as_bytes(), key.as_mut());
        TokenKey { key, generation }
    }

    /// The keys that a token of this generation may be made with: callers keep tokens for longer than a master key is used.
    pub fn token_keys(&self, environment: &str, generation: u32) -> impl Iterator<Item = TokenKey> {
        let mut key = Zeroizing::new([0; 32]);
        self.derive_from_root(token_info(environment, generation).as_bytes(), key.as_mut());
        let previous = self.previous().map(|previous| previous.token_key(environment, generation));
        let current = self.token_key(environment, generation);
        [Some(current), previous, Some(TokenKey { key, generation })].into_iter().flatten()
    }
}

fn token_info(environment: &str, generation: u32) -> String {
    format!("tollgate customer token v1: {environment}/{generation}")
}

/// The generation a token says its key is of, if it is one of ours at all.
pub fn token_generation(token: &str) -> Result<u32, InvalidToken> {
    if token.len() > MAX_TOKEN_LENGTH {
        return Err(InvalidToken);
    }
    let header = token.split('.').next().unwrap_or_default();
    let decoded = BASE64URL_NOPAD.decode(header.as_bytes()).map_err(|_| InvalidToken)?;
    let text = std::str::from_utf8(&decoded).map_err(|_| InvalidToken)?;
    let digits = text.strip_prefix(HEADER_HEAD).and_then(|rest| rest.strip_suffix(HEADER_TAIL));
    let generation = digits.and_then(|digits| digits.parse().ok()).ok_or(InvalidToken)?;
    // One way to write a number is enough.
    if header_text(generation) == text { Ok(generation) } else { Err(InvalidToken) }
}

const HEADER_HEAD: &str = r#"{"alg":"dir","enc":"A256GCM","kid":""#;
const HEADER_TAIL: &str = r#""}"#;

fn header_text(generation: u32) -> String {
    format!("{HEADER_HEAD}{generation}{HEADER_TAIL}")
}

impl TokenKey {
    /// Makes a token of these bytes, unless there are more of them than a token that opens can have.
    pub fn seal(&self, content: &[u8]) -> Result<String, SealError> {
        if content.len() > MAX_CONTENT {
            return Err(SealError::TooLarge);
        }
        let nonce = random_bytes::<NONCE_LENGTH>()?;
        let header = BASE64URL_NOPAD.encode(header_text(self.generation).as_bytes());
        let payload = Payload { msg: content, aad: header.as_bytes() };
        let sealed = self.cipher().encrypt(&Nonce::from(nonce), payload).map_err(|_| SealError::Refused)?;
        let (ciphertext, tag) = sealed.split_last_chunk::<TAG_LENGTH>().ok_or(SealError::Malformed)?;
        let (nonce, ciphertext, tag) =
            (BASE64URL_NOPAD.encode(&nonce), BASE64URL_NOPAD.encode(ciphertext), BASE64URL_NOPAD.encode(tag));
        Ok(format!("{header}..{nonce}.{ciphertext}.{tag}"))
    }

    /// The bytes a token was made of.
    pub fn open(&self, token: &str) -> Result<Zeroizing<Vec<u8>>, InvalidToken> {
        if token_generation(token)? != self.generation {
            return Err(InvalidToken);
        }
        let parts: Vec<&str> = token.split('.').collect();
        let [header, "", nonce, ciphertext, tag] = parts.as_slice() else { return Err(InvalidToken) };
        let decode = |part: &str| BASE64URL_NOPAD.decode(part.as_bytes()).map_err(|_| InvalidToken);
        let nonce: [u8; NONCE_LENGTH] = decode(nonce)?.try_into().map_err(|_| InvalidToken)?;
        let tag: [u8; TAG_LENGTH] = decode(tag)?.try_into().map_err(|_| InvalidToken)?;
        let mut sealed = decode(ciphertext)?;
        sealed.extend_from_slice(&tag);
        let payload = Payload { msg: &sealed, aad: header.as_bytes() };
        let opened = self.cipher().decrypt(&Nonce::from(nonce), payload);
        opened.map(Zeroizing::new).map_err(|_| InvalidToken)
    }

    /// The key itself, for checks by another implementation.
    pub fn expose(&self) -> &[u8; 32] {
        &self.key
    }

    fn cipher(&self) -> Aes256Gcm {
        Aes256Gcm::new(&(*self.key).into())
    }
}

impl fmt::Debug for TokenKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[token key {}]", self.generation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Secret;

    fn key(environment: &str, generation: u32) -> TokenKey {
        let master =
            MasterKey::from_setting(&Secret::new("a master key of thirty-two letters or more")).unwrap();
        master.token_key(environment, generation)
    }

    #[test]
    fn a_token_opens_with_its_own_key_only() {
        let token = key("env_1", 3).seal(b"content").unwrap();
        assert_eq!(token_generation(&token), Ok(3));
        assert_eq!(key("env_1", 3).open(&token).unwrap().as_slice(), b"content");
        for other in [key("env_2", 3), key("env_1", 2)] {
            assert_eq!(other.open(&token), Err(InvalidToken));
        }
        assert_ne!(key("env_1", 3).seal(b"content").unwrap(), token, "every token has its own nonce");
    }

    #[test]
    fn whatever_is_made_opens_up_to_the_last_byte() {
        for generation in [1, 4_294_967_295] {
            let key = key("env_1", generation);
            for length in [0, 1, 2, 24_576, MAX_CONTENT - 1, MAX_CONTENT] {
                let content = vec![b'x'; length];
                let token = key.seal(&content).unwrap();
                assert!(token.len() <= MAX_TOKEN_LENGTH, "{length}");
                assert_eq!(key.open(&token).unwrap().as_slice(), content);
            }
            let longest = key.seal(&vec![b'x'; MAX_CONTENT]).unwrap().len();
            assert!(generation == 1 || longest == MAX_TOKEN_LENGTH, "{longest}");
            assert!(matches!(key.seal(&vec![b'x'; MAX_CONTENT + 1]), Err(SealError::TooLarge)));
        }
    }

    #[test]
    fn only_the_one_header_is_accepted() {
        let right = key("env_1", 1);
        let token = right.seal(b"content").unwrap();
        let rest = token.split_once('.').unwrap().1;
        for header in [
            r#"{"alg":"dir","enc":"A256GCM","kid":"1","zip":"DEF"}"#,
            r#"{"alg":"dir","enc":"A256GCM","kid":"1","crit":["x"],"x":1}"#,
            r#"{"alg":"none","enc":"A256GCM","kid":"1"}"#,
            r#"{"alg":"dir","enc":"A128GCM","kid":"1"}"#,
            r#"{"alg":"dir","enc":"A256CBC-HS512","kid":"1"}"#,
            r#"{"enc":"A256GCM","alg":"dir","kid":"1"}"#,
            r#"{"alg":"dir", "enc":"A256GCM","kid":"1"}"#,
            r#"{"alg":"dir","enc":"A256GCM","kid":"01"}"#,
            r#"{"alg":"dir","enc":"A256GCM","kid":"+1"}"#,
            r#"{"alg":"dir","enc":"A256GCM","kid":"4294967296"}"#,
            r#"{"alg":"dir","enc":"A256GCM"}"#,
            "{}",
            "",
        ] {
            let forged = format!("{}.{rest}", BASE64URL_NOPAD.encode(header.as_bytes()));
            assert_eq!(right.open(&forged), Err(InvalidToken), "{header}");
        }
        for token in [
            "",
            "....",
            &token.replacen("..", ".x.", 1),
            &format!("{token}."),
            &format!("{token}="),
            &"a".repeat(MAX_TOKEN_LENGTH + 1),
        ] {
            assert_eq!(right.open(token), Err(InvalidToken), "{token}");
        }
    }
}
