//! Reading transfers.

use tollgate_domain::{
    ServiceReference,
    id::{EnvironmentId, TransactionId, TransferId},
};

use crate::{
    card::ReadError,
    engine::Engine,
    ports::{Entry, LedgerLine, StoredException, Transfer},
};

/// A transfer with all that is known of it.
#[derive(Debug)]
pub struct TransferRead {
    /// The transfer.
    pub transfer: Transfer,
    /// Its timeline, oldest line first.
    pub timeline: Vec<Entry>,
    /// What a person has to look at, oldest first.
    pub exceptions: Vec<StoredException>,
    /// What it did to the wallet, the newest posting first.
    pub postings: Vec<LedgerLine>,
}

impl Engine {
    /// A transfer by its reference.
    pub async fn transfer(&self, environment: EnvironmentId, id: TransferId) -> Result<Transfer, ReadError> {
        self.store.transfer(environment, id).await?.ok_or(ReadError::Missing)
    }

    /// A transfer with its timeline, for an operator.
    pub async fn transfer_with_timeline(
        &self,
        environment: EnvironmentId,
        id: TransferId,
    ) -> Result<TransferRead, ReadError> {
        let transfer = self.transfer(environment, id).await?;
        let reference = ServiceReference::Ach(id);
        let timeline = self.store.timeline(environment, reference).await?;
        let exceptions = self.store.exceptions_of(environment, reference).await?;
        let currency = transfer.order.currency;
        let postings = self.store.postings_of(environment, currency, reference).await?;
        Ok(TransferRead { transfer, timeline, exceptions, postings })
    }

    /// Transfers that wait for something, newest first.
    pub async fn waiting_transfers(
        &self,
        environment: EnvironmentId,
        before: Option<TransactionId>,
        limit: u32,
    ) -> Result<Vec<Transfer>, ReadError> {
        self.store.environment(environment).await?.ok_or(ReadError::Missing)?;
        Ok(self.store.waiting_transfers(environment, before, limit).await?)
    }
}
