//! The audit log.

use std::sync::Arc;

use async_trait::async_trait;
use tollgate_domain::{
    Timestamp,
    audit_log::{AuditChain, AuditEntry, AuditHead, NewAuditEntry},
    id::{EnvironmentId, UserId},
};
use tollgate_vault::Digester;

use super::{Store, StoreError};

/// The action of an entry that says that what is before it was not proved to be the service's.
pub const AUDIT_UNPROVED: &str = "audit_log.unproved";
/// The action of an entry with which an operator accepts the one that its subject names.
pub const AUDIT_ACCEPTED: &str = "audit_log.accept";

/// Which entries are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditLogFilter {
    pub user: Option<UserId>,
    pub action: Option<String>,
    pub environment: Option<EnvironmentId>,
    pub subject: Option<String>,
    pub from: Option<Timestamp>,
    /// Exclusive.
    pub until: Option<Timestamp>,
}

/// The part of the store that keeps the audit log. Entries are only ever added, one after another across all nodes, so
/// that nothing a client's payment needs may write to it.
#[async_trait]
pub trait AuditLogStore: Send + Sync + 'static {
    /// The same store, whose every unit that writes something adds these entries in the same transaction. A unit that
    /// finds nothing to do, such as a repetition, adds none.
    fn audited(&self, entries: Vec<NewAuditEntry>) -> Arc<dyn Store>;

    /// Chains entries under this key from now on. Returns whether an entry about it was added, because what is there was
    /// not proved to be chained under it.
    async fn key_audit_log(&self, key: &Digester, at: Timestamp) -> Result<bool, StoreError>;

    async fn audit_head(&self) -> Result<AuditHead, StoreError>;

    /// Adds entries that go with no other change.
    async fn add_audit_entries(&self, entries: &[NewAuditEntry]) -> Result<(), StoreError>;

    /// Entries, newest first, below `before` if given.
    async fn audit_log(
        &self,
        filter: &AuditLogFilter,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<AuditEntry>, StoreError>;

    /// Checks every entry against the hash before it, the last one against the head, and the head against its proof.
    async fn verify_audit_log(&self) -> Result<AuditChain, StoreError>;
}
