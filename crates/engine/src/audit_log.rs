//! Writing and reading the audit log.

use std::{fmt::Display, sync::Arc};

use serde_json::Value;
use tollgate_domain::{
    audit_log::{AuditActor, AuditChain, AuditEntry, NewAuditEntry},
    id::{EnvironmentId, OrganizationId},
};

use crate::{
    configure::Origin,
    engine::Engine,
    ports::{AuditLogFilter, Store, StoreError},
};

/// Something worth an entry.
#[derive(Debug, Clone)]
pub struct Audited {
    action: &'static str,
    subject: String,
    organization: Option<OrganizationId>,
    environment: Option<EnvironmentId>,
    before: Option<Value>,
    after: Option<Value>,
}

impl Audited {
    /// This was done to that.
    pub fn new(action: &'static str, subject: impl Display) -> Self {
        let subject = subject.to_string();
        Self { action, subject, organization: None, environment: None, before: None, after: None }
    }

    #[must_use]
    pub fn in_organization(mut self, organization: OrganizationId) -> Self {
        self.organization = Some(organization);
        self
    }

    #[must_use]
    pub fn in_environment(mut self, environment: EnvironmentId) -> Self {
        self.environment = Some(environment);
        self
    }

    /// What there was before. No secret belongs here.
    #[must_use]
    pub fn before(mut self, before: Value) -> Self {
        self.before = Some(before);
        self
    }

    /// What there is afterwards, or what was asked for. No secret belongs here.
    #[must_use]
    pub fn after(mut self, after: Value) -> Self {
        self.after = Some(after);
        self
    }
}

impl Engine {
    /// The store, whose next change is recorded in the same transaction.
    pub(crate) fn audited(&self, origin: &Origin, done: Audited) -> Arc<dyn Store> {
        self.audited_all(origin, [done])
    }

    /// As [`Engine::audited`], of a change that is more than one thing.
    pub(crate) fn audited_all(
        &self,
        origin: &Origin,
        done: impl IntoIterator<Item = Audited>,
    ) -> Arc<dyn Store> {
        self.store.audited(done.into_iter().map(|done| self.audit_entry(origin, done)).collect())
    }

    /// Records what is not a change of the store by itself, before it is done.
    pub async fn record_action(&self, origin: &Origin, done: Audited) -> Result<(), StoreError> {
        self.store.add_audit_entries(&[self.audit_entry(origin, done)]).await
    }

    /// Entries, newest first.
    pub async fn audit_log(
        &self,
        filter: &AuditLogFilter,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        self.store.audit_log(filter, before, limit).await
    }

    /// Checks the whole chain.
    pub async fn verify_audit_log(&self) -> Result<AuditChain, StoreError> {
        self.store.verify_audit_log().await
    }

    pub(crate) fn audit_entry(&self, origin: &Origin, done: Audited) -> NewAuditEntry {
        let of_environment = || Some(self.view(done.environment?)?.environment.organization);
        NewAuditEntry {
            at: self.clock.now(),
            actor: AuditActor { kind: origin.kind, name: origin.actor.clone() },
            address: origin.address,
            request: origin.request.clone(),
            action: done.action.to_owned(),
            organization: done.organization.or_else(of_environment),
            environment: done.environment,
            // Not every database holds control characters, and no list shows them.
            subject: done.subject.chars().filter(|letter| !letter.is_control()).collect(),
            before: done.before.map(|value| value.to_string()),
            after: done.after.map(|value| value.to_string()),
        }
    }
}
