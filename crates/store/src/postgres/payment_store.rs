//! The methods of the payments' port, each attempted within bounds.

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
    PostgresStore, accounts, attempts::attempt, events, exceptions, payment_change, payments, timeline,
    transactions,
};

#[async_trait]
impl PaymentStore for PostgresStore {
    async fn insert_payment(
        &self,
        environment: EnvironmentId,
        order: &CardOrder,
        progress: &Progress,
        entries: &[Entry],
        new_events: &[NewEvent],
    ) -> Result<Inserted, StoreError> {
        attempt!(self, Write, |client| payments::insert(
            client,
            environment,
            order,
            progress,
            entries,
            new_events
        ))
    }

    async fn payment(
        &self,
        environment: EnvironmentId,
        id: PaymentId,
    ) -> Result<Option<CardPayment>, StoreError> {
        attempt!(self, Read, |client| payments::find(client, environment, id))
    }

    async fn payment_of_object(
        &self,
        environment: EnvironmentId,
        provider: &str,
        object: &str,
    ) -> Result<Option<PaymentId>, StoreError> {
        attempt!(self, Read, |client| payments::of_object(client, environment, provider, object))
    }

    async fn change_payment(
        &self,
        environment: EnvironmentId,
        id: PaymentId,
        change: &PaymentChange,
    ) -> Result<Changed, StoreError> {
        attempt!(self, Write, |client| payment_change::change(client, environment, id, change))
    }

    async fn payments(
        &self,
        environment: EnvironmentId,
        filter: PaymentFilter,
        before: Option<PaymentId>,
        limit: u32,
    ) -> Result<Vec<PaymentId>, StoreError> {
        attempt!(self, Read, |client| payments::list(client, environment, filter, before, limit))
    }

    async fn claim_payments(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<(EnvironmentId, PaymentId)>, StoreError> {
        attempt!(self, Write, |client| payments::claim(client, payments::DUE, now, until, limit))
    }

    async fn claim_follow_ups(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<(EnvironmentId, PaymentId)>, StoreError> {
        let claim = payments::FOLLOW_UPS;
        attempt!(self, Write, |client| payments::claim(client, claim, now, until, limit))
    }

    async fn transaction(
        &self,
        environment: EnvironmentId,
        reference: ServiceReference,
    ) -> Result<Option<Transaction>, StoreError> {
        attempt!(self, Read, |client| transactions::find(client, environment, reference))
    }

    async fn transactions(
        &self,
        environment: EnvironmentId,
        filter: &TransactionFilter,
        before: Option<TransactionId>,
        limit: u32,
    ) -> Result<Vec<Transaction>, StoreError> {
        attempt!(self, Read, |client| transactions::list(client, environment, filter, before, limit))
    }

    async fn timeline(
        &self,
        environment: EnvironmentId,
        reference: ServiceReference,
    ) -> Result<Vec<Entry>, StoreError> {
        attempt!(self, Read, |client| timeline::of_reference(client, environment, reference))
    }

    async fn receive_provider_event(
        &self,
        environment: EnvironmentId,
        event: &ProviderEvent,
        due: Timestamp,
    ) -> Result<Received, StoreError> {
        attempt!(self, Write, |client| events::receive(client, environment, event, due))
    }

    async fn claim_provider_events(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<StoredProviderEvent>, StoreError> {
        attempt!(self, Write, |client| events::claim(client, now, until, limit))
    }

    async fn settle_provider_event(
        &self,
        environment: EnvironmentId,
        settled: &SettledProviderEvent,
    ) -> Result<bool, StoreError> {
        attempt!(self, Write, |client| events::settle(client, environment, settled))
    }

    async fn retry_stored_provider_event(
        &self,
        environment: EnvironmentId,
        provider: &str,
        id: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        attempt!(self, Write, |client| events::retry(client, environment, provider, id, now))
    }

    async fn provider_events(
        &self,
        environment: EnvironmentId,
        state: Option<ProviderEventState>,
        before: Option<&ProviderEventCursor>,
        limit: u32,
    ) -> Result<Vec<StoredProviderEvent>, StoreError> {
        attempt!(self, Read, |client| events::list(client, environment, state, before, limit))
    }

    async fn exceptions(
        &self,
        environment: EnvironmentId,
        open_only: bool,
        before: Option<ExceptionId>,
        limit: u32,
    ) -> Result<Vec<StoredException>, StoreError> {
        attempt!(self, Read, |client| exceptions::list(client, environment, open_only, before, limit))
    }

    async fn exceptions_of(
        &self,
        environment: EnvironmentId,
        reference: ServiceReference,
    ) -> Result<Vec<StoredException>, StoreError> {
        attempt!(self, Read, |client| exceptions::of_reference(client, environment, reference))
    }

    async fn resolve_exception(
        &self,
        environment: EnvironmentId,
        id: ExceptionId,
        resolution: &Resolution,
    ) -> Result<bool, StoreError> {
        attempt!(self, Write, |client| exceptions::resolve(client, environment, id, resolution))
    }

    async fn set_account(
        &self,
        environment: EnvironmentId,
        reference: ServiceReference,
        account: &ProviderAccount,
        entry: &Entry,
    ) -> Result<bool, StoreError> {
        attempt!(self, Write, |client| accounts::set(client, environment, reference, account, entry))
    }
}
