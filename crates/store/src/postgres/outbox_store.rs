//! The methods of the outbox's port, each attempted within bounds.

use async_trait::async_trait;
use tollgate_domain::{
    Timestamp,
    id::{EndpointId, EnvironmentId, EventId},
};
use tollgate_engine::ports::{
    Attempted, ClaimedDelivery, DeliveryQuery, Endpoint, EndpointAdded, EndpointChanged, Event,
    EventDelivery, EventQuery, EventsFrom, OutboxStore, Resend, Resent, StoreError,
};

use super::{PostgresStore, attempts::attempt, deliveries, delivery_claims, endpoints, out_events, resend};

#[async_trait]
impl OutboxStore for PostgresStore {
    async fn add_endpoint(
        &self,
        environment: EnvironmentId,
        endpoint: &Endpoint,
        most: u32,
    ) -> Result<EndpointAdded, StoreError> {
        attempt!(self, Write, |client| endpoints::add(client, environment, endpoint, most))
    }

    async fn endpoints(&self, environment: EnvironmentId) -> Result<Vec<Endpoint>, StoreError> {
        attempt!(self, Read, |client| endpoints::list(client, environment))
    }

    async fn endpoint(
        &self,
        environment: EnvironmentId,
        id: EndpointId,
    ) -> Result<Option<Endpoint>, StoreError> {
        attempt!(self, Read, |client| endpoints::find(client, environment, id))
    }

    async fn change_endpoint(
        &self,
        environment: EnvironmentId,
        endpoint: &Endpoint,
    ) -> Result<EndpointChanged, StoreError> {
        attempt!(self, Write, |client| endpoints::change(client, environment, endpoint))
    }

    async fn remove_endpoint(&self, environment: EnvironmentId, id: EndpointId) -> Result<bool, StoreError> {
        attempt!(self, Write, |client| endpoints::remove(client, environment, id))
    }

    async fn list_events(
        &self,
        environment: EnvironmentId,
        query: EventQuery,
        from: EventsFrom,
        limit: u32,
    ) -> Result<Option<Vec<Event>>, StoreError> {
        attempt!(self, Read, |client| out_events::list(client, environment, query, from, limit))
    }

    async fn find_event(&self, environment: EnvironmentId, id: EventId) -> Result<Option<Event>, StoreError> {
        attempt!(self, Read, |client| out_events::find(client, environment, id))
    }

    async fn deliveries(
        &self,
        environment: EnvironmentId,
        query: DeliveryQuery,
        before: Option<(EventId, EndpointId)>,
        limit: u32,
    ) -> Result<Vec<EventDelivery>, StoreError> {
        attempt!(self, Read, |client| deliveries::list(client, environment, query, before, limit))
    }

    async fn claim_deliveries(
        &self,
        now: Timestamp,
        until: Timestamp,
        each: u32,
        limit: u32,
    ) -> Result<Vec<ClaimedDelivery>, StoreError> {
        attempt!(self, Write, |client| delivery_claims::claim(client, now, until, each, limit))
    }

    async fn settle_delivery(
        &self,
        environment: EnvironmentId,
        endpoint: EndpointId,
        event: EventId,
        attempted: &Attempted,
    ) -> Result<bool, StoreError> {
        attempt!(self, Write, |client| deliveries::settle(client, environment, endpoint, event, attempted))
    }

    async fn resend(
        &self,
        environment: EnvironmentId,
        resend: Resend,
        now: Timestamp,
        limit: u32,
    ) -> Result<Resent, StoreError> {
        attempt!(self, Write, |client| resend::resend(client, environment, resend, now, limit))
    }
}
