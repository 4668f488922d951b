//! Providers: what they lack, what of their configuration is probably not meant, and what their last live check found.

use tollgate_configuration::{ConfigWarning, ForcedCircuit, Provider, WarningKind};

use super::{Area, Check};
use crate::{
    circuits::CircuitStatus,
    engine::Engine,
    ports::ProviderCheckRecord,
    provider_health::{ProviderIncident, ProviderState},
    snapshot::EnvironmentView,
};

/// Whether payments can be made with a provider, and why not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderReadiness {
    pub state: ProviderState,
    /// What the configuration lacks, so that it is not called at all.
    pub missing: Vec<String>,
    /// It is configured at a host that is not its own, which this server does not allow.
    pub is_at_other_host: bool,
    /// The failures of its last calls, as this node sees them.
    pub incident: Option<ProviderIncident>,
    /// Whether it gets new payments, as this node sees it.
    pub circuit: CircuitStatus,
}

impl Engine {
    /// Whether payments can be made with a provider of this environment: the one answer for doctor, console and API.
    pub fn provider_readiness(&self, view: &EnvironmentView, provider: &Provider) -> ProviderReadiness {
        let missing = provider.missing_to_pay();
        let is_at_other_host = !self.options.allow_other_provider_hosts && !provider.is_at_own_host();
        let incident = self.provider_watch.incident(view.environment.id, &provider.name, self.clock.now());
        let circuit = self.circuit_status(view, &provider.name);
        let is_open = matches!(
            circuit,
            CircuitStatus::Open { .. }
                | CircuitStatus::Probing { .. }
                | CircuitStatus::Forced(ForcedCircuit::Open)
        );
        let state = if !missing.is_empty() || is_at_other_host || is_open {
            ProviderState::Down
        } else {
            incident.as_ref().map_or(ProviderState::Ready, |incident| incident.state)
        };
        ProviderReadiness { state, missing, is_at_other_host, incident, circuit }
    }
}

/// What is configured, and what of it is probably not meant.
pub(super) fn checks(engine: &Engine, view: &EnvironmentView) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut count = 0_usize;
    for provider in view.configuration.providers.iter() {
        count += 1;
        checks.extend(of_provider(provider, &engine.provider_readiness(view, provider)));
    }
    if checks.is_empty() {
        checks.push(match count {
            0 => Check::warning(
                "providers",
                "no provider is configured",
                "apply a configuration with `tollgate apply FILE`",
            )
            .about(Area::Providers, 1),
            1 => Check::ok("providers", "the provider is ready"),
            count => Check::ok("providers", format!("all {count} providers are ready")),
        });
    }
    checks.extend(
        view.configuration
            .warnings(&view.environment.name, engine.clock().now().utc_date())
            .into_iter()
            .map(warned),
    );
    checks
}

/// A mix-up of test and live costs money; the rest is for somebody to look at.
fn warned(warning: ConfigWarning) -> Check {
    let ConfigWarning { path, message, kind } = warning;
    let finding = format!("{path} {message}");
    let advice = "change the configuration, or leave it if it is meant";
    match kind {
        WarningKind::Mode => {
            Check::problem("mode", finding, "change it with `tollgate apply FILE`").about(Area::Providers, 1)
        }
        WarningKind::Fee | WarningKind::CardFee => {
            Check::warning("fees", finding, advice).about(Area::Routing, 1)
        }
        WarningKind::PublishableKey => Check::warning("keys", finding, advice).about(Area::Keys, 1),
        WarningKind::ApiVersion => Check::warning(
            "API version",
            finding,
            "apply the configuration without it with `tollgate apply FILE`",
        )
        .about(Area::Providers, 1),
        WarningKind::Approval => Check::warning("approvals", finding, advice).about(Area::Routing, 1),
    }
}

/// What the last live check of a provider found; nothing of one that is not configured anymore.
pub(super) fn last_check(record: &ProviderCheckRecord, view: &EnvironmentView) -> Vec<Check> {
    let ProviderCheckRecord { provider, config_version, checks, .. } = record;
    if view.configuration.providers.get(provider).is_none() {
        return Vec::new();
    }
    let again = format!("run `tollgate providers test {provider}`");
    if *config_version != view.config_version {
        let finding = format!(
            "{provider} was last tested with version {config_version}, and version {} is current",
            view.config_version
        );
        return vec![Check::warning("live check", finding, again).about(Area::Providers, 1)];
    }
    let failed = checks.iter().filter(|check| !check.ok).map(|check| {
        let finding = format!("{provider}: {}: {}", check.name, check.message);
        let advice = check.hint.clone().unwrap_or_else(|| again.clone());
        Check::problem("live check", finding, advice).about(Area::Providers, 1)
    });
    let failed: Vec<_> = failed.collect();
    if failed.is_empty() {
        return vec![Check::ok("live check", format!("{provider} passed all {} checks", checks.len()))];
    }
    failed
}

/// A provider that gets no new payments, whether or not it fails.
fn of_circuit(name: &str, circuit: CircuitStatus) -> Option<Check> {
    match circuit {
        CircuitStatus::Closed | CircuitStatus::Forced(ForcedCircuit::Closed) => None,
        CircuitStatus::Open { since } | CircuitStatus::Probing { since } => {
            let finding = format!("the circuit of {name} has been open since {}", since.utc_minute());
            let advice =
                "new payments go to fallbacks, or are answered 503, until the provider answers again";
            Some(Check::problem("circuits", finding, advice))
        }
        CircuitStatus::Forced(ForcedCircuit::Open) => {
            let finding = format!("an operator forced the circuit of {name} open: it gets no new payments");
            let advice =
                format!("run `tollgate providers circuit {name} automatic` once it should get them again");
            Some(Check::warning("circuits", finding, advice))
        }
    }
}

fn of_provider(provider: &Provider, readiness: &ProviderReadiness) -> Vec<Check> {
    let mut checks = Vec::new();
    let name = &provider.name;
    let ProviderReadiness { missing: to_pay, is_at_other_host, incident, circuit, .. } = readiness;
    if !to_pay.is_empty() {
        let finding = format!("{name} is not ready: it lacks {}", to_pay.join(", "));
        checks.push(Check::problem(
            "providers",
            finding,
            "add it to the configuration; payments routed there are rejected until then",
        ));
    }
    if *is_at_other_host {
        let finding = format!("{name} is not called: {} is not its own host", provider.address());
        let advice = "remove its baseUrl, or start the server with TOLLGATE_ALLOW_OTHER_PROVIDER_HOSTS=true";
        checks.push(Check::problem("providers", finding, advice));
    }
    if let Some(incident) = incident {
        let (state, affected) = (incident.state.as_str(), incident.affected_payments);
        let payments = if affected == 1 { "1 payment".to_owned() } else { format!("{affected} payments") };
        let finding = format!(
            "{name} is {state} since {}: {payments} affected; last error: {}",
            incident.since.utc_minute(),
            incident.last_error
        );
        let advice = "check the provider's status page; route new payments to another provider if it lasts";
        checks.push(match incident.state {
            ProviderState::Down => Check::problem("providers", finding, advice),
            ProviderState::Ready | ProviderState::Degraded => Check::warning("providers", finding, advice),
        });
    }
    checks.extend(of_circuit(name, *circuit));
    let webhooks: Vec<_> = provider.missing().into_iter().filter(|path| !to_pay.contains(path)).collect();
    if !webhooks.is_empty() {
        let finding = format!("{name} is missing {}", webhooks.join(", "));
        let advice = "without it webhooks are rejected and outcomes are only found by polling; copy it from the provider's dashboard";
        checks.push(Check::warning("webhooks", finding, advice));
    }
    checks.into_iter().map(|check| check.about(Area::Providers, 1)).collect()
}
