//! Everything a use-case needs, in one place.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Notify, Semaphore};
use tollgate_domain::{
    Timestamp,
    card_fee::Rules,
    event::EventKind,
    id::{EnvironmentId, EventId},
};
use tollgate_trace::Instrument as _;
use tollgate_vault::{Digester, MasterKey, RandomnessUnavailable, SealError, Sealer};

use crate::{
    ach::{account_keys::AccountKeys, rail::InstantRails},
    audit_log::{self, Repeated},
    circuits::Circuits,
    clock,
    directory::Directory,
    doctor::KnownReturnRates,
    host::Process,
    key_conflicts::KeyConflicts,
    options::Options,
    outbox::DeliveryTally,
    people::Operators,
    ports::{Adapters, Clock, Host, NewEvent, Store, StoreError, Task},
    provider_health::{ProviderHealth, ProviderWatch},
    rekey,
    request_log::RequestLog,
    sequence::Sequence,
    snapshot::EnvironmentView,
    webhook::{DisputeLists, ObjectTurns},
};

/// Events that are applied right after they came, at once; the rest wait for the resolver.
const EVENTS_AT_ONCE: usize = 32;

/// Outcomes that are kept in memory at once while the store does not take them. Beyond that the resolver asks for them.
pub(crate) const MAX_HELD: usize = 1_000;

/// The use-cases. Each lives in a file of its own; this holds what they share.
pub struct Engine {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) sealer: Sealer,
    pub(crate) directory: Arc<Directory>,
    pub(crate) adapters: Arc<dyn Adapters>,
    pub(crate) options: Options,
    pub(crate) source_sealer: Sealer,
    pub(crate) source_digester: Digester,
    pub(crate) account_sealer: Sealer,
    pub(crate) account_keys: AccountKeys,
    pub(crate) reference_digester: Digester,
    pub(crate) request_digester: Digester,
    pub(crate) credential_digester: Digester,
    pub(crate) master_key: MasterKey,
    pub(crate) event_turns: Arc<Semaphore>,
    /// One configuration document is worked on at a time.
    pub(crate) config_turn: Arc<Semaphore>,
    pub(crate) config_read_turns: Arc<Semaphore>,
    pub(crate) object_turns: ObjectTurns,
    pub(crate) dispute_lists: DisputeLists,
    pub(crate) provider_watch: ProviderWatch,
    pub(crate) instant_rails: InstantRails,
    pub(crate) circuits: Arc<Circuits>,
    pub(crate) started_at: Timestamp,
    pub(crate) known_return_rates: KnownReturnRates,
    pub(crate) key_conflicts: KeyConflicts,
    pub(crate) request_log: RequestLog,
    pub(crate) operators: Operators,
    pub(crate) repeated: Repeated,
    pub(crate) endpoint_sealer: Sealer,
    /// Poked when something was written that callers are to be told.
    pub(crate) outbox_notify: Notify,
    pub(crate) delivery_tally: Arc<DeliveryTally>,
    /// A permit for every provider's answer that is being written down.
    pub(crate) held_outcomes: Arc<Semaphore>,
    sequence: Mutex<Sequence>,
}

/// Why the engine cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The store did not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Nothing sealed in this database could be opened.
    #[error(
        "this database's secrets are sealed with master key {pinned}, but TOLLGATE_MASTER_KEY is {ours}; \
         start with the master key this database was created with, or set TOLLGATE_MASTER_KEY_PREVIOUS to it to \
         rotate the key"
    )]
    OtherMasterKey {
        /// The name of the key the database was created with.
        pinned: String,
        /// The name of the key given.
        ours: String,
    },
    /// What digests are made with could not be opened.
    #[error(
        "the root of this database's digests cannot be opened: {0}; start with the master key it was last used with"
    )]
    DigestRoot(#[source] SealError),
}

impl Engine {
    /// The environment as it is configured now.
    pub(crate) fn view(&self, environment: EnvironmentId) -> Option<Arc<EnvironmentView>> {
        self.directory.snapshot().environment(environment).map(Arc::clone)
    }

    /// Checks that the master key belongs to the database and reads the directory.
    pub async fn start(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        master_key: &MasterKey,
        adapters: Arc<dyn Adapters>,
        options: Options,
    ) -> Result<Self, StartError> {
        Self::start_on(Arc::new(Process), store, clock, master_key, adapters, options).await
    }

    /// The same on another host.
    pub async fn start_on(
        host: Arc<dyn Host>,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        master_key: &MasterKey,
        adapters: Arc<dyn Adapters>,
        options: Options,
    ) -> Result<Self, StartError> {
        let master_key = &rekey::adopt(&*store, master_key).await?;
        let sealer = master_key.sealer("configuration");
        let directory = Directory::load(
            Arc::clone(&host),
            Arc::clone(&store),
            sealer.clone(),
            Arc::clone(&options.fee_rules),
        );
        let directory = Arc::new(directory.await?);
        let started_at = clock.now();
        audit_log::key(&*store, &master_key.digester("audit log"), started_at).await?;
        Ok(Self {
            store,
            clock,
            host,
            sealer,
            directory,
            adapters,
            options,
            source_sealer: master_key.sealer("card sources"),
            source_digester: master_key.digester("card sources"),
            account_sealer: master_key.sealer("bank accounts"),
            account_keys: AccountKeys::new(master_key),
            reference_digester: master_key.digester("transfer references"),
            credential_digester: master_key.digester("provider credentials"),
            request_digester: master_key.digester("transfer requests"),
            master_key: master_key.clone(),
            event_turns: Arc::new(Semaphore::new(EVENTS_AT_ONCE)),
            config_turn: Arc::new(Semaphore::new(1)),
            config_read_turns: Arc::new(Semaphore::new(crate::configure::READS_AT_ONCE)),
            object_turns: ObjectTurns::default(),
            dispute_lists: DisputeLists::default(),
            provider_watch: ProviderWatch::default(),
            instant_rails: InstantRails::default(),
            circuits: Arc::default(),
            started_at,
            known_return_rates: KnownReturnRates::default(),
            key_conflicts: KeyConflicts::default(),
            request_log: RequestLog::default(),
            operators: Operators::default(),
            repeated: Repeated::default(),
            endpoint_sealer: master_key.sealer("event endpoints"),
            outbox_notify: Notify::new(),
            delivery_tally: Arc::default(),
            held_outcomes: Arc::new(Semaphore::new(MAX_HELD)),
            sequence: Mutex::default(),
        })
    }

    /// The directory in memory.
    pub fn directory(&self) -> &Arc<Directory> {
        &self.directory
    }

    /// Where this service is reached from outside, without a slash at the end.
    pub fn public_url(&self) -> &str {
        &self.options.public_url
    }

    /// What networks and laws say about card fees.
    pub fn fee_rules(&self) -> &Arc<Rules> {
        &self.options.fee_rules
    }

    /// The clock.
    pub fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// Whether this moment has passed, so that something may be given up for good.
    pub(crate) fn has_passed(&self, moment: Timestamp) -> bool {
        clock::has_passed(&*self.clock, moment)
    }

    /// Whether something may be given up for good because so much time has passed.
    pub(crate) fn may_conclude(&self) -> bool {
        self.clock.standing().may_conclude()
    }

    /// The process it runs in.
    pub fn host(&self) -> &dyn Host {
        &*self.host
    }

    /// Runs a task beside whatever is going on. Every task of the engine is begun here, or belongs to a set that ends with
    /// the loop that holds it.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let task: Task = Box::pin(task.in_current_span());
        self.host.spawn(task);
    }

    /// Fresh random bytes.
    pub fn random<const N: usize>(&self) -> Result<[u8; N], RandomnessUnavailable> {
        let mut bytes = [0; N];
        self.host.fill_random(&mut bytes)?;
        Ok(bytes)
    }

    /// How deliveries ended on this node.
    pub fn delivery_tally(&self) -> &Arc<DeliveryTally> {
        &self.delivery_tally
    }

    /// Whether the store would take a unit of work right now.
    pub async fn probe(&self) -> Result<(), StoreError> {
        self.store.probe().await
    }

    /// How a provider has answered this node in the last hour.
    pub fn provider_health(&self, environment: EnvironmentId, provider: &str) -> ProviderHealth {
        self.provider_watch.health(environment, provider, self.clock.now())
    }

    /// Makes digests for the operator's sessions: the same on every node.
    pub fn session_digester(&self) -> Digester {
        self.master_key.rotating_digester("operator sessions")
    }

    /// An event to go with a unit of work that leaves its payment at this revision.
    pub(crate) fn new_event(
        &self,
        kind: EventKind,
        revision: u64,
    ) -> Result<NewEvent, RandomnessUnavailable> {
        Ok(NewEvent { id: self.new_id(EventId::new)?, kind, revision, refund: None })
    }

    /// An id made now, from fresh randomness, and above every id made before.
    pub(crate) fn new_id<Id>(
        &self,
        make: impl FnOnce(tollgate_domain::Timestamp, [u8; 10]) -> Id,
    ) -> Result<Id, RandomnessUnavailable> {
        let drawn = self.random()?;
        let mut sequence = self.sequence.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, random) = sequence.next(self.clock.now(), drawn);
        Ok(make(at, random))
    }
}
