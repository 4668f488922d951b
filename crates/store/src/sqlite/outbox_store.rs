//! The methods of the outbox's port, each handed to the writer or to a reader.

use async_trait::async_trait;
use tollgate_domain::{
    Timestamp,
    id::{EndpointId, EnvironmentId, EventId},
};
use tollgate_engine::ports::{
    Attempted, ClaimedDelivery, DeliveryQuery, Endpoint, EndpointAdded, EndpointChanged, Event,
    EventDelivery, EventQuery, EventsFrom, OutboxStore, Resend, Resent, StoreError,
};

use super::{SqliteStore, deliveries, endpoints, out_events, resend};

#[async_trait]
impl OutboxStore for SqliteStore {
    async fn add_endpoint(
        &self,
        environment: EnvironmentId,
        endpoint: &Endpoint,
        most: u32,
    ) -> Result<EndpointAdded, StoreError> {
        let endpoint = endpoint.clone();
        self.writer.write(move |connection| endpoints::add(connection, environment, &endpoint, most)).await
    }

    async fn endpoints(&self, environment: EnvironmentId) -> Result<Vec<Endpoint>, StoreError> {
        self.readers.read(move |connection| endpoints::list(connection, environment)).await
    }

    async fn endpoint(
        &self,
        environment: EnvironmentId,
        id: EndpointId,
    ) -> Result<Option<Endpoint>, StoreError> {
        self.readers.read(move |connection| endpoints::find(connection, environment, id)).await
    }

    async fn change_endpoint(
        &self,
        environment: EnvironmentId,
        endpoint: &Endpoint,
    ) -> Result<EndpointChanged, StoreError> {
        let endpoint = endpoint.clone();
        self.writer.write(move |connection| endpoints::change(connection, environment, &endpoint)).await
    }

    async fn remove_endpoint(&self, environment: EnvironmentId, id: EndpointId) -> Result<bool, StoreError> {
        self.writer.write(move |connection| endpoints::remove(connection, environment, id)).await
    }

    async fn list_events(
        &self,
        environment: EnvironmentId,
        query: EventQuery,
        from: EventsFrom,
        limit: u32,
    ) -> Result<Option<Vec<Event>>, StoreError> {
        self.readers
            .read(move |connection| out_events::list(connection, environment, query, from, limit))
            .await
    }

    async fn find_event(&self, environment: EnvironmentId, id: EventId) -> Result<Option<Event>, StoreError> {
        self.readers.read(move |connection| out_events::find(connection, environment, id)).await
    }

    async fn deliveries(
        &self,
        environment: EnvironmentId,
        query: DeliveryQuery,
        before: Option<(EventId, EndpointId)>,
        limit: u32,
    ) -> Result<Vec<EventDelivery>, StoreError> {
        self.readers
            .read(move |connection| deliveries::list(connection, environment, query, before, limit))
            .await
    }

    async fn claim_deliveries(
        &self,
        now: Timestamp,
        until: Timestamp,
        each: u32,
        limit: u32,
    ) -> Result<Vec<ClaimedDelivery>, StoreError> {
        if !self.readers.read(move |connection| deliveries::is_any_due(connection, now)).await? {
            return Ok(Vec::new());
        }
        self.writer.write(move |connection| deliveries::claim(connection, now, until, each, limit)).await
    }

    async fn settle_delivery(
        &self,
        environment: EnvironmentId,
        endpoint: EndpointId,
        event: EventId,
        attempted: &Attempted,
    ) -> Result<bool, StoreError> {
        let attempted = attempted.clone();
        self.writer
            .write(move |connection| deliveries::settle(connection, environment, endpoint, event, &attempted))
            .await
    }

    async fn resend(
        &self,
        environment: EnvironmentId,
        resend: Resend,
        now: Timestamp,
        limit: u32,
    ) -> Result<Resent, StoreError> {
        self.writer.write(move |connection| resend::resend(connection, environment, resend, now, limit)).await
    }
}
