//! Reading payments, transactions, timelines and what needs a person's eye.

use serde_json::json;
use tollgate_domain::{
    ServiceReference,
    id::{EnvironmentId, ExceptionId, PaymentId, TransactionId},
    transaction::Transaction,
};

use crate::{
    audit_log::Audited,
    configure::Origin,
    engine::Engine,
    ports::{
        CardPayment, Entry, NewCardPosting, PaymentFilter, ProviderEventCursor, ProviderEventState,
        Resolution, StoreError, StoredException, StoredProviderEvent, TransactionFilter, TransactionTotal,
    },
};

/// Why nothing was read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// No such thing in this environment.
    #[error("not found")]
    Missing,
    /// The store did not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A payment with all that is known of it.
#[derive(Debug)]
pub struct PaymentRead {
    pub payment: CardPayment,
    /// Its timeline, oldest line first.
    pub timeline: Vec<Entry>,
    /// What a person has to look at, oldest first.
    pub exceptions: Vec<StoredException>,
    /// What it has in the books, oldest first.
    pub postings: Vec<NewCardPosting>,
}

impl Engine {
    /// A transaction by its reference.
    pub async fn transaction(
        &self,
        environment: EnvironmentId,
        reference: ServiceReference,
    ) -> Result<Transaction, ReadError> {
        self.store.transaction(environment, reference).await?.ok_or(ReadError::Missing)
    }

    /// Transactions, newest first.
    pub async fn transactions(
        &self,
        environment: EnvironmentId,
        filter: &TransactionFilter,
        before: Option<TransactionId>,
        limit: u32,
    ) -> Result<Vec<Transaction>, ReadError> {
        Ok(self.store.transactions(environment, filter, before, limit).await?)
    }

    /// The transactions that fit, added up; `None` if there are more than `most`.
    pub async fn transaction_totals(
        &self,
        environment: EnvironmentId,
        filter: &TransactionFilter,
        most: u32,
    ) -> Result<Option<Vec<TransactionTotal>>, ReadError> {
        Ok(self.store.transaction_totals(environment, filter, most).await?)
    }

    /// A payment in whatever state its preparation is: every reference that the API has returned can be read.
    pub async fn payment(&self, environment: EnvironmentId, id: PaymentId) -> Result<CardPayment, ReadError> {
        self.store.payment(environment, id).await?.ok_or(ReadError::Missing)
    }

    /// A payment with its timeline, for an operator.
    pub async fn payment_with_timeline(
        &self,
        environment: EnvironmentId,
        id: PaymentId,
    ) -> Result<PaymentRead, ReadError> {
        let payment = self.store.payment(environment, id).await?.ok_or(ReadError::Missing)?;
        let reference = ServiceReference::Card(id);
        let timeline = self.store.timeline(environment, reference).await?;
        let exceptions = self.store.exceptions_of(environment, reference).await?;
        let postings = self.store.card_postings(environment, id).await?;
        Ok(PaymentRead { payment, timeline, exceptions, postings })
    }

    /// Payments, newest first, whether or not they have a transaction.
    pub async fn payments(
        &self,
        environment: EnvironmentId,
        filter: PaymentFilter,
        before: Option<PaymentId>,
        limit: u32,
    ) -> Result<Vec<CardPayment>, ReadError> {
        self.store.environment(environment).await?.ok_or(ReadError::Missing)?;
        let mut payments = Vec::new();
        for id in self.store.payments(environment, filter, before, limit).await? {
            payments.extend(self.store.payment(environment, id).await?);
        }
        Ok(payments)
    }

    /// What providers sent, newest first.
    pub async fn provider_events(
        &self,
        environment: EnvironmentId,
        state: Option<ProviderEventState>,
        before: Option<&ProviderEventCursor>,
        limit: u32,
    ) -> Result<Vec<StoredProviderEvent>, ReadError> {
        self.store.environment(environment).await?.ok_or(ReadError::Missing)?;
        Ok(self.store.provider_events(environment, state, before, limit).await?)
    }

    /// Has a parked event of a provider tried again.
    pub async fn retry_provider_event(
        &self,
        environment: EnvironmentId,
        provider: &str,
        id: &str,
        origin: &Origin,
    ) -> Result<(), ReadError> {
        let audited = Audited::new("provider_event.retry", id)
            .in_environment(environment)
            .after(json!({ "provider": provider }));
        let store = self.audited(origin, audited);
        let is_retried =
            store.retry_stored_provider_event(environment, provider, id, self.clock.now()).await?;
        is_retried.then_some(()).ok_or(ReadError::Missing)
    }

    /// What a person has to look at, newest first.
    pub async fn exceptions(
        &self,
        environment: EnvironmentId,
        open_only: bool,
        before: Option<ExceptionId>,
        limit: u32,
    ) -> Result<Vec<StoredException>, ReadError> {
        self.store.environment(environment).await?.ok_or(ReadError::Missing)?;
        Ok(self.store.exceptions(environment, open_only, before, limit).await?)
    }

    /// An operator is done with it; the first word stays.
    pub async fn resolve_exception(
        &self,
        environment: EnvironmentId,
        id: ExceptionId,
        note: String,
        origin: &Origin,
    ) -> Result<(), ReadError> {
        let audited =
            Audited::new("exception.resolve", id).in_environment(environment).after(json!({ "note": note }));
        let resolution = Resolution { at: self.clock.now(), actor: origin.actor.clone(), note };
        if self.audited(origin, audited).resolve_exception(environment, id, &resolution).await? {
            return Ok(());
        }
        Err(ReadError::Missing)
    }
}
