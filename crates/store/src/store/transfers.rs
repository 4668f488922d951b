//! Bank transfers.

use async_trait::async_trait;
use tollgate_domain::{
    Timestamp,
    id::{ApprovalId, EnvironmentId, TransactionId, TransferId},
};
use tollgate_engine::ports::{
    ApprovalQuery, Audit, AuditScope, Changed, KeyedToken, NewTransfer, ReservationCancel, Reserved,
    StoreError, Transfer, TransferChange, TransferStore,
};

use super::{SqlStore, payments::claim, port};
use crate::{
    session::{Driver, run},
    units::{
        audit, audit::checkpoint, claims, customer_tokens, transfer_approvals, transfer_change, transfers,
    },
};

port! {
    impl TransferStore {
        Read transfers::find => transfer(environment: EnvironmentId, id: TransferId) -> Option<Transfer>;
        Read transfers::of_object => transfer_of_object(
            environment: EnvironmentId, provider: &str, object: &str
        ) -> Option<Transfer>;
        Write transfer_change::cancel_reservation => cancel_reservation(
            environment: EnvironmentId, id: TransferId, cancel: &ReservationCancel
        ) -> Changed;
        Read transfers::waiting => waiting_transfers(
            environment: EnvironmentId, before: Option<TransactionId>, limit: u32
        ) -> Vec<Transfer>;
        Read transfer_approvals::list => approvals(environment: EnvironmentId, query: ApprovalQuery) -> Vec<Transfer>;
        Read transfer_approvals::find => approval(environment: EnvironmentId, id: ApprovalId) -> Option<Transfer>;
        Read transfer_approvals::is_approved_account => is_approved_account(
            environment: EnvironmentId, account: &[u8; 32]
        ) -> bool;
        Write customer_tokens::keep => keep_customer_token(environment: EnvironmentId, new: &KeyedToken) -> Option<KeyedToken>;
    } and {
        /// The checkpoint is kept by a unit of its own: the audit may take long, and SQLite has one writer.
        async fn audit(&self, scope: AuditScope, now: Timestamp) -> Result<Audit, StoreError> {
            let verified = run!(self.driver, Audit, audit::verify(scope)).await?;
            if let Some(next) = verified.next {
                run!(self.driver, Write, checkpoint::keep(&next, now)).await?;
            }
            Ok(verified.audit)
        }

        async fn reserve_transfer(
            &self,
            environment: EnvironmentId,
            new: &NewTransfer,
        ) -> Result<Reserved, StoreError> {
            self.driver.reserve_transfer(environment, new).await
        }

        async fn change_transfer(
            &self,
            environment: EnvironmentId,
            id: TransferId,
            change: &TransferChange,
        ) -> Result<Changed, StoreError> {
            // Changes that share a commit do not share entries of the audit log.
            if self.is_audited() {
                return run!(self, Write, transfer_change::change(environment, id, &change)).await;
            }
            self.driver.change_transfer(environment, id, change).await
        }

        async fn claim_transfers(
            &self,
            now: Timestamp,
            until: Timestamp,
            limit: u32,
        ) -> Result<Vec<(EnvironmentId, TransferId)>, StoreError> {
            claim(&*self.driver, claims::TRANSFERS, now, until, limit).await
        }
    }
}
