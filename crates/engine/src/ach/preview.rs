//! What a transfer would cost and which way it would go, if it were made now.

use tollgate_domain::{Channel, ach::TransferRail, fee::FeeSnapshot, routing::Decision};

use super::request::TransferError;
use crate::{
    engine::Engine,
    quote::{QuoteRequest, quote},
    snapshot::EnvironmentView,
};

/// A transfer that was not made.
#[derive(Debug)]
pub struct Preview {
    /// Where it would go.
    pub decision: Decision,
    /// What it would cost.
    pub fee: FeeSnapshot,
}

impl Engine {
    /// Routes and prices a transfer, and checks that its provider is ready. Touches no database and asks nobody.
    pub fn preview_transfer(
        &self,
        view: &EnvironmentView,
        request: &QuoteRequest,
    ) -> Result<Preview, TransferError> {
        let quoted = quote(&view.configuration, request)?;
        let decision = Decision::from(quoted.route);
        let name = &decision.target.provider;
        let not_configured =
            |missing: Vec<String>| TransferError::NotConfigured { provider: name.to_string(), missing };
        let found = self.ach_provider(view, name).map_err(not_configured)?;
        if decision.target.channel == Channel::Instant {
            // What every instant rail needs; which one it is depends on the receiving bank.
            let missing = found.provider.missing_for(TransferRail::RealTimePayments);
            if !missing.is_empty() {
                let paths = missing.into_iter().map(|path| format!("providers.{name}.{path}"));
                return Err(not_configured(paths.collect()));
            }
        }
        Ok(Preview { fee: quoted.fee, decision })
    }
}
