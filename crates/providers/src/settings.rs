//! How long to wait, how often to try, and which versions of the adapters to ask for.

use std::time::Duration;

/// How providers are called. The same for every provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderSettings {
    /// How long one exchange may take, from the first byte out to the last byte in.
    pub attempt_timeout: Duration,
    /// How long everything one call of a port does may take: all tries of all its exchanges together.
    pub deadline: Duration,
    /// How often one exchange is tried at most.
    pub tries_max: u32,
    /// How long a connection may take to be made, TLS included. Running out of it sends nothing.
    pub connect_timeout: Duration,
    /// The pause before the second try; it doubles with each further one. Up to half of it is left out at random.
    pub backoff_first: Duration,
    /// The longest pause, unless the provider asks for a longer one.
    pub backoff_max: Duration,
    /// Whether hosts that are not the providers' own are called, on private addresses and over plain http too.
    pub allow_other_hosts: bool,
    /// The `Stripe-Version` to ask for. Webhook endpoints should be created with the same one.
    pub stripe_version: String,
    /// The `Square-Version` to ask for.
    pub square_version: String,
}

impl Default for ProviderSettings {
    fn default() -> Self {
        Self {
            attempt_timeout: Duration::from_secs(8),
            deadline: Duration::from_secs(20),
            tries_max: 3,
            connect_timeout: Duration::from_secs(3),
            backoff_first: Duration::from_millis(500),
            backoff_max: Duration::from_secs(4),
            allow_other_hosts: false,
            stripe_version: "2026-10-28.endive".to_owned(),
            square_version: "2026-09-16".to_owned(),
        }
    }
}
