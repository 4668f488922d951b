//! What a transfer would cost and which way it would go, if it were made now.

use std::time::Duration;

use tokio::time::timeout;
use tollgate_domain::{
    Channel,
    ach::TransferRail,
    fee::FeeSnapshot,
    routing::{Decision, RouteAttempt, RouteProgress, Target},
};

use super::{AchProvider, request::TransferError};
use crate::{
    circuits::CircuitOpen,
    engine::Engine,
    quote::{Quote, QuoteRequest, quote},
    route::{FallbackRules, beginning, next_target, skipped},
    snapshot::EnvironmentView,
};

/// How long a preview waits for what a provider's account can originate.
const ASK_TIMEOUT: Duration = Duration::from_secs(2);

/// A transfer that was not made.
#[derive(Debug)]
pub struct Preview {
    /// What decided it.
    pub decision: Decision,
    /// Where it would go.
    pub target: Target,
    /// What was passed over.
    pub route: RouteProgress,
    /// What it would cost.
    pub fee: FeeSnapshot,
}

/// [`Engine::admit`], or [`Engine::would_admit`] where nothing is sent yet.
type Admit = fn(&Engine, &EnvironmentView, &str) -> Result<(), CircuitOpen>;

impl Engine {
    /// Routes and prices a transfer, and checks that its provider is ready. Touches no database. Asks a provider only what its
    /// account can originate, where that decides and is not known here: another node, or this one before it was restarted, may
    /// have learned it.
    pub async fn preview_transfer(
        &self,
        view: &EnvironmentView,
        request: &QuoteRequest,
    ) -> Result<Preview, TransferError> {
        let quoted = quote(&view.configuration, &*self.clock, request)?;
        let rules = FallbackRules::of(view, &quoted);
        let mut ready = self.ready_transfer(view, request, &quoted, rules, &[], Self::would_admit)?;
        // Each provider is asked at most once; one that says nothing in time is offered, as it may well be able to.
        let mut asked: Vec<String> = Vec::new();
        loop {
            let (provider, adapter) = (ready.provider.provider, ready.provider.adapter);
            let name = provider.name.to_string();
            let is_known = ready.target.channel != Channel::Instant || self.knows_instant(provider);
            if is_known || asked.contains(&name) {
                break;
            }
            let learning = self.learn_instant(view.environment.id, provider, adapter);
            drop(timeout(ASK_TIMEOUT, learning).await);
            asked.push(name);
            ready = self.ready_transfer(view, request, &quoted, rules, &[], Self::would_admit)?;
        }
        let (target, fee, route) = (ready.target, ready.fee, ready.route);
        Ok(Preview { decision: Decision::from(quoted.route), target, route, fee })
    }

    /// The first target of a route that is ready, after those that were tried. None of them is asked anything.
    pub(super) fn ready_transfer<'a>(
        &'a self,
        view: &'a EnvironmentView,
        request: &QuoteRequest,
        quoted: &Quote<'_>,
        rules: FallbackRules,
        tried: &[RouteAttempt],
        admit: Admit,
    ) -> Result<ReadyTransfer<'a>, TransferError> {
        let mut route = beginning(quoted, request.card_fee);
        route.attempts.extend_from_slice(tried);
        let (mut target, mut fee) = (quoted.route.target.clone(), quoted.fee);
        let mut first_error = None;
        loop {
            let name = target.provider.to_string();
            if !route.has_tried(&name) {
                let error = match self.ach_provider_for(view, &name, target.channel) {
                    Ok(provider) => match admit(self, view, &name) {
                        Ok(()) => return Ok(ReadyTransfer { provider, target, fee, route }),
                        Err(open) => TransferError::CircuitOpen(open),
                    },
                    Err(error) => error,
                };
                route.attempts.push(skipped(&name, error.to_string()));
                first_error.get_or_insert(error);
            }
            let Some(next) = next_target(&mut route, view, &*self.clock, request, rules) else {
                let missing = Vec::new();
                return Err(first_error.unwrap_or(TransferError::NotConfigured { provider: name, missing }));
            };
            (target, fee) = next;
        }
    }

    /// A provider that is ready for this channel. What every instant rail needs has to be there, and an account that is known
    /// not to originate instant transfers is not ready for them; which rail it is depends on the receiving bank.
    fn ach_provider_for<'a>(
        &'a self,
        view: &'a EnvironmentView,
        name: &str,
        channel: Channel,
    ) -> Result<AchProvider<'a>, TransferError> {
        let not_configured = |missing| TransferError::NotConfigured { provider: name.to_owned(), missing };
        let found = self.ach_provider(view, name).map_err(not_configured)?;
        if channel == Channel::Instant {
            let missing = found.provider.missing_for(TransferRail::RealTimePayments);
            if !missing.is_empty() {
                let paths = missing.into_iter().map(|path| format!("providers.{name}.{path}"));
                return Err(not_configured(paths.collect()));
            }
            self.check_instant(found.provider)?;
        }
        Ok(found)
    }
}

/// A target that is ready to take a transfer, and what it costs there.
pub(super) struct ReadyTransfer<'a> {
    pub(super) provider: AchProvider<'a>,
    pub(super) target: Target,
    pub(super) fee: FeeSnapshot,
    pub(super) route: RouteProgress,
}
