//! The process as it is in production: tokio's tasks and threads, and the operating system's randomness.

use tollgate_vault::{RandomnessUnavailable, fill_random};

use crate::ports::{Host, Task};

/// This process.
#[derive(Debug, Clone, Copy, Default)]
pub struct Process;

impl Host for Process {
    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), RandomnessUnavailable> {
        fill_random(bytes)
    }

    fn spawn(&self, task: Task) {
        tokio::spawn(task);
    }

    fn spawn_blocking(&self, work: Box<dyn FnOnce() + Send + 'static>) {
        tokio::task::spawn_blocking(work);
    }
}
