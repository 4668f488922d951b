//! Sealing fields at rest: AES-256-GCM under a key derived from the operator's master key.
//!
//! A sealed text is `v1.<key id>.<base64url of nonce and ciphertext>`. The context a field belongs to (its
//! environment, its place in the document) is authenticated with it, so a sealed text moved elsewhere does not open.

use std::{fmt, sync::Arc};

use aes_gcm::{
    Aes256Gcm, KeyInit, Nonce,
    aead::{Aead, Payload},
};
use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::{
    keyed_digest::Digester,
    random::{RandomnessUnavailable, random_bytes},
    secret::Secret,
    strength::is_guessable,
};

const MIN_LENGTH: usize = 32;
const NONCE_LENGTH: usize = 12;
const ROOT_LENGTH: usize = 32;
const VERSION: &str = "v1";

/// The operator's master key. Everything sealed at rest is sealed under keys derived from it.
///
/// While it is rotated it comes with the previous one, and what either has sealed opens. Digests name things for as long as
/// a database exists, so they are made with the root of the first master key, whatever the key is by now.
#[derive(Clone)]
pub struct MasterKey {
    material: Secret,
    previous: Option<Arc<Self>>,
    root: Option<Zeroizing<[u8; ROOT_LENGTH]>>,
}

/// Why a master key is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MasterKeyError {
    /// Too short to be safe.
    #[error(
        "a master key must have at least {MIN_LENGTH} characters of randomness; create one with `tollgate generate master-key`"
    )]
    TooShort,
    /// Long enough, and still anybody's guess.
    #[error(
        "this master key can be guessed: it repeats itself, counts up or is a common word; create one with `tollgate generate master-key`. For a database that was created with it, set TOLLGATE_ALLOW_WEAK_MASTER_KEY=true and move to another one"
    )]
    Guessable,
}

impl MasterKey {
    /// Takes the operator's setting: any random text of at least 32 characters.
    pub fn from_setting(text: &Secret) -> Result<Self, MasterKeyError> {
        if text.expose().trim().len() < MIN_LENGTH {
            return Err(MasterKeyError::TooShort);
        }
        if is_guessable(text.expose().trim()) {
            return Err(MasterKeyError::Guessable);
        }
        Ok(Self::of(text))
    }

    /// As [`MasterKey::from_setting`], for a database whose secrets are sealed under a key that can be guessed.
    pub fn from_weak_setting(text: &Secret) -> Result<Self, MasterKeyError> {
        match Self::from_setting(text) {
            Err(MasterKeyError::Guessable) => Ok(Self::of(text)),
            other => other,
        }
    }

    fn of(text: &Secret) -> Self {
        Self { material: Secret::new(text.expose().trim()), previous: None, root: None }
    }

    /// The same key, which also opens what this one has sealed.
    #[must_use]
    pub fn with_previous(self, previous: Self) -> Self {
        Self { previous: Some(Arc::new(previous)), ..self }
    }

    /// The other key that opens what is sealed.
    pub fn previous(&self) -> Option<&Self> {
        self.previous.as_deref()
    }

    /// What digests are made with: the key's own root, unless it has taken over another's.
    pub fn root(&self) -> Secret {
        if let Some(root) = &self.root {
            return Secret::new(BASE64URL_NOPAD.encode(root.as_ref()));
        }
        let (root, _) = Hkdf::<Sha256>::extract(None, self.material.expose().as_bytes());
        let root = Zeroizing::new(<[u8; ROOT_LENGTH]>::from(root));
        Secret::new(BASE64URL_NOPAD.encode(root.as_ref()))
    }

    /// The same key, which makes digests with this root.
    pub fn with_root(self, root: &Secret) -> Result<Self, SealError> {
        let decoded = BASE64URL_NOPAD.decode(root.expose().as_bytes()).map_err(|_| SealError::Malformed)?;
        let decoded = Zeroizing::new(decoded);
        let root: [u8; ROOT_LENGTH] = decoded.as_slice().try_into().map_err(|_| SealError::Malformed)?;
        Ok(Self { root: Some(Zeroizing::new(root)), ..self })
    }

    /// Makes a new one: 256 random bits as text.
    pub fn generate() -> Result<Secret, RandomnessUnavailable> {
        Ok(Secret::new(BASE64URL_NOPAD.encode(&random_bytes::<32>()?)))
    }

    /// A name for the key that reveals nothing of it: the same key has the same name on every node.
    pub fn fingerprint(&self) -> String {
        let mut name = [0; 8];
        self.derive(b"tollgate master key fingerprint v1", &mut name);
        HEXLOWER.encode(&name)
    }

    /// What seals and opens fields of one purpose. Each purpose has a key of its own.
    pub fn sealer(&self, purpose: &str) -> Sealer {
        let mut key = Zeroizing::new([0; 32]);
        self.derive(format!("tollgate seal v1: {purpose}").as_bytes(), key.as_mut());
        let previous = self.previous().map(|previous| Arc::new(previous.sealer(purpose)));
        Sealer { cipher: Aes256Gcm::new(&(*key).into()), key_id: self.fingerprint(), previous }
    }

    /// What makes digests of one purpose, which stay the same when the master key is rotated. Each purpose has a key of its
    /// own.
    pub fn digester(&self, purpose: &str) -> Digester {
        let mut key = Zeroizing::new([0; 64]);
        self.derive_from_root(format!("tollgate digest v1: {purpose}").as_bytes(), key.as_mut());
        Digester::new(key)
    }

    /// As [`MasterKey::digester`], for what must end when the master key is rotated.
    pub fn rotating_digester(&self, purpose: &str) -> Digester {
        let mut key = Zeroizing::new([0; 64]);
        self.derive(format!("tollgate digest v1: {purpose}").as_bytes(), key.as_mut());
        Digester::new(key)
    }

    pub(crate) fn derive_from_root(&self, info: &[u8], out: &mut [u8]) {
        let source = self.root.as_ref().and_then(|root| Hkdf::<Sha256>::from_prk(root.as_ref()).ok());
        let Some(source) = source else { return self.derive(info, out) };
        let derived = source.expand(info, out);
        debug_assert!(derived.is_ok());
    }

    pub(crate) fn derive(&self, info: &[u8], out: &mut [u8]) {
        let source = Hkdf::<Sha256>::new(None, self.material.expose().as_bytes());
        // Expanding fails only for outputs beyond 8,160 bytes; ours are at most 64.
        let derived = source.expand(info, out);
        debug_assert!(derived.is_ok());
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[master key]")
    }
}

/// Seals and opens fields of one purpose.
#[derive(Clone)]
pub struct Sealer {
    cipher: Aes256Gcm,
    key_id: String,
    /// Opens what it sealed, and seals no more.
    previous: Option<Arc<Self>>,
}

/// Why a field was not sealed or opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// The operating system provided no randomness.
    #[error(transparent)]
    Randomness(#[from] RandomnessUnavailable),
    /// The text is not a sealed one.
    #[error("the field is not in sealed form")]
    Malformed,
    /// It was sealed under another master key.
    #[error("the field was encrypted with master key {sealed_with}, but this server has {ours}")]
    OtherKey {
        /// Its key's name.
        sealed_with: String,
        /// Our key's name.
        ours: String,
    },
    /// There is more to seal than could be opened again.
    #[error("there is too much to seal")]
    TooLarge,
    /// It was altered, or belongs elsewhere.
    #[error("the encrypted field cannot be decrypted: it was altered or moved")]
    Refused,
}

/// The name of the key a text was sealed with.
pub fn sealed_with(sealed: &str) -> Option<&str> {
    sealed.strip_prefix(VERSION)?.strip_prefix('.')?.split_once('.').map(|(key_id, _)| key_id)
}

impl Sealer {
    /// A sealer under a fresh key that is derived from nothing: once the key is destroyed, nobody opens what it sealed.
    /// The text is the key, to be kept for as long as it is needed.
    pub fn generate(key_id: impl Into<String>) -> Result<(Self, Secret), RandomnessUnavailable> {
        let key = Zeroizing::new(random_bytes::<32>()?);
        let sealer = Self { cipher: Aes256Gcm::new(&(*key).into()), key_id: key_id.into(), previous: None };
        Ok((sealer, Secret::new(BASE64URL_NOPAD.encode(key.as_ref()))))
    }

    /// The sealer of a key that was generated before.
    pub fn of_key(key_id: impl Into<String>, key: &Secret) -> Result<Self, SealError> {
        let bytes = BASE64URL_NOPAD.decode(key.expose().as_bytes()).map_err(|_| SealError::Malformed)?;
        let bytes = Zeroizing::new(bytes);
        let key: &[u8; 32] = bytes.as_slice().try_into().map_err(|_| SealError::Malformed)?;
        Ok(Self { cipher: Aes256Gcm::new(key.into()), key_id: key_id.into(), previous: None })
    }

    /// Seals a secret for one context.
    pub fn seal(&self, context: &str, secret: &Secret) -> Result<String, SealError> {
        let nonce = random_bytes::<NONCE_LENGTH>()?;
        let payload = Payload { msg: secret.expose().as_bytes(), aad: context.as_bytes() };
        let ciphertext = self.cipher.encrypt(&Nonce::from(nonce), payload).map_err(|_| SealError::Refused)?;
        let mut bytes = nonce.to_vec();
        bytes.extend_from_slice(&ciphertext);
        Ok(format!("{VERSION}.{}.{}", self.key_id, BASE64URL_NOPAD.encode(&bytes)))
    }

    /// The same secret under this sealer's own key; `None` if it is sealed under that already.
    pub fn reseal(&self, context: &str, sealed: &str) -> Result<Option<String>, SealError> {
        if sealed_with(sealed) == Some(self.key_id.as_str()) {
            return Ok(None);
        }
        self.seal(context, &self.open(context, sealed)?).map(Some)
    }

    /// Opens what was sealed for the same context.
    pub fn open(&self, context: &str, sealed: &str) -> Result<Secret, SealError> {
        let mut parts = sealed.splitn(3, '.');
        let (Some(VERSION), Some(key_id), Some(body)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(SealError::Malformed);
        };
        if let Some(previous) = self.previous.as_ref().filter(|previous| previous.key_id == key_id) {
            return previous.open(context, sealed);
        }
        if key_id != self.key_id {
            return Err(SealError::OtherKey { sealed_with: key_id.to_owned(), ours: self.key_id.clone() });
        }
        let bytes = BASE64URL_NOPAD.decode(body.as_bytes()).map_err(|_| SealError::Malformed)?;
        let (nonce, ciphertext) = bytes.split_first_chunk::<NONCE_LENGTH>().ok_or(SealError::Malformed)?;
        let payload = Payload { msg: ciphertext, aad: context.as_bytes() };
        let opened = self.cipher.decrypt(&Nonce::from(*nonce), payload).map_err(|_| SealError::Refused)?;
        let opened = Zeroizing::new(opened);
        std::str::from_utf8(&opened).map(Secret::new).map_err(|_| SealError::Malformed)
    }
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[sealer under {}]", self.key_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn master(text: &str) -> MasterKey {
        MasterKey::from_setting(&Secret::new(text)).unwrap()
    }

    const KEY: &str = "a master key of thirty-two letters or more";

    #[test]
    fn what_is_sealed_opens_in_its_context_only() {
        let sealer = master(KEY).sealer("config");
        let secret = Secret::new("whsec_ünïcode");
        let sealed = sealer.seal("env_1/provider/key", &secret).unwrap();
        assert!(!sealed.contains("whsec"));
        assert_eq!(sealer.open("env_1/provider/key", &sealed), Ok(secret.clone()));
        assert_eq!(sealer.open("env_2/provider/key", &sealed), Err(SealError::Refused));
        assert_eq!(master(KEY).sealer("tokens").open("env_1/provider/key", &sealed), Err(SealError::Refused));
        assert_ne!(
            sealer.seal("env_1/provider/key", &secret).unwrap(),
            sealed,
            "every sealing has its own nonce"
        );
    }

    #[test]
    fn a_generated_key_opens_what_it_sealed_and_nothing_else_does() {
        let (sealer, key) = Sealer::generate("key_1").unwrap();
        let sealed = sealer.seal("c", &Secret::new("a secret")).unwrap();
        assert_eq!(sealed_with(&sealed), Some("key_1"));
        assert_eq!(Sealer::of_key("key_1", &key).unwrap().open("c", &sealed), Ok(Secret::new("a secret")));
        let (other, _) = Sealer::generate("key_1").unwrap();
        assert_eq!(other.open("c", &sealed), Err(SealError::Refused));
        assert!(master(KEY).sealer("config").open("c", &sealed).is_err());
        assert!(Sealer::of_key("key_1", &Secret::new("no key")).is_err());
    }

    #[test]
    fn another_master_key_is_named() {
        let sealed = master(KEY).sealer("config").seal("c", &Secret::new("x")).unwrap();
        let other = master("another master key, just as long as it has to be");
        let error = other.sealer("config").open("c", &sealed).unwrap_err();
        assert_eq!(
            error,
            SealError::OtherKey { sealed_with: master(KEY).fingerprint(), ours: other.fingerprint() }
        );
    }

    #[test]
    fn a_rotated_key_opens_both_and_seals_under_its_own() {
        let (old, new) = (master(KEY), master("another master key, just as long as it has to be"));
        let sealed = old.sealer("config").seal("c", &Secret::new("x")).unwrap();
        let both = new.clone().with_previous(old.clone()).sealer("config");
        assert_eq!(both.open("c", &sealed), Ok(Secret::new("x")));
        assert_eq!(both.open("d", &sealed), Err(SealError::Refused));
        let resealed = both.reseal("c", &sealed).unwrap().unwrap();
        assert_eq!(new.sealer("config").open("c", &resealed), Ok(Secret::new("x")));
        assert!(old.sealer("config").open("c", &resealed).is_err());
        assert_eq!(both.reseal("c", &resealed), Ok(None));
        // While nodes are restarted one by one, those that still seal under the old key open what the others seal.
        let waiting = old.with_previous(new).sealer("config");
        assert_eq!(waiting.open("c", &resealed), Ok(Secret::new("x")));
    }

    #[test]
    fn digests_stay_while_keys_rotate() {
        let old = master(KEY);
        let digest = old.digester("references").digest(&[b"a"]);
        let other = "another master key, just as long as it has to be";
        let new = master(other).with_root(&old.root()).unwrap();
        assert_eq!(new.digester("references").digest(&[b"a"]), digest);
        assert_eq!(new.root(), old.root());
        let third = master("a third master key, which is long enough, too").with_root(&new.root()).unwrap();
        assert_eq!(third.digester("references").digest(&[b"a"]), digest);
        assert_ne!(master(other).digester("references").digest(&[b"a"]), digest);
        let sessions = |key: &MasterKey| key.rotating_digester("sessions").digest(&[b"a"]);
        assert_eq!(sessions(&new), sessions(&master(other)));
        assert_ne!(sessions(&new), sessions(&old));
        assert!(master(other).with_root(&Secret::new("no root")).is_err());
    }

    #[test]
    fn every_altered_byte_is_noticed() {
        let sealer = master(KEY).sealer("config");
        let sealed = sealer.seal("c", &Secret::new("a secret")).unwrap();
        for place in 0..sealed.len() {
            let mut bytes = sealed.clone().into_bytes();
            bytes[place] = if bytes[place] == b'A' { b'Q' } else { b'A' };
            let altered = String::from_utf8(bytes).unwrap();
            assert!(sealer.open("c", &altered).is_err(), "{place}");
        }
        for text in ["", "v1", "v1..", "v2.x.y", "v1.k.!!"] {
            assert!(sealer.open("c", text).is_err(), "{text}");
        }
    }

    #[test]
    fn short_master_keys_are_refused() {
        assert!(MasterKey::from_setting(&Secret::new("short")).is_err());
        let weak = MasterKey::from_setting(&Secret::new("0".repeat(64)));
        assert_eq!(weak.map(drop), Err(MasterKeyError::Guessable));
        assert!(MasterKey::from_weak_setting(&Secret::new("0".repeat(64))).is_ok());
        assert!(MasterKey::from_weak_setting(&Secret::new("short")).is_err());
        assert!(MasterKey::from_setting(&MasterKey::generate().unwrap()).is_ok());
    }
}
