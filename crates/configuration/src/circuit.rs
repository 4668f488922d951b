//! `settings.circuit`: when a provider that fails gets no new work, and which circuits an operator has forced.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Map, Value, json};
use tollgate_domain::circuit::CircuitSettings;

use crate::{provider::Providers, reader::Node, validation_error::ValidationErrors};

/// A day: beyond it, nobody would call it an outage.
const MAX_SECONDS: u64 = 86_400;
const MAX_CALLS: u64 = 1_000_000;

/// When circuits open.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CircuitConfig {
    pub settings: CircuitSettings,
    /// By provider.
    pub forced: BTreeMap<String, ForcedCircuit>,
}

/// What an operator has decided about a circuit, until it is taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForcedCircuit {
    /// No new work, however well the provider answers.
    Open,
    /// New work, however badly it answers.
    Closed,
}

impl ForcedCircuit {
    pub const ALL: [Self; 2] = [Self::Open, Self::Closed];

    /// The name in documents and in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|forced| forced.as_str() == text)
    }
}

pub(crate) fn read(node: &Node<'_>, providers: &Providers, errors: &mut ValidationErrors) -> CircuitConfig {
    let Some(mut object) = node.object(errors) else { return CircuitConfig::default() };
    let usual = CircuitSettings::default();
    let enabled = object.optional("enabled");
    let window = object.optional("windowSeconds");
    let calls = object.optional("minimumCalls");
    let percent = object.optional("failurePercent");
    let open = object.optional("openSeconds");
    let forced = object.optional("forced");
    object.finish(errors);
    let mut number = |node: Option<Node<'_>>, most: u64, usual: u64| {
        node.and_then(|node| node.integer(1, most, errors)).unwrap_or(usual)
    };
    let settings = CircuitSettings {
        window: Duration::from_secs(number(window, MAX_SECONDS, usual.window.as_secs())),
        minimum_calls: number(calls, MAX_CALLS, usual.minimum_calls),
        failure_percent: number(percent, 100, usual.failure_percent),
        open_for: Duration::from_secs(number(open, MAX_SECONDS, usual.open_for.as_secs())),
        is_enabled: enabled.map_or(Some(true), |node| node.boolean(errors)).unwrap_or(true),
    };
    let forced = forced.map(|node| read_forced(&node, providers, errors)).unwrap_or_default();
    CircuitConfig { settings, forced }
}

fn read_forced(
    node: &Node<'_>,
    providers: &Providers,
    errors: &mut ValidationErrors,
) -> BTreeMap<String, ForcedCircuit> {
    let entries: Vec<_> = node.entries(errors).filter(|(_, node)| !node.value.is_null()).collect();
    let mut forced = BTreeMap::new();
    for (name, node) in entries {
        if providers.get(name).is_none() && !providers.is_faulty(name) {
            node.fault(errors, "unknown provider; name one of this document");
            continue;
        }
        match node.text(20, errors).map(ForcedCircuit::parse) {
            Some(Some(state)) => {
                forced.insert(name.to_owned(), state);
            }
            Some(None) => node.fault(errors, "must be one of: open, closed"),
            None => {}
        }
    }
    forced
}

pub(crate) fn write(circuit: &CircuitConfig) -> Value {
    let CircuitConfig { settings, forced } = circuit;
    let mut written = json!({
        "enabled": settings.is_enabled,
        "windowSeconds": settings.window.as_secs(),
        "minimumCalls": settings.minimum_calls,
        "failurePercent": settings.failure_percent,
        "openSeconds": settings.open_for.as_secs(),
    });
    if let Some(fields) = written.as_object_mut().filter(|_| !forced.is_empty()) {
        let forced = forced.iter().map(|(name, state)| (name.clone(), json!(state.as_str())));
        fields.insert("forced".to_owned(), Value::Object(forced.collect::<Map<_, _>>()));
    }
    written
}
