//! The operator's token: `adm_…`, generated. Nobody chooses one that could be guessed.

use crate::{
    checksum, digest::Digest, keyed_digest::Digester, random::RandomnessUnavailable, secret::Secret,
    strength::is_guessable,
};

const PREFIX: &str = "adm_";
/// Shorter ones could be guessed over the network.
const MIN_LENGTH: usize = 16;

/// What is kept of the operator's token: its digest.
#[derive(Debug, Clone, Copy)]
pub struct AdminToken {
    digest: Digest,
}

/// Why a token is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AdminTokenError {
    /// Too short to be safe as a setting.
    #[error(
        "an admin token must have at least {MIN_LENGTH} characters; create one with `tollgate generate admin-token`"
    )]
    TooShort,
    /// Long enough, and still anybody's guess.
    #[error(
        "this admin token can be guessed: it repeats itself, counts up or is a common word; create one with `tollgate generate admin-token`"
    )]
    Guessable,
    /// It was chosen by a person.
    #[error(
        "an admin token must be generated, not chosen; create one with `tollgate generate admin-token`, or set \
         TOLLGATE_ALLOW_WEAK_ADMIN_TOKEN=true until you have"
    )]
    NotGenerated,
    /// It has the shape of a generated token, but the checksum tells of a typo or a cut.
    #[error("the admin token's checksum does not match: it was mistyped or cut off")]
    Mistyped,
    /// It is not the token of this server.
    #[error("this is not the admin token of this server")]
    Unknown,
}

impl AdminToken {
    /// Makes a new token, with a checksum tail as API keys have.
    pub fn generate() -> Result<Secret, RandomnessUnavailable> {
        checksum::generate(PREFIX).map(Secret::new)
    }

    /// Takes the operator's setting: a generated token.
    pub fn from_setting(token: &Secret) -> Result<Self, AdminTokenError> {
        let kept = Self::from_weak_setting(token)?;
        if token.expose().starts_with(PREFIX) { Ok(kept) } else { Err(AdminTokenError::NotGenerated) }
    }

    /// As [`Self::from_setting`], but also accepts a token that a person chose.
    pub fn from_weak_setting(token: &Secret) -> Result<Self, AdminTokenError> {
        let text = token.expose();
        if text.len() < MIN_LENGTH {
            return Err(AdminTokenError::TooShort);
        }
        if is_guessable(text) {
            return Err(AdminTokenError::Guessable);
        }
        if is_mistyped(text) {
            return Err(AdminTokenError::Mistyped);
        }
        Ok(Self { digest: Digest::of(text) })
    }

    /// What stands for this token in proofs: another token has another, and none leads back to its token.
    pub fn mark(&self, digester: &Digester) -> [u8; 32] {
        digester.digest(&[b"admin token", &self.digest.to_bytes()])
    }

    /// Compares what a caller presented, in constant time.
    pub fn verify(&self, presented: &str) -> Result<(), AdminTokenError> {
        if self.digest == Digest::of(presented) {
            Ok(())
        } else if is_mistyped(presented) {
            Err(AdminTokenError::Mistyped)
        } else {
            Err(AdminTokenError::Unknown)
        }
    }
}

fn is_mistyped(text: &str) -> bool {
    text.starts_with(PREFIX) && !checksum::verify(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_right_token_opens_and_others_do_not() {
        let token = AdminToken::generate().unwrap();
        let kept = AdminToken::from_setting(&token).unwrap();
        assert_eq!(kept.verify(token.expose()), Ok(()));
        let (cut, _) = token.expose().split_at(token.expose().len() - 1);
        assert_eq!(kept.verify(cut), Err(AdminTokenError::Mistyped));
        let other = AdminToken::generate().unwrap();
        assert_eq!(kept.verify(other.expose()), Err(AdminTokenError::Unknown));
        assert_eq!(kept.verify(""), Err(AdminTokenError::Unknown));
    }

    #[test]
    fn a_token_is_generated_unless_a_setting_allows_others() {
        for chosen in ["summer-holiday-24", "a long text of my own"] {
            let refused = AdminToken::from_setting(&Secret::new(chosen));
            assert_eq!(refused.map(drop), Err(AdminTokenError::NotGenerated));
        }
        let kept = AdminToken::from_weak_setting(&Secret::new("a long text of my own")).unwrap();
        assert_eq!(kept.verify("a long text of my own"), Ok(()));
        assert_eq!(
            AdminToken::from_setting(&Secret::new("too short")).unwrap_err(),
            AdminTokenError::TooShort
        );
        let weak = AdminToken::from_setting(&Secret::new("1234567890123456"));
        assert_eq!(weak.map(drop), Err(AdminTokenError::Guessable));
    }
}
