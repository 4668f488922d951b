//! `POST /admin/v1/environments/<id>/providers/<name>/circuit`: an operator decides whether a provider gets new work.

use serde_json::value::RawValue;
use tollgate_configuration::ForcedCircuit;

use crate::{json::text::JsonText, prelude::*};

requests! {
    CircuitBody as ForceCircuitRequest {
        /// `open`: no new work; `closed`: new work, whatever happens; `automatic`: by how the provider answers.
        state: words::CircuitDecision,
    }
}

responses! {
    ForcedResponse as ForcedCircuit {
        provider: String,
        state: words::CircuitDecision,
        /// The version of the configuration that says so.
        config_version: u64,
    }
}

pub(crate) async fn force(operator: Operator, body: JsonBody<CircuitBody>) -> Done<ForcedResponse> {
    let environment = operator.known_environment()?;
    let provider: String = operator.path("provider")?;
    let CircuitBody { state } = body.read(&operator).await?;
    let engine = &operator.app.engine;
    let config_version = engine.force_circuit(environment, &provider, state, operator.origin.clone()).await?;
    let state = state.map_or("automatic", ForcedCircuit::as_str);
    respond::ok(&ForcedResponse { provider, state: state.into(), config_version })
}

impl Field for words::CircuitDecision {
    /// `None` for `automatic`.
    type Value = Option<ForcedCircuit>;

    fn read(name: &'static str, raw: &RawValue, form: &mut Form<'_>) -> Option<Self::Value> {
        let decision = match JsonText::of(raw) {
            JsonText::String(text) if text == "automatic" => Some(None),
            JsonText::String(text) => ForcedCircuit::parse(&text).map(Some),
            _ => None,
        };
        decision.or_else(|| form.errors.add(name, "must be one of: open, closed, automatic"))
    }
}
