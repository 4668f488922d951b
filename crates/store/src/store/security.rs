//! Short-lived keys, ended sessions, and who changed what.

use async_trait::async_trait;
use tollgate_domain::{
    Timestamp,
    id::{EnvironmentId, KeyId, SealingKeyId},
};
use tollgate_engine::ports::{KeyChange, SealingKey, SecurityStore, StoreError};

use super::{SqlStore, port};
use crate::{
    session::{Driver, run},
    units::{audit_log, sealing_keys, sessions},
};

port! {
    impl SecurityStore {
        Write sealing_keys::put => put_sealing_keys(keys: &[SealingKey]) -> ();
        Read sealing_keys::find => sealing_key(id: SealingKeyId) -> Option<SealingKey>;
        Read sealing_keys::in_use => sealing_keys_in_use() -> Vec<SealingKeyId>;
        Write sessions::end => end_session(session: &[u8; 16], until: Timestamp, now: Timestamp) -> ();
        Read sessions::is_ended => is_session_ended(session: &[u8; 16]) -> bool;
        Read audit_log::of_keys => key_changes(
            environment: EnvironmentId, first: KeyId, last: KeyId
        ) -> Vec<KeyChange>;
    } and {
        async fn destroy_sealing_keys(&self, made_before: Timestamp) -> Result<u64, StoreError> {
            let destroyed = run!(self.driver, Write, sealing_keys::destroy(made_before)).await?;
            if destroyed > 0 {
                self.driver.erase_deleted().await?;
            }
            Ok(destroyed)
        }
    }
}
