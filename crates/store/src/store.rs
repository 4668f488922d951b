//! The port, method by method: which unit of work each one is, and how it is run.

mod operators;
mod outbox;
mod payments;
mod reports;
mod transfers;

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use tollgate_domain::{
    Currency, Timestamp,
    audit_log::NewAuditEntry,
    id::{ApplicationId, EnvironmentId, KeyId, OrganizationId, PostingId},
    ledger::{Balances, Movement},
    tenant::{Application, Environment, KeyRecord, Organization},
};
use tollgate_engine::ports::{
    ChangeSignal, ConfigChange, ConfigPut, ConfigVersion, ConfigVersionSummary, Created, Delta,
    DirectoryVersion, Issued, LedgerLine, Moved, Page, Revoked, Rotated, Store, StoreError,
};
use tollgate_vault::Digester;

use crate::{
    session::{Driver, Mode, Session, run},
    unit::{Answer, Effect, Run, Unit, Work, answer, unit},
    units::{self, config, directory, keys, wallet},
    value::Id,
};

/// The store port over one kind of database.
#[derive(Debug)]
pub struct SqlStore<D> {
    pub(crate) driver: Arc<D>,
    /// What every unit that writes something adds to the audit log.
    audit: Vec<NewAuditEntry>,
    /// What the audit log is chained under.
    audit_key: Arc<OnceLock<Digester>>,
}

impl<D> SqlStore<D> {
    pub(crate) fn new(driver: D) -> Self {
        Self { driver: Arc::new(driver), audit: Vec::new(), audit_key: Arc::default() }
    }

    /// Whether what is written adds entries to the audit log.
    fn is_audited(&self) -> bool {
        !self.audit.is_empty()
    }
}

#[expect(private_bounds, reason = "the drivers are this crate's own")]
impl<D: Driver> SqlStore<D> {
    /// Runs a unit at its arguments, together with what is to be added to the audit log.
    async fn run<A: Send + Sync + 'static, R: Send + 'static>(
        &self,
        mode: Mode,
        args: A,
        work: Work<D::Session, A, R>,
    ) -> Result<R, StoreError> {
        answer(self.run_unit(mode, unit(args, work)).await?)
    }

    /// For a unit that is one statement, and changes what has this name.
    fn together(&self, name: impl Id) -> Together<'_, D> {
        Together { store: self, key: u128::from_be_bytes(name.bytes()) }
    }

    async fn run_unit(&self, mode: Mode, unit: Box<dyn Unit<D::Session>>) -> Result<Answer, StoreError> {
        let is_write = matches!(mode, Mode::Write | Mode::WriteOnce | Mode::WriteByIndex);
        if !is_write || !self.is_audited() {
            return self.driver.run_unit(mode, unit).await;
        }
        // Together they are more than one statement.
        let mode = if mode == Mode::WriteOnce { Mode::Write } else { mode };
        let (entries, key) = (self.audit.clone(), self.audit_key.get().cloned());
        self.driver.run_unit(mode, Box::new(Audited { unit, entries, key })).await
    }
}

/// A store whose next unit may share its commit with others.
struct Together<'a, D> {
    store: &'a SqlStore<D>,
    key: u128,
}

impl<D: Driver> Together<'_, D> {
    async fn run<A: Send + Sync + 'static, R: Send + 'static>(
        &self,
        mode: Mode,
        args: A,
        work: Work<D::Session, A, R>,
    ) -> Result<R, StoreError> {
        // What shares a commit does not share entries of the audit log.
        if self.store.is_audited() {
            return self.store.run(mode, args, work).await;
        }
        answer(self.store.driver.run_together(self.key, unit(args, work)).await?)
    }
}

/// A unit of work with its entries in the audit log.
struct Audited<S> {
    unit: Box<dyn Unit<S>>,
    entries: Vec<NewAuditEntry>,
    key: Option<Digester>,
}

impl<S: Session> Unit<S> for Audited<S> {
    /// Does the work, and adds the entries if it wrote anything.
    fn run<'a>(&'a self, session: &'a mut S) -> Run<'a> {
        Box::pin(async move {
            let done = self.unit.run(session).await?;
            if !matches!(done, Effect::Nothing(_)) {
                units::audit_log::append(session, self.key.as_ref(), &self.entries).await?;
            }
            Ok(done)
        })
    }
}

/// Implements a port. `Write keys::revoke => revoke_key(environment: EnvironmentId, …) -> Revoked;` is a method that has
/// the driver run this unit in this [`Mode`](crate::session::Mode). Methods that are more than that come after `and`.
macro_rules! port {
    (impl $port:ident { $($methods:tt)* } and { $($more:tt)* }) => {
        port!(@next [$port { $($more)* }] $($methods)*);
    };
    // The next method, and its arguments one by one.
    (@next $done:tt $mode:ident $module:ident::$unit:ident => $name:ident($($args:tt)*) -> $answer:ty; $($rest:tt)*) => {
        port!(@args $done [$mode $module $unit $name [$answer]] [] [] [$($args)*,] $($rest)*);
    };
    (@args $done:tt $method:tt [$($declared:tt)*] [$($given:tt)*] [$arg:ident: &$type:ty, $($args:tt)*] $($rest:tt)*) => {
        port!(@args $done $method [$($declared)* $arg: &$type,] [$($given)* &$arg,] [$($args)*] $($rest)*);
    };
    (@args $done:tt $method:tt [$($declared:tt)*] [$($given:tt)*] [$arg:ident: $type:ty, $($args:tt)*] $($rest:tt)*) => {
        port!(@args $done $method [$($declared)* $arg: $type,] [$($given)* $arg,] [$($args)*] $($rest)*);
    };
    (@args [$port:ident { $($done:tt)* }] [$mode:ident $module:ident $unit:ident $name:ident [$answer:ty]]
        [$($declared:tt)*] [$($given:tt)*] [$(,)?] $($rest:tt)*) => {
        port!(@next [$port {
            $($done)*

            async fn $name(&self, $($declared)*) -> Result<$answer, StoreError> {
                run!(self, $mode, $module::$unit($($given)*)).await
            }
        }] $($rest)*);
    };
    (@next [$port:ident { $($done:tt)* }]) => {
        #[async_trait]
        impl<D: Driver> $port for SqlStore<D> {
            $($done)*
        }
    };
}

use port;

port! {
    impl Store {
        WriteOnce directory::pin => pin(name: &str, value: &str) -> String;
        WriteOnce directory::create_organization => create_organization(organization: &Organization) -> ();
        WriteOnce directory::create_application => create_application(application: &Application) -> Created;
        Write directory::create_environment => create_environment(environment: &Environment) -> Created;
        Read directory::organizations => organizations(page: Page<OrganizationId>) -> Vec<Organization>;
        Read directory::organization => organization(id: OrganizationId) -> Option<Organization>;
        Read directory::application => application(id: ApplicationId) -> Option<Application>;
        Read directory::applications => applications(
            organization: OrganizationId, page: Page<ApplicationId>
        ) -> Vec<Application>;
        Read directory::environments => environments(
            application: ApplicationId, page: Page<EnvironmentId>
        ) -> Vec<Environment>;
        Read directory::environment => environment(id: EnvironmentId) -> Option<Environment>;

        Write keys::issue => issue_key(key: &KeyRecord) -> Issued;
        Write keys::revoke => revoke_key(environment: EnvironmentId, key: KeyId, at: Timestamp) -> Revoked;
        Write keys::rotate => rotate_key(
            environment: EnvironmentId, key: KeyId, replacement: &KeyRecord, old_ends_at: Timestamp
        ) -> Rotated;
        Read keys::find => key(environment: EnvironmentId, key: KeyId) -> Option<KeyRecord>;
        Read keys::list => keys(environment: EnvironmentId, page: Page<KeyId>) -> Vec<KeyRecord>;

        Write config::put => put_config(environment: EnvironmentId, change: &ConfigChange) -> ConfigPut;
        Read config::in_force => config(environment: EnvironmentId) -> Option<ConfigVersion>;
        Read config::of_version => config_version(
            environment: EnvironmentId, version: u64
        ) -> Option<ConfigVersion>;
        Read config::history => config_history(
            environment: EnvironmentId, before: Option<u64>, limit: u32
        ) -> Vec<ConfigVersionSummary>;

        Write wallet::move_funds => move_funds(environment: EnvironmentId, movement: &Movement) -> Moved;
        Read wallet::balances => balances(environment: EnvironmentId, currency: Currency) -> Option<Balances>;
        Read wallet::currencies => wallet_currencies(environment: EnvironmentId) -> Vec<Currency>;
        Read wallet::ledger => ledger(
            environment: EnvironmentId, currency: Currency, before: Option<PostingId>, limit: u32
        ) -> Vec<LedgerLine>;
    } and {
        async fn probe(&self) -> Result<(), StoreError> {
            self.driver.probe().await
        }

        async fn now(&self) -> Result<Timestamp, StoreError> {
            self.driver.now().await
        }

        async fn change_signal(&self) -> Result<Box<dyn ChangeSignal>, StoreError> {
            Ok(self.driver.change_signal())
        }

        async fn directory_since(&self, since: DirectoryVersion) -> Result<Delta, StoreError> {
            // Every node asks this all the time, and most of the time nothing has changed.
            let version = run!(self.driver, Read, directory::version()).await?;
            if version == since {
                return Ok(Delta { version, environments: Vec::new(), users: Vec::new() });
            }
            run!(self.driver, Snapshot, directory::since(since)).await
        }
    }
}
