//! The `settings` section.

use std::time::Duration;

use serde_json::{Value, json};
use tollgate_domain::{BasisPoints, ach::ReturnThresholds, card_fee::FeeProgram, refund::FeeRefund};

use crate::{
    calendar::{self, AchCalendar},
    circuit::{self, CircuitConfig},
    fee_program,
    provider::Providers,
    reader::Node,
    retention::{self, Retention},
    return_rates,
    validation_error::ValidationErrors,
};

/// Ten years, beyond which a lifetime is surely a slip of the hand.
const MAX_LIFETIME_SECONDS: u64 = 315_360_000;
const MAX_RATE: u64 = 1_000_000;

const MIN_PREPARATION_SECONDS: u64 = 60;
/// A month: beyond it nobody comes back to a checkout, and every one is looked after until it ends.
const MAX_PREPARATION_SECONDS: u64 = 2_592_000;
const DEFAULT_PREPARATION: Duration = Duration::from_hours(24);
const MAX_ORIGINS: usize = 100;
/// Stripe takes 50 entries of metadata, two of which are ours, with names of 40 characters.
const MAX_FORWARDED: usize = 40;
const MAX_FORWARDED_NAME: usize = 40;
/// Under such names providers keep what belongs to this service.
const OWN_METADATA: &str = "tollgate_";
const DEFAULT_REQUEST_LOG_DAYS: u64 = 7;
const MAX_REQUEST_LOG_DAYS: u64 = 90;
const SECONDS_OF_DAY: u64 = 86_400;

/// An environment's settings; the defaults are those of an empty document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own in the document")]
pub struct EnvironmentSettings {
    /// Whether card preparations demand a secret key.
    pub secret_key_for_preparation: bool,
    /// How long a card preparation waits to be paid; `None` is a day.
    pub preparation_lifetime_seconds: Option<u64>,
    /// The origins a hosted checkout may send customers back to; `None` is any.
    pub return_origins: Option<Vec<String>>,
    /// The origins whose pages may call what a publishable key opens; `None` is no origin.
    pub allowed_origins: Option<Vec<String>>,
    /// How long a customer token opens; `None` is for ever.
    pub customer_token_lifetime_seconds: Option<u64>,
    /// The generation of the key new customer tokens are made with; raising it rotates the key.
    pub customer_token_key: Option<u32>,
    /// The oldest generation whose tokens still open.
    pub customer_token_oldest_key: Option<u32>,
    /// Whether a transfer is refused when the provider's funding account is known to lack the principal.
    pub check_provider_funds: bool,
    /// The keys of a payment's metadata that go to its provider.
    pub forward_metadata: Vec<String>,
    /// How much of the fee a refund gives back where the caller does not say.
    pub fee_refund: FeeRefund,
    /// The bank network's cut-offs, limits and closed days; `None` is as published.
    pub ach_calendar: Option<AchCalendar>,
    /// When a provider that fails gets no new work.
    pub circuit: CircuitConfig,
    /// Whether a payment may fall back to a provider at which it costs more than at the first.
    pub fallback_may_cost_more: bool,
    /// Whether a client API request with a field that nothing reads is refused.
    pub strict_fields: bool,
    /// How many requests each key may make per second; `None` is any number.
    pub rate_limit_per_second: Option<u64>,
    /// Card fees above this share of the principal are warned about; `None` is the lowest cap of the networks accepted.
    pub surcharge_warning_bps: Option<u64>,
    /// How many days the request log keeps a call; `None` is seven.
    pub request_log_days: Option<u64>,
    /// How long personal data and webhooks are kept.
    pub retention: Retention,
    /// From which share of returned transfers on operators are warned.
    pub return_rates: ReturnThresholds,
    /// What card fees are decided by besides the card; `None` if nothing is said.
    pub fee_program: Option<FeeProgram>,
}

impl EnvironmentSettings {
    /// How long the request log keeps a call.
    pub fn request_log_lifetime(&self) -> Duration {
        let days = self.request_log_days.unwrap_or(DEFAULT_REQUEST_LOG_DAYS);
        Duration::from_secs(days.saturating_mul(SECONDS_OF_DAY))
    }

    /// How long a card preparation waits to be paid.
    pub fn preparation_lifetime(&self) -> Duration {
        self.preparation_lifetime_seconds.map_or(DEFAULT_PREPARATION, Duration::from_secs)
    }

    /// The generation of the key new customer tokens are made with.
    pub fn token_key(&self) -> u32 {
        self.customer_token_key.unwrap_or(1)
    }

    /// Whether tokens of this generation still open.
    pub fn opens_token_key(&self, generation: u32) -> bool {
        (self.customer_token_oldest_key.unwrap_or(1)..=self.token_key()).contains(&generation)
    }

    /// Whether customers may be sent back to an address of this origin (`https://shop.example`).
    pub fn allows_return_to(&self, origin: &str) -> bool {
        self.return_origins.as_ref().is_none_or(|allowed| is_listed(allowed, origin))
    }

    /// Whether pages of this origin may call what a publishable key opens.
    pub fn allows_origin(&self, origin: &str) -> bool {
        self.allowed_origins.as_ref().is_some_and(|allowed| is_listed(allowed, origin))
    }
}

fn is_listed(origins: &[String], origin: &str) -> bool {
    let wanted = without_usual_port(origin);
    origins.iter().any(|listed| without_usual_port(listed).eq_ignore_ascii_case(wanted))
}

/// An origin, without the port that its scheme has anyway.
fn without_usual_port(origin: &str) -> &str {
    let (scheme, rest) = origin.split_once("://").unwrap_or_default();
    let port = if scheme.eq_ignore_ascii_case("https") { ":443" } else { ":80" };
    // The colons within an address of IPv6 are in brackets.
    match rest.strip_suffix(port) {
        Some(host) if !host.contains(':') || host.ends_with(']') => {
            origin.strip_suffix(port).unwrap_or(origin)
        }
        _ => origin,
    }
}

pub(crate) fn read(
    node: &Node<'_>,
    providers: &Providers,
    errors: &mut ValidationErrors,
) -> EnvironmentSettings {
    let Some(mut object) = node.object(errors) else { return EnvironmentSettings::default() };
    let secret_key = object.optional("secretKeyForPreparation");
    let preparation = object.optional("preparationLifetimeSeconds");
    let origins = object.optional("returnOrigins");
    let page_origins = object.optional("allowedOrigins");
    let lifetime = object.optional("customerTokenLifetimeSeconds");
    let token_key = object.optional("customerTokenKey");
    let oldest_key = object.optional("customerTokenOldestKey");
    let ach_calendar = object.optional("achCalendar");
    let provider_funds = object.optional("checkProviderFunds");
    let fee_refund = object.optional("feeRefund");
    let forward = object.optional("forwardMetadata");
    let circuit = object.optional("circuit");
    let cost_more = object.optional("fallbackMayCostMore");
    let strict_fields = object.optional("strictFields");
    let rate = object.optional("rateLimitPerSecond");
    let surcharge = object.optional("surchargeWarningBps");
    let request_log = object.optional("requestLogDays");
    let retention = object.optional("retention");
    let returns = object.optional("returnRates");
    let program = object.optional("feeProgram");
    object.finish(errors);
    let generation = |node: Node<'_>, errors: &mut ValidationErrors| {
        node.integer(1, u64::from(u32::MAX), errors).and_then(|number| u32::try_from(number).ok())
    };
    let customer_token_key = token_key.and_then(|node| generation(node, errors));
    let customer_token_oldest_key = oldest_key.as_ref().and_then(|node| generation(node.clone(), errors));
    if let Some(node) = oldest_key
        && customer_token_oldest_key > Some(customer_token_key.unwrap_or(1))
    {
        node.fault(errors, "must not be greater than customerTokenKey: no token would be accepted");
    }
    EnvironmentSettings {
        customer_token_key,
        customer_token_oldest_key,
        forward_metadata: forward.map(|node| read_forwarded(&node, errors)).unwrap_or_default(),
        fee_refund: fee_refund.and_then(|node| read_fee_refund(&node, errors)).unwrap_or_default(),
        ach_calendar: ach_calendar.map(|node| calendar::read(&node, errors)),
        check_provider_funds: provider_funds.and_then(|node| node.boolean(errors)).unwrap_or_default(),
        secret_key_for_preparation: secret_key.and_then(|node| node.boolean(errors)).unwrap_or_default(),
        preparation_lifetime_seconds: preparation
            .and_then(|node| node.integer(MIN_PREPARATION_SECONDS, MAX_PREPARATION_SECONDS, errors)),
        return_origins: origins.map(|node| read_origins(&node, errors)),
        allowed_origins: page_origins.map(|node| read_origins(&node, errors)),
        customer_token_lifetime_seconds: lifetime
            .and_then(|node| node.integer(1, MAX_LIFETIME_SECONDS, errors)),
        circuit: circuit.map(|node| circuit::read(&node, providers, errors)).unwrap_or_default(),
        fallback_may_cost_more: cost_more.and_then(|node| node.boolean(errors)).unwrap_or_default(),
        strict_fields: strict_fields.and_then(|node| node.boolean(errors)).unwrap_or_default(),
        rate_limit_per_second: rate.and_then(|node| node.integer(1, MAX_RATE, errors)),
        surcharge_warning_bps: surcharge
            .and_then(|node| node.integer(0, u64::from(BasisPoints::WHOLE), errors)),
        request_log_days: request_log.and_then(|node| node.integer(1, MAX_REQUEST_LOG_DAYS, errors)),
        retention: retention.map(|node| retention::read(&node, errors)).unwrap_or_default(),
        return_rates: returns.map(|node| return_rates::read(&node, errors)).unwrap_or_default(),
        fee_program: program.and_then(|node| fee_program::read(&node, providers, errors)),
    }
}

fn read_fee_refund(node: &Node<'_>, errors: &mut ValidationErrors) -> Option<FeeRefund> {
    let known = FeeRefund::parse(node.text(20, errors)?);
    if known.is_none() {
        node.fault(errors, "must be one of: proportional, full, none");
    }
    known
}

fn read_forwarded(node: &Node<'_>, errors: &mut ValidationErrors) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for item in node.items(MAX_FORWARDED, errors).collect::<Vec<_>>() {
        let Some(key) = item.text(MAX_FORWARDED_NAME, errors) else { continue };
        if key.to_ascii_lowercase().starts_with(OWN_METADATA) {
            item.fault(errors, "must not begin with `tollgate_`: such names are kept for this service");
        } else if key.contains(['[', ']']) || key.chars().any(char::is_control) {
            item.fault(errors, "must not contain brackets or control characters: providers refuse them");
        } else if keys.iter().any(|known| known == key) {
            item.fault(errors, "is listed twice");
        } else {
            keys.push(key.to_owned());
        }
    }
    keys
}

fn read_origins(node: &Node<'_>, errors: &mut ValidationErrors) -> Vec<String> {
    let items: Vec<_> = node.items(MAX_ORIGINS, errors).collect();
    items.iter().filter_map(|item| read_origin(item, errors)).collect()
}

/// A scheme, a host and perhaps a port, and nothing behind them.
fn read_origin(node: &Node<'_>, errors: &mut ValidationErrors) -> Option<String> {
    let text = node.text(300, errors)?;
    let (scheme, rest) = text.split_once("://").unwrap_or_default();
    let plain =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | ':' | '[' | ']');
    // Behind the last bracket of an IPv6 address, or else anywhere, a colon begins a port.
    let behind_brackets = rest.rsplit_once(']').map_or(rest, |(_, behind)| behind);
    let has_port = behind_brackets.split_once(':').is_none_or(|(_, port)| port.parse::<u16>().is_ok());
    if matches!(scheme, "https" | "http") && !rest.is_empty() && rest.chars().all(plain) && has_port {
        return Some(text.to_owned());
    }
    node.fault(errors, "must be an origin such as `https://shop.example`, without a path");
    None
}

pub(crate) fn write(settings: &EnvironmentSettings) -> Value {
    json!({
        "secretKeyForPreparation": settings.secret_key_for_preparation,
        "preparationLifetimeSeconds": settings.preparation_lifetime_seconds,
        "returnOrigins": settings.return_origins,
        "allowedOrigins": settings.allowed_origins,
        "customerTokenLifetimeSeconds": settings.customer_token_lifetime_seconds,
        "customerTokenKey": settings.customer_token_key,
        "customerTokenOldestKey": settings.customer_token_oldest_key,
        "achCalendar": settings.ach_calendar.as_ref().map(calendar::write),
        "checkProviderFunds": settings.check_provider_funds,
        "feeRefund": settings.fee_refund.as_str(),
        "forwardMetadata": settings.forward_metadata,
        "circuit": circuit::write(&settings.circuit),
        "fallbackMayCostMore": settings.fallback_may_cost_more,
        "strictFields": settings.strict_fields,
        "rateLimitPerSecond": settings.rate_limit_per_second,
        "surchargeWarningBps": settings.surcharge_warning_bps,
        "requestLogDays": settings.request_log_days,
        "retention": retention::write(&settings.retention),
        "returnRates": return_rates::write(&settings.return_rates),
        "feeProgram": settings.fee_program.as_ref().map(fee_program::write),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_the_same_with_and_without_its_usual_port() {
        for (allowed, wanted, expected) in [
            ("https://shop.example", "https://shop.example", true),
            ("https://shop.example:443", "https://shop.example", true),
            ("https://shop.example", "https://shop.example:443", true),
            ("https://Shop.example:443", "https://shop.EXAMPLE:443", true),
            ("http://localhost:80", "http://localhost", true),
            ("http://[::1]", "http://[::1]:80", true),
            ("http://[::80]", "http://[::80]:80", true),
            ("https://shop.example:8443", "https://shop.example", false),
            ("https://shop.example:80", "https://shop.example", false),
            ("http://localhost:443", "http://localhost", false),
            ("https://shop.example", "http://shop.example:443", false),
            ("https://shop.example", "https://shop.example.evil:443", false),
        ] {
            let settings = EnvironmentSettings {
                return_origins: Some(vec![allowed.to_owned()]),
                ..EnvironmentSettings::default()
            };
            assert_eq!(settings.allows_return_to(wanted), expected, "{allowed} {wanted}");
            assert!(!settings.allows_origin(wanted), "pages are allowed by a list of their own");
            let settings = EnvironmentSettings {
                allowed_origins: settings.return_origins,
                ..EnvironmentSettings::default()
            };
            assert_eq!(settings.allows_origin(wanted), expected, "{allowed} {wanted}");
        }
    }
}
