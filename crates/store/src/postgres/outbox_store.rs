//! The methods of the outbox's port, each handed to the writer or to a reader.

use async_trait::async_trait;
use tollgate_domain::{
    Timestamp,
    id::{EndpointId, EnvironmentId, EventId},
};
use tollgate_engine::ports::{
    Attempted, ClaimedDelivery, DeliveryQuery, Endpoint, EndpointAdded, EndpointChanged, EventDelivery,
    EventQuery, EventsFrom, OutEvent, OutboxStore, Resend, Resent, StoreError,
};

use super::PostgresStore;

#[async_trait]
impl OutboxStore for PostgresStore {
    async fn add_endpoint(
        &self,
        _environment: EnvironmentId,
        _endpoint: &Endpoint,
        _most: u32,
    ) -> Result<EndpointAdded, StoreError> {
        Err(StoreError::Broken("not yet".to_owned()))
    }

    async fn endpoints(&self, _environment: EnvironmentId) -> Result<Vec<Endpoint>, StoreError> {
        Err(StoreError::Broken("not yet".to_owned()))
    }

    async fn endpoint(
        &self,
        _environment: EnvironmentId,
        _id: EndpointId,
    ) -> Result<Option<Endpoint>, StoreError> {
        Err(StoreError::Broken("not yet".to_owned()))
    }

    async fn change_endpoint(
        &self,
        _environment: EnvironmentId,
        _endpoint: &Endpoint,
    ) -> Result<EndpointChanged, StoreError> {
        Err(StoreError::Broken("not yet".to_owned()))
    }

    async fn remove_endpoint(
        &self,
        _environment: EnvironmentId,
        _id: EndpointId,
    ) -> Result<bool, StoreError> {
        Err(StoreError::Broken("not yet".to_owned()))
    }

    async fn out_events(
        &self,
        _environment: EnvironmentId,
        _query: EventQuery,
        _from: EventsFrom,
        _limit: u32,
    ) -> Result<Vec<OutEvent>, StoreError> {
        Err(StoreError::Broken("not yet".to_owned()))
    }

    async fn out_event(
        &self,
        _environment: EnvironmentId,
        _id: EventId,
    ) -> Result<Option<OutEvent>, StoreError> {
        Err(StoreError::Broken("not yet".to_owned()))
    }

    async fn deliveries(
        &self,
        _environment: EnvironmentId,
        _query: DeliveryQuery,
        _before: Option<(EventId, EndpointId)>,
        _limit: u32,
    ) -> Result<Vec<EventDelivery>, StoreError> {
        Err(StoreError::Broken("not yet".to_owned()))
    }

    async fn claim_deliveries(
        &self,
        _now: Timestamp,
        _until: Timestamp,
        _each: u32,
        _limit: u32,
    ) -> Result<Vec<ClaimedDelivery>, StoreError> {
        Err(StoreError::Broken("not yet".to_owned()))
    }

    async fn settle_delivery(
        &self,
        _environment: EnvironmentId,
        _endpoint: EndpointId,
        _event: EventId,
        _attempted: &Attempted,
    ) -> Result<bool, StoreError> {
        Err(StoreError::Broken("not yet".to_owned()))
    }

    async fn resend(
        &self,
        _environment: EnvironmentId,
        _resend: Resend,
        _now: Timestamp,
        _limit: u32,
    ) -> Result<Resent, StoreError> {
        Err(StoreError::Broken("not yet".to_owned()))
    }
}
