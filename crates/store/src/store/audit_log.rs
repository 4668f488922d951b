//! The audit log.

use std::sync::Arc;

use async_trait::async_trait;
use tollgate_domain::{
    Timestamp,
    audit_log::{AuditChain, AuditEntry, AuditHead, NewAuditEntry},
};
use tollgate_engine::ports::{AuditLogFilter, AuditLogStore, Store, StoreError};
use tollgate_vault::Digester;

use super::{SqlStore, port};
use crate::{
    session::{Driver, run},
    units::audit_log,
};

port! {
    impl AuditLogStore {
        Read audit_log::list => audit_log(
            filter: &AuditLogFilter, before: Option<u64>, limit: u32
        ) -> Vec<AuditEntry>;
        Read audit_log::head => audit_head() -> AuditHead;
    } and {
        async fn key_audit_log(&self, key: &Digester, at: Timestamp) -> Result<bool, StoreError> {
            let adopted = run!(self, Write, audit_log::adopt(&key, at)).await?;
            // Every engine on this store derives the same one.
            let _ = self.audit_key.set(key.clone());
            Ok(adopted)
        }

        async fn add_audit_entries(&self, entries: &[NewAuditEntry]) -> Result<(), StoreError> {
            let key = self.audit_key.get().cloned();
            self.run(crate::session::Mode::Write, (key, entries.to_owned()), |session, (key, entries)| {
                crate::unit::Running::writing(audit_log::add(session, key.as_ref(), entries))
            })
            .await
        }

        async fn verify_audit_log(&self) -> Result<AuditChain, StoreError> {
            let key = self.audit_key.get().cloned();
            self.run(crate::session::Mode::Audit, (key,), |session, (key,)| {
                crate::unit::Running::reading(audit_log::verify(session, key.as_ref()))
            })
            .await
        }

        fn audited(&self, entries: Vec<NewAuditEntry>) -> Arc<dyn Store> {
            let (driver, audit_key) = (Arc::clone(&self.driver), Arc::clone(&self.audit_key));
            Arc::new(Self { driver, audit: entries, audit_key })
        }
    }
}
