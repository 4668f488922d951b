//! `GET /admin/v1/environments/<id>/providers`: what is configured, what is missing, where webhooks go.

use tollgate_engine::ProviderIncident;

use crate::prelude::*;

responses! {
    ProviderResponse as Provider {
        name: String,
        adapter: words::Adapter,
        payment_method: words::PaymentMethod,
        /// Whether its configuration is complete, so that payments can be made with it.
        ready: bool,
        /// `ready`, `degraded` (some calls fail) or `down` (it lacks settings, or no call gets through), as this node sees it.
        state: &'static str,
        /// The failures behind `degraded` and `down`.
        incident: Option<IncidentResponse>,
        /// What the configuration lacks, webhook secrets included.
        missing: Vec<String>,
        /// Whether this node gives it new work, by how it has answered lately or by an operator's decision.
        circuit: words::CircuitStatus,
        /// Since when the circuit is open or probing.
        circuit_since: Option<Moment>,
        /// What to give the provider as the address for its webhooks, byte for byte.
        webhook_url: String,
    }

    IncidentResponse as ProviderIncident {
        since: Moment,
        /// The last failure in a few words, such as `payment_intents.create: timed out`.
        last_error: String,
        last_error_at: Moment,
        /// Payments with a call that failed, counted up to a thousand.
        affected_payments: usize,
    }
}

impl From<ProviderIncident> for IncidentResponse {
    fn from(incident: ProviderIncident) -> Self {
        Self {
            since: Moment(incident.since),
            last_error: incident.last_error,
            last_error_at: Moment(incident.last_error_at),
            affected_payments: incident.affected_payments,
        }
    }
}

pub(crate) async fn list(operator: Operator) -> Done<ListResponse<ProviderResponse>> {
    let environment = operator.path("environment")?;
    let engine = &operator.app.engine;
    let snapshot = engine.directory().snapshot();
    let view = snapshot.environment(environment).ok_or_else(not_found_here)?;
    let providers = view.configuration.providers.iter().map(|provider| {
        let readiness = engine.provider_readiness(view, provider);
        let circuit = engine.circuit_status(view, &provider.name);
        ProviderResponse {
            name: provider.name.to_string(),
            adapter: provider.adapter.as_str().into(),
            payment_method: provider.adapter.method().as_str().into(),
            ready: readiness.missing.is_empty(),
            state: readiness.state.as_str(),
            incident: readiness.incident.map(IncidentResponse::from),
            missing: provider.missing(),
            circuit: circuit.as_str().into(),
            circuit_since: circuit.since().map(Moment),
            webhook_url: engine.webhook_url(environment, &provider.name),
        }
    });
    respond::ok(&ListResponse::whole(providers.collect()))
}
