//! What the benchmark and the drill share: the product's processes, the simulated provider, and callers of both.

pub mod call;
pub mod http;
pub mod launch;
pub mod process;
pub mod service;
pub mod simulator;
pub mod tenants;

use tokio::signal::unix::{SignalKind, signal};

/// A sentence for the person who runs it; nothing here is handled by kind.
pub type Fault = Box<dyn std::error::Error + Send + Sync>;

/// Does the work, unless somebody stops us. Then the work is dropped, and with it every child process and the data
/// directory.
pub async fn unless_stopped<T>(work: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        outcome = work => outcome,
        _ = tokio::signal::ctrl_c() => Err("interrupted".into()),
        _ = terminate.recv() => Err("terminated".into()),
    }
}
