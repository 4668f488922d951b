//! One life of a node: from its start until it dies, with all its tasks at once.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering},
};

use tokio::task::AbortHandle;
use tollgate_domain::Timestamp;
use tollgate_engine::ports::{Clock, Host, Task};
use tollgate_vault::RandomnessUnavailable;

use crate::world::{World, lock};

/// Tasks that have ended are forgotten whenever there are so many.
const MANY_TASKS: usize = 64;

/// What the parts of a node hold in common.
pub(crate) struct Life {
    pub(crate) world: Arc<World>,
    /// `node 0`, `node 1`, …
    pub(crate) name: String,
    /// How far its machine's clock is ahead, in milliseconds.
    ahead: Arc<AtomicI64>,
    alive: AtomicBool,
    tasks: Mutex<Vec<AbortHandle>>,
    /// When something last kept this node from following the directory, in milliseconds of the run.
    pub(crate) directory_trouble_at: AtomicU64,
}

impl Life {
    pub(crate) fn begin(world: &Arc<World>, name: String, ahead: Arc<AtomicI64>) -> Arc<Self> {
        Arc::new(Self {
            world: Arc::clone(world),
            name,
            ahead,
            alive: AtomicBool::new(true),
            tasks: Mutex::default(),
            directory_trouble_at: AtomicU64::new(world.elapsed()),
        })
    }

    /// What the clock of its machine says.
    pub(crate) fn machine_time(&self) -> Timestamp {
        self.world.clock(self.ahead.load(Ordering::Relaxed))
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Relaxed)
    }

    pub(crate) fn note(&self, what: impl std::fmt::Display) {
        self.world.note(&self.name, what);
    }

    /// Ends everything the node does, wherever it waits.
    pub(crate) fn die(&self, why: &str) {
        if self.alive.swap(false, Ordering::Relaxed) {
            self.note(format_args!("dies: {why}"));
            for task in lock(&self.tasks).drain(..) {
                task.abort();
            }
        }
    }

    /// Runs a task that ends with this life.
    pub(crate) fn run(&self, task: impl Future<Output = ()> + Send + 'static) -> Option<AbortHandle> {
        if !self.is_alive() {
            return None;
        }
        let handle = tokio::spawn(task).abort_handle();
        let mut tasks = lock(&self.tasks);
        if tasks.len() >= MANY_TASKS {
            tasks.retain(|task| !task.is_finished());
        }
        tasks.push(handle.clone());
        Some(handle)
    }

    /// Where a call can be the last thing this node did: dies there, or goes on. Whoever is dead waits for ever.
    pub(crate) async fn survives(&self, place: &str) {
        let chance = self.world.profile.deaths_at_calls;
        if self.is_alive() && chance > 0 && self.world.is_troubled() && self.world.draw(0..10_000) < chance {
            self.die(place);
        }
        if !self.is_alive() {
            std::future::pending::<()>().await;
        }
    }
}

/// The clock of a node's machine, which is wrong, and jumps.
pub(crate) struct NodeClock(pub(crate) Arc<Life>);

impl Clock for NodeClock {
    fn now(&self) -> Timestamp {
        self.0.machine_time()
    }
}

/// A node's process.
pub(crate) struct NodeHost(pub(crate) Arc<Life>);

impl Host for NodeHost {
    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), RandomnessUnavailable> {
        self.0.world.fill(bytes);
        Ok(())
    }

    fn spawn(&self, task: Task) {
        self.0.run(task);
    }

    fn spawn_blocking(&self, work: Box<dyn FnOnce() + Send + 'static>) {
        work();
    }
}
