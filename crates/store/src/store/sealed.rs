//! What is sealed under the master key.

use async_trait::async_trait;
use tollgate_engine::ports::{SealedKind, SealedPlace, SealedStore, SealedValue, StoreError};

use super::{SqlStore, port};
use crate::{
    session::{Driver, run},
    units::sealed,
};

port! {
    impl SealedStore {
        Read sealed::pinned => pinned(name: &str) -> Option<String>;
        WriteOnce sealed::set_pin => set_pin(name: &str, value: &str) -> ();
        Audit sealed::find => sealed_values(
            kind: SealedKind, key: &str, after: SealedPlace, limit: u32
        ) -> Vec<SealedValue>;
        WriteOnce sealed::replace => replace_sealed(kind: SealedKind, value: &SealedValue, text: &str) -> bool;
    } and {}
}
