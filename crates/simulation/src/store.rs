//! The real store as one node reaches it: over a line that fails in every way the port admits.
//!
//! | | answered | unavailable | unknown | late |
//! |---|---|---|---|---|
//! | happened | the usual case | a lie, planted to be found | yes | yes, also beyond the caller's patience |
//! | did not | a lie, planted to be found | yes | yes | yes |

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use tokio::time::sleep;
use tollgate_engine::ports::{ChangeSignal, Store, StoreError};

use crate::{life::Life, plants::Plant};

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
    /// A write that is tried every moment and mostly finds nothing to do.
    Claim,
}

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Answered,
    /// Nothing happens.
    Unavailable,
    /// Nothing happens, and nobody can tell.
    UnknownBefore,
    /// It happens, and nobody can tell.
    UnknownAfter,
    /// It happens and is said not to have: only ever planted.
    UnavailableAfter,
}

/// A node's line to the store.
#[derive(Clone)]
pub(crate) struct UnreliableStore {
    pub(crate) inner: Arc<dyn Store>,
    pub(crate) life: Arc<Life>,
}

impl UnreliableStore {
    pub(crate) async fn call<T>(
        &self,
        name: &'static str,
        kind: Kind,
        work: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let world = &self.life.world;
        self.life.survives(name).await;
        self.travel(world.profile.store_stalls).await;
        let fate = self.fate(name, kind);
        if fate != Fate::Answered {
            self.life.note(format_args!("{name} {fate:?}"));
            if name == "directory_since" {
                self.life.directory_trouble_at.fetch_max(world.elapsed(), Ordering::Relaxed);
            }
        }
        match fate {
            Fate::Unavailable => return Err(unavailable()),
            Fate::UnknownBefore => return Err(unknown()),
            Fate::Answered | Fate::UnknownAfter | Fate::UnavailableAfter => {}
        }
        // Runs at once: the store is in memory and on this thread.
        let done = work.await;
        if kind == Kind::Write {
            let outcome = if done.is_ok() { "done" } else { "failed" };
            self.life.note(format_args!("{name} {outcome}"));
            self.life.survives(name).await;
            self.travel(world.profile.store_stalls).await;
        }
        match fate {
            Fate::UnknownAfter => Err(unknown()),
            Fate::UnavailableAfter => Err(unavailable()),
            _ => done,
        }
    }

    fn fate(&self, name: &str, kind: Kind) -> Fate {
        let world = &self.life.world;
        if world.is_store_away() {
            return Fate::Unavailable;
        }
        if name == "reserve_transfer" && world.is_planted(Plant::StoreDeniesCommit) && world.strikes(300) {
            return Fate::UnavailableAfter;
        }
        if kind == Kind::Write && world.strikes(world.profile.statements_canceled) {
            return Fate::Unavailable;
        }
        if !world.strikes(world.profile.store_fails) {
            return Fate::Answered;
        }
        match (kind, world.draw(0..3)) {
            (Kind::Read, _) | (_, 0) => Fate::Unavailable,
            (_, 1) => Fate::UnknownBefore,
            _ => Fate::UnknownAfter,
        }
    }

    /// The way there or back: mostly short, sometimes so long that whoever waits has given up.
    async fn travel(&self, stalls: u64) {
        let world = &self.life.world;
        let pause = if world.strikes(stalls) {
            let pause = world.draw(200..14_000);
            self.life.directory_trouble_at.fetch_max(world.elapsed() + pause, Ordering::Relaxed);
            pause
        } else if world.chance(400) {
            world.draw(1..25)
        } else {
            return;
        };
        sleep(Duration::from_millis(pause)).await;
        if !self.life.is_alive() {
            std::future::pending::<()>().await;
        }
    }

    /// Announcements, some of which never arrive.
    pub(crate) fn signal(&self, inner: Box<dyn ChangeSignal>) -> Box<dyn ChangeSignal> {
        Box::new(LossySignal { inner, life: Arc::clone(&self.life) })
    }
}

struct LossySignal {
    inner: Box<dyn ChangeSignal>,
    life: Arc<Life>,
}

#[async_trait::async_trait]
impl ChangeSignal for LossySignal {
    async fn announced(&mut self) {
        loop {
            self.inner.announced().await;
            let world = &self.life.world;
            if !world.strikes(world.profile.announcements_lost) {
                return;
            }
        }
    }
}

fn unavailable() -> StoreError {
    StoreError::Unavailable("injected".to_owned())
}

fn unknown() -> StoreError {
    StoreError::Unknown("injected".to_owned())
}
