//! The process the engine runs in: where its randomness comes from and what runs its tasks.

use std::pin::Pin;

use tokio::sync::oneshot;
use tollgate_trace::Instrument as _;
use tollgate_vault::RandomnessUnavailable;

/// A task on its way.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send + 'static>>;

/// What the engine needs of its process. A simulation has its own, where everything follows from one seed.
pub trait Host: Send + Sync + 'static {
    /// Fills `bytes` with randomness that nobody can guess.
    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), RandomnessUnavailable>;

    /// Runs a task to its end, whether or not anybody waits for it.
    fn spawn(&self, task: Task);

    /// Runs work that computes for long without ever awaiting, so that it holds up no task.
    fn spawn_blocking(&self, work: Box<dyn FnOnce() + Send + 'static>);
}

/// Why work gave no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the task stopped early")]
pub struct Stopped;

impl dyn Host {
    /// Runs `work` to its end even if whoever asked stops waiting, and returns what it made.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Stopped> {
        let (made, result) = oneshot::channel();
        let task = async move {
            // Nobody may be waiting anymore, which changes nothing.
            let _ = made.send(work.await);
        };
        self.spawn(Box::pin(task.in_current_span()));
        result.await.map_err(|_| Stopped)
    }

    /// Computes something that takes long, without holding up any task.
    pub async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Stopped> {
        let (made, result) = oneshot::channel();
        self.spawn_blocking(Box::new(move || {
            let _ = made.send(work());
        }));
        result.await.map_err(|_| Stopped)
    }
}
