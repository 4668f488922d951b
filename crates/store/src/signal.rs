//! How both stores tell those who wait that the directory may have changed.

use async_trait::async_trait;
use tokio::sync::watch;
use tollgate_engine::ports::ChangeSignal;

/// The announcing side. Announcements that nobody has taken yet melt into one.
#[derive(Debug, Clone)]
pub(crate) struct Announcer(watch::Sender<u64>);

impl Announcer {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(0))
    }

    pub(crate) fn announce(&self) {
        self.0.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// A waiter that takes what is announced from now on.
    pub(crate) fn waiter(&self) -> Box<dyn ChangeSignal> {
        Box::new(Waiter(self.0.subscribe()))
    }
}

struct Waiter(watch::Receiver<u64>);

#[async_trait]
impl ChangeSignal for Waiter {
    async fn announced(&mut self) {
        if self.0.changed().await.is_err() {
            // The store is gone: no announcement can come.
            std::future::pending::<()>().await;
        }
    }
}
