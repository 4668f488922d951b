//! The audit log.

use std::sync::Arc;

use async_trait::async_trait;
use tollgate_domain::audit_log::{AuditChain, AuditEntry, NewAuditEntry};
use tollgate_engine::ports::{AuditLogFilter, AuditLogStore, Store, StoreError};

use super::{SqlStore, port};
use crate::{
    session::{Driver, run},
    units::audit_log,
};

port! {
    impl AuditLogStore {
        Write audit_log::add => add_audit_entries(entries: &[NewAuditEntry]) -> ();
        Read audit_log::list => audit_log(
            filter: &AuditLogFilter, before: Option<u64>, limit: u32
        ) -> Vec<AuditEntry>;
        Audit audit_log::verify => verify_audit_log() -> AuditChain;
    } and {
        fn audited(&self, entries: Vec<NewAuditEntry>) -> Arc<dyn Store> {
            Arc::new(Self { driver: Arc::clone(&self.driver), audit: entries })
        }
    }
}
