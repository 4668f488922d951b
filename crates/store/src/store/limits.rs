//! What counts toward limits.

use async_trait::async_trait;
use tollgate_domain::Timestamp;
use tollgate_engine::ports::{LimitStore, StoreError};

use super::{SqlStore, port};
use crate::{
    session::{Driver, run},
    units::limits,
};

port! {
    impl LimitStore {
    } and {
        async fn forget_limit_uses(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
            if !run!(self.driver, Read, limits::is_any_ended(now)).await? {
                return Ok(0);
            }
            run!(self.driver, Write, limits::forget_ended(now, limit)).await
        }
    }
}
