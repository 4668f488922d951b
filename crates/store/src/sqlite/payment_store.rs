//! The methods of the payments' port, each handed to the writer or to a reader.

use async_trait::async_trait;
use tollgate_domain::{
    ProviderAccount, ServiceReference, Timestamp,
    card::CardOrder,
    id::{EnvironmentId, ExceptionId, PaymentId, TransactionId},
    transaction::Transaction,
};
use tollgate_engine::ports::{
    CardPayment, Changed, Entry, Inserted, NewEvent, PaymentChange, PaymentFilter, PaymentStore, Progress,
    ProviderEvent, ProviderEventCursor, ProviderEventState, Received, Resolution, SettledProviderEvent,
    StoreError, StoredException, StoredProviderEvent, TransactionFilter,
};

use super::{
    SqliteStore, accounts, events, exceptions, payment_change, payments, timeline, transactions,
    writer::Effect,
};

impl SqliteStore {
    async fn claim(
        &self,
        claim: payments::Claim,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<(EnvironmentId, PaymentId)>, StoreError> {
        if !self.readers.read(move |connection| payments::is_any_due(connection, claim, now)).await? {
            return Ok(Vec::new());
        }
        self.writer.write(move |connection| payments::claim(connection, claim, now, until, limit)).await
    }
}

#[async_trait]
impl PaymentStore for SqliteStore {
    async fn insert_payment(
        &self,
        environment: EnvironmentId,
        order: &CardOrder,
        progress: &Progress,
        entries: &[Entry],
        new_events: &[NewEvent],
    ) -> Result<Inserted, StoreError> {
        let (order, progress) = (order.clone(), progress.clone());
        let (entries, new_events) = (entries.to_vec(), new_events.to_vec());
        self.writer
            .write(move |connection| {
                payments::insert(connection, environment, &order, &progress, &entries, &new_events)
            })
            .await
    }

    async fn payment(
        &self,
        environment: EnvironmentId,
        id: PaymentId,
    ) -> Result<Option<CardPayment>, StoreError> {
        self.readers.read(move |connection| payments::find(connection, environment, id)).await
    }

    async fn payment_of_object(
        &self,
        environment: EnvironmentId,
        provider: &str,
        object: &str,
    ) -> Result<Option<PaymentId>, StoreError> {
        let (provider, object) = (provider.to_owned(), object.to_owned());
        self.readers
            .read(move |connection| payments::of_object(connection, environment, &provider, &object))
            .await
    }

    async fn change_payment(
        &self,
        environment: EnvironmentId,
        id: PaymentId,
        change: &PaymentChange,
    ) -> Result<Changed, StoreError> {
        let change = change.clone();
        self.writer
            .write(move |connection| payment_change::change(connection, environment, id, &change))
            .await
    }

    async fn payments(
        &self,
        environment: EnvironmentId,
        filter: PaymentFilter,
        before: Option<PaymentId>,
        limit: u32,
    ) -> Result<Vec<PaymentId>, StoreError> {
        self.readers
            .read(move |connection| payments::list(connection, environment, filter, before, limit))
            .await
    }

    async fn claim_payments(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<(EnvironmentId, PaymentId)>, StoreError> {
        self.claim(payments::DUE, now, until, limit).await
    }

    async fn claim_follow_ups(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<(EnvironmentId, PaymentId)>, StoreError> {
        self.claim(payments::FOLLOW_UPS, now, until, limit).await
    }

    async fn transaction(
        &self,
        environment: EnvironmentId,
        reference: ServiceReference,
    ) -> Result<Option<Transaction>, StoreError> {
        self.readers.read(move |connection| transactions::find(connection, environment, reference)).await
    }

    async fn transactions(
        &self,
        environment: EnvironmentId,
        filter: &TransactionFilter,
        before: Option<TransactionId>,
        limit: u32,
    ) -> Result<Vec<Transaction>, StoreError> {
        let filter = filter.clone();
        self.readers
            .read(move |connection| transactions::list(connection, environment, &filter, before, limit))
            .await
    }

    async fn timeline(
        &self,
        environment: EnvironmentId,
        reference: ServiceReference,
    ) -> Result<Vec<Entry>, StoreError> {
        self.readers.read(move |connection| timeline::of_reference(connection, environment, reference)).await
    }

    async fn receive_provider_event(
        &self,
        environment: EnvironmentId,
        event: &ProviderEvent,
        due: Timestamp,
    ) -> Result<Received, StoreError> {
        let event = event.clone();
        self.writer.write(move |connection| events::receive(connection, environment, &event, due)).await
    }

    async fn claim_provider_events(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<StoredProviderEvent>, StoreError> {
        if !self.readers.read(move |connection| events::is_any_due(connection, now)).await? {
            return Ok(Vec::new());
        }
        self.writer.write(move |connection| events::claim(connection, now, until, limit)).await
    }

    async fn settle_provider_event(
        &self,
        environment: EnvironmentId,
        settled: &SettledProviderEvent,
    ) -> Result<bool, StoreError> {
        let settled = settled.clone();
        self.writer
            .write(move |connection| {
                let done = events::settle(connection, environment, &settled)?;
                Ok(if done { Effect::Written(true) } else { Effect::Nothing(false) })
            })
            .await
    }

    async fn retry_stored_provider_event(
        &self,
        environment: EnvironmentId,
        provider: &str,
        id: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let (provider, id) = (provider.to_owned(), id.to_owned());
        self.writer.write(move |connection| events::retry(connection, environment, &provider, &id, now)).await
    }

    async fn provider_events(
        &self,
        environment: EnvironmentId,
        state: Option<ProviderEventState>,
        before: Option<&ProviderEventCursor>,
        limit: u32,
    ) -> Result<Vec<StoredProviderEvent>, StoreError> {
        let before = before.cloned();
        self.readers
            .read(move |connection| events::list(connection, environment, state, before.as_ref(), limit))
            .await
    }

    async fn exceptions(
        &self,
        environment: EnvironmentId,
        open_only: bool,
        before: Option<ExceptionId>,
        limit: u32,
    ) -> Result<Vec<StoredException>, StoreError> {
        self.readers
            .read(move |connection| exceptions::list(connection, environment, open_only, before, limit))
            .await
    }

    async fn exceptions_of(
        &self,
        environment: EnvironmentId,
        reference: ServiceReference,
    ) -> Result<Vec<StoredException>, StoreError> {
        self.readers
            .read(move |connection| exceptions::of_reference(connection, environment, reference))
            .await
    }

    async fn resolve_exception(
        &self,
        environment: EnvironmentId,
        id: ExceptionId,
        resolution: &Resolution,
    ) -> Result<bool, StoreError> {
        let resolution = resolution.clone();
        self.writer
            .write(move |connection| exceptions::resolve(connection, environment, id, &resolution))
            .await
    }

    async fn set_account(
        &self,
        environment: EnvironmentId,
        reference: ServiceReference,
        account: &ProviderAccount,
        entry: &Entry,
    ) -> Result<bool, StoreError> {
        let (account, entry) = (account.clone(), entry.clone());
        self.writer
            .write(move |connection| accounts::set(connection, environment, reference, &account, &entry))
            .await
    }
}
