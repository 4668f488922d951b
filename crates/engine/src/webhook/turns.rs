//! Events about one object are applied one after the other: at the same time, each but one would find the payment changed meanwhile
//! and begin again, with another question to the provider. Nodes do not know of each other's turns; there the store decides. So it does if
//! a turn takes long, because the provider does not answer: nobody waits for that.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{sync::OwnedMutexGuard, time::timeout};
use tollgate_domain::id::EnvironmentId;

/// How long to wait for a turn.
const TURN_TIMEOUT: Duration = Duration::from_secs(3);

type Key = (EnvironmentId, String);
type Lock = Arc<tokio::sync::Mutex<()>>;

/// Whose turn it is, for each object with an event that is being applied.
#[derive(Debug, Default)]
pub(crate) struct ObjectTurns(Mutex<HashMap<Key, Lock>>);

/// Ends when it is dropped.
#[derive(Debug)]
pub(crate) struct ObjectTurn<'a> {
    turns: &'a ObjectTurns,
    key: Key,
    guard: Option<OwnedMutexGuard<()>>,
}

impl ObjectTurns {
    /// Waits until no other event about this object is being applied, or for some seconds.
    pub(crate) async fn take(&self, environment: EnvironmentId, object: &str) -> ObjectTurn<'_> {
        let key = (environment, object.to_owned());
        let lock = Arc::clone(self.locks().entry(key.clone()).or_default());
        // Created before waiting, so that a turn that never begins is given back, too.
        let mut turn = ObjectTurn { turns: self, key, guard: None };
        turn.guard = timeout(TURN_TIMEOUT, lock.lock_owned()).await.ok();
        turn
    }

    fn locks(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Lock>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ObjectTurn<'_> {
    fn drop(&mut self) {
        self.guard = None;
        let mut locks = self.turns.locks();
        // Whoever waits for it or has it holds it, besides the map.
        if locks.get(&self.key).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            locks.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_turn_that_takes_long_is_not_waited_for() {
        let turns = ObjectTurns::default();
        let here = EnvironmentId::from_bytes([1; 16]);
        let first = turns.take(here, "a").await;
        let second = turns.take(here, "a").await;
        assert!(first.guard.is_some() && second.guard.is_none());
        drop(first);
        assert!(turns.take(here, "a").await.guard.is_some());
        drop(second);
        assert!(turns.locks().is_empty());
    }

    #[tokio::test]
    async fn turns_of_one_object_follow_eachother_and_leave_nothing() {
        let turns = ObjectTurns::default();
        let (here, there) = (EnvironmentId::from_bytes([1; 16]), EnvironmentId::from_bytes([2; 16]));
        let first = turns.take(here, "a").await;
        let (other, elsewhere) = (turns.take(here, "b").await, turns.take(there, "a").await);
        let mut second = Box::pin(turns.take(here, "a"));
        assert!(is_waiting(second.as_mut()).await);
        let given_up = Box::pin(turns.take(here, "a"));
        drop(given_up);
        drop(first);
        drop(second.await);
        drop((other, elsewhere));
        assert!(turns.locks().is_empty());
    }

    async fn is_waiting(future: std::pin::Pin<&mut impl Future>) -> bool {
        tokio::time::timeout(std::time::Duration::from_millis(20), future).await.is_err()
    }
}
