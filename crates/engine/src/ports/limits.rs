//! Limits as the store keeps them: what counts toward each, decided in the transaction that records a payment.

use async_trait::async_trait;
use tollgate_domain::{Timestamp, limit::LimitBound};

use super::StoreError;

/// Which limit does not allow a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitExceeded {
    /// Its place among those that were given.
    pub place: usize,
    pub bound: LimitBound,
}

/// The part of the store that counts payments.
#[async_trait]
pub trait LimitStore: Send + Sync + 'static {
    /// Forgets up to `limit` payments that their limits' windows have passed over, and says how many those were. A limit
    /// does so by itself for whatever it is asked about; this is for what nobody asks about anymore.
    async fn forget_limit_uses(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;
}
