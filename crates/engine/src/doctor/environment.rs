//! What needs a person in one environment. The doctor, the console's overview and its menu all show this, so that they
//! cannot disagree; whatever else should be known about an environment is added here.

use std::time::Duration;

use tollgate_domain::{Timestamp, id::EnvironmentId};

use super::{Area, Check, disputes, providers, returns, unreachable};
use crate::{
    engine::Engine,
    ports::{Attention, Backlog, Endpoint, EnvironmentHealth, HealthQuery, StoreError, WalletHealth},
    snapshot::EnvironmentView,
};

/// What waits is counted up to here.
const MAX_COUNTED: u32 = 1_000;
/// A payment whose outcome is not known after this long will not resolve itself.
const PENDING_TOO_LONG: Duration = Duration::from_hours(24);
/// Fewer failures in a row are not worth reporting.
const NOTABLE_FAILURES: u32 = 3;
/// An endpoint that has failed this often is not coming back by itself.
const MANY_FAILURES: u32 = 20;
const DAY: Duration = Duration::from_hours(24);

impl Engine {
    /// Everything that is known about an environment. A store that does not respond is a finding, not a failure.
    pub async fn environment_checks(&self, view: &EnvironmentView) -> Vec<Check> {
        let mut checks = providers::checks(self, view);
        checks.extend(view.unusable.as_ref().map(|unusable| {
            let finding = format!(
                "this node cannot use configuration {}; {} is in force: {}",
                unusable.version,
                view.config_in_force(),
                unusable.reason
            );
            let advice =
                "upgrade the node: the configuration was probably saved through one of a later release";
            Check::problem("configuration", finding, advice)
        }));
        match self.stored_checks(view).await {
            Ok(found) => checks.extend(found),
            Err(error) => checks.push(unreachable(&error)),
        }
        checks.into_iter().map(|check| check.of(view.environment.id)).collect()
    }

    /// How environments stand: what the checks are made of, and what metrics show.
    pub async fn environment_health(
        &self,
        environments: Vec<EnvironmentId>,
    ) -> Result<Vec<EnvironmentHealth>, StoreError> {
        let now = self.clock.now();
        let spending = now.saturating_sub(DAY)..now;
        let query = HealthQuery { environments, most: MAX_COUNTED, failing_from: NOTABLE_FAILURES, spending };
        self.store.environment_health(&query).await
    }

    /// Due work that no node has claimed.
    pub async fn backlog(&self) -> Result<Vec<Backlog>, StoreError> {
        self.store.backlog(self.clock.now()).await
    }

    /// Units of work that wait for the store on this node.
    pub fn queued_units(&self) -> usize {
        self.store.queued_units()
    }

    async fn stored_checks(&self, view: &EnvironmentView) -> Result<Vec<Check>, StoreError> {
        let (id, now) = (view.environment.id, self.clock.now());
        let mut checks = Vec::new();
        for record in self.store.provider_checks(id).await? {
            checks.extend(providers::last_check(&record, view));
        }
        if let Some(health) = self.environment_health(vec![id]).await?.pop() {
            checks.extend(waiting_checks(&health.attention, now));
            checks.extend(disputes::check(&health.attention, now));
            checks.extend(counted_checks(&health.attention));
            checks.extend(health.wallets.iter().filter_map(wallet_check));
        }
        checks.extend(self.store.endpoints(id).await?.iter().filter_map(endpoint_check));
        let thresholds = &view.configuration.settings.return_rates;
        checks.extend(returns::checks(&self.return_rates(id).await?, thresholds));
        Ok(checks)
    }
}

/// `1 dispute is open`, `3 disputes are open`.
fn sentence(count: u32, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        MAX_COUNTED.. => format!("{count} or more {many}"),
        _ => format!("{count} {many}"),
    }
}

fn waiting_checks(attention: &Attention, now: Timestamp) -> Vec<Check> {
    let kinds = [
        (
            attention.waiting_payments,
            attention.oldest_waiting_payment,
            "card payment is pending",
            "card payments are pending",
        ),
        (
            attention.waiting_transfers,
            attention.oldest_waiting_transfer,
            "transfer is pending",
            "transfers are pending",
        ),
    ];
    let found = kinds.into_iter().filter(|(count, ..)| *count > 0).map(|(count, oldest, one, many)| {
        let advice = "see `tollgate payments list --waiting`";
        let since = oldest.map_or_else(String::new, |oldest| {
            let since = oldest.utc_minute();
            if count == 1 { format!(" since {since}") } else { format!(", the oldest since {since}") }
        });
        let finding = format!("{}{since}", sentence(count, one, many));
        let is_long = oldest.is_some_and(|oldest| oldest.saturating_add(PENDING_TOO_LONG) <= now);
        let check = if is_long {
            Check::problem("payments", finding, advice)
        } else {
            Check::warning("payments", finding, advice)
        };
        check.about(Area::Waiting, count)
    });
    found.collect()
}

fn counted_checks(attention: &Attention) -> Vec<Check> {
    let counted = [
        (
            attention.open_exceptions,
            ("exceptions", Area::Exceptions),
            ("discrepancy with a provider is open", "discrepancies with a provider are open"),
            "review them with `tollgate exceptions list` and resolve each",
        ),
        (
            attention.open_approvals,
            ("approvals", Area::Approvals),
            (
                "transfer, refund, wallet movement or configuration change is waiting for approval",
                "transfers, refunds, wallet movements or configuration changes are waiting for approval",
            ),
            "see `tollgate approvals list`; approve or deny each",
        ),
        (
            attention.parked_deliveries,
            ("events", Area::Deliveries),
            ("delivery failed", "deliveries failed"),
            "`tollgate events deliveries --state parked`, then `tollgate events resend`",
        ),
        (
            attention.disabled_endpoints,
            ("events", Area::Endpoints),
            ("endpoint is disabled", "endpoints are disabled"),
            "see `tollgate endpoints list`; run `tollgate endpoints enable ID` once fixed",
        ),
        (
            attention.waiting_provider_events,
            ("webhooks", Area::Providers),
            ("provider event is waiting to be applied", "provider events are waiting to be applied"),
            "see `tollgate providers events --state waiting`",
        ),
        (
            attention.parked_provider_events,
            ("webhooks", Area::Providers),
            (
                "provider event failed too often and is parked",
                "provider events failed too often and are parked",
            ),
            "see `tollgate providers events --state parked`; retry one with `tollgate providers retry PROVIDER EVENT`",
        ),
    ];
    let found = counted.into_iter().filter(|(count, ..)| *count > 0);
    let check = |(count, (name, area), (one, many), advice)| {
        Check::warning(name, sentence(count, one, many), advice).about(area, count)
    };
    found.map(check).collect()
}

/// An enabled endpoint that does not take what it is sent.
fn endpoint_check(endpoint: &Endpoint) -> Option<Check> {
    if endpoint.disabled.is_some() || endpoint.failures < NOTABLE_FAILURES {
        return None;
    }
    let finding = format!("{} has failed {} times in a row", endpoint.url, endpoint.failures);
    let advice = "see why with `tollgate events deliveries --state waiting`; events are kept and sent again";
    let check = if endpoint.failures >= MANY_FAILURES {
        Check::problem("events", finding, advice)
    } else {
        Check::warning("events", finding, advice)
    };
    Some(check.about(Area::Endpoints, 1))
}

/// A wallet that would not last another day like the last one.
fn wallet_check(wallet: &WalletHealth) -> Option<Check> {
    if !wallet.is_low() {
        return None;
    }
    let currency = wallet.currency;
    let finding = format!(
        "the {currency} wallet has {} available, less than the {} spent in the last 24 hours",
        currency.decimal(wallet.balances.available),
        currency.decimal(wallet.spent)
    );
    let advice = "add funds with `tollgate wallet fund`; transfers are rejected once it is empty";
    Some(Check::warning("wallets", finding, advice).about(Area::Wallets, 1))
}

#[cfg(test)]
mod tests {
    use tollgate_domain::{event::EventFilter, id::EndpointId};

    use super::*;
    use crate::doctor::CheckStatus;

    #[test]
    fn an_endpoint_that_keeps_failing_becomes_a_problem() {
        let at = Timestamp::from_unix_millis(0);
        let endpoint = |failures, disabled: Option<&str>| Endpoint {
            id: EndpointId::from_bytes([1; 16]),
            revision: 0,
            url: "https://shop.example/".to_owned(),
            description: None,
            filter: EventFilter::All,
            disabled: disabled.map(str::to_owned),
            secrets: Vec::new(),
            created_at: at,
            updated_at: at,
            failures,
            rests_until: None,
        };
        for (failures, expected) in [
            (0, None),
            (2, None),
            (3, Some(CheckStatus::Warning)),
            (19, Some(CheckStatus::Warning)),
            (20, Some(CheckStatus::Problem)),
        ] {
            let check = endpoint_check(&endpoint(failures, None));
            assert_eq!(check.map(|check| check.status), expected, "{failures}");
        }
        assert_eq!(endpoint_check(&endpoint(36, Some("by hand"))), None, "counted among the disabled ones");
    }

    #[test]
    fn counts_are_sentences() {
        let said = |count| sentence(count, "dispute is open", "disputes are open");
        assert_eq!((&*said(1), &*said(2)), ("1 dispute is open", "2 disputes are open"));
        assert_eq!(said(1_000), "1000 or more disputes are open");
    }
}
