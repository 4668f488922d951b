//! The methods of the transfers' port, each attempted within bounds or handed to a lane that does.

use async_trait::async_trait;
use tollgate_domain::{
    Timestamp,
    id::{EnvironmentId, TransactionId, TransferId},
};
use tollgate_engine::ports::{
    Audit, Changed, NewTransfer, ReservationCancel, Reserved, StoreError, Transfer, TransferChange,
    TransferStore,
};

use super::{
    PostgresStore,
    attempts::{Attempts, Limits, Purpose, attempt},
    audit,
    cancel_reservation::cancel_reservation,
    reserve::Reservation,
    transfer_change::Wanted,
    transfers,
};

#[async_trait]
impl TransferStore for PostgresStore {
    async fn reserve_transfer(
        &self,
        environment: EnvironmentId,
        new: &NewTransfer,
    ) -> Result<Reserved, StoreError> {
        if new.order.environment != environment {
            return Err(StoreError::Broken(
                "a transfer was to be stored in another environment than its own".to_owned(),
            ));
        }
        self.reservations.ask(environment, Reservation(new.clone())).await
    }

    async fn transfer(
        &self,
        environment: EnvironmentId,
        id: TransferId,
    ) -> Result<Option<Transfer>, StoreError> {
        attempt!(self, Read, |client| transfers::find(client, environment, id))
    }

    async fn transfer_of_object(
        &self,
        environment: EnvironmentId,
        provider: &str,
        object: &str,
    ) -> Result<Option<TransferId>, StoreError> {
        attempt!(self, Read, |client| transfers::of_object(client, environment, provider, object))
    }

    async fn change_transfer(
        &self,
        environment: EnvironmentId,
        id: TransferId,
        change: &TransferChange,
    ) -> Result<Changed, StoreError> {
        let wanted = Wanted { environment, id, change: change.clone() };
        if change.posting.is_some() {
            self.postings.ask(environment, wanted).await
        } else {
            self.changes.ask(id, wanted).await
        }
    }

    async fn cancel_reservation(
        &self,
        environment: EnvironmentId,
        id: TransferId,
        cancel: &ReservationCancel,
    ) -> Result<Changed, StoreError> {
        attempt!(self, Write, |client| cancel_reservation(client, environment, id, cancel))
    }

    async fn claim_transfers(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<(EnvironmentId, TransferId)>, StoreError> {
        attempt!(self, Write, |client| transfers::claim(client, now, until, limit))
    }

    async fn waiting_transfers(
        &self,
        environment: EnvironmentId,
        before: Option<TransactionId>,
        limit: u32,
    ) -> Result<Vec<Transfer>, StoreError> {
        attempt!(self, Read, |client| transfers::waiting(client, environment, before, limit))
    }

    async fn audit(&self) -> Result<Audit, StoreError> {
        let limits = Limits { attempt: audit::LIMIT, total: audit::LIMIT };
        let attempts = Attempts::new(&self.pool, Purpose::Read, limits);
        attempt!(attempts, |client| audit::audit(client))
    }
}
