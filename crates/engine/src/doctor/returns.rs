//! How many bank transfers come back, against the thresholds of the environment.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tollgate_domain::{
    Timestamp,
    ach::{ReturnKind, ReturnRates, ReturnThresholds},
    id::EnvironmentId,
};

use super::{Area, Check};
use crate::{engine::Engine, ports::StoreError};

/// What the network's rules look at.
const WINDOW: Duration = Duration::from_hours(24 * 60);
/// How old a rate may be that a metric shows.
const LASTS: Duration = Duration::from_mins(10);

/// The rates as this node last counted them.
#[derive(Debug, Default)]
pub(crate) struct KnownReturnRates(Mutex<BTreeMap<EnvironmentId, (Timestamp, ReturnRates)>>);

impl Engine {
    /// The share of an environment's transfers that came back over 60 days.
    pub async fn return_rates(&self, environment: EnvironmentId) -> Result<ReturnRates, StoreError> {
        let now = self.clock.now();
        let counts = self.store.return_counts(environment, now.saturating_sub(WINDOW), now).await?;
        let by_code = counts.by_code.iter().map(|(code, count)| (code.as_str(), *count));
        let rates = ReturnRates::of(counts.sent, by_code);
        let mut known = self.known_return_rates.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(environment, (now, rates));
        Ok(rates)
    }

    /// The rates of these environments, at most minutes old. Where the store does not respond, as they were.
    pub async fn recent_return_rates(
        &self,
        environments: impl IntoIterator<Item = EnvironmentId>,
    ) -> Vec<(EnvironmentId, ReturnRates)> {
        let mut recent = Vec::new();
        for environment in environments {
            let known = {
                let known = self.known_return_rates.0.lock().unwrap_or_else(PoisonError::into_inner);
                known.get(&environment).copied()
            };
            let is_fresh = |(at, _): &(Timestamp, ReturnRates)| at.saturating_add(LASTS) > self.clock.now();
            let rates = match known.filter(is_fresh) {
                Some((_, rates)) => Some(rates),
                None => self.return_rates(environment).await.ok().or(known.map(|(_, rates)| rates)),
            };
            recent.extend(rates.map(|rates| (environment, rates)));
        }
        recent
    }
}

/// Nothing where no transfer was sent.
pub(super) fn checks(rates: &ReturnRates, thresholds: &ReturnThresholds) -> Vec<Check> {
    if rates.sent == 0 {
        return Vec::new();
    }
    let exceeded: Vec<_> =
        ReturnKind::ALL.into_iter().filter(|kind| rates.exceeds(*kind, thresholds)).collect();
    if exceeded.is_empty() {
        let [administrative, unauthorized] = ReturnKind::ALL.map(|kind| percent(rates.bps(kind)));
        let finding = format!(
            "of {} transfers in 60 days, {administrative} came back for administrative reasons and {unauthorized} as unauthorized",
            rates.sent
        );
        return vec![Check::ok("returns", finding)];
    }
    let problem = |kind: ReturnKind| {
        let finding = format!(
            "{} of the {} transfers of the last 60 days came back ({}: {}), more than the threshold of {}",
            rates.returned(kind),
            rates.sent,
            kind.as_str(),
            percent(rates.bps(kind)),
            percent(thresholds.bps(kind)),
        );
        let advice = match kind {
            ReturnKind::Administrative => {
                "verify account details before sending; see the reasons with `tollgate payments list --status failed`"
            }
            ReturnKind::Unauthorized => {
                "stop transfers without proof of authorization; see them with `tollgate payments list --status failed`"
            }
        };
        Check::problem("returns", finding, advice).about(Area::Providers, 1)
    };
    exceeded.into_iter().map(problem).collect()
}

/// `0.5 %`, `12 %`.
fn percent(bps: u64) -> String {
    let (whole, rest) = (bps / 100, bps % 100);
    match rest {
        0 => format!("{whole} %"),
        rest if rest % 10 == 0 => format!("{whole}.{} %", rest / 10),
        rest => format!("{whole}.{rest:02} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::CheckStatus;

    #[test]
    fn rates_are_told_in_percent() {
        for (bps, expected) in [(0, "0 %"), (50, "0.5 %"), (305, "3.05 %"), (1_200, "12 %")] {
            assert_eq!(percent(bps), expected);
        }
    }

    #[test]
    fn only_what_exceeds_its_threshold_is_a_problem() {
        let thresholds = ReturnThresholds::default();
        assert_eq!(checks(&ReturnRates::default(), &thresholds), []);
        let fine = checks(&ReturnRates { sent: 1_000, administrative: 30, unauthorized: 5 }, &thresholds);
        assert_eq!(fine.iter().map(|check| check.status).collect::<Vec<_>>(), [CheckStatus::Ok]);
        let bad = checks(&ReturnRates { sent: 1_000, administrative: 30, unauthorized: 8 }, &thresholds);
        let [check] = bad.as_slice() else { panic!("{bad:?}") };
        assert_eq!(check.status, CheckStatus::Problem);
        assert_eq!(
            check.finding,
            "8 of the 1000 transfers of the last 60 days came back (unauthorized: 0.8 %), more than the threshold of 0.5 %"
        );
    }
}
