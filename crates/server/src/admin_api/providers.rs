//! `GET /admin/v1/environments/<id>/providers`: what is configured, what is missing, where webhooks go.

use serde::Serialize;
use tollgate_engine::ProviderIncident;
use utoipa::ToSchema;

use crate::{
    admin_api::{
        operator::{Operator, not_found_here},
        paging::ListResponse,
    },
    json::timestamp::rfc3339,
    reference::{scalars, words},
    response::respond::{self, ApiResult},
};

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Provider)]
pub(crate) struct ProviderResponse {
    name: String,
    #[schema(value_type = words::Adapter)]
    adapter: &'static str,
    #[schema(value_type = words::PaymentMethod)]
    payment_method: &'static str,
    /// Whether its configuration is complete, so that payments can be made with it.
    ready: bool,
    /// `ready`, `degraded` (some calls fail) or `down` (it lacks settings, or no call gets through), as this node sees it.
    state: &'static str,
    /// The failures behind `degraded` and `down`.
    incident: Option<IncidentResponse>,
    /// What the configuration lacks, webhook secrets included.
    missing: Vec<String>,
    /// Whether this node gives it new work, by how it has answered lately or by an operator's decision.
    #[schema(value_type = words::CircuitStatus)]
    circuit: &'static str,
    /// Since when the circuit is open or probing.
    #[schema(value_type = Option<scalars::Moment>, required)]
    circuit_since: Option<String>,
    /// What to give the provider as the address for its webhooks, byte for byte.
    webhook_url: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProviderIncident)]
pub(crate) struct IncidentResponse {
    #[schema(value_type = scalars::Moment)]
    since: String,
    /// The last failure in a few words, such as `payment_intents.create: timed out`.
    last_error: String,
    #[schema(value_type = scalars::Moment)]
    last_error_at: String,
    /// Payments with a call that failed, counted up to a thousand.
    affected_payments: usize,
}

impl From<ProviderIncident> for IncidentResponse {
    fn from(incident: ProviderIncident) -> Self {
        Self {
            since: rfc3339(incident.since),
            last_error: incident.last_error,
            last_error_at: rfc3339(incident.last_error_at),
            affected_payments: incident.affected_payments,
        }
    }
}

pub(crate) async fn list(operator: Operator) -> ApiResult {
    let environment = operator.path("environment")?;
    let engine = &operator.app.engine;
    let snapshot = engine.directory().snapshot();
    let view = snapshot.environment(environment).ok_or_else(not_found_here)?;
    let providers = view.configuration.providers.iter().map(|provider| {
        let readiness = engine.provider_readiness(view, provider);
        let circuit = engine.circuit_status(view, &provider.name);
        ProviderResponse {
            name: provider.name.to_string(),
            adapter: provider.adapter.as_str(),
            payment_method: provider.adapter.method().as_str(),
            ready: readiness.missing.is_empty(),
            state: readiness.state.as_str(),
            incident: readiness.incident.map(IncidentResponse::from),
            missing: provider.missing(),
            circuit: circuit.as_str(),
            circuit_since: circuit.since().map(rfc3339),
            webhook_url: engine.webhook_url(environment, &provider.name),
        }
    });
    respond::ok(&ListResponse::whole(providers.collect()))
}
