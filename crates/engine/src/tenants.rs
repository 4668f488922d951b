//! Organizations, applications and environments.

use serde_json::json;
use tollgate_domain::{
    id::{ApplicationId, EnvironmentId, OrganizationId},
    tenant::{Application, Environment, EnvironmentName, Organization},
};
use tollgate_vault::RandomnessUnavailable;

use crate::{
    audit_log::Audited,
    configure::Origin,
    engine::Engine,
    ports::{Created, Page, StoreError},
};

/// Why something was not created or found.
#[derive(Debug, thiserror::Error)]
pub enum TenantError {
    /// What it should belong to does not exist.
    #[error("parent not found")]
    ParentMissing,
    /// A sibling has the name already.
    #[error("the name is taken")]
    NameTaken,
    /// The store did not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The operating system provided no randomness.
    #[error(transparent)]
    Randomness(#[from] RandomnessUnavailable),
}

impl Engine {
    /// Creates an organization.
    pub async fn create_organization(
        &self,
        name: String,
        origin: &Origin,
    ) -> Result<Organization, TenantError> {
        let id = self.new_id(OrganizationId::new)?;
        let organization = Organization { id, name, created_at: self.clock.now() };
        let audited = Audited::new("organization.create", id)
            .in_organization(id)
            .after(json!({ "name": organization.name }));
        self.audited(origin, audited).create_organization(&organization).await?;
        Ok(organization)
    }

    /// Creates an application of an organization.
    pub async fn create_application(
        &self,
        organization: OrganizationId,
        name: String,
        origin: &Origin,
    ) -> Result<Application, TenantError> {
        let id = self.new_id(ApplicationId::new)?;
        let application = Application { id, organization, name, created_at: self.clock.now() };
        let audited = Audited::new("application.create", id)
            .in_organization(organization)
            .after(json!({ "name": application.name }));
        self.settle(self.audited(origin, audited).create_application(&application).await?).await?;
        Ok(application)
    }

    /// Creates an environment of an application, with the empty configuration in force.
    pub async fn create_environment(
        &self,
        application: ApplicationId,
        name: EnvironmentName,
        origin: &Origin,
    ) -> Result<Environment, TenantError> {
        let parent = self.store.application(application).await?.ok_or(TenantError::ParentMissing)?;
        let id = self.new_id(EnvironmentId::new)?;
        let organization = parent.organization;
        let environment = Environment { id, application, organization, name, created_at: self.clock.now() };
        let audited = Audited::new("environment.create", id)
            .in_organization(organization)
            .in_environment(id)
            .after(json!({ "name": environment.name.as_str() }));
        self.settle(self.audited(origin, audited).create_environment(&environment).await?).await?;
        Ok(environment)
    }

    /// Makes sure that these three exist under exactly these ids; what is there already stays as it is.
    pub async fn ensure_environment(
        &self,
        organization: &Organization,
        application: &Application,
        environment: &Environment,
    ) -> Result<(), TenantError> {
        self.store.create_organization(organization).await?;
        self.settle(self.store.create_application(application).await?).await?;
        self.settle(self.store.create_environment(environment).await?).await
    }

    /// The application, if there is one.
    pub async fn application(&self, id: ApplicationId) -> Result<Option<Application>, StoreError> {
        self.store.application(id).await
    }

    /// An organization's applications by id.
    pub async fn applications(
        &self,
        organization: OrganizationId,
        page: Page<ApplicationId>,
    ) -> Result<Vec<Application>, TenantError> {
        self.store.organization(organization).await?.ok_or(TenantError::ParentMissing)?;
        Ok(self.store.applications(organization, page).await?)
    }

    /// An application's environments by id.
    pub async fn environments(
        &self,
        application: ApplicationId,
        page: Page<EnvironmentId>,
    ) -> Result<Vec<Environment>, TenantError> {
        self.store.application(application).await?.ok_or(TenantError::ParentMissing)?;
        Ok(self.store.environments(application, page).await?)
    }

    /// What an environment belongs to.
    pub async fn lineage(
        &self,
        environment: &Environment,
    ) -> Result<(Organization, Application), StoreError> {
        let organization = self.store.organization(environment.organization).await?;
        let application = self.store.application(environment.application).await?;
        let orphan = || StoreError::Broken("environment without an application".to_owned());
        organization.zip(application).ok_or_else(orphan)
    }

    /// The environment, if there is one.
    pub async fn environment(&self, id: EnvironmentId) -> Result<Option<Environment>, StoreError> {
        self.store.environment(id).await
    }

    async fn settle(&self, created: Created) -> Result<(), TenantError> {
        match created {
            Created::Done(version) => {
                self.directory.catch_up(version).await;
                Ok(())
            }
            Created::ParentMissing => Err(TenantError::ParentMissing),
            Created::NameTaken => Err(TenantError::NameTaken),
        }
    }
}
