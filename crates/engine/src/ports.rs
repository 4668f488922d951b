//! What the engine needs from outside, each promise written above its method.

mod store;

use tollgate_domain::Timestamp;

pub use store::{
    AppliedMovement, ChangeSignal, ConfigChange, ConfigPut, ConfigVersion, ConfigVersionSummary, Created,
    Delta, DirectoryVersion, EnvironmentState, Issued, LedgerLine, Moved, Page, Revoked, Rotated, Store,
    StoreError,
};

/// The time of day. Domain and engine never read a clock by themselves.
pub trait Clock: Send + Sync + 'static {
    /// This moment.
    fn now(&self) -> Timestamp;
}
