//! Bank transfers: out of the wallet, once per caller's key, and followed until nothing more can happen to them.
//!
//! Funds are set aside and the transfer is recorded in one unit before the provider hears of it, under a key that any
//! node can make again. An outcome that is unknown stays so until the provider has told it.

mod account;
pub(crate) mod account_keys;
mod approval;
mod cancel;
mod corrections;
mod event;
mod fingerprint;
mod never_sent;
mod preview;
pub(crate) mod rail;
mod reads;
mod replay;
mod request;
mod resolve;
mod send_lines;
mod sending;
mod tokens;
mod transfer;
mod update;

use tollgate_configuration::{Adapter, Provider};

use crate::{engine::Engine, ports::AchTransfers, snapshot::EnvironmentView};

pub(crate) use account::account_context;
pub use cancel::{CancelError, TransferCanceled};
pub use corrections::{CorrectedAccount, notifications_of_change};
pub(crate) use corrections::{SEALED_NUMBER, correction_context};
pub use preview::Preview;
pub use reads::TransferRead;
pub use request::{Bank, TransferCreated, TransferError, TransferRequest};
pub use tokens::{CustomerToken, IssueTokenError, IssuedToken, TokenError};

/// How often a decision is made again because the transfer changed meanwhile.
const MAX_ROUNDS: usize = 16;

/// A provider that can pay out, and the adapter for it.
struct AchProvider<'a> {
    provider: &'a Provider,
    adapter: &'a dyn AchTransfers,
}

impl Engine {
    /// The provider of this name, if it is configured completely enough to pay out; otherwise what is missing.
    fn ach_provider<'a>(
        &'a self,
        view: &'a EnvironmentView,
        name: &str,
    ) -> Result<AchProvider<'a>, Vec<String>> {
        let provider = view.configuration.providers.get(name);
        let provider = provider.ok_or_else(|| vec![format!("providers.{name}")])?;
        let missing = provider.missing_to_pay();
        if !missing.is_empty() {
            return Err(missing.into_iter().map(|path| format!("providers.{name}.{path}")).collect());
        }
        let adapter = self.adapters.capabilities(provider.adapter).transfers;
        let adapter = adapter.ok_or_else(|| vec![format!("providers.{name}.adapter")])?;
        Ok(AchProvider { provider, adapter })
    }

    /// The provider a transfer was made with, as it is configured now.
    fn provider_of_transfer<'a>(
        &'a self,
        view: &'a EnvironmentView,
        name: &str,
        adapter: &str,
    ) -> Result<AchProvider<'a>, Vec<String>> {
        let found = self.ach_provider(view, name)?;
        if Adapter::parse(adapter) != Some(found.provider.adapter) {
            return Err(vec![format!("providers.{name}.adapter")]);
        }
        Ok(found)
    }
}
