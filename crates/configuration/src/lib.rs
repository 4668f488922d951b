//! The environment's configuration document: providers, routing, fees and settings.
//!
//! One document, three forms: what an operator sends and reads ([`Configuration::read`],
//! [`Configuration::to_public`], secrets masked), what the store keeps ([`Configuration::to_stored`],
//! [`Configuration::from_stored`], secrets sealed), and the checked values the engine works with. Reading reports
//! every fault at once, each with the path of the field it is about.

mod adapter;
mod approvals;
mod browser_script;
mod calendar;
mod card_fee;
mod card_fee_warnings;
mod circuit;
mod destination;
mod diff;
mod document;
mod fee_plans;
mod fee_program;
mod fee_rules;
mod fee_table;
mod fees;
mod lawful_fees;
mod limits;
mod mode;
mod options;
mod payment_method_type;
mod provider;
mod reader;
mod retention;
mod return_rates;
mod routing;
mod settings;
mod stored;
mod validation_error;
mod warnings;

use std::sync::Arc;

use jiff::civil::Date;
use serde_json::{Map, Value, json};
use tollgate_domain::{PaymentMethod, card_fee::Rules, limit::Limit, routing::RoutingTable};

pub use adapter::{Adapter, FieldSpec};
pub use approvals::Approvals;
pub use calendar::AchCalendar;
pub use circuit::{CircuitConfig, ForcedCircuit};
pub use diff::{Change, Difference, diff};
pub use document::{DocumentError, parse_document};
pub use fee_rules::{FEE_RULES, FeeRulesError, built_in_fee_rules, parse_fee_rules};
pub use fee_table::{Allowance, PlaceFees, TABLE_KINDS, TableCell, fee_table};
pub use fees::Fees;
pub use options::{OptionField, ProviderOptions};
pub use payment_method_type::{MethodTiming, PaymentMethodType};
pub use provider::{Provider, ProviderEnvironment, Providers};
pub use retention::Retention;
pub use settings::EnvironmentSettings;
pub use stored::{StoredConfigError, reseal_document};
pub use validation_error::{ValidationError, ValidationErrors};
pub use warnings::{ConfigWarning, WarningKind};

use fee_plans::FeePlans;
use provider::SecretSource;
use reader::Node;

/// A configuration that holds together.
#[derive(Debug, Clone)]
pub struct Configuration {
    /// By name, in the document's order.
    pub providers: Providers,
    /// Routing of card payments.
    pub web_card: RoutingTable,
    /// Routing of ACH transfers.
    pub ach: RoutingTable,
    /// Fees by currency, provider and channel.
    pub fees: Fees,
    /// How much may be paid within a window of time.
    pub limits: Vec<Limit>,
    /// What waits for people.
    pub approvals: Approvals,
    /// Everything else.
    pub settings: EnvironmentSettings,
    /// What networks and laws say about card fees: the server's, not the document's.
    pub fee_rules: Arc<Rules>,
    fee_plans: FeePlans,
}

impl Default for Configuration {
    fn default() -> Self {
        Self::empty(built_in_fee_rules())
    }
}

impl Configuration {
    /// Of an environment of which nothing is configured yet.
    pub fn empty(fee_rules: Arc<Rules>) -> Self {
        Self {
            providers: Providers::default(),
            web_card: RoutingTable::default(),
            ach: RoutingTable::default(),
            fees: Fees::default(),
            limits: Vec::new(),
            approvals: Approvals::default(),
            settings: EnvironmentSettings::default(),
            fee_rules,
            fee_plans: FeePlans::default(),
        }
    }

    /// Reads what an operator sent. A masked secret keeps the one `current` has in the same place, and its rules about card
    /// fees hold.
    pub fn read(document: &Value, current: &Self) -> Result<Self, ValidationErrors> {
        Self::read_sent(document, current, None)
    }

    /// The same on a day, which decides how long overrides may be given for.
    pub fn read_on(document: &Value, current: &Self, today: Date) -> Result<Self, ValidationErrors> {
        Self::read_sent(document, current, Some(today))
    }

    fn read_sent(document: &Value, current: &Self, today: Option<Date>) -> Result<Self, ValidationErrors> {
        let mut errors = ValidationErrors::default();
        let secrets = SecretSource::Sent { current: &current.providers };
        let read = Self::read_document(&Node::root(document), &secrets, &current.fee_rules, &mut errors);
        let unlawful = read.as_ref().map(|read| read.check_fees(today)).unwrap_or_default();
        for error in unlawful {
            errors.add(error.field, error.message);
        }
        match read {
            Some(configuration) if errors.is_empty() => Ok(configuration),
            _ => Err(errors),
        }
    }

    /// The document as an operator reads it, secrets masked. Sending it back changes nothing.
    pub fn to_public(&self) -> Value {
        self.write_with(&mut |_, secret| Value::String(secret.masked()))
    }

    /// The routing of a payment method.
    pub fn routing(&self, method: PaymentMethod) -> &RoutingTable {
        match method {
            PaymentMethod::WebCard => &self.web_card,
            PaymentMethod::Ach => &self.ach,
        }
    }

    fn read_document(
        document: &Node<'_>,
        secrets: &SecretSource<'_>,
        fee_rules: &Arc<Rules>,
        errors: &mut ValidationErrors,
    ) -> Option<Self> {
        let mut object = document.object(errors)?;
        let providers = object.optional("providers");
        let routing = object.optional("routing");
        let fees = object.optional("fees");
        let limits = object.optional("limits");
        let approvals = object.optional("approvals");
        let settings = object.optional("settings");
        object.finish(errors);

        let providers = providers.map(|node| provider::read_all(&node, secrets, errors)).unwrap_or_default();
        let (web_card, ach) =
            routing.map(|node| routing::read_all(&node, &providers, errors)).unwrap_or_default();
        let fees = fees.map(|node| fees::read_all(&node, &providers, errors)).unwrap_or_default();
        let limits = limits.map(|node| limits::read_all(&node, errors)).unwrap_or_default();
        let approvals = approvals.map(|node| approvals::read(&node, errors)).unwrap_or_default();
        let settings = settings.map(|node| settings::read(&node, &providers, errors)).unwrap_or_default();
        let providers = providers.forwarding(&settings.forward_metadata);
        let fee_rules = Arc::clone(fee_rules);
        let fee_plans = FeePlans::default();
        Some(Self { providers, web_card, ach, fees, limits, approvals, settings, fee_rules, fee_plans })
    }

    fn write_with(&self, secret: &mut provider::SecretWriter<'_>) -> Value {
        let mut routing = Map::new();
        for method in PaymentMethod::ALL {
            routing.insert(method.as_str().to_owned(), routing::write(self.routing(method)));
        }
        json!({
            "providers": provider::write_all(&self.providers, secret),
            "routing": routing,
            "fees": fees::write(&self.fees),
            "limits": limits::write(&self.limits),
            "approvals": approvals::write(&self.approvals),
            "settings": settings::write(&self.settings),
        })
    }
}
