//! The `providers` section: which adapters there are, and the credentials for each.

use std::sync::Arc;

use serde_json::{Map, Value};
use tollgate_domain::ach::TransferRail;
use tollgate_vault::{Sealer, Secret};

use crate::{
    adapter::{Adapter, FieldSpec},
    options::{self, ProviderOptions},
    reader::{NAME_RULE, Node, is_name},
    validation_error::ValidationErrors,
};

const MAX_PROVIDERS: usize = 200;
const MAX_CREDENTIAL_LENGTH: usize = 4_096;

/// One configured provider. What is missing here makes it unready, not the configuration faulty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// The name routes and fees use.
    pub name: Arc<str>,
    /// The API it has.
    pub adapter: Adapter,
    /// Where it is reached, if not at the adapter's usual address.
    pub base_url: Option<String>,
    /// Its sandbox or the real thing, for adapters that tell them apart by address.
    pub environment: Option<ProviderEnvironment>,
    credentials: Vec<(&'static str, Credential)>,
    /// What stands in its entry beside the credentials.
    fields: Vec<(&'static str, String)>,
    /// The address of the company's own production API, where each has another.
    live_address: Option<String>,
    funding: Vec<(&'static str, String)>,
    /// What it does beyond the ordinary.
    pub options: ProviderOptions,
}

/// Which of a provider's two worlds is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderEnvironment {
    /// No real money.
    Sandbox,
    /// Real money.
    Production,
}

impl ProviderEnvironment {
    /// The name used in configurations.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::Production => "production",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Credential {
    Secret(Secret),
    Open(String),
}

impl Provider {
    /// A credential by its name in the document.
    pub fn credential(&self, name: &str) -> Option<&str> {
        self.credentials.iter().find(|(known, _)| *known == name).map(|(_, credential)| match credential {
            Credential::Secret(secret) => secret.expose(),
            Credential::Open(text) => text,
        })
    }

    /// A field of the entry itself by its name in the document.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| *known == name).map(|(_, text)| text.as_str())
    }

    /// A detail of the source of funds by its name in the document.
    pub fn funding(&self, name: &str) -> Option<&str> {
        self.funding.iter().find(|(known, _)| *known == name).map(|(_, text)| text.as_str())
    }

    /// The base URL of its API: the one configured, or the adapter's own.
    pub fn address(&self) -> &str {
        let own = self.adapter.address(self.environment());
        let company =
            self.live_address.as_deref().filter(|_| self.environment() == ProviderEnvironment::Production);
        self.base_url.as_deref().or(company).unwrap_or(own).trim_end_matches('/')
    }

    /// Whether requests go to one of the hosts that the provider itself runs.
    pub fn is_at_own_host(&self) -> bool {
        let Some(base_url) = &self.base_url else { return true };
        let Some(rest) = base_url.strip_prefix("https://") else { return false };
        let authority = rest.split('/').next().unwrap_or_default();
        let host = authority.strip_suffix(":443").unwrap_or(authority);
        self.adapter.hosts().iter().any(|own| match own.strip_prefix('*') {
            Some(end) => {
                let host = host.to_ascii_lowercase();
                host.strip_suffix(end).is_some_and(|start| !start.is_empty() && !start.contains('.'))
            }
            None => own.eq_ignore_ascii_case(host),
        })
    }

    /// Whether what is sent to one of the two is sent to the other: a secret may be kept then.
    fn is_same_destination(&self, other: &Self) -> bool {
        self.adapter == other.adapter
            && self.environment() == other.environment()
            && self.address() == other.address()
    }

    /// The environment meant; an application's id tells where the configuration does not.
    pub fn environment(&self) -> ProviderEnvironment {
        let sandbox = self.credential("applicationId").is_some_and(|id| id.starts_with("sandbox-"))
            || self.credential("clientKey").is_some_and(|key| key.starts_with("test_"));
        let told_by_id = if sandbox { ProviderEnvironment::Sandbox } else { ProviderEnvironment::Production };
        self.environment.unwrap_or(told_by_id)
    }

    /// The id of the account or location that payments belong to, where the configuration names one.
    pub fn account_id(&self) -> Option<&str> {
        match self.adapter {
            Adapter::Stripe => self.options.account.as_deref(),
            Adapter::Square => self.credential("locationId"),
            Adapter::Adyen => self.field("merchantAccount"),
            Adapter::Increase => self.funding("accountId"),
            Adapter::ModernTreasury => self.funding("originatingAccountId"),
        }
    }

    /// The secret that its API is called with.
    pub fn api_secret(&self) -> Option<&Secret> {
        self.secret(self.api_secret_field())
    }

    /// The credential that its API is called with.
    pub fn api_secret_field(&self) -> &'static str {
        match self.adapter {
            Adapter::Stripe => "secretKey",
            Adapter::Square => "accessToken",
            Adapter::Adyen | Adapter::Increase | Adapter::ModernTreasury => "apiKey",
        }
    }

    /// The same provider with the options it had at another time.
    #[must_use]
    pub fn with_options(&self, options: ProviderOptions) -> Self {
        Self { options, ..self.clone() }
    }

    /// What is still missing before the provider can be used, as paths below its entry.
    pub fn missing(&self) -> Vec<String> {
        let required = self.adapter.credential_fields().iter().filter(|field| field.required);
        let credentials = required.filter(|field| self.credential(field.name).is_none());
        let fields = self.adapter.entry_fields().iter();
        let fields = fields.filter(|field| field.required && self.field(field.name).is_none());
        let has_prefix = self.adapter.address_with("").is_none() || self.live_address.is_some();
        let is_live = self.environment() == ProviderEnvironment::Production && self.base_url.is_none();
        let prefix = (is_live && !has_prefix).then(|| "livePrefix".to_owned());
        let fields = fields.map(|field| field.name.to_owned()).chain(prefix);
        let required = self.adapter.funding_fields().iter().filter(|field| field.required);
        let funding = required.filter(|field| self.funding(field.name).is_none());
        let credentials = credentials.map(|field| format!("credentials.{}", field.name));
        credentials.chain(fields).chain(funding.map(|field| format!("funding.{}", field.name))).collect()
    }

    /// The same without what only webhooks need: payments can be made without those, and are then looked up.
    pub fn missing_to_pay(&self) -> Vec<String> {
        let mut missing = self.missing();
        missing.retain(|path| !path.starts_with("credentials.webhook"));
        missing
    }

    /// What is still missing before transfers can take this rail, as paths below its entry.
    pub fn missing_for(&self, rail: TransferRail) -> Vec<String> {
        let needed: &[&str] = match (self.adapter, rail) {
            (Adapter::Increase, TransferRail::RealTimePayments) => &["accountNumberId"],
            // A payment by FedNow has to name who pays.
            (Adapter::Increase, TransferRail::FedNow) => &["accountNumberId", "companyName"],
            _ => &[],
        };
        let missing = needed.iter().filter(|name| self.funding(name).is_none());
        missing.map(|name| format!("funding.{name}")).collect()
    }

    /// The credential that verifies webhooks.
    pub fn webhook_secret_field(&self) -> &'static str {
        let fields = self.adapter.credential_fields().iter();
        let is_it = |name: &&str| name.starts_with("webhook") || *name == "hmacKey";
        fields.map(|field| field.name).find(is_it).unwrap_or_default()
    }

    fn secret(&self, name: &str) -> Option<&Secret> {
        self.credentials.iter().find(|(known, _)| *known == name).and_then(|(_, credential)| match credential
        {
            Credential::Secret(secret) => Some(secret),
            Credential::Open(_) => None,
        })
    }
}

/// All providers of a configuration, in the document's order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Providers {
    entries: Vec<Provider>,
    /// Names whose entries are faulty: whoever names them is not at fault as well.
    faulty: Vec<Arc<str>>,
}

impl Providers {
    /// The provider of this name.
    pub fn get(&self, name: &str) -> Option<&Provider> {
        self.entries.iter().find(|provider| &*provider.name == name)
    }

    /// The place of the provider of this name, which it keeps as long as the configuration holds.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.entries.iter().position(|provider| &*provider.name == name)
    }

    /// Every provider.
    pub fn iter(&self) -> impl Iterator<Item = &Provider> {
        self.entries.iter()
    }

    /// The places of secrets that another text takes in `self` than in `current`. Masks need not tell: two secrets can
    /// end alike.
    pub fn replaced_secrets(&self, current: &Self) -> Vec<String> {
        let replaced = self.entries.iter().flat_map(|provider| {
            let known = current.get(&provider.name);
            let names = provider.credentials.iter().map(|(name, _)| *name);
            let replaced = names.filter(move |name| {
                let before = known.and_then(|known| known.secret(name));
                provider.secret(name).zip(before).is_some_and(|(now, before)| now != before)
            });
            replaced.map(|name| place(&provider.name, name))
        });
        replaced.collect()
    }

    /// The same providers with one webhook secret set.
    #[must_use]
    pub fn with_webhook_secret(mut self, provider: &str, secret: &Secret) -> Self {
        let found = self.entries.iter_mut().find(|known| &*known.name == provider);
        if let Some(provider) = found {
            let field = provider.webhook_secret_field();
            let before = provider.secret(field).cloned();
            provider.credentials.retain(|(name, _)| *name != field);
            // What is on its way is signed with the one before.
            let kept = provider
                .adapter
                .credential_fields()
                .iter()
                .find(|it| it.name.strip_suffix("Previous") == Some(field));
            if let Some((kept, before)) = kept.zip(before) {
                provider.credentials.retain(|(name, _)| *name != kept.name);
                provider.credentials.push((kept.name, Credential::Secret(before)));
            }
            provider.credentials.push((field, Credential::Secret(secret.clone())));
        }
        self
    }

    /// The same providers with the secrets that `current` has in the same places: one that was replaced since is gone for a
    /// reason. A provider that `current` reaches elsewhere is a fault: its secrets would go to the old address.
    pub fn with_secrets_of(mut self, current: &Self) -> Result<Self, ValidationErrors> {
        let mut errors = ValidationErrors::default();
        for provider in &mut self.entries {
            let Some(known) = current.get(&provider.name) else { continue };
            if !provider.is_same_destination(known) {
                errors.add(
                    format!("providers.{}", provider.name),
                    "has another adapter, baseUrl or environment in that version, where the current secrets would be \
                     sent; apply that version's document with its secrets instead",
                );
                continue;
            }
            for (name, credential) in &mut provider.credentials {
                if let (Credential::Secret(old), Some(secret)) = (credential, known.secret(name)) {
                    *old = secret.clone();
                }
            }
        }
        if errors.is_empty() { Ok(self) } else { Err(errors) }
    }

    /// A fault for every provider that is reached at a host which is not its own.
    pub fn check_hosts(&self) -> Result<(), ValidationErrors> {
        let mut errors = ValidationErrors::default();
        for provider in self.entries.iter().filter(|provider| !provider.is_at_own_host()) {
            let own = provider.adapter.hosts();
            errors.add(
                format!("providers.{}.baseUrl", provider.name),
                format!(
                    "must be an https URL at {}; to use another host, start the server with \
                     TOLLGATE_ALLOW_OTHER_PROVIDER_HOSTS=true",
                    own.join(" or ")
                ),
            );
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// The same providers with the keys of metadata that payments take along.
    pub(crate) fn forwarding(mut self, keys: &[String]) -> Self {
        for provider in &mut self.entries {
            keys.clone_into(&mut provider.options.forward_metadata);
        }
        self
    }

    pub(crate) fn is_faulty(&self, name: &str) -> bool {
        self.faulty.iter().any(|faulty| &**faulty == name)
    }
}

/// Where the secrets of a document being read come from.
pub(crate) enum SecretSource<'a> {
    /// From the operator, in plain; a masked one stands for the one in `current`.
    Sent { current: &'a Providers },
    /// From the store, sealed for one environment.
    Stored { sealer: &'a Sealer, scope: &'a str },
}

/// Turns the secret at a place into what the document shows.
pub(crate) type SecretWriter<'a> = dyn FnMut(&str, &Secret) -> Value + 'a;

/// The place of a credential, authenticated with it when sealed.
pub(crate) fn place(provider: &str, field: &str) -> String {
    format!("providers.{provider}.credentials.{field}")
}

pub(crate) fn read_all(
    node: &Node<'_>,
    secrets: &SecretSource<'_>,
    errors: &mut ValidationErrors,
) -> Providers {
    let entries: Vec<_> = node.entries(errors).collect();
    if entries.len() > MAX_PROVIDERS {
        node.fault(errors, format!("has {} entries; at most {MAX_PROVIDERS} are allowed", entries.len()));
        return Providers::default();
    }
    let mut providers = Providers::default();
    for (name, entry) in entries {
        match read(name, &entry, secrets, errors) {
            Some(provider) => providers.entries.push(provider),
            None => providers.faulty.push(name.into()),
        }
    }
    providers
}

fn read(
    name: &str,
    node: &Node<'_>,
    secrets: &SecretSource<'_>,
    errors: &mut ValidationErrors,
) -> Option<Provider> {
    if !is_name(name) {
        node.fault(errors, format!("a provider's name {NAME_RULE}"));
    }
    let mut object = node.object(errors)?;
    let adapter = object.required("adapter", errors);
    let credentials = object.optional("credentials");
    let base_url = object.optional("baseUrl");
    let environment = object.optional("environment");
    let funding = object.optional("funding");
    let options = object.optional("options");
    let known = adapter.as_ref().and_then(|node| Adapter::parse(node.value.as_str()?));
    let entry_fields = known.map(Adapter::entry_fields).unwrap_or_default();
    let fields = entry_fields.iter().filter_map(|spec| Some((spec.name, object.optional(spec.name)?)));
    let fields: Vec<_> = fields.collect();
    object.finish(errors);
    let fields = fields.into_iter().filter_map(|(name, node)| Some((name, read_name(&node, errors)?)));
    let fields: Vec<(&'static str, String)> = fields.collect();

    let base_url = base_url.and_then(|node| read_base_url(&node, errors));
    let environment = environment.and_then(|node| read_environment(&node, errors));
    let adapter = adapter.and_then(|node| read_adapter(&node, errors))?;
    let is_stored = matches!(secrets, SecretSource::Stored { .. });
    let mut provider = Provider {
        name: name.into(),
        adapter,
        base_url,
        environment,
        credentials: Vec::new(),
        live_address: fields
            .iter()
            .find(|(name, _)| *name == "livePrefix")
            .and_then(|(_, prefix)| adapter.address_with(prefix)),
        fields,
        funding: Vec::new(),
        options: options.map(|node| options::read(&node, adapter, is_stored, errors)).unwrap_or_default(),
    };
    if let Some(node) = &credentials {
        provider.credentials =
            read_fields(node, adapter.credential_fields(), errors, |field, node, errors| {
                read_credential(&provider, *field, node, secrets, errors)
            });
    }
    if let (Some(node), SecretSource::Sent { current }) = (&credentials, secrets)
        && let Some(known) = current.get(name).filter(|known| known.adapter == adapter)
        && !provider.is_same_destination(known)
    {
        refuse_masks(node, adapter, errors);
    }
    if let Some(node) = funding {
        provider.funding = read_fields(&node, adapter.funding_fields(), errors, read_funding);
    }
    Some(provider)
}

/// A kept secret would go to an address that whoever sends the document has chosen, without ever having known the secret.
fn refuse_masks(credentials: &Node<'_>, adapter: Adapter, errors: &mut ValidationErrors) {
    for field in adapter.credential_fields() {
        let sent = credentials.value.get(field.name).and_then(Value::as_str);
        if field.secret && sent.is_some_and(Secret::is_masked_form) {
            errors.add(
                format!("{}.{}", credentials.path, field.name),
                "is masked, but the provider's baseUrl or environment changes; send the secret itself",
            );
        }
    }
}

fn read_adapter(node: &Node<'_>, errors: &mut ValidationErrors) -> Option<Adapter> {
    let read = Adapter::parse(node.text(64, errors)?);
    if read.is_none() {
        let known: Vec<_> = Adapter::ALL.iter().map(|adapter| adapter.as_str()).collect();
        node.fault(errors, format!("is not a known adapter; known: {}", known.join(", ")));
    }
    read
}

/// A name that stands in addresses and in what signatures cover.
fn read_name(node: &Node<'_>, errors: &mut ValidationErrors) -> Option<String> {
    let text = node.text(80, errors)?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if text.is_empty() || !text.bytes().all(is_plain) {
        node.fault(errors, "must be letters, digits, `-` and `_`");
        return None;
    }
    Some(text.to_owned())
}

fn read_environment(node: &Node<'_>, errors: &mut ValidationErrors) -> Option<ProviderEnvironment> {
    match node.text(64, errors)? {
        "sandbox" => Some(ProviderEnvironment::Sandbox),
        "production" => Some(ProviderEnvironment::Production),
        _ => {
            node.fault(errors, "must be `sandbox` or `production`");
            None
        }
    }
}

/// `https` anywhere, or `http` to this machine; an address only, without credentials, query or fragment.
fn read_base_url(node: &Node<'_>, errors: &mut ValidationErrors) -> Option<String> {
    let text = node.text(2_000, errors)?;
    let (scheme, rest) = text.split_once("://").unwrap_or_default();
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    let loopback = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    let plain =
        !text.contains(['?', '#', '@', ' ', '\\']) && text.chars().all(|letter| letter.is_ascii_graphic());
    if plain && !host.is_empty() && (scheme == "https" || (scheme == "http" && loopback)) {
        return Some(text.trim_end_matches('/').to_owned());
    }
    node.fault(errors, "must be an https URL (http only on loopback) without user name, query or fragment");
    None
}

fn read_fields<T>(
    node: &Node<'_>,
    specs: &'static [FieldSpec],
    errors: &mut ValidationErrors,
    mut read: impl FnMut(&'static FieldSpec, &Node<'_>, &mut ValidationErrors) -> Option<T>,
) -> Vec<(&'static str, T)> {
    let Some(mut object) = node.object(errors) else { return Vec::new() };
    let mut fields = Vec::new();
    for spec in specs {
        if let Some(value) = object.optional(spec.name).and_then(|node| read(spec, &node, errors)) {
            fields.push((spec.name, value));
        }
    }
    object.finish(errors);
    fields
}

fn read_funding(field: &FieldSpec, node: &Node<'_>, errors: &mut ValidationErrors) -> Option<String> {
    let text = node.text(field.length_max.unwrap_or(MAX_CREDENTIAL_LENGTH), errors)?;
    if field.length_max.is_some() && !text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        node.fault(errors, "must be printable ASCII: banks cannot carry other characters");
        return None;
    }
    Some(text.to_owned())
}

fn is_hex(text: &str) -> bool {
    text.len().is_multiple_of(2) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn read_credential(
    provider: &Provider,
    field: FieldSpec,
    node: &Node<'_>,
    secrets: &SecretSource<'_>,
    errors: &mut ValidationErrors,
) -> Option<Credential> {
    if !field.secret {
        return node.text(MAX_CREDENTIAL_LENGTH, errors).map(|text| Credential::Open(text.to_owned()));
    }
    match secrets {
        SecretSource::Sent { current } => {
            let text = node.text(MAX_CREDENTIAL_LENGTH, errors)?;
            if field.hex && !Secret::is_masked_form(text) && !is_hex(text) {
                node.fault(errors, "must be hexadecimal, as the provider shows it");
                return None;
            }
            if !Secret::is_masked_form(text) {
                return Some(Credential::Secret(Secret::new(text)));
            }
            let kept = current
                .get(&provider.name)
                .filter(|known| known.adapter == provider.adapter)
                .and_then(|known| known.secret(field.name))
                .filter(|known| known.masked() == text);
            if kept.is_none() {
                node.fault(errors, "is masked, but no secret is stored here; send the secret itself");
            }
            kept.cloned().map(Credential::Secret)
        }
        SecretSource::Stored { sealer, scope } => {
            let sealed = node.value.get("sealed").and_then(Value::as_str).unwrap_or_default();
            let context = format!("{scope}/{}", place(&provider.name, field.name));
            match sealer.open(&context, sealed) {
                Ok(secret) => Some(Credential::Secret(secret)),
                Err(error) => {
                    node.fault(errors, error.to_string());
                    None
                }
            }
        }
    }
}

pub(crate) fn write_all(providers: &Providers, secret: &mut SecretWriter<'_>) -> Value {
    let entries = providers.iter().map(|provider| (provider.name.to_string(), write(provider, secret)));
    Value::Object(entries.collect())
}

fn write(provider: &Provider, secret_writer: &mut SecretWriter<'_>) -> Value {
    let mut entry = Map::new();
    entry.insert("adapter".to_owned(), provider.adapter.as_str().into());
    let credentials = provider.credentials.iter().map(|(name, credential)| {
        let value = match credential {
            Credential::Secret(secret) => secret_writer(&place(&provider.name, name), secret),
            Credential::Open(text) => Value::String(text.clone()),
        };
        ((*name).to_owned(), value)
    });
    entry.insert("credentials".to_owned(), Value::Object(credentials.collect()));
    if let Some(base_url) = &provider.base_url {
        entry.insert("baseUrl".to_owned(), base_url.as_str().into());
    }
    if let Some(environment) = provider.environment {
        entry.insert("environment".to_owned(), environment.as_str().into());
    }
    for (name, text) in &provider.fields {
        entry.insert((*name).to_owned(), text.as_str().into());
    }
    if !provider.adapter.funding_fields().is_empty() {
        let funding = provider.funding.iter().map(|(name, text)| ((*name).to_owned(), text.as_str().into()));
        entry.insert("funding".to_owned(), Value::Object(funding.collect()));
    }
    if let Some(options) = options::write(&provider.options) {
        entry.insert("options".to_owned(), options);
    }
    Value::Object(entry)
}
