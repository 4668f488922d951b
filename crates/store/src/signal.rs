//! How both stores tell those who wait that the directory may have changed.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use async_trait::async_trait;
use tokio::sync::Notify;
use tollgate_engine::ports::ChangeSignal;

/// The announcing side. Announcements that nobody has taken yet melt into one. Those who wait are told in the order in which
/// they came, which a watch channel would leave to chance.
#[derive(Debug, Clone, Default)]
pub(crate) struct Announcer(Arc<Announced>);

#[derive(Debug, Default)]
struct Announced {
    count: AtomicU64,
    news: Notify,
}

impl Announcer {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn announce(&self) {
        self.0.count.fetch_add(1, Ordering::SeqCst);
        self.0.news.notify_waiters();
    }

    /// A waiter that takes what is announced from now on.
    pub(crate) fn waiter(&self) -> Box<dyn ChangeSignal> {
        Box::new(Waiter { announced: Arc::clone(&self.0), seen: self.0.count.load(Ordering::SeqCst) })
    }
}

struct Waiter {
    announced: Arc<Announced>,
    seen: u64,
}

#[async_trait]
impl ChangeSignal for Waiter {
    async fn announced(&mut self) {
        loop {
            // Made before the count is read: what is announced in between is heard.
            let news = self.announced.news.notified();
            let count = self.announced.count.load(Ordering::SeqCst);
            if count != self.seen {
                self.seen = count;
                return;
            }
            news.await;
        }
    }
}
