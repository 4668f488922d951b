//! `GET /admin/v1/environments/<id>/providers`: what is configured, what is missing, where webhooks go.

use serde::Serialize;
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
    /// Whether payments can be made with it.
    ready: bool,
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

pub(crate) async fn list(operator: Operator) -> ApiResult {
    let environment = operator.path("environment")?;
    let engine = &operator.app.engine;
    let snapshot = engine.directory().snapshot();
    let view = snapshot.environment(environment).ok_or_else(not_found_here)?;
    let providers = view.configuration.providers.iter().map(|provider| {
        let circuit = engine.circuit_status(view, &provider.name);
        ProviderResponse {
            name: provider.name.to_string(),
            adapter: provider.adapter.as_str(),
            payment_method: provider.adapter.method().as_str(),
            ready: provider.missing_to_pay().is_empty(),
            missing: provider.missing(),
            circuit: circuit.as_str(),
            circuit_since: circuit.since().map(rfc3339),
            webhook_url: engine.webhook_url(environment, &provider.name),
        }
    });
    respond::ok(&ListResponse::whole(providers.collect()))
}
