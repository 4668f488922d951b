//! The methods of the transfers' port, each handed to the writer or to a reader.

use async_trait::async_trait;
use tollgate_domain::{
    Timestamp,
    id::{EnvironmentId, TransactionId, TransferId},
};
use tollgate_engine::ports::{
    Audit, Changed, NewTransfer, ReservationCancel, Reserved, StoreError, Transfer, TransferChange,
    TransferStore,
};

use super::{SqliteStore, audit, transfer_change, transfers};

#[async_trait]
impl TransferStore for SqliteStore {
    async fn reserve_transfer(
        &self,
        environment: EnvironmentId,
        new: &NewTransfer,
    ) -> Result<Reserved, StoreError> {
        let new = new.clone();
        self.writer.write(move |connection| transfers::reserve(connection, environment, &new)).await
    }

    async fn transfer(
        &self,
        environment: EnvironmentId,
        id: TransferId,
    ) -> Result<Option<Transfer>, StoreError> {
        self.readers.read(move |connection| transfers::find(connection, environment, id)).await
    }

    async fn transfer_of_object(
        &self,
        environment: EnvironmentId,
        provider: &str,
        object: &str,
    ) -> Result<Option<TransferId>, StoreError> {
        let (provider, object) = (provider.to_owned(), object.to_owned());
        self.readers
            .read(move |connection| transfers::of_object(connection, environment, &provider, &object))
            .await
    }

    async fn change_transfer(
        &self,
        environment: EnvironmentId,
        id: TransferId,
        change: &TransferChange,
    ) -> Result<Changed, StoreError> {
        let change = change.clone();
        self.writer
            .write(move |connection| transfer_change::change(connection, environment, id, &change))
            .await
    }

    async fn cancel_reservation(
        &self,
        environment: EnvironmentId,
        id: TransferId,
        cancel: &ReservationCancel,
    ) -> Result<Changed, StoreError> {
        let cancel = cancel.clone();
        self.writer
            .write(move |connection| {
                transfer_change::cancel_reservation(connection, environment, id, &cancel)
            })
            .await
    }

    async fn claim_transfers(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<(EnvironmentId, TransferId)>, StoreError> {
        if !self.readers.read(move |connection| transfers::is_any_due(connection, now)).await? {
            return Ok(Vec::new());
        }
        self.writer.write(move |connection| transfers::claim(connection, now, until, limit)).await
    }

    async fn waiting_transfers(
        &self,
        environment: EnvironmentId,
        before: Option<TransactionId>,
        limit: u32,
    ) -> Result<Vec<Transfer>, StoreError> {
        self.readers.read(move |connection| transfers::waiting(connection, environment, before, limit)).await
    }

    async fn audit(&self) -> Result<Audit, StoreError> {
        self.readers.read(audit::audit).await
    }
}
