//! How a node behaves; the defaults suit production.

use std::{sync::Arc, time::Duration};

use tollgate_configuration::built_in_fee_rules;
use tollgate_domain::card_fee::Rules;

/// How long a request that writes may take to learn what became of a commit whose answer was lost.
pub const DEFAULT_REQUEST_DEADLINE: Duration = Duration::from_secs(30);

/// Settings of the engine.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where this service is reached from outside, without a slash at the end. Webhook addresses begin with it.
    pub public_url: String,
    /// How long a request that writes may take to learn what became of a commit whose answer was lost.
    pub request_deadline: Duration,
    /// Whether providers may be configured at hosts that are not their own.
    pub allow_other_provider_hosts: bool,
    /// What networks and laws say about card fees.
    pub fee_rules: Arc<Rules>,
    /// The background work.
    pub resolver: ResolverOptions,
    /// Telling callers.
    pub outbox: OutboxOptions,
}

/// When the resolver looks after what nobody else finishes.
#[derive(Debug, Clone, Copy)]
pub struct ResolverOptions {
    /// How often due work is looked for while there is none.
    pub poll: Duration,
    /// How long whoever works on something has for it, before another node may take over. Longer than a provider call
    /// with all its tries may take.
    pub lease: Duration,
    /// When a payment is first looked up at its provider although nothing was heard of it; later looks come three
    /// times as late each, six hours at most.
    pub first_check: Duration,
    /// When something whose outcome is unknown is first asked about again; later tries come twice as late each, ten
    /// minutes at most.
    pub first_retry: Duration,
}

impl Default for ResolverOptions {
    fn default() -> Self {
        Self {
            poll: Duration::from_millis(500),
            lease: Duration::from_secs(45),
            first_check: Duration::from_mins(1),
            first_retry: Duration::from_secs(2),
        }
    }
}

/// How and when callers are notified.
#[derive(Debug, Clone, Copy)]
pub struct OutboxOptions {
    /// How often due deliveries are looked for while there are none. What is written on this node goes at once.
    pub poll: Duration,
    /// How long whoever took a delivery has for it, before another node may take over. Longer than `timeout`.
    pub lease: Duration,
    /// How long a delivery may take, from the look-up of the name to the end of the answer.
    pub timeout: Duration,
    /// The pause after a delivery first failed; all later pauses grow from it.
    pub first_retry: Duration,
    /// How long a delivery is tried before it is parked.
    pub span: Duration,
    /// How often written events are taken into the index while there are none.
    pub digest_poll: Duration,
    /// Whether events may go to addresses that are not public, and over plain http.
    pub allow_private: bool,
}

impl Default for OutboxOptions {
    fn default() -> Self {
        Self {
            poll: Duration::from_millis(500),
            lease: Duration::from_secs(45),
            timeout: Duration::from_secs(15),
            first_retry: Duration::from_secs(5),
            span: Duration::from_hours(72),
            digest_poll: Duration::from_millis(500),
            allow_private: false,
        }
    }
}

impl Options {
    /// The defaults, at this address.
    pub fn at(public_url: impl Into<String>) -> Self {
        let public_url = public_url.into().trim_end_matches('/').to_owned();
        Self {
            public_url,
            request_deadline: DEFAULT_REQUEST_DEADLINE,
            allow_other_provider_hosts: false,
            fee_rules: built_in_fee_rules(),
            resolver: ResolverOptions::default(),
            outbox: OutboxOptions::default(),
        }
    }
}
