//! A provider's `options`: what an adapter does beyond the ordinary, with the provider's default for each.

use serde_json::{Map, Value};

use crate::{
    adapter::{Adapter, VersionRule},
    payment_method_type::{CARD, MethodTiming, PaymentMethodType},
    reader::Node,
    validation_error::ValidationErrors,
};

const MAX_METHODS: usize = 40;

/// An option that an adapter knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionField {
    PaymentMethods,
    ReceiptEmail,
    StatementDescriptorSuffix,
    ApiVersion,
    Account,
}

impl OptionField {
    pub const ALL: [Self; 5] = [
        Self::PaymentMethods,
        Self::ReceiptEmail,
        Self::StatementDescriptorSuffix,
        Self::ApiVersion,
        Self::Account,
    ];

    /// The name used in configurations.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PaymentMethods => "paymentMethods",
            Self::ReceiptEmail => "receiptEmail",
            Self::StatementDescriptorSuffix => "statementDescriptorSuffix",
            Self::ApiVersion => "apiVersion",
            Self::Account => "account",
        }
    }
}

/// A provider's options as they are in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderOptions {
    /// The methods customers may pay with, in the order they are offered.
    pub payment_methods: Vec<PaymentMethodType>,
    /// Whether the provider mails its own receipt to the customer's address.
    pub receipt_email: bool,
    /// What follows the account's own name on the customer's statement.
    pub statement_descriptor_suffix: Option<String>,
    /// The version of the provider's API to ask for, if not the one the adapter was written for.
    pub api_version: Option<String>,
    /// A stored version that is no longer permitted, in whose place the adapter's own is asked for.
    pub replaced_api_version: Option<String>,
    /// The connected account that payments are made for.
    pub account: Option<String>,
    /// The keys of a payment's metadata that it takes along; `settings.forwardMetadata` names them for all providers.
    pub forward_metadata: Vec<String>,
}

impl Default for ProviderOptions {
    fn default() -> Self {
        Self {
            payment_methods: vec![CARD],
            receipt_email: false,
            statement_descriptor_suffix: None,
            api_version: None,
            replaced_api_version: None,
            account: None,
            forward_metadata: Vec::new(),
        }
    }
}

impl ProviderOptions {
    /// Whether a payment can take days, and must not be taken back while it does.
    pub fn may_take_days(&self) -> bool {
        self.payment_methods.iter().any(|method| method.timing != MethodTiming::Immediate)
    }
}

pub(crate) fn read(
    node: &Node<'_>,
    adapter: Adapter,
    is_stored: bool,
    errors: &mut ValidationErrors,
) -> ProviderOptions {
    let mut options = ProviderOptions::default();
    let Some(mut object) = node.object(errors) else { return options };
    for field in adapter.option_fields() {
        let Some(node) = object.optional(field.name()) else { continue };
        // An upgrade that permits fewer versions must not make a configuration in force unusable.
        if is_stored && *field == OptionField::ApiVersion && !is_permitted(&node, adapter) {
            options.replaced_api_version = node.value.as_str().map(str::to_owned);
        } else {
            read_field(*field, adapter, &node, &mut options, errors);
        }
    }
    object.finish(errors);
    options
}

fn read_field(
    field: OptionField,
    adapter: Adapter,
    node: &Node<'_>,
    options: &mut ProviderOptions,
    errors: &mut ValidationErrors,
) {
    match field {
        OptionField::PaymentMethods => options.payment_methods = read_methods(node, adapter, errors),
        OptionField::ReceiptEmail => options.receipt_email = node.boolean(errors).unwrap_or_default(),
        OptionField::StatementDescriptorSuffix => {
            options.statement_descriptor_suffix = read_suffix(node, errors);
        }
        OptionField::ApiVersion => options.api_version = read_version(node, adapter, errors),
        OptionField::Account => options.account = read_account(node, errors),
    }
}

fn read_methods(node: &Node<'_>, adapter: Adapter, errors: &mut ValidationErrors) -> Vec<PaymentMethodType> {
    let offered = adapter.payment_methods();
    let items: Vec<_> = node.items(MAX_METHODS, errors).collect();
    if items.is_empty() && node.value.as_array().is_some_and(Vec::is_empty) {
        node.fault(errors, "must name at least one method, such as `card`");
    }
    let mut methods: Vec<PaymentMethodType> = Vec::new();
    for item in items {
        let Some(name) = item.text(64, errors) else { continue };
        match offered.iter().find(|method| method.name == name) {
            Some(_) if methods.iter().any(|known| known.name == name) => {
                item.fault(errors, "is listed twice");
            }
            Some(method) => methods.push(*method),
            None => {
                let known: Vec<_> = offered.iter().map(|method| method.name).collect();
                item.fault(errors, format!("is not a supported payment method; known: {}", known.join(", ")));
            }
        }
    }
    methods
}

/// What the card networks print: Latin letters and digits, at least one letter, none of `<>\'"*`.
fn read_suffix(node: &Node<'_>, errors: &mut ValidationErrors) -> Option<String> {
    let text = node.text(22, errors)?;
    let plain = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
    let is_printable = text.bytes().all(plain) && !text.contains(['<', '>', '\\', '\'', '"', '*']);
    if is_printable && text.bytes().any(|byte| byte.is_ascii_alphabetic()) {
        return Some(text.to_owned());
    }
    node.fault(errors, "must be ASCII with at least one letter and without < > \\ ' \" *");
    None
}

fn read_version(node: &Node<'_>, adapter: Adapter, errors: &mut ValidationErrors) -> Option<String> {
    let text = node.text(64, errors)?;
    let problem = match adapter.version_rule() {
        VersionRule::Listed { releases, previews }
            if !releases.contains(&text) && !previews.contains(&text) =>
        {
            let (releases, previews) = (releases.join(", "), previews.join(", "));
            format!(
                "must be one of the provider's releases that can be used: {releases}, or a preview with surcharges: {previews}"
            )
        }
        VersionRule::Dated { example } if !is_date(text) => {
            format!("must be a version of the provider's API, such as `{example}`")
        }
        VersionRule::Listed { .. } | VersionRule::Dated { .. } => return Some(text.to_owned()),
    };
    node.fault(errors, problem);
    None
}

/// Whether a text is a version that a new configuration may have.
fn is_permitted(node: &Node<'_>, adapter: Adapter) -> bool {
    let VersionRule::Listed { releases, previews } = adapter.version_rule() else { return true };
    node.value.as_str().is_none_or(|text| releases.contains(&text) || previews.contains(&text))
}

fn is_date(text: &str) -> bool {
    let fits = |(place, byte): (usize, u8)| match place {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    text.len() == 10 && text.bytes().enumerate().all(fits)
}

fn read_account(node: &Node<'_>, errors: &mut ValidationErrors) -> Option<String> {
    let text = node.text(255, errors)?;
    let is_id =
        text.starts_with("acct_") && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_id {
        node.fault(errors, "must be the id of a connected account, `acct_…`");
        return None;
    }
    Some(text.to_owned())
}

/// What differs from the default; `None` if nothing does, so that such a document reads the same everywhere.
pub(crate) fn write(options: &ProviderOptions) -> Option<Value> {
    let default = ProviderOptions::default();
    let mut fields = Map::new();
    let mut put = |field: OptionField, value: Value| fields.insert(field.name().to_owned(), value);
    if options.payment_methods != default.payment_methods {
        let names: Vec<_> = options.payment_methods.iter().map(|method| method.name).collect();
        put(OptionField::PaymentMethods, names.into());
    }
    if options.receipt_email {
        put(OptionField::ReceiptEmail, true.into());
    }
    for (field, text) in [
        (OptionField::StatementDescriptorSuffix, &options.statement_descriptor_suffix),
        (OptionField::ApiVersion, &options.api_version),
        (OptionField::Account, &options.account),
    ] {
        if let Some(text) = text {
            put(field, text.as_str().into());
        }
    }
    (!fields.is_empty()).then_some(Value::Object(fields))
}
