//! The audit log: who did what, in which order, so that nothing can be changed or taken out unnoticed.

use std::net::IpAddr;

use crate::{
    id::{EnvironmentId, OrganizationId, TokenId, UserId},
    time::Timestamp,
};

/// Who did something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditActor {
    pub kind: ActorKind,
    /// How they are shown. Of a user it is the name at that time.
    pub name: String,
}

/// What is known of whoever did something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActorKind {
    /// Somebody with a personal token.
    User(UserId),
    /// Whoever holds the server's admin token.
    Bootstrap,
    /// The service itself, such as a sandbox at its first start.
    System,
    /// Nobody who could be recognized.
    Anonymous,
}

impl ActorKind {
    /// The words of all kinds.
    pub const WORDS: [&'static str; 4] = ["user", "bootstrap", "system", "anonymous"];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User(_) => "user",
            Self::Bootstrap => "bootstrap",
            Self::System => "system",
            Self::Anonymous => "anonymous",
        }
    }

    /// The user, if it is one.
    pub const fn user(self) -> Option<UserId> {
        match self {
            Self::User(id) => Some(id),
            Self::Bootstrap | Self::System | Self::Anonymous => None,
        }
    }

    /// The kind of this word.
    pub fn parse(word: &str, user: Option<UserId>) -> Option<Self> {
        match (word, user) {
            ("user", Some(id)) => Some(Self::User(id)),
            ("bootstrap", None) => Some(Self::Bootstrap),
            ("system", None) => Some(Self::System),
            ("anonymous", None) => Some(Self::Anonymous),
            _ => None,
        }
    }
}

/// Something to be added to the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAuditEntry {
    pub at: Timestamp,
    pub actor: AuditActor,
    /// The personal token it was done with.
    pub token: Option<TokenId>,
    /// Where the request came from.
    pub address: Option<IpAddr>,
    /// The id of the request.
    pub request: String,
    /// What was done, such as `key.issue`.
    pub action: String,
    pub organization: Option<OrganizationId>,
    pub environment: Option<EnvironmentId>,
    /// The id or reference of what it was done to.
    pub subject: String,
    /// JSON, without any secret.
    pub before: Option<String>,
    /// JSON, without any secret.
    pub after: Option<String>,
}

/// An entry in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// Counts up from 1 without gaps.
    pub sequence: u64,
    pub entry: NewAuditEntry,
    /// The digest of this entry and of the hash before it.
    pub hash: [u8; 32],
}

/// The end of the log. Kept elsewhere, it proves later that nothing before it was rewritten or cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditHead {
    pub entries: u64,
    /// The last entry's hash.
    pub hash: [u8; 32],
}

/// What the chain was found to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditChain {
    /// How many entries there should be.
    pub entries: u64,
    /// The last hash. Kept elsewhere, it proves later that nothing before it was rewritten.
    pub head: [u8; 32],
    /// The first thing that is wrong.
    pub problem: Option<String>,
}
