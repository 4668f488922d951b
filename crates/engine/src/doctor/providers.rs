//! Providers: what they lack, what of their configuration is probably not meant, and what their last live check found.

use tollgate_configuration::{ConfigWarning, Provider, WarningKind};

use super::Check;
use crate::{ports::ProviderCheckRecord, snapshot::EnvironmentView};

/// What is configured, and what of it is probably not meant.
pub(super) fn checks(view: &EnvironmentView) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut count = 0_usize;
    for provider in view.configuration.providers.iter() {
        count += 1;
        checks.extend(of_provider(provider));
    }
    if checks.is_empty() {
        checks.push(match count {
            0 => Check::warning(
                "providers",
                "no provider is configured",
                "apply a configuration with `tollgate apply FILE`",
            ),
            1 => Check::ok("providers", "the provider is ready"),
            count => Check::ok("providers", format!("all {count} providers are ready")),
        });
    }
    checks.extend(view.configuration.warnings(&view.environment.name).into_iter().map(warned));
    checks
}

/// Providers that are not called: a configuration of an earlier release may name a host that is not the provider's own.
pub(super) fn other_hosts(view: &EnvironmentView) -> Vec<Check> {
    let elsewhere = view.configuration.providers.iter().filter(|provider| !provider.is_at_own_host());
    let problem = |provider: &Provider| {
        let finding = format!("{} is not called: {} is not its own host", provider.name, provider.address());
        let advice = "remove its baseUrl, or start the server with TOLLGATE_ALLOW_OTHER_PROVIDER_HOSTS=true";
        Check::problem("providers", finding, advice)
    };
    elsewhere.map(problem).collect()
}

/// A mix-up of test and live costs money; the rest is for somebody to look at.
fn warned(warning: ConfigWarning) -> Check {
    let ConfigWarning { path, message, kind } = warning;
    let finding = format!("{path} {message}");
    let advice = "change the configuration, or leave it if it is meant";
    match kind {
        WarningKind::Mode => Check::problem("mode", finding, "change it with `tollgate apply FILE`"),
        WarningKind::Fee | WarningKind::Surcharge => Check::warning("fees", finding, advice),
        WarningKind::PublishableKey => Check::warning("keys", finding, advice),
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
        return vec![Check::warning("live check", finding, again)];
    }
    let failed = checks.iter().filter(|check| !check.ok).map(|check| {
        let finding = format!("{provider}: {}: {}", check.name, check.message);
        Check::problem("live check", finding, check.hint.clone().unwrap_or_else(|| again.clone()))
    });
    let failed: Vec<_> = failed.collect();
    if failed.is_empty() {
        return vec![Check::ok("live check", format!("{provider} passed all {} checks", checks.len()))];
    }
    failed
}

fn of_provider(provider: &Provider) -> Vec<Check> {
    let mut checks = Vec::new();
    let name = &provider.name;
    let to_pay = provider.missing_to_pay();
    if !to_pay.is_empty() {
        let finding = format!("{name} is not ready: it lacks {}", to_pay.join(", "));
        checks.push(Check::problem(
            "providers",
            finding,
            "add it to the configuration; payments routed there are rejected until then",
        ));
    }
    let webhooks: Vec<_> = provider.missing().into_iter().filter(|path| !to_pay.contains(path)).collect();
    if !webhooks.is_empty() {
        let finding = format!("{name} is missing {}", webhooks.join(", "));
        let advice = "without it webhooks are rejected and outcomes are only found by polling; copy it from the provider's dashboard";
        checks.push(Check::warning("webhooks", finding, advice));
    }
    checks
}
