//! The `settings` section.

use serde_json::{Value, json};

use crate::{fault::Faults, reader::Node};

/// Ten years, beyond which a lifetime is surely a slip of the hand.
const LONGEST_LIFETIME_SECONDS: u64 = 315_360_000;
const HIGHEST_RATE: u64 = 1_000_000;

/// An environment's settings; the defaults are those of an empty document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Settings {
    /// Whether card preparations demand a secret key.
    pub secret_key_for_preparation: bool,
    /// How long a customer token opens; `None` is for ever.
    pub customer_token_lifetime_seconds: Option<u64>,
    /// How many requests each key may make per second; `None` is any number.
    pub rate_limit_per_second: Option<u64>,
}

pub(crate) fn read(node: &Node<'_>, faults: &mut Faults) -> Settings {
    let Some(mut object) = node.object(faults) else { return Settings::default() };
    let secret_key = object.optional("secretKeyForPreparation");
    let lifetime = object.optional("customerTokenLifetimeSeconds");
    let rate = object.optional("rateLimitPerSecond");
    object.finish(faults);
    Settings {
        secret_key_for_preparation: secret_key.and_then(|node| node.boolean(faults)).unwrap_or_default(),
        customer_token_lifetime_seconds: lifetime
            .and_then(|node| node.integer(1, LONGEST_LIFETIME_SECONDS, faults)),
        rate_limit_per_second: rate.and_then(|node| node.integer(1, HIGHEST_RATE, faults)),
    }
}

pub(crate) fn write(settings: &Settings) -> Value {
    json!({
        "secretKeyForPreparation": settings.secret_key_for_preparation,
        "customerTokenLifetimeSeconds": settings.customer_token_lifetime_seconds,
        "rateLimitPerSecond": settings.rate_limit_per_second,
    })
}
