//! Events, endpoints and deliveries.

use async_trait::async_trait;
use tollgate_domain::{
    Timestamp,
    id::{EndpointId, EnvironmentId, EventId},
};
use tollgate_engine::ports::{
    Attempted, ClaimedDelivery, DeliveryQuery, Endpoint, EndpointAdded, EndpointChanged, EndpointEffect,
    Event, EventDelivery, EventQuery, EventsFrom, NewAuditHeadEvent, NewCircuitEvent, OutboxStore, Resend,
    Resent, StoreError,
};

use super::{SqlStore, port};
use crate::{
    session::{Dialect, Driver, Session, run},
    units::{audit_head_events, circuit_events, deliveries, endpoints, out_events, resend},
};

port! {
    impl OutboxStore {
        Write endpoints::add => add_endpoint(
            environment: EnvironmentId, endpoint: &Endpoint, most: u32
        ) -> EndpointAdded;
        Read endpoints::list => endpoints(environment: EnvironmentId) -> Vec<Endpoint>;
        Read endpoints::find => endpoint(environment: EnvironmentId, id: EndpointId) -> Option<Endpoint>;
        Write endpoints::change => change_endpoint(
            environment: EnvironmentId, endpoint: &Endpoint
        ) -> EndpointChanged;
        Write endpoints::remove => remove_endpoint(environment: EnvironmentId, id: EndpointId) -> bool;

        Read out_events::find => find_event(environment: EnvironmentId, id: EventId) -> Option<Event>;
        Read circuit_events::last => last_circuit_event(environment: EnvironmentId, provider: &str) -> Option<Event>;
        Write circuit_events::append => append_circuit_event(
            environment: EnvironmentId, event: &NewCircuitEvent, last: Option<EventId>
        ) -> bool;
        Read audit_head_events::subscribers => audit_head_subscribers() -> Vec<EnvironmentId>;
        Write audit_head_events::append => append_audit_head_event(
            environment: EnvironmentId, event: &NewAuditHeadEvent, unless_since: Timestamp
        ) -> bool;
        Read deliveries::list => deliveries(
            environment: EnvironmentId, query: DeliveryQuery, before: Option<(EventId, EndpointId)>, limit: u32
        ) -> Vec<EventDelivery>;
        Write resend::resend => resend(
            environment: EnvironmentId, resend: Resend, now: Timestamp, limit: u32
        ) -> Resent;
    } and {
        async fn list_events(
            &self,
            environment: EnvironmentId,
            query: EventQuery,
            from: EventsFrom,
            limit: u32,
        ) -> Result<Option<Vec<Event>>, StoreError> {
            self.driver.number_events(Some(environment)).await?;
            run!(self.driver, Read, out_events::list(environment, query, from, limit)).await
        }

        async fn claim_deliveries(
            &self,
            now: Timestamp,
            until: Timestamp,
            each: u32,
            limit: u32,
        ) -> Result<Vec<ClaimedDelivery>, StoreError> {
            // PostgreSQL finds out in the first statement of the claim itself.
            if D::Session::DIALECT == Dialect::Sqlite
                && !run!(self.driver, Read, deliveries::is_any_due(now)).await?
            {
                return Ok(Vec::new());
            }
            run!(self.driver, WriteByIndex, deliveries::claim(now, until, each, limit)).await
        }

        async fn settle_delivery(
            &self,
            environment: EnvironmentId,
            endpoint: EndpointId,
            event: EventId,
            attempted: &Attempted,
        ) -> Result<bool, StoreError> {
            if attempted.endpoint == EndpointEffect::Answers {
                let settled =
                    run!(self.driver, WriteOnce, deliveries::settle_answered(environment, endpoint, event, &attempted));
                return settled.await;
            }
            run!(self.driver, Write, deliveries::settle_failed(environment, endpoint, event, &attempted)).await
        }
    }
}
