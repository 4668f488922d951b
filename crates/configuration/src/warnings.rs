//! Warnings about a valid configuration that is probably not intended: shown when it is applied, in the console and by the
//! doctor.

use std::collections::HashSet;

use jiff::civil::Date;
use tollgate_domain::{
    Channel, Currency, PaymentMethod,
    routing::{Condition, Destination, Field, RoutingTable, Target, Test},
    tenant::{EnvironmentName, Mode},
};

use crate::{Configuration, provider::Provider};

/// A longer list would not be read.
const MAX_WARNINGS: usize = 100;

/// Something that is allowed and probably not meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigWarning {
    /// Where, as a path: `providers.cards.credentials.secretKey`.
    pub path: String,
    /// What it leads to, and what to do instead.
    pub message: String,
    /// What it is about.
    pub kind: WarningKind,
}

/// What a warning is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarningKind {
    /// Test and live are mixed: real money where none is meant, or none where it is.
    Mode,
    /// A route without a fee.
    Fee,
    /// A card fee that is higher than networks allow, without a kind, or never charged.
    CardFee,
    /// What anybody with a publishable key may do.
    PublishableKey,
    /// Approvals that one person can take away.
    Approval,
    /// A stored API version that this release no longer permits.
    ApiVersion,
}

impl Configuration {
    /// Everything that is probably not meant, in the document's order.
    pub fn warnings(&self, environment: &EnvironmentName, today: Date) -> Vec<ConfigWarning> {
        let mut warnings = Vec::new();
        for provider in self.providers.iter() {
            warnings.extend(mode_warnings(provider, environment));
            warnings.extend(version_warning(provider));
        }
        for method in PaymentMethod::ALL {
            self.fee_warnings(method, &mut warnings);
        }
        self.card_fee_warnings(today, &mut warnings);
        self.publishable_key_warnings(&mut warnings);
        self.approval_warnings(&mut warnings);
        warnings.truncate(MAX_WARNINGS);
        warnings
    }

    /// Whether payments can get to a provider by a channel.
    pub fn reaches(&self, provider: &str, channel: Channel) -> bool {
        PaymentMethod::ALL.into_iter().any(|method| {
            reachable(self.routing(method))
                .any(|(_, target, _)| &*target.provider == provider && target.channel == channel)
        })
    }

    /// Rules that hold what is asked for until others have approved it, and that anybody who may change them can take away alone.
    fn approval_warnings(&self, warnings: &mut Vec<ConfigWarning>) {
        if !self.approvals.has_rules() || self.approvals.configuration {
            return;
        }
        warnings.push(ConfigWarning {
            path: "approvals.configuration".to_owned(),
            message:
                "is false, so one person can remove the approval rules and do without approval what they hold; \
                      set it to true, so that configuration changes need another person's approval, too"
                    .to_owned(),
            kind: WarningKind::Approval,
        });
    }

    /// A target that payments can reach in a currency for which it has no fee entry: they cost the customer nothing extra.
    fn fee_warnings(&self, method: PaymentMethod, warnings: &mut Vec<ConfigWarning>) {
        let table = self.routing(method);
        if !table.enabled() {
            return;
        }
        let currencies = match method {
            PaymentMethod::WebCard => self.fees.currencies(method.channels(), None),
            PaymentMethod::Ach => vec![Currency::USD],
        };
        let mut told = HashSet::new();
        for (place, target, conditions) in reachable(table) {
            let path = format!("routing.{method}.{place}");
            if currencies.is_empty() && told.insert((target.provider.clone(), target.channel, None)) {
                warnings.push(missing_fee(path, target, "in any currency"));
                continue;
            }
            for currency in currencies.iter().filter(|currency| takes(conditions, **currency)) {
                let is_missing = !self.fees.has_entry(&target.provider, target.channel, *currency);
                if is_missing && told.insert((target.provider.clone(), target.channel, Some(*currency))) {
                    warnings.push(missing_fee(path.clone(), target, &format!("for {currency}")));
                }
            }
        }
    }

    fn publishable_key_warnings(&self, warnings: &mut Vec<ConfigWarning>) {
        let settings = &self.settings;
        if settings.secret_key_for_preparation || !self.web_card.enabled() {
            return;
        }
        let mut warn = |field: &str, message: &str| {
            warnings.push(ConfigWarning {
                path: format!("settings.{field}"),
                message: message.to_owned(),
                kind: WarningKind::PublishableKey,
            });
        };
        if settings.return_origins.is_none() {
            warn(
                "returnOrigins",
                "is not set: whoever has a publishable key can prepare a checkout that sends customers to any site; \
                 list your origins, or set secretKeyForPreparation",
            );
        }
        if settings.rate_limit_per_second.is_none() {
            warn(
                "rateLimitPerSecond",
                "is not set: whoever has a publishable key can prepare any number of payments; set a limit, or \
                 secretKeyForPreparation",
            );
        }
    }
}

fn version_warning(provider: &Provider) -> Option<ConfigWarning> {
    let version = provider.options.replaced_api_version.as_ref()?;
    let permitted = provider.adapter.api_versions().join(", ");
    Some(ConfigWarning {
        path: format!("providers.{}.options.apiVersion", provider.name),
        message: format!(
            "is `{version}` in the stored document, which this release no longer permits, so that its default version is used; \
             remove it, or choose one of: {permitted}"
        ),
        kind: WarningKind::ApiVersion,
    })
}

fn mode_warnings(provider: &Provider, environment: &EnvironmentName) -> Vec<ConfigWarning> {
    let warning = |field: &str, message: String| ConfigWarning {
        path: format!("providers.{}.{field}", provider.name),
        message,
        kind: WarningKind::Mode,
    };
    let mut warnings: Vec<_> =
        provider.mode_conflicts().into_iter().map(|(field, message)| warning(field, message)).collect();
    let field = provider.mode_field();
    match (environment.mode(), provider.mode()) {
        (Some(Mode::Test), Some(Mode::Live)) => {
            let is_default = field == "environment" && provider.environment.is_none();
            let what = if is_default { "is not set, which means production" } else { "is live" };
            let message = format!(
                "{what}, but the environment is called `{environment}`: real money moves; use the provider's \
                 sandbox here"
            );
            warnings.push(warning(field, message));
        }
        (Some(Mode::Live), Some(Mode::Test)) => {
            let message = format!(
                "is for test payments, but the environment is called `{environment}`: no real money moves; use live \
                 credentials here"
            );
            warnings.push(warning(field, message));
        }
        (Some(Mode::Live), _)
            if provider.base_url.as_deref().is_some_and(|url| url.starts_with("http://")) =>
        {
            let message = format!(
                "is this machine, but the environment is called `{environment}`: a simulated provider moves no \
                 money; remove it to use the provider's own address"
            );
            warnings.push(warning("baseUrl", message));
        }
        _ => {}
    }
    warnings
}

/// The targets that payments can reach, each with its place and the conditions on the way.
pub(crate) fn reachable(table: &RoutingTable) -> impl Iterator<Item = (String, &Target, &[Condition])> {
    let catch_all = table.rules().iter().position(|rule| rule.enabled && rule.conditions.is_empty());
    let rules =
        table.rules().iter().enumerate().take(catch_all.map_or(usize::MAX, |at| at.saturating_add(1)));
    let rules = rules
        .filter(|(_, rule)| rule.enabled)
        .map(|(at, rule)| (format!("rules[{at}].target"), &rule.target, rule.conditions.as_slice()));
    let default = table.default_destination().filter(|_| catch_all.is_none());
    let all = rules.chain(default.map(|target| ("default".to_owned(), target, [].as_slice())));
    all.flat_map(|(place, destination, conditions)| {
        targets(&place, destination).into_iter().map(move |(place, target)| (place, target, conditions))
    })
}

/// Every target of a destination with its place.
fn targets<'a>(place: &str, destination: &'a Destination) -> Vec<(String, &'a Target)> {
    let mut targets: Vec<_> = match destination.shares() {
        None => vec![(place.to_owned(), destination.target())],
        Some(split) => {
            let shares = split.iter().enumerate();
            shares.map(|(at, share)| (format!("{place}.split[{at}]"), &share.target)).collect()
        }
    };
    let fallbacks = destination.fallbacks().iter().enumerate();
    targets.extend(fallbacks.map(|(at, target)| (format!("{place}.fallbacks[{at}]"), target)));
    targets
}

/// Whether a rule's conditions leave room for a currency.
fn takes(conditions: &[Condition], currency: Currency) -> bool {
    let code = currency.code();
    let on_currency = conditions.iter().filter(|condition| *condition.field() == Field::Currency);
    on_currency.map(Condition::test).all(|test| match test {
        Test::Eq(operand) => operand == code,
        Test::Ne(operand) => operand != code,
        Test::In(operands) => operands.iter().any(|operand| operand == code),
        Test::NotIn(operands) => operands.iter().all(|operand| operand != code),
        Test::StartsWith(start) => code.starts_with(start.as_str()),
        Test::Exists(exists) => *exists,
        Test::Lt(_) | Test::Lte(_) | Test::Gt(_) | Test::Gte(_) => true,
    })
}

fn missing_fee(path: String, target: &Target, which: &str) -> ConfigWarning {
    let Target { provider, channel } = target;
    let message = format!(
        "{provider} has no fee entry {which} on {}: such payments are charged no fee; add an entry, with zeros if \
         that is meant",
        channel.as_str()
    );
    ConfigWarning { path, message, kind: WarningKind::Fee }
}
