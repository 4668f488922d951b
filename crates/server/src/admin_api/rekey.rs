//! `POST /admin/v1/rekey`: some of what the previous master key has encrypted is encrypted under the current one.

use tollgate_engine::RekeyError;

use crate::prelude::*;

responses! {
    RekeyResponse as RekeyProgress {
        /// Values that this call has encrypted under the current key.
        resealed: u64,
        /// Values that neither key decrypts.
        unreadable: u64,
        /// Whether nothing readable is left under the previous key; if not, call again.
        done: bool,
    }
}

pub(crate) async fn run(operator: Operator) -> Done<RekeyResponse> {
    let progress = operator.app.engine.rekey(&operator.origin).await?;
    respond::ok(&RekeyResponse {
        resealed: progress.resealed,
        unreadable: progress.unreadable,
        done: progress.is_done,
    })
}

impl From<RekeyError> for ApiError {
    fn from(error: RekeyError) -> Self {
        match error {
            RekeyError::NoPreviousKey => Self::new(
                ErrorCode::NoPreviousMasterKey,
                "No previous master key is set. Restart the server with TOLLGATE_MASTER_KEY set to the new key and \
                 TOLLGATE_MASTER_KEY_PREVIOUS to the old one.",
            ),
            RekeyError::Seal(error) => Self::internal(error.to_string()),
            RekeyError::Store(error) => error.into(),
        }
    }
}
