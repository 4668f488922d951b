//! Organizations, their applications, and the environments everything else belongs to.

use std::fmt;

use crate::{
    id::{ApplicationId, EnvironmentId, KeyId, OrganizationId},
    key_scope::KeyScope,
    time::Timestamp,
};

/// A company that uses the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Organization {
    pub id: OrganizationId,
    /// What people call it.
    pub name: String,
    pub created_at: Timestamp,
}

/// One of an organization's products.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    pub id: ApplicationId,
    /// The organization it belongs to.
    pub organization: OrganizationId,
    /// What people call it.
    pub name: String,
    pub created_at: Timestamp,
}

/// The scope of keys, configuration, wallets, payments and references.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    pub id: EnvironmentId,
    /// The application it belongs to.
    pub application: ApplicationId,
    /// The organization that application belongs to.
    pub organization: OrganizationId,
    /// Unique within the application.
    pub name: EnvironmentName,
    pub created_at: Timestamp,
}

/// `test`, `live` …: 1 to 32 of a–z and 0–9, beginning with a letter. It stands inside every key of the environment.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EnvironmentName(String);

impl EnvironmentName {
    /// `None` if the text breaks the rule above.
    pub fn parse(text: &str) -> Option<Self> {
        Self::is_valid(text).then(|| Self(text.to_owned()))
    }

    /// Whether the text keeps the rule above.
    pub fn is_valid(text: &str) -> bool {
        let leads_well = text.bytes().next().is_some_and(|first| first.is_ascii_lowercase());
        let plain = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        leads_well && plain && text.len() <= 32
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether real money is meant, as far as the name tells.
    pub fn mode(&self) -> Option<Mode> {
        let begins = |words: &[&str]| words.iter().any(|word| self.0.starts_with(word));
        if begins(&["live", "prod"]) {
            Some(Mode::Live)
        } else if begins(&["test", "sandbox", "dev", "stag", "demo", "local", "qa"]) {
            Some(Mode::Test)
        } else {
            None
        }
    }
}

/// Whether money is real.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Test cards, a provider's sandbox.
    Test,
    /// Real money.
    Live,
}

impl Mode {
    /// The name as people use it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Live => "live",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for EnvironmentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a key may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// `sk_…`: everything; held by the caller's backend only.
    Secret,
    /// `pk_…`: prepare card payments, where the environment allows it.
    Publishable,
}

impl KeyKind {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Secret, Self::Publishable];

    /// The name used in the admin API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Secret => "secret",
            Self::Publishable => "publishable",
        }
    }

    /// What keys of this kind begin with.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Secret => "sk",
            Self::Publishable => "pk",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// What is kept of an API key: never the key itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    /// The key's public name.
    pub id: KeyId,
    /// The environment it opens.
    pub environment: EnvironmentId,
    /// What it may do.
    pub kind: KeyKind,
    /// What people call it.
    pub name: Option<String>,
    /// What it is limited to.
    pub scope: KeyScope,
    /// SHA-256 of the whole key.
    pub digest: [u8; 32],
    /// The key's last four characters, for people who compare what they hold with what is listed.
    pub last_four: String,
    /// When it was issued.
    pub created_at: Timestamp,
    /// From this moment it is refused; set at issue, or when it is rotated.
    pub expires_at: Option<Timestamp>,
    /// When it last opened anything, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// The key that took its place.
    pub replaced_by: Option<KeyId>,
}

impl KeyRecord {
    /// Whether the key opens anything at this moment.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|expiry| now < expiry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_names_are_short_plain_words() {
        for good in ["test", "live", "eu1", "a"] {
            assert!(EnvironmentName::parse(good).is_some(), "{good}");
        }
        for bad in ["", "Test", "te_st", "te-st", "1test", "tëst", "a b", &"a".repeat(33)] {
            assert!(EnvironmentName::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn names_tell_test_from_live_where_they_do() {
        for (name, mode) in [
            ("live", Some(Mode::Live)),
            ("production", Some(Mode::Live)),
            ("test", Some(Mode::Test)),
            ("staging2", Some(Mode::Test)),
            ("sandbox", Some(Mode::Test)),
            ("eu1", None),
        ] {
            assert_eq!(EnvironmentName::parse(name).unwrap().mode(), mode, "{name}");
        }
    }
}
