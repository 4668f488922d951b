//! The providers' APIs, as the engine's ports.
//!
//! One folder per wire, with the same files in each: `NAME.rs` carries out what the engine asks, `request.rs` writes what
//! is sent, `types.rs` reads what comes back, `status.rs` is the table from the provider's words to ours, `rejection.rs` does
//! the same for its errors, `call.rs` addresses and judges one exchange, `webhook.rs` verifies and translates. What the
//! adapters share stands beside them: one HTTP client, one way to try again, one list of failure codes.
//!
//! Nothing here stores anything, and nothing here decides what a payment's status becomes.

mod adyen;
mod amount;
mod ascii;
mod check;
mod failure;
mod increase;
mod mask;
mod metadata;
mod modern_treasury;
mod payment_card;
mod retry;
mod settings;
mod signature;
mod square;
mod stripe;
mod text;
mod transfer_text;

use std::sync::Arc;

use tollgate_configuration::Adapter;
use tollgate_domain::public_address::is_public;
use tollgate_engine::ports::{Adapters, Capabilities};
use tollgate_http::{Destinations, HttpClient};

use crate::{
    adyen::Adyen, increase::Increase, modern_treasury::ModernTreasury, square::Square, stripe::Stripe,
};

pub use settings::ProviderSettings;

/// More than any answer these adapters give.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// Why the adapters cannot be used at all.
#[derive(Debug, thiserror::Error)]
#[error("TLS could not be set up")]
pub struct SetupError(#[from] rustls::Error);

/// Every wire there is, over one HTTP client that keeps its connections.
#[derive(Debug)]
pub struct Providers {
    stripe: Stripe,
    square: Square,
    adyen: Adyen,
    increase: Increase,
    modern_treasury: ModernTreasury,
}

impl Providers {
    /// Makes the client; connects to nobody yet. Reads the system's certificates, so make it once.
    pub fn new(settings: ProviderSettings) -> Result<Self, SetupError> {
        let own_hosts = Destinations {
            hosts: Adapter::ALL.into_iter().flat_map(Adapter::hosts).collect(),
            is_allowed: is_public,
        };
        let only = (!settings.allow_other_hosts).then_some(own_hosts);
        let http = Arc::new(HttpClient::new(settings.connect_timeout, ANSWER_BYTES_MAX, only)?);
        let settings = Arc::new(settings);
        let stripe = Stripe::new(Arc::clone(&http), Arc::clone(&settings));
        let square = Square::new(Arc::clone(&http), Arc::clone(&settings));
        let adyen = Adyen::new(Arc::clone(&http), Arc::clone(&settings));
        let increase = Increase::new(Arc::clone(&http), Arc::clone(&settings));
        Ok(Self { stripe, square, adyen, increase, modern_treasury: ModernTreasury::new(http, settings) })
    }
}

impl Adapters for Providers {
    fn capabilities(&self, adapter: Adapter) -> Capabilities<'_> {
        match adapter {
            Adapter::Stripe => Capabilities::of_cards(&self.stripe),
            Adapter::Square => Capabilities::of_cards(&self.square),
            Adapter::Adyen => Capabilities::of_cards(&self.adyen),
            Adapter::Increase => Capabilities::of_transfers(&self.increase),
            Adapter::ModernTreasury => Capabilities::of_transfers(&self.modern_treasury),
        }
    }
}
