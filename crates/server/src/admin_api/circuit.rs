//! `POST /admin/v1/environments/<id>/providers/<name>/circuit`: an operator decides whether a provider gets new work.

use serde::Deserialize;
use tollgate_configuration::ForcedCircuit;
use utoipa::ToSchema;

use crate::prelude::*;

#[derive(Deserialize, ToSchema)]
#[schema(as = ForceCircuitRequest)]
pub(crate) struct CircuitBody<'a> {
    /// `open`: no new work; `closed`: new work, whatever happens; `automatic`: by how the provider answers.
    #[serde(borrow)]
    #[schema(value_type = words::CircuitDecision, required)]
    state: Raw<'a>,
}

responses! {
    ForcedResponse as ForcedCircuit {
        provider: String,
        state: words::CircuitDecision,
        /// The version of the configuration that says so.
        config_version: u64,
    }
}

pub(crate) async fn force(operator: Operator, body: JsonBody<CircuitBody<'static>>) -> Done<ForcedResponse> {
    let environment = operator.known_environment()?;
    let provider: String = operator.path("provider")?;
    let body = body.bytes(&operator.headers).await?;
    let body: CircuitBody<'_> = body::parse_object(&body)?;
    let mut errors = FieldErrors::default();
    let state = match body.state {
        None => errors.add("state", "is required"),
        raw => {
            let known = "open, closed, automatic";
            fields::word("state", raw, Decision::Automatic, Decision::parse, known, &mut errors)
        }
    };
    let state = match fields::complete(errors, state)? {
        Decision::Force(state) => Some(state),
        Decision::Automatic => None,
    };
    let engine = &operator.app.engine;
    let config_version = engine.force_circuit(environment, &provider, state, operator.origin.clone()).await?;
    let state = state.map_or("automatic", ForcedCircuit::as_str);
    respond::ok(&ForcedResponse { provider, state: state.into(), config_version })
}

/// What an operator decides.
enum Decision {
    Force(ForcedCircuit),
    Automatic,
}

impl Decision {
    fn parse(text: &str) -> Option<Self> {
        if text == "automatic" { Some(Self::Automatic) } else { ForcedCircuit::parse(text).map(Self::Force) }
    }
}
