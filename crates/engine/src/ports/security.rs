//! Short-lived sealing keys, ended sessions, and who changed what.
//!
//! Keys and sessions belong to the whole deployment rather than to an environment: a node seals for all of them with one
//! key, and an operator is signed in to all of them.

use async_trait::async_trait;
use tollgate_domain::{
    Timestamp,
    id::{EnvironmentId, KeyId, SealingKeyId, UserId},
};

use super::StoreError;

/// A key that bank details are sealed with, itself sealed under the master key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealingKey {
    pub id: SealingKeyId,
    pub sealed: String,
    pub created_at: Timestamp,
}

/// What was done to a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyAction {
    Issued,
    /// Another key takes its place; it stays valid until its grace period ends.
    Rotated,
    Revoked,
}

impl KeyAction {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Issued, Self::Rotated, Self::Revoked];

    /// The word that is shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Issued => "issued",
            Self::Rotated => "rotated",
            Self::Revoked => "revoked",
        }
    }

    /// What the audit log calls it.
    pub const fn audited(self) -> &'static str {
        match self {
            Self::Issued => "key.issue",
            Self::Rotated => "key.rotate",
            Self::Revoked => "key.revoke",
        }
    }

    /// The action that the audit log calls this.
    pub fn parse(audited: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.audited() == audited)
    }
}

/// A change of a key, as the audit log has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyChange {
    pub key: KeyId,
    pub action: KeyAction,
    /// Everybody who may hold the credential that it was done with, and so may have seen a key that was issued.
    pub people: Vec<UserId>,
    pub actor: String,
    /// The id of the request.
    pub request: String,
    pub at: Timestamp,
}

/// The part of the store that keeps secrets short-lived and changes attributed.
#[async_trait]
pub trait SecurityStore: Send + Sync + 'static {
    /// Keeps these keys; those that are there already stay as they are. A database may lose them when it crashes: they
    /// are kept out of its log so that no copy of them outlives them.
    async fn put_sealing_keys(&self, keys: &[SealingKey]) -> Result<(), StoreError>;

    /// The key, unless it was destroyed.
    async fn sealing_key(&self, id: SealingKeyId) -> Result<Option<SealingKey>, StoreError>;

    /// The keys that stored bank details are sealed with.
    async fn sealing_keys_in_use(&self) -> Result<Vec<SealingKeyId>, StoreError>;

    /// Destroys every key made before this moment that no stored bank details are sealed with, so that the database's
    /// files hold no copy of it, and says how many those were.
    async fn destroy_sealing_keys(&self, made_before: Timestamp) -> Result<u64, StoreError>;

    /// Ends a session that would last until then. Every node refuses it from now on.
    async fn end_session(
        &self,
        session: &[u8; 16],
        until: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Whether a session was ended.
    async fn is_session_ended(&self, session: &[u8; 16]) -> Result<bool, StoreError>;

    /// What the audit log has on the keys from `first` to `last`, key by key, the oldest first.
    async fn key_changes(
        &self,
        environment: EnvironmentId,
        first: KeyId,
        last: KeyId,
    ) -> Result<Vec<KeyChange>, StoreError>;
}
